"""The tensors given to an operation, with their expressions; repairs that change one where it is used or was born."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import names_for, passed_for, resized_texts
from torchsleuth.rules.evidence.describe import argument_nodes, expression_text, shape_text
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.schema import Edit, Span
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    given_to,
    is_attribute,
    is_display,
    is_function_call,
    is_method_call,
    is_name,
    is_primary,
    is_spread,
    literal,
    loads,
    names_in,
    nodes_in,
    parts_of_tuple,
    stands_on,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis.shapes import Fits, Shape, Way, fitting, same, same_shape
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import (
    DictValue,
    Instance,
    LibraryModule,
    ListValue,
    Origin,
    Site,
    Tensor,
    Value,
    is_native_kind,
    shape_of,
)
from torchsleuth.values.frames import Scene

_MAX_STEPS = 12
_MAX_ANCESTORS = 60
_MAX_TEXT = 40
_MAX_CALLERS = 4
_SIZED = frozenset("zeros ones empty full rand randn randint".split())
FACTORIES = _SIZED | frozenset("tensor as_tensor arange linspace eye randperm normal tril_indices triu_indices".split())
"""Functions that make a tensor, and take a device."""
_BY_CHANCE = (" * 2", " * 3", " * 4")
"""Ends of what a size may be by chance alone."""


@dataclass(frozen=True)
class Operand:
    """`spec`: what the tensor was at that moment. `node`: the expression, None where it is not written there.
    `name`: of the keyword or the place in the arguments."""

    tensor: Tensor
    spec: TensorSpec
    node: ast.expr | None
    site: Site
    name: str | int

    @property
    def shape(self) -> Shape:
        return self.spec.shape or ()

    def text(self, fallback: str = "the tensor") -> str:
        return expression_text(self.node, fallback)

    def described(self, fallback: str = "the tensor") -> str:
        """```x` (8, 3)``."""
        return f"{self.text(fallback)} {shape_text(self.spec)}"


def operands(operation: Operation) -> list[Operand]:
    """The tensors among the arguments, also those in a list, in order."""
    nodes = argument_nodes(operation) if operation.written else []
    if is_spread(nodes):
        nodes = []
    call = operation.site.call
    keywords = {keyword.arg: keyword.value for keyword in call.keywords} if call is not None else {}
    given: list[tuple[Value, ast.expr | None, str | int]] = [
        (value, nodes[index] if index < len(nodes) else None, index) for index, value in enumerate(operation.args)
    ]
    given += [(value, keywords.get(name), name) for name, value in operation.kwargs.items()]
    specs = iter(operation.specs)
    found: list[Operand] = []
    for value, node, name in given:
        for tensor, part in _tensors(value, node):
            spec = next(specs, tensor.spec)
            found.append(Operand(tensor, spec, part, operation.site, name))
    return found


def _tensors(value: Value, node: ast.expr | None, depth: int = 4) -> Iterator[tuple[Tensor, ast.expr | None]]:
    """The tensors in a tree of containers, in the order of the recorded specs."""
    if isinstance(value, Tensor):
        yield value, node
        return
    items = as_kind(
        value.items if isinstance(value, ListValue) else value.elements if isinstance(value, DictValue) else value,
        tuple,
    )
    if items is None or depth == 0:
        return
    nodes = node.elts if is_display(node) and len(node.elts) == len(items) else [None] * len(items)
    for item, part in zip(items, nodes):
        yield from _tensors(item, part, depth - 1)


def operand(operation: Operation, position: int, *names: str) -> Operand | None:
    """The tensor passed at a position or under one of these names."""
    return next((found for found in operands(operation) if found.name == position or found.name in names), None)


# -- where it is used ------------------------------------------------------------------------------


def written(source: SourceText, node: ast.AST) -> str:
    """An expression as it can stand before a dot."""
    text = source.segment(node)
    plain = is_primary(node)
    return text if plain else f"({text})"


def short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_TEXT else f"{flat[: _MAX_TEXT - 1]}…"


def suffixed(used: Operand, suffix: str, safe: bool = True) -> Iterator[Candidate]:
    """The operand with something appended: ``x.unsqueeze(1)``."""
    if used.node is not None:
        yield appended(used.site, used.node, suffix, safe)


def suffixed_at_birth(used: Operand, suffix: str) -> Iterator[Candidate]:
    """The same where the operand was computed, if that is another expression: ``conv(x).flatten(2).transpose(1, 2)``."""
    origin = used.tensor.origin
    if origin is None or origin.site.call is None:
        return
    if used.node is None or origin.site.span != used.site.source.span(used.node):
        yield appended(origin.site, origin.site.call, suffix, safe=False)


def assigned(used: Operand, suffix: str, safe: bool = True) -> Iterator[Candidate]:
    """The same where a variable in the operand gets its value, so that every use of it has it: ``a = table[t][:, None]``
    for ``a.sqrt() * x``. Only where the variable has the shape of the operand."""
    frame, node = used.site.scene, used.node
    scope = frame.scope
    source = used.site.source
    names = names_in(node) if node is not None else set()
    for name in sorted(names):
        value = as_kind(frame.names.get(name), Tensor)
        if value is None or value.spec.shape is None or not same_shape(value.spec.shape, used.shape):
            continue
        stores = [part for part in ast.walk(scope) if is_name(part, name) and not loads(part)]
        found = [
            part
            for part in nodes_in(scope, ast.Assign)
            if len(part.targets) == 1 and isinstance(part.targets[0], ast.Name)
            if part.targets[0].id == name
        ]
        if len(stores) == len(found) == 1:
            expression = found[0].value
            title = message("fix.append", expression=short(written(source, expression)), suffix=suffix)
            yield Candidate(title, (append(source, expression, suffix),), safe)


def batched_by_callers(node: ast.expr | None, frame: Scene, safe: bool = False) -> Iterator[Candidate]:
    """A batch of one where a function is called with one sample: ``model(image.unsqueeze(0))``. `node`: what the function
    calls the sample."""
    passed = passed_for(node, frame) if isinstance(node, ast.Name) else None
    for _ in range(4):
        if passed is None:
            return
        node, frame = passed
        if not isinstance(node, ast.Constant):
            yield appended(frame.site(node), node, ".unsqueeze(0)", safe)
        passed = passed_for(node, frame)


def appended(site: Site, node: ast.expr, suffix: str, safe: bool = True) -> Candidate:
    source = site.source
    title = message("fix.append", expression=short(written(source, node)), suffix=suffix)
    return Candidate(title, (append(source, node, suffix),), safe)


def append(source: SourceText, node: ast.expr, suffix: str) -> Edit:
    if is_primary(node):
        return edits.insert_after_node(source, node, suffix)
    return edits.replace(source, node, f"({source.segment(node)}){suffix}")


def replaced(site: Site, node: ast.AST, new: str, safe: bool = True) -> Candidate:
    source = site.source
    title = message("fix.replace", old=short(source.segment(node)), new=short(new))
    return Candidate(title, (edits.replace(source, node, new),), safe)


def reversed_alone(used: Operand) -> Iterator[Candidate]:
    """``k.transpose(-2, -1)`` for ``k.T``, which turns all the dimensions around, also that of the batch."""
    node = used.node
    if is_attribute(node, "T") and len(used.shape) > 2:
        text = f"{edits.owner(used.site.source, node)}.transpose(-2, -1)"
        yield replaced(used.site, node, text)


def exchanged(left: Operand, right: Operand) -> Iterator[Candidate]:
    """The operands in the other order."""
    if left.node is None or right.node is None:
        return
    source = left.site.source
    one, two = source.segment(left.node), source.segment(right.node)
    first, second = (
        (two, one) if left.site.call is not None else (written(source, right.node), written(source, left.node))
    )
    changes = (edits.replace(source, left.node, first), edits.replace(source, right.node, second))
    yield Candidate(message("fix.exchange", left=short(one), right=short(two)), changes, safe=False)


def package_name(site: Site, path: str) -> str | None:
    """The name under which a package can be reached where something happens."""
    best: str | None = None
    for name, value in site.scene.globals.items():
        if is_native_kind(value, "package") and isinstance(name, str):
            if value.path == path:
                return name
            if path.startswith(f"{value.path}."):
                best = f"{name}{path.removeprefix(value.path)}"
    return best


# -- shapes that fit -------------------------------------------------------------------------------


def fitted(analysis: Analysis, used: Operand, fits: Fits, *ways: Way, safe: bool | None = None) -> Iterator[Candidate]:
    """The operand rewritten so that its shape fits. `safe`: None where that depends on the rewriting."""
    for made in fitting(used.shape, fits, *ways):
        yield from suffixed(used, made.suffix, made.whole if safe is None else safe)


def fitted_by_callers(analysis: Analysis, used: Operand, fits: Fits, *ways: Way) -> Iterator[Candidate]:
    """The same where the operand is passed to the function, so that every use of it there fits."""
    passed = passed_for(used.node, used.site.scene) if isinstance(used.node, ast.Name) else None
    for _ in range(_MAX_CALLERS):
        if passed is None or isinstance(passed[0], ast.Constant):
            return
        node, frame = passed
        for made in fitting(used.shape, fits, *ways):
            yield appended(frame.site(node), node, made.suffix, made.whole)
        passed = passed_for(node, frame) if isinstance(node, ast.Name) else None


# -- where it comes from ---------------------------------------------------------------------------


def steps(tensor: Tensor, most: int = _MAX_STEPS) -> Iterator[tuple[Tensor, Origin]]:
    """A tensor with its origin, and so on with the first operand of each, as far as origins are known."""
    for _ in range(most):
        origin = tensor.origin
        if origin is None:
            return
        yield tensor, origin
        if not origin.sources:
            return
        tensor = origin.sources[0]


def lineage(analysis: Analysis, tensor: Tensor) -> Iterator[tuple[Tensor, Operation]]:
    """The operations that a tensor was computed by, the last one first, along the first operand of each, up to a layer of which
    too little is known for it to be one of those."""
    for current, origin in steps(tensor):
        operation = analysis.operation_of(origin)
        if operation is not None:
            yield current, operation
        elif origin.operator.startswith("torch.nn."):
            return


def made_by(analysis: Analysis, tensor: Tensor, names: Collection[str], between: Collection[str]) -> Operation | None:
    """The operation of one of these names that a tensor comes from, with nothing but operations named `between` after it."""
    for _, operation in lineage(analysis, tensor):
        if operation.name in names:
            return operation
        if operation.name not in between:
            return None
    return None


def behind(analysis: Analysis, tensor: Tensor, names: Collection[str]) -> Tensor:
    """The tensor that another one comes from, where operations of these names alone are left out."""
    for current, operation in lineage(analysis, tensor):
        if operation.name not in names or not operation.operands:
            return current
        tensor = operation.operands[0]
    return tensor


def ancestry(tensor: Tensor, through: Callable[[str], bool] = lambda _: True) -> Iterator[Origin]:
    """The origins that a tensor was computed by, along all operands. `through`: whether it goes on behind an operator of this name."""
    return (origin for _, origin in _ancestors(tensor, through))


def _ancestors(tensor: Tensor, through: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[Tensor, Origin]]:
    pending, seen = [tensor], set[int]()
    for _ in range(_MAX_ANCESTORS):
        if not pending:
            return
        current = pending.pop()
        origin = current.origin
        if origin is not None and id(origin) not in seen:
            seen.add(id(origin))
            yield current, origin
            pending += origin.sources if through(origin.bare_name) else ()


def recorded(tensor: Tensor) -> Iterator[Tensor]:
    """The tensors that one was computed from with a graph, itself first."""
    pending, seen = [tensor], set[int]()
    while pending and len(seen) < _MAX_ANCESTORS:
        current = pending.pop()
        if id(current) not in seen and current.spec.requires_grad:
            seen.add(id(current))
            yield current
            pending += current.origin.sources if current.origin is not None else ()


def layers_behind(analysis: Analysis, tensor: Tensor, *prefixes: str) -> Iterator[LibraryModule]:
    """The layers of these kinds that a tensor came through, the last one first."""
    for _, operation in lineage(analysis, tensor):
        if operation.module is not None and operation.module.type_name.startswith(prefixes):
            yield operation.module


@dataclass(frozen=True)
class Birth:
    """The call that made a tensor from sizes or data, such as ``torch.zeros(4, 8)``."""

    shape: Shape
    call: ast.Call
    site: Site
    name: str


def birth(tensor: Tensor) -> Birth | None:
    for current, origin in steps(tensor):
        if not origin.sources:
            return _birth_of(current, origin)
    return None


def _birth_of(tensor: Tensor, origin: Origin) -> Birth | None:
    call, name = origin.site.call, origin.name
    return Birth(tensor.spec.shape or (), call, origin.site, name) if call is not None else None


def size_nodes(born: Birth) -> list[ast.expr]:
    """The expressions of the sizes in the call that made a tensor, empty where they are not written one by one."""
    if born.name == "eye" and len(born.call.args) == 1:
        return list(born.call.args) * 2
    if born.name in ("arange", "randperm") and len(born.call.args) == 1:
        return list(born.call.args)
    if born.name not in _SIZED:
        return []
    keyword = argument_of(born.call, None, "size")
    args = list(born.call.args)
    if keyword is None and born.name in ("full", "randint"):
        keyword = first_of(args, ast.Tuple, ast.List)
    if keyword is not None:
        args = [keyword]
    if len(args) == 1 and is_display(args[0]):
        args = list(args[0].elts)
    exact = len(args) == len(born.shape) and not is_spread(args)
    return args if exact else []


def resized(tensor: Tensor, axis: int, wanted: Size) -> Iterator[Candidate]:
    """Give a tensor another size where it was made; the number, or what holds it there."""
    born = birth(tensor)
    if born is not None:
        yield from _made_with(born, axis, wanted)


def resized_ancestors(tensor: Tensor, size: Size, wanted: Size) -> Iterator[Candidate]:
    """Give the tensors that one was computed from another size, where they were made with the one that it has."""
    for ancestor, origin in _ancestors(tensor):
        born = _birth_of(ancestor, origin) if not origin.sources else None
        for axis, own in enumerate(born.shape) if born is not None else ():
            if born is not None and same(own, size):
                yield from _made_with(born, axis, wanted)


def _made_with(born: Birth, axis: int, wanted: Size) -> Iterator[Candidate]:
    if not isinstance(wanted, int):
        return
    nodes = size_nodes(born)
    if not is_index(axis, nodes):
        return
    site, node, given = born.site, nodes[axis], born.shape[axis]
    frame, later = site.scene, list[Candidate]()
    for _ in range(5):
        constant, number = isinstance(node, ast.Constant), str(wanted)
        options = [*([] if constant else names_for(frame, wanted, node)), *size_texts(frame, wanted, node)]
        options += resized_texts(given, node, frame, wanted)
        outer = passed_for(node, frame)
        for new in (*options, number):
            made = replaced(frame.site(node), node, new, safe=False)
            if outer is None or not (new == number or new.endswith(_BY_CHANCE)):
                yield made
            else:  # The number is written elsewhere: rather there.
                later.append(made)
        if outer is None:
            break
        node, frame = outer
    yield from later


def made_wider(used: Operand, missing: int) -> Iterator[Candidate]:
    """Sizes of 1 behind the others, where a tensor is made: ``torch.rand(8, 1, 1, 1)``."""
    born = birth(used.tensor)
    sizes = size_nodes(born) if born is not None else []
    if born is not None and sizes and same_shape(born.shape, used.shape):
        source = born.site.source
        edit = edits.insert_after_node(source, sizes[-1], ", 1" * missing)
        old, at = source.segment(born.call), source.offset(edit.start) - source.offset(source.start_of(born.call))
        new = old[:at] + edit.new_text + old[at:]
        yield Candidate(message("fix.replace", old=short(old), new=short(new)), (edit,))


def sized_otherwise(tensor: Tensor, wrong: Size, wanted: Size) -> Iterator[Candidate]:
    """The call that made a tensor with sizes of another dimension of what they were taken from: ``x.size(1)`` for
    ``x.size(0)``, also where a variable is given them."""
    born = birth(tensor)
    if born is None:
        return
    given = given_to(born.call)
    yield from _of_other_axes(born.site, given, {}, wrong, wanted, safe=False)


def sliced_otherwise(used: Operand, other: Operand) -> Iterator[Candidate]:
    """A part of a table for as many steps as another dimension of the other operand has: ``self.pe[: x.size(1)]`` for
    ``self.pe[: x.size(0)]``."""
    shift = len(other.shape) - len(used.shape)
    if not isinstance(used.node, ast.Subscript) or shift < 0:
        return
    near = {other.node.id: other.shape} if isinstance(other.node, ast.Name) else {}
    for index, size in enumerate(used.shape):
        wanted = other.shape[index + shift]
        if size != 1 and wanted != 1 and not same(size, wanted):
            yield from _of_other_axes(used.site, [used.node.slice], near, size, wanted)


def _of_other_axes(
    site: Site,
    nodes: Iterable[ast.expr],
    near: Mapping[str, Shape],
    wrong: Size,
    wanted: Size,
    safe: bool = True,
) -> Iterator[Candidate]:
    source, changes = site.source, dict[Span, Edit]()
    for part in (part for node in nodes for part in ast.walk(node)):
        edit = _of_other_axis(source, site.scene, part, near, wrong, wanted) if isinstance(part, ast.expr) else None
        if edit is not None:
            changes[Span(edit.path, edit.start, edit.end)] = edit
    if changes:
        first = next(iter(changes))
        old = source.text[source.offset(first.start) : source.offset(first.end)]
        title = message("fix.replace", old=short(old), new=changes[first].new_text)
        yield Candidate(title, tuple(changes.values()), safe)


def _of_other_axis(
    source: SourceText, frame: Scene, node: ast.expr, near: Mapping[str, Shape], wrong: Size, wanted: Size
) -> Edit | None:
    """A size of a tensor, where it is wrong, written as that of the dimension which has the wanted size. `near`: shapes
    of variables at that moment."""
    place, value = node, node
    if isinstance(node, ast.Name):
        scope = frame.scope
        given = [part for part in nodes_in(scope, ast.Assign) if node.id in {ast.unparse(to) for to in _targets(part)}]
        if len(given) != 1 or len(given[0].targets) != 1:
            return None
        place = value = given[0].value
        if isinstance(given[0].targets[0], ast.Tuple):
            names = [ast.unparse(part) for part in given[0].targets[0].elts]
            owner = _shape_owner(value)
            shape = _shape_in(frame, owner, near)
            axis = _axis_of(shape, wanted)
            if owner is None or axis is None or len(names) != len(shape) or names[axis] == "_":
                return None
            return edits.replace(source, node, names[axis]) if same(shape[names.index(node.id)], wrong) else None
    owner, axis = _size_owner(value)
    shape = _shape_in(frame, owner, near)
    other = _axis_of(shape, wanted)
    if owner is None or other is None or not is_index(axis, shape) or not same(shape[axis], wrong):
        return None
    text = ast.unparse(owner)
    return edits.replace(
        source, place, f"{text}.shape[{other}]" if isinstance(value, ast.Subscript) else f"{text}.size({other})"
    )


def _targets(statement: ast.Assign) -> Iterator[ast.expr]:
    for target in statement.targets:
        yield from parts_of_tuple(target)


def _shape_owner(node: ast.expr) -> ast.Name | None:
    """``x`` of ``x.shape`` and ``x.size()``."""
    if isinstance(node, ast.Call) and not node.args and is_attribute(node.func, "size"):
        node = node.func.value
    elif is_attribute(node, "shape"):
        node = node.value
    return as_kind(node, ast.Name)


def _size_owner(node: ast.expr) -> tuple[ast.Name | None, int]:
    """The tensor and the dimension of ``x.size(0)``, ``x.shape[0]`` and ``len(x)``."""
    owner: ast.expr | None = None
    axis: ast.expr | None = ast.Constant(0)
    match node:
        case ast.Call() if len(node.args) == 1 and not node.keywords:
            if is_attribute(node.func, "size"):
                owner, axis = node.func.value, node.args[0]
            elif is_name(node.func, "len"):
                owner = node.args[0]
        case ast.Subscript() if is_attribute(node.value, "shape"):
            owner, axis = node.value.value, node.slice
    place = as_kind(literal(axis), int)
    if not isinstance(owner, ast.Name) or place is None:
        return None, 0
    return owner, place


def _shape_in(frame: Scene, owner: ast.Name | None, near: Mapping[str, Shape]) -> Shape:
    if owner is not None and owner.id in near:
        return near[owner.id]
    value = as_kind(frame.names.get(owner.id), Tensor) if owner is not None else None
    return value.spec.shape or () if value is not None else ()


def _axis_of(shape: Shape, wanted: Size) -> int | None:
    return next((axis for axis, size in enumerate(shape) if same(size, wanted)), None)


def size_texts(frame: Scene, wanted: Size, before: ast.AST) -> Iterator[str]:
    """Sizes of tensors that are at hand above an expression, as expressions: ``x.size(0)``."""
    for name in tensors_above(frame, before):
        tensor = frame.names[name]
        shape = shape_of(tensor)
        index = next((index for index, size in enumerate(shape or ()) if same(size, wanted)), None)
        if index is not None:
            yield f"{name}.size({index})"


def tensors_above(frame: Scene, before: ast.AST) -> list[str]:
    """The names of tensors that are at hand above an expression."""
    return [name for name in _names_above(frame, before) if isinstance(frame.names.get(name), Tensor)]


def _names_above(frame: Scene, before: ast.AST) -> list[str]:
    """Parameters, loop variables and names assigned above an expression and in the same blocks."""
    function = frame.function
    names = [argument.arg for argument in function.node.args.args] if function is not None else []
    body = getattr(frame.scope, "body", None)
    line = getattr(before, "lineno", 0)
    while isinstance(body, list):
        inner: list[ast.stmt] | None = None
        for statement in body:
            if statement.lineno > line:
                break
            around = stands_on(statement, line)
            targets: list[ast.expr] = []
            match statement:
                case ast.Assign() if not around:
                    targets = statement.targets
                case ast.For() if around:
                    targets = [statement.target]
            for target in targets:
                names += [part.id for part in nodes_in(target, ast.Name)]
            if around:
                inner = getattr(statement, "body", None)
        body = inner
    return list(dict.fromkeys(names))


def attribute_module(site: Site, node: ast.expr | None) -> LibraryModule | None:
    """The layer that an expression ``self.name(…)`` calls."""
    if not is_method_call(node):
        return None
    receiver = as_kind(site.scene.receiver, Instance)
    owner = as_kind(node.func.value, ast.Name)
    first = site.scene.function.node.args.args[:1] if site.scene.function is not None else []
    if receiver is None or owner is None or not first or owner.id != first[0].arg:
        return None
    found = receiver.slots.get(node.func.attr)
    return as_kind(found, LibraryModule)


def called_module(site: Site) -> LibraryModule | None:
    """The library module that a call expression calls: ``model(…)`` or ``self.name(…)``."""
    node = site.node
    if is_function_call(node):
        scopes = (site.scene.names, *site.scene.closure, site.scene.globals)
        found = next((names[node.func.id] for names in scopes if node.func.id in names), None)
        return as_kind(found, LibraryModule)
    return attribute_module(site, as_kind(node, ast.Call))
