"""view-not-contiguous: view on a tensor whose memory order does not allow it.

What it finds
    `view` after transpose, permute or slicing, where the new shape spans dimensions that are not adjacent in memory.
Why it hurts
    PyTorch stops with "view size is not compatible with input tensor's size and stride".
Example
    x.transpose(1, 2).view(b, t, c)
Use instead
    x.transpose(1, 2).reshape(b, t, c)
Fix safety
    Safe: reshape copies only where view could not be used.
References
    torch.Tensor.view, torch.Tensor.reshape
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import expression_text, operand_node, shape_text
from torchsleuth.rules.evidence.operators import failures, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call

CODE = "TS105"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure in failures(analysis, CODE):
        operation = failure.operation
        node = operation.site.node
        origin = operation.tensors[0].origin if operation.tensors else None
        producer = origin.name if origin is not None else "slicing"
        text = message(
            "view.layout",
            tensor=expression_text(operand_node(operation, 0), "the tensor"),
            shape=shape_text(operation.specs[0]),
            producer=producer,
        )
        candidates: list[Candidate] = []
        source = operation.site.source
        if is_method_call(node, "view"):
            end = source.end_of(node.func)
            start = source.position(source.offset(end) - len("view"))
            edit = Edit(source.path, start, end, "reshape")
            candidates.append(Candidate(message("fix.reshape"), (edit,)))
            receiver = edits.insert_after_node(source, node.func.value, ".contiguous()")
            candidates.append(Candidate("Add .contiguous() before view", (receiver,)))
        yield Finding(operation.site.span, text, trail(analysis, failure), tuple(candidates))


RULE = Rule(FAULTS[CODE], find)
