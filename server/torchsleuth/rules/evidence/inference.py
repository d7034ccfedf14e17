"""Tensors that were made under ``inference_mode``, where an operator outside of it has to keep them for backward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import Operand, operands, replaced
from torchsleuth.rules.rule import Analysis, Finding
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_definition, last_word, nodes_in
from torchsleuth.values import Site, SliceValue, Tensor, tuple_of
from torchsleuth.values.frames import Scene
from torchsleuth.values.graph import FREES, VIEWS, cut_of

_MODE = "inference_mode"


def kept_from_inference(analysis: Analysis) -> Iterator[Finding]:
    """Operators that are recorded, and meet such a tensor: PyTorch refuses to save it."""
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.name not in FREES or operation.site.span in seen or not _is_recorded(operation):
            continue
        for used in operands(operation):
            mode = _made_under(analysis, used)
            if mode is not None:
                seen.add(operation.site.span)
                text = message("inference.saved", tensor=used.text("the tensor"), line=mode.span.start.line)
                places = (mode.span.related(message("inference.mode")),)
                fixes = [
                    replaced(mode, part, mode.source.segment(part).removesuffix(_MODE) + "no_grad")
                    for part in _written(mode.node)
                ]
                yield Finding(operation.site.span, text, places, fixes)
                break


def _is_recorded(operation: Operation) -> bool:
    """Whether something else that an operator was given requires grad, so that it is recorded."""
    trains = operation.module is not None and operation.module.requires_grad is True
    return trains or any(spec.requires_grad is True for spec in operation.specs)


def _made_under(analysis: Analysis, used: Operand) -> Site | None:
    """Where ``inference_mode`` was switched on for the operator that made a tensor."""
    cut, origin = cut_of(used.tensor), _viewed(analysis, used.tensor).origin
    mode = cut.mode if cut is not None and cut.kind == "no_grad" else None
    if mode is None or origin is None or not any(_written(mode.node)):
        return None
    trail = analysis.trail(mode.span.path, mode.node)
    block = next((part for part in reversed(trail) if isinstance(part, ast.With) or is_definition(part)), mode.node)
    inside = frozenset(ast.walk(block))
    made, kept = (_is_within(site, mode, inside) for site in (origin.site, used.site))
    return mode if made and not kept else None


def _viewed(analysis: Analysis, tensor: Tensor) -> Tensor:
    """The tensor that a view is of: a view of one that was made under that mode is of the same kind."""
    while tensor.origin is not None and tensor.origin.sources:
        made = analysis.operation_of(tensor.origin)
        keys = tuple_of(made.args[-1]) if made is not None and made.name == "getitem" else (None,)
        part = all(isinstance(one, int | SliceValue) for one in keys)
        if not part and tensor.origin.name not in VIEWS - {"detach"}:
            break
        tensor = tensor.origin.sources[0]
    return tensor


def _is_within(site: Site, mode: Site, block: frozenset[ast.AST]) -> bool:
    """Whether something happened in a block, or in a function that was called from there."""
    around: list[tuple[Scene, ast.AST | None]] = [(site.scene, site.node)]
    for scene, node in around:
        if scene.path == mode.span.path and node in block:
            return True
        if scene.caller is not None:
            around.append((scene.caller, scene.call))
    return False


def _written(node: ast.AST) -> Iterator[ast.expr]:
    """Where ``inference_mode`` is written in what switches it on: a decorator, or the head of a block."""
    heads: list[ast.AST] = [node]
    if is_definition(node):
        heads = [*node.decorator_list]
    elif isinstance(node, ast.With):
        heads = [item.context_expr for item in node.items]
    for head in heads:
        yield from (part for part in nodes_in(head, ast.Name, ast.Attribute) if last_word(part) == _MODE)


__all__ = ["kept_from_inference"]
