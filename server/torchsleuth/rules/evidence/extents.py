"""Repairs of an operand that has one element too many, or that a reduction has taken a dimension from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import names_for
from torchsleuth.rules.evidence.operands import (
    Operand,
    ancestry,
    appended,
    assigned,
    lineage,
    operands,
    replaced,
    suffixed,
)
from torchsleuth.rules.rule import Analysis, Candidate, added_argument
from torchsleuth.schema import Edit
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    is_method_call,
    is_name,
    loads,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
)
from torchsleuth.synthesis.shapes import Shape, broadcast, same_shape
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import Tensor, shape_of
from torchsleuth.values.frames import Scene

_REDUCTIONS = frozenset("mean std var sum norm amax amin logsumexp median nanmean nansum".split())


def kept_dimension(analysis: Analysis, used: Operand, other: Operand) -> Iterator[Candidate]:
    """``keepdim=True`` for the reduction that an operand comes from, and for its like beside it: mean and std."""
    missing = len(other.shape) - len(used.shape)
    for tensor, operation in lineage(analysis, used.tensor):
        node, name = operation.site.call, operation.name
        if operation.module is not None or tensor.spec.shape != used.spec.shape:
            return
        if name not in _REDUCTIONS:
            continue
        given = operation.specs[0].shape
        if node is None or missing < 1 or given is None or not _is_open(node):
            return
        if len(given) != len(other.shape) or broadcast(_reduced(given, used.shape), other.shape) is None:
            return
        source = operation.site.source
        alike = [part for part in _calls_beside(operation.site.scene, node) if _is_open(part)]
        for calls in ([node, *alike], [node]) if alike else ([node],):
            changes: tuple[Edit, ...] = tuple(edits.add_argument(source, call, "keepdim=True") for call in calls)
            yield Candidate(message("fix.add_argument", argument="keepdim=True"), changes)
        return


def reduced_otherwise(analysis: Analysis, used: Operand, other: Operand) -> Iterator[Candidate]:
    """The reduction that an operand comes from over another dimension: ``scores.argmax(dim=1)``, one class a sample."""
    for tensor, operation in lineage(analysis, used.tensor):
        node, name = operation.site.call, operation.name
        if operation.module is not None or tensor.spec.shape != used.spec.shape or node is None:
            return
        if name not in (*_REDUCTIONS, "argmax", "argmin"):
            continue
        given, written = operation.specs[0].shape or (), _written_dims(node, operation)
        if written is None or len(given) != len(used.shape) + 1:
            return
        for dim in range(len(given)):
            if same_shape((*given[:dim], *given[dim + 1 :]), other.shape):
                yield replaced(operation.site, written, str(dim), safe=name.startswith("arg"))
        return


def _written_dims(node: ast.Call, operation: Operation) -> ast.expr | None:
    """The dimensions that a reduction is given."""
    position = 0 if operation.target.startswith("Tensor.") else 1
    written = next((item.value for item in node.keywords if item.arg in ("dim", "axis")), None)
    return written or (node.args[position] if len(node.args) > position else None)


def reduced_further(analysis: Analysis, tensor: Tensor, elements: int) -> Iterator[Candidate]:
    """The reduction that a tensor comes from, and its like beside it, over one dimension more, which leaves so many elements:
    ``images.mean(dim=(0, 2, 3))`` for ``dim=(0, 2)``."""
    for made, operation in lineage(analysis, tensor):
        node = operation.site.call
        if operation.module is not None or made.spec.shape != tensor.spec.shape or node is None:
            return
        if operation.name not in _REDUCTIONS:
            continue
        given, written = operation.specs[0].shape or (), _written_dims(node, operation)
        over = operation.given(1, "dim")
        taken = over if isinstance(over, tuple) else (over,)
        if (
            written is None
            or not is_method_call(node)
            or not all(is_number(dim) and 0 <= dim < len(given) for dim in taken)
        ):
            return
        for dim in reversed([place for place in range(len(given)) if place not in taken]):
            left = [size for place, size in enumerate(given) if place not in (*taken, dim)]
            if all_are(left, int) and prod(left) == elements:
                new = str(tuple(sorted((*taken, dim))))
                calls = (node, *_calls_beside(operation.site.scene, node))
                places = [place for call in calls if (place := _written_dims(call, operation)) is not None]
                source = operation.site.source
                changes = tuple(edits.replace(source, place, new) for place in places)
                yield Candidate(message("fix.replace", old=source.segment(written), new=new), changes)
        return


_SPLITS = frozenset({"chunk", "tensor_split"})


def divided_otherwise(analysis: Analysis, used: Operand, wanted: int) -> Iterator[Candidate]:
    """The source of the operand divided along the last dimension instead of the first, ``chunk(2, dim=-1)``, or the other way
    round, where rows were meant to be divided, and not their columns."""
    for origin in ancestry(used.tensor):
        operation = analysis.operation_of(origin)
        node = operation.site.call if operation is not None else None
        if operation is None or node is None or operation.name not in _SPLITS:
            continue
        given, position = operation.specs[0].shape or (), 1 if operation.target.startswith("Tensor.") else 2
        parts, dim = operation.given(1, "chunks"), operation.given(2, "dim", 0)
        written = argument_of(node, position, "dim")
        whole = len(given) > 1 and dim == 0 and used.shape[-1] == given[-1]
        if whole and is_number(parts) and given[-1] == parts * wanted:
            if written is None:
                yield added_argument(operation.site.source, node, "dim=-1")
            else:
                yield replaced(operation.site, written, "-1")
        elif len(given) > 1 and given[-1] == wanted and dim in (-1, len(given) - 1) and written is not None:
            if not operation.specs[0].requires_grad:  # data: the parts of features that were computed are meant
                yield replaced(operation.site, written, "0")
        return


def _is_open(call: ast.Call) -> bool:
    """Whether a reduction names its dimension and nothing about keeping it."""
    names = {keyword.arg for keyword in call.keywords}
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    count = len(call.args) - (1 if is_name(owner, "torch", "th") else 0)
    return not names & {"keepdim", "keepdims", None} and (names & {"dim", "axis"} != set() or count == 1)


def _reduced(given: Shape, left: Shape) -> Shape:
    """The shape of what was reduced, with 1 where it has what is not left."""
    rest = list(left)
    sizes: list[Size] = []
    for place, size in enumerate(given):
        if rest and rest[0] == size and len(rest) <= len(given) - place:
            sizes.append(rest.pop(0))
        else:
            sizes.append(1)
    return tuple(sizes)


def _calls_beside(frame: Scene, call: ast.Call) -> Iterator[ast.Call]:
    """Other reductions of the same tensor over the same dimension in the same function."""
    assert isinstance(call.func, ast.Attribute)
    own = _reduction(call)
    for part in ast.walk(frame.scope):
        if is_method_call(part, *_REDUCTIONS):
            if part.lineno != call.lineno or part.col_offset != call.col_offset:
                if _reduction(part) == own:
                    yield part


def _reduction(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    keywords = [ast.unparse(keyword) for keyword in call.keywords]
    return ", ".join([ast.unparse(call.func.value), *map(ast.unparse, call.args), *keywords])


def trimmed(used: Operand, other: Operand) -> Iterator[Candidate]:
    """The operand without its last element, where it has just one too many, or without its first, where the function compares
    something shifted by one; or what it was computed from without it."""
    if len(used.shape) != len(other.shape):
        return
    places = [index for index, (a, b) in enumerate(zip(used.shape, other.shape)) if a != b]
    if len(places) != 1:
        return
    axis = places[0]
    longer, wanted = as_kind(used.shape[axis], int), as_kind(other.shape[axis], int)
    if longer is None or wanted is None or longer != wanted + 1 or wanted < 2:
        return
    frame = used.site.scene
    for kept in (*(["1:"] if _is_shifted(frame, axis) else []), ":-1"):
        suffix = f"[{':, ' * axis}{kept}]"
        if len(_uses(frame, used.node)) > 1:
            yield from assigned(used, suffix, safe=False)
        yield from suffixed(used, suffix, safe=False)
    for call in _assigned_calls(frame, used.node):
        for part in call.args:
            value = frame.names.get(part.id) if isinstance(part, ast.Name) else None
            shape = shape_of(value)
            if shape and len(shape) > axis and shape[axis] == longer:
                yield appended(used.site, part, f"[{':, ' * axis}:-1]", safe=False)


def _uses(frame: Scene, node: ast.expr | None) -> list[ast.Name]:
    """Where a function reads the variable that an operand is."""
    if not isinstance(node, ast.Name):
        return []
    return [part for part in nodes_in(frame.scope, ast.Name) if loads(part) and part.id == node.id]


def _is_shifted(frame: Scene, axis: int) -> bool:
    """Whether a function leaves out the first element of something along a dimension: ``targets = ids[:, 1:]``."""
    for part in nodes_in(frame.scope, ast.Subscript):
        slices = parts_of_tuple(part.slice)
        if len(slices) == axis + 1 and ast.unparse(slices[axis]) == "1:":
            return True
    return False


def cut_to_part(analysis: Analysis, operation: Operation) -> Iterator[Candidate]:
    """The value that is assigned to a part of a tensor, without its last element, where it has just one too many: the cosines of an
    odd number of features, of which there is one less than of the sines."""
    given, target = operands(operation), operation.site.node
    statement = as_kind(edits.enclosing_statement(analysis.tree(operation.site.span.path), target), ast.Assign)
    if operation.target != "operator.setitem" or len(given) != 2 or statement is None:
        return
    (part, value), frame = (used.shape for used in given), operation.site.scene
    places = [axis for axis, (short, long) in enumerate(zip(part, value)) if short != long]
    short, long = (part[places[0]], value[places[0]]) if len(places) == 1 else (0, 0)
    if len(part) != len(value) or not is_number(short) or not is_number(long) or long != short + 1 or short < 2:
        return
    halves = [f"{name} // 2" for name in names_for(frame, short + long)]
    before = ":, " * places[0]
    for size in (*halves[:1], f"{ast.unparse(target)}.size({places[0]})"):
        yield appended(operation.site, statement.value, f"[{before}: {size}]")


def _assigned_calls(frame: Scene, node: ast.expr | None) -> Iterator[ast.Call]:
    """The calls whose results a variable is set to in its function."""
    for part in nodes_in(frame.scope, ast.Assign) if isinstance(node, ast.Name) else ():
        if isinstance(part.value, ast.Call):
            names = names_in(*part.targets)
            if node is not None and plain_name(node) in names:
                yield part.value
