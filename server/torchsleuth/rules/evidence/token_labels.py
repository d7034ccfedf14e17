"""Labels for each token, in samples whose collate function pads what the tokenizer gave and nothing else: what TS601 says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.data import LOADER
from torchsleuth.interp.library.tokenizers import COLLATORS, TOKENIZER
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_dotted,
    is_literal,
    is_method_call,
    keyword_of,
    literal,
    nodes_in,
    plain_name,
)
from torchsleuth.values import Instance, LibraryObject, Site, Value, is_object

_TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
_LABELS = ("labels", "label", "label_ids")
_PADS_LABELS = "transformers.DataCollatorForTokenClassification"


def of_tokens(analysis: Analysis) -> Iterator[Finding]:
    """Each collate function that is made for samples with labels of as many elements as they have tokens."""
    seen: set[Span] = set()
    for call, data, collator in _uses(analysis):
        label = _ragged_label(analysis, data) if isinstance(data, Instance) else None
        site = collator.site if isinstance(collator, LibraryObject) else call.site
        if label is None or site is None or site.call is None or site.span in seen or not isinstance(data, Instance):
            continue
        seen.add(site.span)
        place = analysis.source_of(data.cls.path).span(label).related(message("data.token_labels.here"))
        own = collator is not None and collator.path != COLLATORS[0]
        text = message("data.token_labels.own" if own else "data.token_labels")
        yield Finding(site.span, text, (place,), () if own else (_padding_labels(analysis, site, site.call, collator),))


def _padding_labels(analysis: Analysis, site: Site, node: ast.Call, collator: LibraryObject | None) -> Candidate:
    """The collate function that pads labels, too, in the place of another, or for a trainer that has none."""
    new, imports = spelled(analysis, site.span.path, _PADS_LABELS)
    edit = edits.replace(site.source, node.func, new)
    if collator is None:
        given = site.source.segment(_tokenizer_in(node))
        edit = edits.add_argument(site.source, node, f"data_collator={new}({given})")
    return Candidate(message("fix.pads_labels", collator=new), (*imports, edit))


def _uses(analysis: Analysis) -> Iterator[tuple[LibraryCall, Value, LibraryObject | None]]:
    """Trainers and loaders with their data set and the collate function that pads; None for a trainer that makes its own."""
    for call in [one for path in _TRAINERS for one in analysis.calls.get(path, ())]:
        collator = call.given(2, "data_collator")
        own = collator is None and is_object(
            call.kwargs.get("processing_class", call.kwargs.get("tokenizer")), TOKENIZER
        )
        if (own or is_object(collator, *COLLATORS)) and not _one_by_one(analysis):
            yield call, call.given(3, "train_dataset"), as_kind(collator, LibraryObject)
    for call in analysis.calls.get(LOADER, ()):
        collator = call.kwargs.get("collate_fn")
        if is_object(collator, *COLLATORS) and call.given(1, "batch_size", 1) != 1:
            yield call, call.given(0, "dataset"), as_kind(collator, LibraryObject)


def _one_by_one(analysis: Analysis) -> bool:
    made = analysis.calls_at_places("TrainingArguments")
    return any(call.kwargs.get("per_device_train_batch_size") == 1 for call in made)


def _tokenizer_in(call: ast.Call) -> ast.expr:
    word = keyword_of(call, "processing_class") or keyword_of(call, "tokenizer")
    assert word is not None
    return word.value


def _ragged_label(analysis: Analysis, data: Instance) -> ast.expr | None:
    """The labels in a sample that a data set makes: as many as the tokens of a text that was not padded."""
    functions = list(nodes_in(data.cls.node, ast.FunctionDef))
    names = {called(call) for call in nodes_in(data.cls.node, ast.Call)}
    module = analysis.tree(data.cls.path)
    functions += [one for one in of_kind(module.body, ast.FunctionDef) if one.name in names]
    return next((found for one in functions if (found := _label_in(one)) is not None), None)


def _label_in(function: ast.FunctionDef) -> ast.expr | None:
    pads = any("pad" in str(called(call)) for call in nodes_in(function, ast.Call))
    repeats = any(
        isinstance(one.op, ast.Mult) and isinstance(one.left, ast.List) for one in nodes_in(function, ast.BinOp)
    )
    encodings = set(_encodings(function))
    if pads or repeats or not encodings:
        return None
    tokens = _Tokens(function, encodings)
    for display in nodes_in(function, ast.Dict):
        given = {literal(key): value for key, value in zip(display.keys, display.values) if key is not None}
        for name in _LABELS:
            if "input_ids" in given and name in given and tokens.has_each(given[name]):
                return given[name]
    for stored in nodes_in(function, ast.Assign):
        target = stored.targets[0]
        if isinstance(target, ast.Subscript) and plain_name(target.value) in encodings:
            if literal(target.slice) in _LABELS and tokens.has_each(stored.value):
                return stored.value
    return None


def _encodings(function: ast.FunctionDef) -> Iterator[str]:
    """Names of what a tokenizer makes of one text, as it is."""
    read = {plain_name(one.value) for one in nodes_in(function, ast.Subscript) if is_literal(one.slice, "input_ids")}
    for made in nodes_in(function, ast.Assign):
        name, call = plain_name(made.targets[0]), as_kind(made.value, ast.Call)
        options = {word.arg for word in call.keywords} if call is not None else {None}
        if name in read and name is not None and not options & {None, "padding", "return_tensors"}:
            yield name


class _Tokens:
    """The sequences in a function that have an element for each token."""

    def __init__(self, function: ast.FunctionDef, encodings: set[str]) -> None:
        self.function = function
        self.encodings = encodings

    def has_each(self, value: ast.expr, depth: int = 3) -> bool:
        match value:
            case ast.Call(func=ast.Name(id="list" | "enumerate" | "zip"), args=args):
                return any(self.has_each(one, depth) for one in args)
            case ast.Call() if is_method_call(value, "copy", "word_ids"):
                owner = value.func.value
                return (
                    plain_name(owner) in self.encodings if called(value) == "word_ids" else self.has_each(owner, depth)
                )
            case ast.Subscript(value=ast.Name(id=name), slice=key):
                return name in self.encodings and is_literal(key, "input_ids")
            case ast.ListComp(generators=[ast.comprehension(iter=over, ifs=[])]):
                return self.has_each(over, depth)
            case ast.Name(id=name) if depth:
                return self._is_grown(name, depth)
        return False

    def _is_grown(self, name: str, depth: int) -> bool:
        """Whether a name is bound to such a sequence, or to a list that grows in a loop over one."""
        bound = [one.value for one in nodes_in(self.function, ast.Assign) if plain_name(one.targets[0]) == name]
        if len(bound) != 1:
            return False
        if not (isinstance(bound[0], ast.List) and not bound[0].elts):
            return self.has_each(bound[0], depth - 1)
        loops = [one for one in nodes_in(self.function, ast.For) if self.has_each(one.iter, depth - 1)]
        return any(
            is_dotted(call.func, name) and called(call) == "append"
            for loop in loops
            for call in nodes_in(loop, ast.Call)
        )
