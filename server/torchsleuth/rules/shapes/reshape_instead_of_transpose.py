"""reshape-instead-of-transpose: a view that puts a dimension where its elements are not.

What it finds
    view and reshape to sizes taken from a shape (`b, t, c = x.shape`, `x.size(1)`) in another order than the tensor has
    them, or that an array was made with: `x.view(t, b, c)`, `x.reshape(b, h, w, c)` of (b, c, h, w), `x.view(b, heads, t, d)` of (b, t, heads * d), or
    back without a transpose; `x.view(t, b, c)` of what `view(b * t, c)` has merged; images whose channels go from the last
    dimension to the first, or back: `image.view(3, 32, 32)` of (32, 32, 3).
Why it hurts
    A view never moves elements, it only cuts their row into other pieces. The sizes look right, nothing is raised, and
    the values of different samples, steps or channels are mixed.
Example
    b, t, c = x.shape
    x = x.view(t, b, c)
Use instead
    x = x.transpose(0, 1)
Fix safety
    Safe: the sizes stay the same, and each element goes where the sizes say.
References
    torch.Tensor.view, torch.Tensor.permute
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations
from typing import TypeVar

from torchsleuth.faults import FAULTS
from torchsleuth.interp import batch
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence import unpacked
from torchsleuth.rules.evidence.describe import call_trail, expression_text, origin_trail
from torchsleuth.rules.evidence.operands import lineage, operand, replaced, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    is_attribute,
    is_display,
    is_spread,
    last_word,
    nodes_in,
    plain_name,
    targets_of,
)
from torchsleuth.syntax.trees import Index
from torchsleuth.synthesis.shapes import Shape, same, same_shape
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import ListValue, Tensor, Value, is_int, items_of
from torchsleuth.values.frames import Scene

CODE = "TS120"
T = TypeVar("T")
_MERGES = ("view", "reshape", "flatten")
_COLOURS = (3, 4)
"""How many channels an image has, of which they can be told from its height and width."""
_CUTS = frozenset({"view", "reshape"})
_PARTS = frozenset({"getitem", "narrow", "slice"})
_VIEWS = ("Tensor.view", "Tensor.reshape", "torch.reshape")


def find(analysis: Analysis) -> Iterator[Finding]:
    found: dict[tuple[str, int, int], tuple[LibraryCall, Shape, Shape, Finding]] = {}
    others: set[tuple[ast.AST | None, Shape, Shape]] = set()
    for call in (call for path in _VIEWS for call in analysis.calls.get(path, ())):
        node = call.site.call
        if node is None or not isinstance(call.result, Tensor):
            continue
        origin = call.result.origin
        if origin is None or origin.operator != call.path:
            continue
        start = call.site.span.start
        key = (call.site.span.path, start.line, start.column)
        old = origin.inputs[0].shape if origin.inputs else None
        new = call.result.spec.shape
        if old is None or new is None or key in found:
            continue
        if _is_of_a_cut(analysis, call):
            continue
        axis = _misplaced(analysis, call, node, old, new)
        merged = _merged(analysis, call) if axis is None and len(new) > 1 and old else None
        if axis is not None:
            found[key] = call, old, new, _finding(call, node, old, new, axis)
        elif merged is not None and same_shape(new[:2], merged[::-1]) and dims.equal(*merged) is not True:
            found[key] = call, old, new, _cut_again(call, node, merged)
        else:
            others.add((_function(call), old, new))
    # A view back to the shape that was merged and split before puts everything where it was.
    yield from (finding for call, old, new, finding in found.values() if (_function(call), new, old) not in others)
    yield from _by_names(analysis, {(line, column) for path, line, column in found if path == analysis.source.path})


def _by_names(analysis: Analysis, told: set[tuple[int, int]]) -> Iterator[Finding]:
    """``h, w, c = frame.shape``, and ``frame.reshape(c, h, w)``, of something that is not known otherwise."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for scope in analysis.scopes:
        cuts = list(unpacked.cut_in_other_order(scope)) if isinstance(scope, ast.FunctionDef) else []
        for cut in (*cuts, *unpacked.made_in_other_order(scope)):
            start = source.start_of(cut.view)
            if (start.line, start.column) in told:
                continue
            places = [cut.sizes.index(name) for name in cut.order]
            place = next(place for place, before in enumerate(places) if place != before)
            text = message(
                "reshape.scrambles",
                tensor=f"`{source.segment(cut.tensor)}`",
                old=f"({', '.join(cut.sizes)})",
                new=f"({', '.join(cut.order)})",
                size=cut.order[place],
                axis=places[place],
                place=place,
            )
            moved = f"{written(source, cut.tensor)}.transpose({', '.join(map(str, places))})"
            fixes = [replacement(source, cut.view, moved)] if _becomes_tensor(index, cut.view) else []
            yield Finding(source.span(cut.view), text, (), fixes)


def _becomes_tensor(index: Index, view: ast.Call) -> bool:
    """Whether a view is one of an array of NumPy's, which is made a tensor."""
    calls = (call for call in index.of_type(ast.Call) if view in call.args)
    return any(last_word(call.func) in ("from_numpy", "as_tensor", "tensor") for call in calls)


def _is_of_a_cut(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether the tensor is itself a part of one that a view has cut otherwise, as the shift of relative positions does: its
    elements are meant to go elsewhere."""
    tensor = as_kind(call.receiver if isinstance(call.receiver, Tensor) else call.given(0, "input"), Tensor)
    if tensor is None:
        return False
    for made, operation in lineage(analysis, tensor):
        if operation.name not in _PARTS:
            given, after = operand(operation, 0, "input"), made.spec.shape
            before = given.shape if given is not None and operation.name in _CUTS else None
            whole = before is not None and after is not None and len(before) == len(after)
            return whole and not same_shape(before or (), after or ())
    return False


def _function(call: LibraryCall) -> ast.AST | None:
    function = call.site.scene.function
    return None if function is None else function.node


def _misplaced(analysis: Analysis, call: LibraryCall, node: ast.Call, old: Shape, new: Shape) -> tuple[int, int] | None:
    """A dimension of the tensor, and where the view claims to have it although its elements are not there."""
    sizes, values = _sizes(call, node)
    if len(sizes) != len(new) or 0 in new or 0 in old:
        return None
    exchanged = _exchanged(old, new)
    if exchanged is not None and all(_from_shape(analysis, call.site.scene, sizes[place]) for place in exchanged):
        return exchanged
    pairs = list(_aligned(old, new))
    kept, taken = {index for index, _ in pairs}, {place for _, place in pairs}
    for place, (size, value) in enumerate(zip(sizes, values)):
        if place in taken or not is_int(value) or new[place] == 1:
            continue
        axes = [index for index, one in enumerate(old) if same(one, new[place])]
        if len(axes) == 1 and axes[0] not in kept and _from_shape(analysis, call.site.scene, size):
            return axes[0], place
    return _channels(old, new)


def _exchanged(old: Shape, new: Shape) -> tuple[int, int] | None:
    """The only two dimensions, of sizes that are not known to be equal, which a view has in each other's place."""
    if len(old) != len(new):
        return None
    apart = [index for index, (one, other) in enumerate(zip(old, new)) if not same(one, other)]
    if len(apart) != 2 or any(is_number(old[index]) for index in apart):
        return None
    first, second = apart
    return (first, second) if same(old[first], new[second]) and same(old[second], new[first]) else None


def _channels(old: Shape, new: Shape) -> tuple[int, int] | None:
    """Where the channels of an image are, and where the view claims to have them: from the last dimension to the first one of
    the three, or the other way round."""
    if len(old) != len(new) or len(old) < 3 or not same_shape(old[:-3], new[:-3]):
        return None
    one, two, first = old[-3:], new[-3:], len(old) - 3
    for channels_last, channels_first, axis in ((one, two, (first + 2, first)), (two, one, (first, first + 2))):
        *image, channels = channels_last
        sizes = [size for size in of_kind(image, int) if size > max(_COLOURS)]
        if channels in _COLOURS and len(sizes) == 2 and same_shape(channels_first, (channels, *image)):
            return axis
    return None


def _aligned(old: Shape, new: Shape) -> Iterator[tuple[int, int]]:
    """Dimensions of the tensor and what they may be in the view: of the same size, with as many elements in front."""
    before = [dims.product(new[:place]) for place in range(len(new))]
    for index, size in enumerate(old):
        front = dims.product(old[:index])
        for place, other in enumerate(new):
            if dims.equal(size, other) is not False and dims.equal(front, before[place]) is not False:
                yield index, place


def _sizes(call: LibraryCall, node: ast.Call) -> tuple[list[ast.expr], list[Value]]:
    """The sizes of a view as they are written, and their values."""
    nodes, values = list(node.args), list(call.args)
    if call.path == "torch.reshape":
        nodes, values = nodes[1:], values[1:]
    if len(nodes) == 1 and is_display(nodes[0]):
        nodes = list(nodes[0].elts)
    if len(values) == 1 and isinstance(values[0], tuple | ListValue):
        values = list(items_of(values[0]) or ())
    if len(nodes) != len(values) or is_spread(nodes):
        return [], []
    return nodes, values


def _from_shape(analysis: Analysis, frame: Scene, node: ast.expr, depth: int = 3) -> bool:
    """Whether an expression is a size of a tensor: ``x.size(1)``, ``x.shape[1]``, or a name that was given one."""
    match node:
        case ast.Call():
            return is_attribute(node.func, "size") and len(node.args) == 1
        case ast.Subscript():
            return is_attribute(node.value, "shape")
    if not isinstance(node, ast.Name) or not depth:
        return False
    scope = frame.scope
    found = False
    for statement in ast.walk(scope):
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.For | ast.NamedExpr | ast.AnnAssign):
            continue
        targets = targets_of(statement)
        for target in targets:
            names = [part.id for part in nodes_in(target, ast.Name)]
            if node.id not in names:
                continue
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.AugAssign | ast.For) or value is None:
                return False
            whole = is_display(target) and unpacked.is_shape(value)
            part = value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                part = value.elts[names.index(node.id)] if len(names) == len(value.elts) else value
            if not whole and (part is node or not _from_shape(analysis, frame, part, depth - 1)):
                return False
            found = True
    return found


def _finding(call: LibraryCall, node: ast.Call, old: Shape, new: Shape, axis: tuple[int, int]) -> Finding:
    name = expression_text(_receiver(call, node), "the tensor")
    text = message(
        "reshape.scrambles",
        tensor=name,
        old=_text(old),
        new=_text(new),
        size=dims.text(old[axis[0]]),
        axis=axis[0],
        place=axis[1],
    )
    tensor = as_kind(call.receiver if isinstance(call.receiver, Tensor) else call.given(0, "input"), Tensor)
    places = origin_trail(tensor, name) if tensor is not None else []
    places += call_trail(call.site.scene, limit=1)
    return Finding(call.site.span, text, tuple(places), _candidates(call, node, old, new, axis))


def _merged(analysis: Analysis, call: LibraryCall) -> Shape | None:
    """The two dimensions that a view, or flatten, has merged into the first one of the tensor that is cut here; None where
    something in between may have put it in another order."""
    tensor = as_kind(call.receiver if isinstance(call.receiver, Tensor) else call.given(0, "input"), Tensor)
    if tensor is None:
        return None
    for made, operation in lineage(analysis, tensor):
        given, shape = operand(operation, 0, "input"), made.spec.shape
        if given is None or given.spec.shape is None or not shape or made.origin is None:
            return None
        before = given.shape
        if operation.name in _MERGES and len(before) > 1 and same(shape[0], dims.product(before[:2])):
            return before[:2]
        if batch.follow(operation, 0, before, shape, 0) != 0:
            return None
    return None


def _cut_again(call: LibraryCall, node: ast.Call, merged: Shape) -> Finding:
    """Two dimensions that were merged, cut apart in the other order."""
    receiver = _receiver(call, node)
    name = expression_text(receiver, "the tensor")
    first, second = (dims.text(size) for size in merged)
    text = message("reshape.cut_again", tensor=name, first=first, second=second)
    candidates: list[Candidate] = []
    source, nodes = call.site.source, _sizes(call, node)[0]
    if receiver is not None and len(nodes) > 1:
        sizes = ", ".join(source.segment(part) for part in _swapped(tuple(nodes), 0, 1))
        new = f"{written(source, receiver)}.view({sizes}).transpose(0, 1)"
        candidates.append(replaced(call.site, node, new))
    places = (
        (*origin_trail(tensor, name), *call_trail(call.site.scene, limit=1))
        if isinstance(tensor := call.receiver, Tensor)
        else ()
    )
    return Finding(call.site.span, text, tuple(places), tuple(candidates))


def _receiver(call: LibraryCall, node: ast.Call) -> ast.expr | None:
    if call.path == "torch.reshape":
        return node.args[0] if node.args else None
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _text(shape: Shape) -> str:
    return f"({', '.join(dims.text(size) for size in shape)})"


def _candidates(
    call: LibraryCall, node: ast.Call, old: Shape, new: Shape, axis: tuple[int, int]
) -> Iterator[Candidate]:
    receiver = _receiver(call, node)
    if receiver is None:
        return
    source = call.site.source
    text, nodes = written(source, receiver), _sizes(call, node)[0]
    sizes = [source.segment(part) for part in nodes]
    from_index, to_index = axis
    if len(old) == len(new):
        orders = [order for order in permutations(range(len(old))) if order[to_index] == from_index]
        named = _named_order(call.site.scene, nodes)
        for order in ([named] if named in orders else []) + orders:
            if order is not None and same_shape(tuple(old[index] for index in order), new):
                yield replaced(call.site, node, f"{text}{_move(order)}")
    if len(new) < len(old) and axis[0] != axis[1]:
        for order in permutations(range(len(old))):
            if _gathered(old, order, new, axis):
                moved = ", ".join(str(index) for index in order)
                yield replaced(call.site, node, f"{text}.permute({moved}).reshape({', '.join(sizes)})")
                break
    for first, second in ((1, 2), (0, 1), (2, 3)):
        if len(new) == len(old) + 1 and second < len(new) and to_index in (first, second):
            if all(_fits(old, _swapped(new, first, second), index) for index in range(len(old))):
                view = f"{text}.view({', '.join(_swapped(tuple(sizes), first, second))}).transpose({first}, {second})"
                yield replaced(call.site, node, view)
        if len(new) == len(old) - 1 and second < len(old) and {from_index, to_index} == {first, second}:
            if all(_fits(new, _swapped(old, first, second), index) for index in range(len(new))):
                moved = f"{text}.transpose({first}, {second}).reshape({', '.join(sizes)})"
                yield replaced(call.site, node, moved)


def _gathered(old: Shape, order: tuple[int, ...], new: Shape, axis: tuple[int, int]) -> bool:
    """Whether dimensions in this order only have to be merged for a shape, each size in the place that it is claimed for,
    and the others in the order that they had."""
    rest = [index for index in order if index != axis[0]]
    if rest != sorted(rest):
        return False
    turned, start = tuple(old[index] for index in order), 0
    for place, size in enumerate(new):
        end = start + 1
        while end <= len(turned) and not same(dims.product(turned[start:end]), size):
            end += 1
        if end > len(turned) or (place == axis[1] and order[start:end] != (axis[0],)):
            return False
        start = end
    return start == len(turned)


def _swapped(items: tuple[T, ...], first: int, second: int) -> tuple[T, ...]:
    changed = list(items)
    changed[first], changed[second] = changed[second], changed[first]
    return tuple(changed)


def _named_order(frame: Scene, nodes: list[ast.expr]) -> tuple[int, ...] | None:
    """The order that names from one unpacked shape ask for: (0, 2, 1) for ``b, c, t`` after ``b, t, c = x.shape``."""
    scope = frame.scope
    names = [plain_name(node) or "" for node in nodes]
    for statement in nodes_in(scope, ast.Assign):
        if isinstance(statement.targets[0], ast.Tuple):
            given = [part.id if isinstance(part, ast.Name) else "?" for part in statement.targets[0].elts]
            if unpacked.is_shape(statement.value) and sorted(given) == sorted(names) and len(set(given)) == len(given):
                return tuple(given.index(name) for name in names)
    return None


def _fits(coarse: Shape, fine: Shape, index: int) -> bool:
    """Whether a dimension of the coarser shape is one dimension, or several adjacent ones, of the finer."""
    ahead: Size = dims.product(coarse[:index])
    for start in range(len(fine) + 1):
        if same(dims.product(fine[:start]), ahead):
            return any(same(dims.product(fine[start:end]), coarse[index]) for end in range(start, len(fine) + 1))
    return False


def _move(order: tuple[int, ...]) -> str:
    moved = [index for index, place in enumerate(order) if index != place]
    if len(moved) == 2:
        return f".transpose({moved[0]}, {moved[1]})"
    return f".permute({', '.join(str(index) for index in order)})"


RULE = Rule(FAULTS[CODE], find)
