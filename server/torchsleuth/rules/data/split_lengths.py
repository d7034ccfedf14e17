"""split-lengths: the parts of random_split do not add up to the dataset.

What it finds
    random_split with lengths whose sum is known to differ from the length of the dataset, such as int(0.8 * n) and
    int(0.2 * n) of 555 samples; fractions whose sum is not 1.
Why it hurts
    ValueError "Sum of input lengths does not equal the length of the input dataset".
Example
    random_split(dataset, [int(0.8 * len(dataset)), int(0.2 * len(dataset))])
Use instead
    random_split(dataset, [int(0.8 * len(dataset)), len(dataset) - int(0.8 * len(dataset))])
Fix safety
    Safe: the last part takes what the others leave.
References
    torch.utils.data.random_split
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.loaders import head
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binary, is_constant, is_display
from torchsleuth.tensors import dims

CODE = "TS612"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        node = fault.at.call
        if fault.kind == "split" and node is not None:
            given, wanted = (dims.text(value) for value in fault.values)
            text = message("data.split", given=given, wanted=wanted)
            yield Finding(head(analysis, fault.at.span.path, node), text, (), _repairs(analysis, fault, node))


def _repairs(analysis: Analysis, fault: DataFault, call: ast.Call) -> Iterator[Candidate]:
    """The last length becomes what the others leave."""
    source = fault.at.source
    given = {part.arg: part.value for part in call.keywords}
    dataset = call.args[0] if call.args else given.get("dataset")
    lengths: ast.expr | None = call.args[1] if len(call.args) > 1 else given.get("lengths")
    if isinstance(lengths, ast.Name):
        name, lengths = lengths.id, last_assignment(analysis, lengths, fault.at)
        if isinstance(lengths, ast.ListComp) and dataset is not None:
            yield from _rest_added(analysis, fault, name, source.segment(dataset))
    if not is_display(lengths) or len(lengths.elts) < 2 or dataset is None:
        return
    last = lengths.elts[-1]
    others = " - ".join(_operand(source.segment(part), part) for part in lengths.elts[:-1])
    whole = f"len({source.segment(dataset)}) - {others}"
    if all(is_constant(part, float) for part in lengths.elts):
        whole = f"{round(1 - sum(part.value for part in lengths.elts[:-1]), 6):g}"  # type: ignore[attr-defined]
    defined = last_assignment(analysis, last, fault.at)
    if defined is not None:
        yield replacement(source, defined, whole)
    yield replacement(source, last, whole)


def _rest_added(analysis: Analysis, fault: DataFault, name: str, dataset: str) -> Iterator[Candidate]:
    """The remainder, added to the last of the lengths in a list."""
    statement = statement_of(analysis, fault.at)
    if statement is not None and is_simple(statement, analysis, fault.at.span.path):
        text = f"{name}[-1] += len({dataset}) - sum({name})"
        edit = edits.insert_line_before(fault.at.source, statement, text)
        yield Candidate(message("fix.insert", text=text), (edit,))


def _operand(text: str, node: ast.expr) -> str:
    return f"({text})" if is_binary(node, ast.Add, ast.Sub) else text


RULE = Rule(FAULTS[CODE], find)
