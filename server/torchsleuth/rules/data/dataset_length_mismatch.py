"""dataset-length-mismatch: a TensorDataset of tensors with different numbers of samples.

What it finds
    TensorDataset(inputs, targets) where the first sizes of the tensors are known and differ: windows without their last
    target, the features of one split with the labels of another.
Why it hurts
    The constructor raises AssertionError "Size mismatch between tensors".
Example
    dataset = TensorDataset(train_x, test_y)
Use instead
    dataset = TensorDataset(train_x, train_y)
Fix safety
    Another variable of the right length is offered as safe where its name is closest to what was meant. Cutting all tensors
    to the shortest one is unsafe: it is right for windows, and hides a mistake elsewhere.
References
    torch.utils.data.TensorDataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.loaders import head
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_reference
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Tensor, Value, shape_of

CODE = "TS611"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        node = fault.at.call
        if fault.kind == "lengths" and node is not None:
            shapes = ", ".join(shape_text(value.spec) if isinstance(value, Tensor) else "?" for value in fault.values)
            text = message("data.lengths", shapes=shapes)
            candidates = chain(_renamed(fault, node), _cut(fault, node))
            yield Finding(head(analysis, fault.at.span.path, node), text, (), candidates)


def _size(value: Value) -> Size | None:
    shape = shape_of(value)
    return shape[0] if shape else None


def _renamed(fault: DataFault, call: ast.Call) -> Iterator[Candidate]:
    """Another variable in place of one that does not fit, the one that is called most like it and like the others."""
    sizes = [_size(value) for value in fault.values]
    source, frame = fault.at.source, fault.at.scene
    for place, node in enumerate(call.args[: len(sizes)]):
        wanted = sizes[1 - place] if len(sizes) == 2 else sizes[0]
        if not isinstance(node, ast.Name) or wanted is None or sizes[place] == wanted:
            continue
        others = [part.id for part in of_kind(call.args, ast.Name) if part is not node]
        fitting = [
            name
            for name, value in {**frame.globals, **frame.names}.items()
            if isinstance(name, str) and name not in (node.id, *others) and _size(value) == wanted
        ]
        ranked = sorted(fitting, key=lambda name: -_likeness(name, node.id, others))
        for name in ranked[:1]:
            if _likeness(name, node.id, others) > 1:
                title = message("fix.replace", old=node.id, new=name)
                yield Candidate(title, (edits.replace(source, node, name),), place > 0)


def _likeness(name: str, old: str, others: list[str]) -> float:
    return SequenceMatcher(None, name, old).ratio() + max(
        (SequenceMatcher(None, name, other).ratio() for other in others), default=0.0
    )


def _cut(fault: DataFault, call: ast.Call) -> Iterator[Candidate]:
    """Every tensor cut to the length of the shortest."""
    sizes = [_size(value) for value in fault.values]
    known = [size for size in sizes if size is not None]
    shortest = next((size for size in known if all(_at_most(size, other) for other in known)), None)
    if shortest is None or len(known) != len(sizes) or len(call.args) != len(sizes):
        return
    source = fault.at.source
    limit = source.segment(call.args[sizes.index(shortest)])
    longer = [node for node, size in zip(call.args, sizes) if size != shortest]
    if all(is_reference(node) for node in (*longer, call.args[sizes.index(shortest)])):
        changes = tuple(edits.insert_after_node(source, node, f"[: len({limit})]") for node in longer)
        yield Candidate(message("fix.cut", text=limit), changes, safe=False)


def _at_most(left: Size, right: Size) -> bool:
    return left == right or dims.positive(dims.subtract(right, left)) == 1


RULE = Rule(FAULTS[CODE], find)
