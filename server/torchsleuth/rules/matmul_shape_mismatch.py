"""matmul-shape-mismatch: a matrix product whose inner sizes differ.

What it finds
    Linear, mm, bmm, matmul, addmm or einsum applied to operands whose contracted sizes are not equal, with the
    sizes followed from where they are known to the failing line.
Why it hurts
    PyTorch stops with "mat1 and mat2 shapes cannot be multiplied", far from the line that is wrong.
Example
    fc = nn.Linear(8192, 10)
    fc(torch.randn(64, 16384))
Use instead
    fc = nn.Linear(16384, 10)
Fix safety
    Changing `in_features` where the layer is built is safe: the weights have to have that size. A transposition is
    offered only where it makes the product fit.
References
    torch.nn.Linear, torch.matmul
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.interp.values import LibraryModule, Tensor
from torchsleuth.messages import message
from torchsleuth.rules.constructors import change_argument
from torchsleuth.rules.describe import expression_text, layer_text, operand_node, shape_text
from torchsleuth.rules.operators import failures, generic, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.tensors import dims

CODE = "TS101"


def find(analysis: Analysis) -> Iterator[Finding]:
    plain = {id(failure): finding for failure, finding in zip(failures(analysis, CODE), generic(analysis, CODE))}
    for failure in failures(analysis, CODE):
        operation = failure.operation
        if operation.module is not None and operation.module.path == "torch.nn.Linear" and operation.specs:
            yield _linear(analysis, failure, operation.module)
        elif len(operation.tensors) >= 2 and all(spec.rank for spec in operation.specs[:2]):
            yield _operands(analysis, failure)
        else:
            yield plain[id(failure)]


def _linear(analysis: Analysis, failure: OperatorFailure, layer: LibraryModule) -> Finding:
    operation = failure.operation
    spec = operation.specs[0]
    got = spec.shape[-1] if spec.shape else "?"
    wanted = _argument(layer, 0, "in_features")
    node = operand_node(operation, 0)
    text = message(
        "matmul.linear",
        tensor=expression_text(node, "the input").removeprefix(""),
        shape=shape_text(spec),
        got=got if isinstance(got, str) else dims.text(got),
        layer=layer_text(layer),
        wanted=wanted,
    )
    candidates: list[Candidate] = []
    source = analysis.source_of(operation.site.span.path)
    if node is not None and spec.rank == 2 and spec.shape is not None and spec.shape[0] == 1:
        candidates += _keep_batch(analysis, operation.tensors[0])
    if isinstance(got, int):
        candidates += change_argument(analysis, layer, 0, "in_features", got)
        candidates += _previous_layer(analysis, operation.tensors, wanted)
    if node is not None and spec.rank == 2 and spec.shape is not None and spec.shape[0] == wanted:
        candidates.append(
            Candidate(
                message("fix.transpose", tensor=expression_text(node, "the input")),
                (edits.insert_after_node(source, node, ".T"),),
                safe=False,
            )
        )
    return Finding(operation.site.span, text, trail(analysis, failure, "in_features", wanted), tuple(candidates))


def _keep_batch(analysis: Analysis, tensor: Tensor) -> list[Candidate]:
    """A flatten that swallowed the batch: flatten(1) instead."""
    origin = tensor.origin
    if origin is None or origin.operator not in ("torch.flatten", "Tensor.flatten"):
        return []
    node = origin.site.node
    if not isinstance(node, ast.Call) or node.keywords:
        return []
    source = analysis.source_of(origin.site.span.path)
    receiver = node.args[0] if origin.operator == "torch.flatten" and node.args else None
    text = f"torch.flatten({source.segment(receiver)}, 1)" if receiver is not None else None
    if text is None and isinstance(node.func, ast.Attribute):
        text = f"{source.segment(node.func.value)}.flatten(1)"
    return [Candidate(message("fix.flatten"), (edits.replace(source, node, text),))] if text else []


def _previous_layer(analysis: Analysis, tensors: list[Tensor], wanted: object) -> list[Candidate]:
    """Where the input is the output of another Linear: its out_features may be the wrong one."""
    if not tensors or not isinstance(wanted, int):
        return []
    current = tensors[0]
    for _ in range(8):
        origin = current.origin
        if origin is None or not origin.sources:
            return []
        for operation in analysis.trace.operations:
            if operation.site is origin.site and operation.module is not None:
                if operation.module.path == "torch.nn.Linear":
                    made = change_argument(analysis, operation.module, 1, "out_features", wanted)
                    return [Candidate(item.title, item.edits, safe=False) for item in made][:2]
        current = origin.sources[0]
    return []


def _operands(analysis: Analysis, failure: OperatorFailure) -> Finding:
    operation = failure.operation
    left, right = operation.specs[:2]
    assert left.shape and right.shape
    nodes = [operand_node(operation, index) for index in range(2)]
    inner = right.shape[-2] if len(right.shape) > 1 else right.shape[0]
    text = message(
        "matmul.operands",
        left=expression_text(nodes[0], "the left operand"),
        left_shape=shape_text(left),
        right=expression_text(nodes[1], "the right operand"),
        right_shape=shape_text(right),
        a=dims.text(left.shape[-1]),
        b=dims.text(inner),
    )
    source = analysis.source_of(operation.site.span.path)
    candidates: list[Candidate] = []
    for node, spec in ((nodes[1], right), (nodes[0], left)):
        if node is None or spec.rank is None or spec.rank < 2:
            continue
        suffix = ".T" if spec.rank == 2 else ".transpose(-2, -1)"
        name = expression_text(node, "the operand")
        if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            edit = edits.insert_after_node(source, node, suffix)
        else:
            edit = edits.replace(source, node, f"({source.segment(node)}){suffix}")
        candidates.append(Candidate(message("fix.transpose", tensor=name), (edit,), safe=False))
    candidates += _sizes_at_birth(analysis, operation.tensors[:2], (left.shape[-1], inner))
    return Finding(operation.site.span, text, trail(analysis, failure), tuple(candidates))


def _sizes_at_birth(analysis: Analysis, tensors: list[Tensor], inner: tuple[object, object]) -> list[Candidate]:
    """Operands made by a factory with literal sizes: give one the size of the other."""
    found: list[Candidate] = []
    for tensor, mine, other in ((tensors[1], inner[1], inner[0]), (tensors[0], inner[0], inner[1])):
        origin = tensor.origin
        if origin is None or origin.inputs or not isinstance(origin.site.node, ast.Call) or not isinstance(other, int):
            continue
        source = analysis.source_of(origin.site.span.path)
        sizes = [node for node in origin.site.node.args if isinstance(node, ast.Constant) and node.value == mine]
        if len(sizes) == 1:
            title = message("fix.size", old=source.segment(sizes[0]), new=other)
            found.append(Candidate(title, (edits.replace(source, sizes[0], str(other)),), safe=False))
    return found


def _argument(layer: LibraryModule, position: int, name: str) -> object:
    if name in layer.kwargs:
        return layer.kwargs[name]
    return layer.args[position] if position < len(layer.args) else "?"


RULE = Rule(CODE, "matmul-shape-mismatch", "error", "shape", __doc__, find)
