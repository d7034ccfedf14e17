"""array-in-tensor-dataset: a TensorDataset of what is no tensor.

What it finds
    TensorDataset of NumPy arrays, lists or tuples.
Why it hurts
    The constructor asks for size(0): TypeError "'int' object is not callable" for an array, AttributeError for a list.
Example
    TensorDataset(features, labels)            # NumPy arrays
Use instead
    TensorDataset(torch.from_numpy(features).float(), torch.from_numpy(labels))
Fix safety
    Safe. Features of float64 become float32, which is what layers compute in.
References
    torch.utils.data.TensorDataset, torch.from_numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import head, spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_spread
from torchsleuth.values import Array, ListValue, Value

CODE = "TS617"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        node = fault.at.call
        if fault.kind == "arrays" and node is not None:
            kinds = dict.fromkeys(_kind(value) for value in fault.values if _kind(value))
            text = message("data.arrays", kinds=" and ".join(kinds))
            yield Finding(head(analysis, fault.at.span.path, node), text, (), _converted(analysis, fault, node))


def _kind(value: Value) -> str:
    match value:
        case Array():
            return "NumPy arrays"
        case ListValue():
            return "lists"
    return "tuples" if isinstance(value, tuple) else ""


def _converted(analysis: Analysis, fault: DataFault, call: ast.Call) -> Iterator[Candidate]:
    """Each of them made a tensor."""
    if len(call.args) != len(fault.values) or is_spread(call.args):
        return
    path = fault.at.span.path
    source = analysis.source_of(path)
    changes: list[Edit] = []
    for node, value in zip(call.args, fault.values):
        if not _kind(value):
            continue
        array = isinstance(value, Array)
        name, imports = spelled(analysis, path, "torch.from_numpy" if array else "torch.tensor")
        cast = {"float64": ".float()", "int32": ".long()"}.get(value.spec.dtype or "", "") if array else ""
        changes += [*imports, edits.replace(source, node, f"{name}({source.segment(node)}){cast}")]
    yield Candidate(message("fix.tensors"), tuple(dict.fromkeys(changes)))


RULE = Rule(FAULTS[CODE], find)
