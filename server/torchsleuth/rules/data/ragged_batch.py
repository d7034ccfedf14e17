"""ragged-batch: samples of different size into the default collate.

What it finds
    A loader with the default collate over a dataset whose samples differ in shape, or hold lists of different lengths: as
    they were given, as they are cut or computed from the index, or as their size is drawn at random. The same for
    torch.stack in a collate function, and for labels of each token where DataCollatorWithPadding of transformers pads the tokens alone.
Why it hurts
    The loader raises "stack expects each tensor to be equal size" or "each element in list of batch should be of equal
    size" as soon as two of them meet in one batch.
Example
    sequences = [torch.randn(5, 8), torch.randn(9, 8), torch.randn(7, 8)]
    loader = DataLoader(sequences, batch_size=3)
Use instead
    def pad_collate(batch):
        return pad_sequence(batch, batch_first=True)

    loader = DataLoader(sequences, batch_size=3, collate_fn=pad_collate)
Fix safety
    Padding with zeros is what most models for sequences want; a loss or a mean over the padded steps has to leave them
    out. Where more than one dimension differs, as with images, the padding is offered as unsafe: resizing may be meant.
References
    torch.utils.data.default_collate, torch.nn.utils.rnn.pad_sequence
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault, Refusal
from torchsleuth.messages import message
from torchsleuth.rules.data.missing_len import windows
from torchsleuth.rules.data.sample_type import made_at, where
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.loaders import affected, dataset_text, free_name, made_here, spelled, with_collate
from torchsleuth.rules.evidence.spatial import padded_steps
from torchsleuth.rules.evidence.token_labels import of_tokens
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Edit
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import nodes_in, plain_name
from torchsleuth.values import Array, DictValue, Instance, ListValue, Several, Tensor, Value, elements_of

CODE = "TS601"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for fault in analysis.trace.data:
        if fault.kind == "stack":
            yield _stacked(analysis, fault)
        refusal = next((item for item in fault.refusals if item.kind in ("ragged", "length")), None)
        if fault.kind != "collate" or refusal is None or id(fault.getitem or fault.dataset) in seen:
            continue
        seen.add(id(fault.getitem or fault.dataset))
        places = (*made_at(analysis, fault), *made_here(analysis, fault.loader))
        yield Finding(
            fault.at.span, _text(fault, refusal), places, chain(_shortened(analysis, fault), _padded(analysis, fault))
        )

    yield from of_tokens(analysis)


def _text(fault: DataFault, refusal: Refusal) -> str:
    name, place = dataset_text(fault.dataset), where(refusal.path)
    left, right = (_size_text(value) for value in refusal.values)
    if refusal.kind == "length":
        if left == right:
            return message("data.ragged.length.drawn", dataset=name, where=place, length=left)
        return message("data.ragged.length", dataset=name, where=place, left=left, right=right)
    if left == right:
        return message("data.ragged.drawn", dataset=name, where=place, left=left)
    return message("data.ragged", dataset=name, where=place, left=left, right=right)


def _size_text(value: Value) -> str:
    if isinstance(value, Tensor | Array):
        return shape_text(value.spec)
    items = elements_of(value)
    return str(items.length if isinstance(items, Several) else len(items) if items is not None else 0)


def _stacked(analysis: Analysis, fault: DataFault) -> Finding:
    """A ``torch.stack`` of samples that differ, in a collate function of the user's."""
    refusal = fault.refusals[0]
    left, right = (_size_text(value) for value in refusal.values)
    key = "data.stack.drawn" if left == right else "data.stack"
    text = message(key, left=left, right=right)
    candidates: list[Candidate] = []
    call, path = fault.at.call, fault.at.span.path
    if refusal.dims == (0,) and call is not None and len(call.args) == 1 and not call.keywords:
        source = analysis.source_of(path)
        pad, imports = spelled(analysis, path, "torch.nn.utils.rnn.pad_sequence")
        renamed = edits.replace(source, call.func, pad)
        changes = (*imports, renamed, edits.add_argument(source, call, "batch_first=True"))
        candidates.append(Candidate(message("fix.pad_sequence"), changes))
    return Finding(fault.at.span, text, tuple(call_trail(fault.at.scene)), (*padded_steps(fault.at), *candidates))


# -- the repair ------------------------------------------------------------------------------------


def _shortened(analysis: Analysis, fault: DataFault) -> Iterator[Candidate]:
    """``__len__`` that counts the windows which ``__getitem__`` cuts, where it counts those that go over the end."""
    cls = fault.dataset.cls if isinstance(fault.dataset, Instance) else None
    methods = {part.name: part for part in of_kind(cls.node.body, ast.FunctionDef)} if cls else {}
    length, getitem = methods.get("__len__"), methods.get("__getitem__")
    if cls is None or length is None or getitem is None:
        return
    source = analysis.source_of(cls.path)
    for part in nodes_in(length, ast.Return):
        if part.value is not None:
            for count in dict.fromkeys(windows(getitem)):
                yield replacement(source, part.value, count)


def _padded(analysis: Analysis, fault: DataFault) -> Iterator[Candidate]:
    loaders = affected(analysis, fault)
    refusals = {item.path: item for item in fault.refusals}
    if not loaders or loaders[0].site is None or any(item.dims is None for item in fault.refusals):
        return
    path = loaders[0].site.span.path
    writer = _Writer(analysis, path, refusals)
    body = writer.body(fault)
    if body is None:
        return
    name = free_name(analysis, path, "pad_collate")
    changes = with_collate(analysis, loaders, name, body, tuple(dict.fromkeys(writer.imports)))
    if changes:
        first = all(item.dims == (0,) for item in fault.refusals)
        safe = all(len(item.dims or ()) == 1 for item in fault.refusals)
        yield Candidate(message("fix.pad_collate" if first else "fix.pad_largest"), changes, safe)


class _Writer:
    """Writes the body of a collate function: what is ragged is padded, the rest goes the default way."""

    def __init__(self, analysis: Analysis, path: str, refusals: dict[tuple[object, ...], Refusal]) -> None:
        self.analysis = analysis
        self.path = path
        self.refusals = refusals
        self.imports: list[Edit] = []

    def body(self, fault: DataFault) -> list[str] | None:
        sample = fault.sample
        if any(len(path) > 1 for path in self.refusals):
            return None
        if () in self.refusals:
            return self._column("batch", sample, self.refusals[()], "return {}")
        items = sample.items if isinstance(sample, ListValue | DictValue) else sample
        if isinstance(items, dict):
            return self._dict(items)
        return self._tuple(fault, items) if isinstance(items, tuple) else None

    def _name(self, library: str) -> str:
        text, imports = spelled(self.analysis, self.path, library)
        self.imports += imports
        return text

    def _tuple(self, fault: DataFault, items: tuple[Value, ...]) -> list[str] | None:
        names = _field_names(fault, len(items))
        if names is None:
            return None
        lines = [f"{', '.join(names)}{',' if len(names) == 1 else ''} = zip(*batch)"]
        results: list[str] = []
        for index, (name, value) in enumerate(zip(names, items)):
            refusal = self.refusals.get((index,))
            if refusal is None:
                results.append(f"{self._name('torch.utils.data.default_collate')}({name})")
                continue
            lines += self._column(name, value, refusal, f"{name} = {{}}")
            results.append(name)
        return [*lines, f"return {', '.join(results)}"]

    def _dict(self, items: dict[object, Value]) -> list[str]:
        lines: list[str] = []
        entries: list[str] = []
        for key, value in items.items():
            column = f"[sample[{key!r}] for sample in batch]"
            refusal = self.refusals.get((key,))
            if refusal is None:
                entries.append(f"    {key!r}: {self._name('torch.utils.data.default_collate')}({column}),")
                continue
            name = key if isinstance(key, str) and key.isidentifier() and key != "batch" else "column"
            lines += [f"{name} = {column}", *self._column(name, value, refusal, f"{name} = {{}}")]
            entries.append(f"    {key!r}: {name},")
        return [*lines, "return {", *entries, "}"]

    def _column(self, name: str, value: Value, refusal: Refusal, result: str) -> list[str]:
        """Statements that pad one column; `result` is what becomes of the padded tensor."""
        tensors = name
        if isinstance(value, Array):
            tensors = f"[{self._name('torch.as_tensor')}(item) for item in {name}]"
        elif not isinstance(value, Tensor):
            tensors = f"[{self._name('torch.tensor')}(item) for item in {name}]"
        if refusal.dims == (0,):
            pad = self._name("torch.nn.utils.rnn.pad_sequence")
            return [result.format(f"{pad}({tensors}, batch_first=True)")]
        lines = [] if tensors == name else [f"{name} = {tensors}"]
        pad, stack = self._name("torch.nn.functional.pad"), self._name("torch.stack")
        shape = value.spec.shape if isinstance(value, Tensor | Array) else None
        rank = len(shape or ())
        amounts: list[str] = []
        for dim in range(rank - 1, min(refusal.dims or (0,)) - 1, -1):
            if dim in (refusal.dims or ()):
                lines.append(f"size_{dim} = max(item.shape[{dim}] for item in {name})")
                amounts.append(f"0, size_{dim} - item.shape[{dim}]")
            else:
                amounts.append("0, 0")
        amount = f"({', '.join(amounts)})"
        return [*lines, result.format(f"{stack}([{pad}(item, {amount}) for item in {name}])")]


def _field_names(fault: DataFault, count: int) -> list[str] | None:
    """Names for the parts of a sample, as ``__getitem__`` calls them."""
    if count > len(_ORDINALS):
        return None
    names = list(_ORDINALS[:count])
    method = fault.getitem
    for part in nodes_in(method.node, ast.Return) if method is not None else ():
        if isinstance(part.value, ast.Tuple) and len(part.value.elts) == count:
            for index, element in enumerate(part.value.elts):
                noun = _noun(element)
                if noun is not None and len(noun) > 1:
                    names[index] = noun if noun.endswith("s") else f"{noun}s"
    return names if len(set(names)) == count and "batch" not in names else list(_ORDINALS[:count])


def _noun(element: ast.expr) -> str | None:
    """The noun of an expression: ``walks`` for ``self.walks[index]``."""
    match element:
        case ast.Subscript():
            return _noun(element.value)
        case ast.Attribute():
            return element.attr
    return plain_name(element)


RULE = Rule(FAULTS[CODE], find)
