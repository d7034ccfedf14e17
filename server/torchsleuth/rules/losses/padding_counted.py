"""padding-counted: labels of sequences whose padding the loss counts as labels.

What it finds
    Labels that pad_sequence has filled up with a number of a class, 0 unless `padding_value` says otherwise, in a cross entropy
    that ignores another number and takes the mean over all of them. Labels of a batch for a model of transformers that are made of
    zeros, and filled up to the length of each sequence: these models leave out -100 alone.
Why it hurts
    Behind the end of each sequence there is nothing to predict but the padding. The network learns that first, the loss looks
    better than it is, and the more the longest sequence of a batch is longer than the others, the less the real labels count.
Example
    labels = pad_sequence(labels, batch_first=True)
    loss = F.cross_entropy(logits.transpose(1, 2), labels)
Use instead
    labels = pad_sequence(labels, batch_first=True, padding_value=-100)
Fix safety
    Safe where the labels go into the loss alone: -100 is what cross entropy ignores unless it is told otherwise.
References
    torch.nn.CrossEntropyLoss, torch.nn.utils.rnn.pad_sequence
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.classes import ignored_by, is_entropy
from torchsleuth.rules.evidence.operands import Operand, operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_name,
    is_spread,
    literal,
    nodes_in,
    parts_of_key,
    plain_name,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Origin, Site

CODE = "TS344"
_ARRANGED = frozenset(
    "view reshape flatten contiguous transpose permute t T mT swapaxes squeeze long to cuda type int clone detach".split()
)
"""Operators behind which a tensor still holds all the padding."""


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _for_transformers(analysis)
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if is_entropy(operation) and operation.site.span not in seen and _counts_all(operation):
            seen.add(operation.site.span)
            pair = operands(operation)
            padded = _padded(pair[1]) if len(pair) == 2 and pair[0].tensor.spec.requires_grad else None
            number = _filling(padded.site) if padded is not None else None
            if padded is not None and number is not None and 0 <= number != ignored_by(operation):
                text = message("padding.counted", labels=pair[1].text(), number=number, ignored=ignored_by(operation))
                place = padded.site.span.related(message("padding.counted.here", number=number))
                yield Finding(operation.site.span, text, (place,), tuple(_ignored(operation, padded.site)))


_OWN_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
_INPUTS = ("input_ids", "attention_mask")


def _for_transformers(analysis: Analysis) -> Iterator[Finding]:
    """``{"input_ids": ids, "labels": labels}`` with ``labels = torch.zeros(…)``, of which ``labels[i, :n]`` is filled."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    used = (use.path for use in analysis.names.uses if use.path.startswith("transformers."))
    if "labels" not in source.text or not any(re.search(r"For[A-Z]|LMHead", path) for path in used):
        return
    if any(called(call) in _OWN_LOSSES for call in index.of_type(ast.Call)):
        return  # what the model computes with the labels may not be used
    for batch in index.of_type(ast.Dict):
        given = {literal(key): value for key, value in zip(batch.keys, batch.values) if key is not None}
        labels = plain_name(given.get("labels"))
        trail = index.trail(batch)
        function = next((part for part in reversed(trail) if isinstance(part, ast.FunctionDef)), None)
        if labels is None or function is None or not any(name in given for name in _INPUTS):
            continue
        if "-100" in source.segment(function) or "ignore_index" in source.segment(function):
            continue
        made = [
            value
            for one in nodes_in(function, ast.Assign)
            for target, value in assigned_pairs(one)
            if is_name(target, labels)
        ]
        number = _number_of(made[0]) if len(made) == 1 else None
        filled = any(_is_filled(target, labels) for one in nodes_in(function, ast.Assign) for target in one.targets)
        if number is not None and number >= 0 and (filled or called(made[0]) == "pad_sequence"):
            text = message("padding.counted.model", labels=labels, number=number)
            yield Finding(source.span(made[0]), text, (), tuple(_with_ignored(source, made[0])))


def _number_of(made: ast.expr) -> int | None:
    """The number that a tensor of integers is full of, or filled up with."""
    if not isinstance(made, ast.Call):
        return None
    whole = argument_of(made, None, "dtype")
    kind = "" if whole is None else ast.unparse(whole).rpartition(".")[2]
    match called(made):
        case "zeros" if kind in ("long", "int64"):
            return 0
        case "full" if len(made.args) > 1:
            value = literal(made.args[1])
            return value if type(value) is int else None
        case "pad_sequence":
            written = argument_of(made, 2, "padding_value")
            value = 0 if written is None else literal(written)
            return value if type(value) is int else None
    return None


def _is_filled(target: ast.expr, labels: str) -> bool:
    """``labels[i, :n]``"""
    keys = parts_of_key(target)
    ends = [key.upper for key in keys if isinstance(key, ast.Slice) and key.lower is None and key.upper is not None]
    return isinstance(target, ast.Subscript) and is_name(target.value, labels) and bool(ends)


def _with_ignored(source: SourceText, made: ast.expr) -> Iterator[Candidate]:
    """Filled with -100 in the first place."""
    if called(made) == "zeros" and isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        sizes = ", ".join(source.segment(one) for one in made.args)
        shape = sizes if len(made.args) == 1 and isinstance(made.args[0], ast.Tuple | ast.List) else f"({sizes},)"
        options = "".join(f", {source.segment(one)}" for one in made.keywords)
        package = source.segment(made.func.value)
        yield replacement(source, made, f"{package}.full({shape}, -100{options})")
    elif called(made) == "pad_sequence" and isinstance(made, ast.Call):
        written = argument_of(made, 2, "padding_value")
        if written is None:
            yield added_argument(source, made, "padding_value=-100")


def _counts_all(operation: Operation) -> bool:
    """Whether a loss is a mean over all labels, which no weights of classes and no mask change."""
    options = operation.module.kwargs if operation.module is not None else operation.kwargs
    given = operation.module.args if operation.module is not None else operation.args[2:]
    return not given and options.get("weight") is None and options.get("reduction", "mean") == "mean"


def _padded(labels: Operand) -> Origin | None:
    """The pad_sequence that labels of different lengths come from, with all that it has filled up."""
    origin = labels.tensor.origin
    while origin is not None and origin.operator.rpartition(".")[2] in _ARRANGED and len(origin.sources) == 1:
        origin = origin.sources[0].origin
    if origin is None or not origin.operator.endswith("rnn.pad_sequence"):
        return None
    lengths = [source.spec.shape[0] if source.spec.shape else None for source in origin.sources]
    alike = len(lengths) > 1 and all(type(length) is int and length == lengths[0] for length in lengths)
    return None if alike else origin


def _filling(site: Site) -> int | None:
    """The number that sequences are filled up with, as far as the call says it."""
    if site.call is None or is_spread(site.call.args) or any(one.arg is None for one in site.call.keywords):
        return None
    written = argument_of(site.call, 2, "padding_value")
    if isinstance(written, ast.Name):
        value = site.scene.globals.get(written.id)
        return as_kind(value, int)
    try:
        value = 0 if written is None else ast.literal_eval(written)
    except ValueError:
        return None
    return int(value) if isinstance(value, int | float) and value == int(value) else None


def _ignored(operation: Operation, padding: Site) -> Iterator[Candidate]:
    """Filled up with the number that the loss ignores."""
    source, call = padding.source, padding.call
    if call is not None:
        argument = f"padding_value={ignored_by(operation)}"
        written = argument_of(call, 2, "padding_value")
        if written is None:
            edit = edits.add_argument(source, call, argument)
        else:
            edit = edits.replace(source, written, str(ignored_by(operation)))
        yield Candidate(message("fix.add", text=argument), (edit,))


RULE = Rule(FAULTS[CODE], find)
