"""last-step-is-padding: the last step of sequences that are filled up with zeros.

What it finds
    `hidden[:, -1]` of what pad_packed_sequence gives, or `hidden[-1]` where the steps come first.
Why it hurts
    The last step of the longest sequence is padding for all the others: the layer behind it gets zeros for them, and learns from
    the longest alone.
Example
    hidden, lengths = pad_packed_sequence(packed, batch_first=True)
    scores = head(hidden[:, -1])
Use instead
    scores = head(hidden[torch.arange(len(lengths)), lengths - 1])
Fix safety
    Safe: the step that is taken is the last one of each sequence, also of the longest.
References
    torch.nn.utils.rnn.pad_packed_sequence; the state that an LSTM gives is that behind the last step of each sequence, too
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operands import Operand, operands, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import argument_of, called, nodes_in, parts_of_tuple
from torchsleuth.synthesis.shapes import same
from torchsleuth.values import PaddedSteps

CODE = "TS329"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen = set()
    for operation in analysis.trace.operations:
        node = as_kind(operation.site.node, ast.Subscript)
        if operation.target != "operator.getitem" or node is None or operation.site.span in seen:
            continue
        for steps in of_kind(operation.tensors[0].tags, PaddedSteps) if operation.tensors else ():
            table = operands(operation)[0]
            if _is_last(node, steps.axis) and _still(table, steps):
                seen.add(operation.site.span)
                text = message("padded.last", step=operation.site.source.segment(node))
                places = tuple(call_trail(operation.site.scene, limit=1))
                yield Finding(operation.site.span, text, places, tuple(_by_lengths(analysis, table, node, steps)))


def _still(table: Operand, steps: PaddedSteps) -> bool:
    """Whether the dimensions are where they were; if both have one size, that is not told."""
    sizes = (steps.batch, steps.steps) if steps.axis else (steps.steps, steps.batch)
    alike = len(table.shape) >= 2 and all(same(one, other) for one, other in zip(table.shape, sizes))
    return alike and not same(steps.batch, steps.steps)


def _is_last(node: ast.Subscript, axis: int) -> bool:
    """``[:, -1]`` or ``[:, -1, :]``; without a slice in front where the steps are the first dimension."""
    parts = parts_of_tuple(node.slice)
    texts = [ast.unparse(part) for part in parts]
    return texts[: axis + 1] == [":"] * axis + ["-1"] and set(texts[axis + 1 :]) <= {":"}


def _by_lengths(analysis: Analysis, table: Operand, node: ast.Subscript, steps: PaddedSteps) -> Iterator[Candidate]:
    """The last step of each sequence, where its lengths have a name."""
    source, lengths = table.site.source, _lengths(table.site.scene.scope)
    arange, _ = spelled(analysis, source.path, "torch.arange")
    if lengths is not None:
        whole = source.segment(node.value)
        places = [f"{arange}({whole}.size({1 - steps.axis}))", f"{lengths} - 1"]
        index = ", ".join(places if steps.axis else reversed(places))
        yield replaced(table.site, node, f"{whole}[{index}]")


def _lengths(scope: ast.AST) -> str | None:
    """The name of the lengths that pad_packed_sequence gives, or of those that were packed."""
    for made in nodes_in(scope, ast.Assign):
        target = as_kind(made.targets[0], ast.Tuple)
        if called(made.value) == "pad_packed_sequence" and target is not None and len(target.elts) == 2:
            second = as_kind(target.elts[1], ast.Name)
            if second is not None and not second.id.startswith("_"):
                return second.id
    for call in nodes_in(scope, ast.Call):
        given = as_kind(argument_of(call, 1, "lengths"), ast.Name) if called(call) == "pack_padded_sequence" else None
        if given is not None:
            return given.id
    return None


RULE = Rule(FAULTS[CODE], find)
