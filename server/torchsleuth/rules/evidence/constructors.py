"""Edits of a layer's constructor: finds the argument, follows it to where its value was written, proposes values."""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.rule import Analysis, Candidate, appended, replacement
from torchsleuth.schema import Related
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    given_to,
    is_attribute,
    is_binary,
    is_dotted,
    is_function_call,
    is_method_call,
    is_name,
    is_place,
    is_reference,
    is_text,
    literal,
    names_in,
    nodes_in,
    plain_name,
    stored_in,
    written_index,
)
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.trees import index
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import (
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    Value,
    is_int,
    is_object_named,
    items_of,
)
from torchsleuth.values.frames import Scene

_LITERALS = (ast.Constant, ast.Tuple, ast.List)
"""Expressions as which a number, or a list of them, is written."""
_SUBSCRIPTED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List)
"""Expressions that an index can stand behind."""
_SIZED = ("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "LSTM", "GRU", "RNN", "Norm", "Norm1d", "Norm2d")
"""Ends of the names of layers whose first arguments are sizes."""
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_NEAR = 8
"""How large a number may be that is taken for a mistaken one."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def argument_node(module: LibraryModule, position: int, name: str) -> ast.expr | None:
    """The expression of a constructor argument as written."""
    call = module.site.call if module.site is not None else None
    return argument_of(call, position, name) if call is not None else None


def change_argument(
    analysis: Analysis, module: LibraryModule, position: int, name: str, wanted: int
) -> Iterator[Candidate]:
    """Ways to give the layer the wanted size, the most likely first: a variable of the constructor's scope that
    holds it, the number itself, or the argument of the call that the number was passed through."""
    node = argument_node(module, position, name)
    if node is None or module.site is None:
        return
    if module.given(position, name) == wanted:
        return
    given = module.given(position, name)
    for term in _terms(node):
        held = _constant(term, module.site.scene)
        if term is node:
            yield from _mistaken(analysis, module, node, wanted)
        elif held is not None and isinstance(given, int):
            yield from _mistaken(analysis, module, term, held + wanted - given)
    frame, layer = module.site.scene, layer_text(module)
    seen: set[str] = set()
    numbers: list[Candidate] = []
    for step in range(4):
        source = analysis.source_of(frame.path)
        old = source.segment(node)
        names = list(names_for(frame, wanted, node)) if not isinstance(node, ast.Constant) else []
        names += _entries(node, frame, wanted)
        names += [source.segment(part) for part in _part_of(node, module.given(position, name), wanted)]
        if step == 0:
            names += _of_predecessor(analysis, module, name)
            names += _sums(module, node, wanted)
        names += _renumbered(module.given(position, name), node, frame, wanted)
        names += resized_texts(module.given(position, name), node, frame, wanted)
        outer = passed_for(node, frame)
        yield from _carried(analysis, node, frame)
        yield from _reversed(analysis, node, frame)
        for new in (*names, str(wanted)):
            key = f"{node.lineno}:{node.col_offset}:{' * '.join(sorted(new.split(' * ')))}"
            if new != old and key not in seen:
                seen.add(key)
                title = message("fix.argument", argument=name, layer=layer, old=old, new=new)
                made = Candidate(title, (edits.replace(source, node, new),))
                if new in names or outer is None and not _is_of_loop(analysis, node, frame):
                    yield made
                elif outer is not None:  # The number is written elsewhere: rather there.
                    numbers.append(made)
        if isinstance(given, int):
            yield from _growing(analysis, node, frame, wanted - given)
        if outer is None:
            yield from numbers
            given = module.given(position, name)
            if isinstance(node, ast.Name) and isinstance(given, int):
                yield from _widened(analysis, node, frame, wanted - given)
            return
        node, frame = outer


def _is_of_loop(analysis: Analysis, node: ast.expr, frame: Scene) -> bool:
    """Whether a variable has another value in each round of a loop or comprehension around."""
    around = analysis.trail(frame.path, node)
    loops = [
        *of_kind(around, ast.For, ast.AsyncFor),
        *(one for part in around for one in getattr(part, "generators", ())),
    ]
    return plain_name(node) in names_in(*(loop.target for loop in loops))


def _carried(analysis: Analysis, node: ast.expr, frame: Scene) -> Iterator[Candidate]:
    """A layer that a loop builds, where no round tells the next one what it gives: ``channels = width`` at its end."""
    around = analysis.trail(frame.path, node)
    loops = [part for part in around if isinstance(part, ast.For | ast.AsyncFor | ast.ListComp | ast.GeneratorExp)]
    call = next((part for part in of_kind(reversed(around), ast.Call) if node in given_to(part)), None)
    loop = as_kind(loops[-1], ast.For) if loops else None
    if not isinstance(node, ast.Name) or call is None or loop is None or call not in ast.walk(loop):
        return
    stored = stored_in(loop)
    gives = next((part for part in given_to(call) if part is not node and not isinstance(part, ast.Constant)), None)
    varies = gives is not None and any(part.id in stored for part in nodes_in(gives, ast.Name))
    if gives is not None and varies and node.id not in stored and loop.body[0].lineno > loop.lineno:
        source = analysis.source_of(frame.path)
        line = f"{node.id} = {source.segment(gives)}"
        yield Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, loop.body[-1], line),))


def _reversed(analysis: Analysis, node: ast.expr, frame: Scene) -> Iterator[Candidate]:
    """A layer that a loop over a list of widths builds, such as those of a decoder, of the list from its end:
    ``build(widths[::-1])``."""
    around = analysis.trail(frame.path, node)
    loops = [part for part in around if isinstance(part, ast.For | ast.ListComp | ast.GeneratorExp)]
    over = [part.iter if isinstance(part, ast.For) else part.generators[0].iter for part in loops]
    indexed = [part.value for part in nodes_in(node, ast.Subscript)] if loops else []
    seen: set[str] = set()
    for part in (inner for outer in (*over, *indexed) for inner in ast.walk(outer)):
        sizes = _local(frame, part.id) if isinstance(part, ast.Name) else None
        items = items_of(sizes)
        if not isinstance(part, ast.Name) or part.id in seen or items is None or not all(map(is_int, items)):
            continue
        seen.add(part.id)
        place = passed_for(part, frame)
        if len(items) > 1 and items != items[::-1] and place is not None and isinstance(place[0], _SUBSCRIPTED):
            source, given = analysis.source_of(place[1].path), place[0]
            yield appended(source, given, "[::-1]", safe=False)


def _of_predecessor(analysis: Analysis, module: LibraryModule, name: str) -> list[str]:
    """The size of the layer that a new one takes the place of: ``model.fc.in_features``."""
    site = module.site
    call = analysis.index(site.span.path).same(site.node) if site is not None else None
    statement = (
        as_kind(edits.enclosing_statement(analysis.tree(site.span.path), call), ast.Assign)
        if site is not None and call
        else None
    )
    if site is None or statement is None or statement.value is not call:
        return []
    target, method = statement.targets[0], site.scene.function
    first = (
        method.node.args.args[0].arg
        if method is not None and method.owner is not None and method.node.args.args
        else ""
    )
    own = is_dotted(target, first)
    return [f"{ast.unparse(target)}.{name}"] if isinstance(target, ast.Attribute) and not own else []


def _entries(node: ast.expr, frame: Scene, wanted: int) -> Iterator[str]:
    """The entries of the list that an argument is one of which hold the wanted size: ``hidden[-1]`` for ``hidden[0]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or written_index(node.slice) is None:
        return
    sizes = _local(frame, node.value.id)
    items = items_of(sizes)
    if not items:
        return
    for place in (-1, *range(len(items) - 1)):
        if is_int(items[place]) and items[place] == wanted:
            yield f"{node.value.id}[{place}]"


def _growing(analysis: Analysis, node: ast.expr, frame: Scene, more: int) -> Iterator[Candidate]:
    """A size that grows from one round of a loop to the next, where what is joined to the input is forgotten:
    ``channels += growth`` behind the layer, or ``channels + i * growth`` for it."""
    around = analysis.trail(frame.path, node)
    inside = max((place for place, part in enumerate(around) if isinstance(part, _SCOPES)), default=0)
    source, amounts = analysis.source_of(frame.path), [*names_for(frame, more, node), str(more)]
    text, title = source.segment(node), "fix.insert"
    for part, inner in zip(around[inside:], around[inside + 1 :]):
        if isinstance(part, ast.For) and isinstance(inner, ast.stmt) and isinstance(node, ast.Name) and more > 0:
            simple = as_kind(inner, ast.Expr, ast.Assign)
            for amount in amounts if simple is not None and simple.lineno > part.lineno else ():
                line = f"{text} += {amount}"
                yield Candidate(message(title, text=line), (edits.insert_line_after(source, inner, line),))
    for part in reversed(around[inside:]):
        loop = part.generators[0] if isinstance(part, ast.ListComp | ast.GeneratorExp) else part
        if isinstance(loop, ast.For | ast.comprehension) and isinstance(loop.target, ast.Name) and more > 0:
            if _counts_from_zero(loop.iter):
                name = "i" if loop.target.id.startswith("_") else loop.target.id
                changes = () if name == loop.target.id else (edits.replace(source, loop.target, name),)
                for amount in amounts:
                    new = f"{text} + {name} * {amount}"
                    edit = edits.replace(source, node, new)
                    yield Candidate(message("fix.replace", old=text, new=new), (*changes, edit))
            return


def _counts_from_zero(node: ast.expr) -> bool:
    """``range(n)``."""
    return is_function_call(node, "range") and len(node.args) == 1


def _mistaken(analysis: Analysis, module: LibraryModule, node: ast.expr, wanted: int) -> Iterator[Candidate]:
    """Where the size was passed to a model: the setting of that name that holds the wanted size, or the two arguments
    the other way round."""
    place, inner = (node, module.site.scene) if module.site is not None else None, None
    for _ in range(4):
        inner, place = place, passed_for(*place) if place is not None else None
        if place is None or inner is None:
            return
        node, frame = place
        call = next((one for one in (inner[1].call,) if one is not None and node in given_to(one)), None)
        if call is None or inner[1].function is None:
            continue
        source, parameter = analysis.source_of(frame.path), plain_name(inner[0]) or ""
        options = [
            f"{name}.{parameter}"
            for name, held in frame.names.items()
            if isinstance(name, str) and isinstance(held, Instance | LibraryObject)
            if held.slots.get(parameter) == wanted and is_int(held.slots.get(parameter))
        ]
        for new in options:
            yield replacement(source, node, new)
        for other in given_to(call):
            if other is not node and _constant(other, frame) == wanted and _constant(node, frame) is not None:
                one, two = source.segment(node), source.segment(other)
                changes = (edits.replace(source, node, two), edits.replace(source, other, one))
                yield Candidate(message("fix.exchange", left=one, right=two), changes, safe=False)


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a sum that are names, or the whole expression if it is no sum."""
    if is_binary(node, ast.Add):
        yield from (term for side in (node.left, node.right) for term in of_kind(_terms(side), ast.Name))
    else:
        yield node


def _constant(node: ast.expr, frame: Scene) -> int | None:
    """The integer that an argument is: written there, or under a name."""
    value: object = literal(node)
    if isinstance(node, ast.Name):
        value = next((names[node.id] for names in (frame.names, frame.globals) if node.id in names), None)
    return value if is_number(value) else None


def _part_of(node: ast.expr, given: object, wanted: int) -> Iterator[ast.expr]:
    """The rest of a size without a number that is added to it or that it is multiplied with: ``hidden`` of
    ``2 * hidden``."""
    for part, other in ((node.left, node.right), (node.right, node.left)) if isinstance(node, ast.BinOp) else ():
        number = (
            as_kind(other.value, int)
            if isinstance(other, ast.Constant) and not isinstance(part, ast.Constant)
            else None
        )
        if number is None or number < 1 or not isinstance(node, ast.BinOp):
            continue
        made = {ast.Add: wanted + number, ast.Mult: wanted * number}
        if part is node.left:
            made |= {ast.Sub: wanted - number, ast.FloorDiv: wanted // number}
        if made.get(type(node.op)) == given:
            yield part


def _widened(analysis: Analysis, node: ast.Name, frame: Scene, missing: int) -> Iterator[Candidate]:
    """The first value of a variable, with the amount that it lacks: ``width = sum(sizes) + cfg.numeric``."""
    scope = frame.scope
    given = [
        statement
        for statement in nodes_in(scope, ast.Assign)
        if len(statement.targets) == 1 and statement.lineno < node.lineno
        if is_name(statement.targets[0], node.id)
    ]
    if not given:
        return
    value = min(given, key=lambda statement: statement.lineno).value
    source = analysis.source_of(frame.path)
    text, sign = source.segment(value), "+" if missing > 0 else "-"
    for amount in (*names_for(frame, abs(missing)), str(abs(missing))):
        new = f"{text} {sign} {amount}"
        yield Candidate(message("fix.replace", old=text, new=new), (edits.replace(source, value, new),), safe=False)


def _sums(module: LibraryModule, node: ast.expr, wanted: int) -> Iterator[str]:
    """The wanted size out of what the constructor's other arguments are called: ``skip``, ``deep + skip``, ``2 * deep``.
    Their values are those at the time of the call, also in a loop."""
    call = module.site.call if module.site is not None else None
    if call is None or isinstance(node, ast.Constant):
        return
    named: dict[str, int] = {}
    for part, value in zip(call.args, module.args):
        if is_reference(part) and is_number(value):
            named[ast.unparse(part)] = value
    yield from (text for text, value in named.items() if value == wanted)
    yield from (f"2 * {text}" for text, value in named.items() if 2 * value == wanted)
    for (one, a), (two, b) in combinations(named.items(), 2):
        if a + b == wanted:
            yield f"{one} + {two}"


def _renumbered(given: object, node: ast.expr, frame: Scene, wanted: int) -> Iterator[str]:
    """A size with another number in the expression that gives it: ``anchors * (5 + classes)`` for
    ``anchors * (4 + classes)``."""
    node = copy.deepcopy(node)
    parts = list(ast.walk(node)) if isinstance(node, ast.BinOp) else []
    if not any_are(parts, ast.Name) or computed(node, frame) != given:
        return
    for part in parts:
        old = literal(part)
        if not isinstance(part, ast.Constant) or not is_number(old):
            continue
        for number in sorted(range(1, 2 * _NEAR), key=lambda number: abs(number - old)):
            part.value = number
            fits, text = number != old and computed(node, frame, exact=True) == wanted, ast.unparse(node)
            part.value = old
            if fits:
                yield text
                break


def computed(node: ast.expr, frame: Scene, exact: bool = False) -> int | None:
    """The value of an expression of numbers, names and attributes; `exact`: None where a division leaves something."""
    value: object = held(node, frame)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = computed(node.left, frame, exact), computed(node.right, frame, exact)
        if left is None or right is None or (isinstance(node.op, ast.FloorDiv | ast.Mod) and right == 0):
            return None
        if exact and isinstance(node.op, ast.FloorDiv) and left % right:
            return None
        if isinstance(node.op, ast.Pow) and not 0 <= right <= _NEAR:
            return None
        return _ARITHMETIC[type(node.op)](left, right)
    return value if is_number(value) else None


def resized_texts(given: object, node: ast.expr, frame: Scene, wanted: int) -> Iterator[str]:
    """A size out of the expression that gives another one: ``channels + 1``, ``2 * dim + edge_dim``, ``width * 2``,
    ``side // stride``."""
    if (
        not isinstance(given, int)
        or given < 1
        or wanted < 1
        or isinstance(node, ast.Constant | ast.IfExp | ast.Starred)
    ):
        return
    text = ast.unparse(node)
    yield from _fields_beside(node, frame, wanted)
    if is_binary(node, ast.Mult):
        # 3 * hidden, of which there are 4.
        for factor, rest in ((node.left, node.right), (node.right, node.left)):
            if isinstance(factor, ast.Constant) and isinstance(factor.value, int) and factor.value > 0:
                unit, uneven = divmod(given, factor.value)
                if not uneven and wanted % unit == 0:
                    new, kept = wanted // unit, ast.unparse(rest)
                    yield f"{new} * {kept}" if factor is node.left else f"{kept} * {new}"
    more, less = wanted - given, given - wanted
    times, parts = divmod(wanted, given), divmod(given, wanted)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    product = text if plain or is_binary(node, ast.Mult) else f"({text})"
    if times[1] == 0 and times[0] > 1:
        if times[0] == given and plain:
            yield f"{text} * {text}"
        yield from (f"{product} * len({name})" for name in _lists(frame, times[0]))
        yield from (f"{product} * {name}" for name in _factors(frame, times[0], node) if name.split(".")[-1] != text)
        if times[0] <= 4:
            yield f"{product} * {times[0]}"
    if more > 2:
        yield from (f"{text} + {name}" for name in names_for(frame, more, node) if name != text)
    elif more > 0:
        yield f"{text} + {more}"
    if less > 0:
        yield from (f"{text} - {name}" for name in names_for(frame, less, node) if name != text)
    if parts[1] == 0 and parts[0] > 1:
        yield from (f"{product} // {name}" for name in _factors(frame, parts[0], node) if name != text)
        if parts[0] == 2:
            yield f"{product} // 2"


def _fields_beside(node: ast.expr, frame: Scene, wanted: int) -> Iterator[str]:
    """Other fields of the object that a size is taken from which hold the wanted one: ``cfg.context`` for ``cfg.block``."""
    if isinstance(node, ast.Attribute):
        for name, value in _fields_of(held(node.value, frame)).items():
            if is_number(value) and value == wanted and name != node.attr:
                yield f"{ast.unparse(node.value)}.{name}"


def _factors(frame: Scene, wanted: int, before: ast.AST) -> Iterator[str]:
    """Of the names for a number those that a size may be multiplied with: `heads`, rather than `n_classes`, which is a size
    itself, for it is given to a layer as one."""
    parts = list(ast.walk(frame.scope))
    sizes = {
        ast.unparse(argument)
        for part in of_kind(parts, ast.Call)
        if ast.unparse(part.func).endswith(_SIZED)
        for argument in part.args[:2]
    }
    names = [name for name in names_for(frame, wanted, before) if name not in sizes]
    there = {ast.unparse(part) for part in ast.walk(before)}
    yield from [name for name in names if name in there] or names


def _lists(frame: Scene, count: int) -> Iterator[str]:
    """Parameters of the enclosing function that are lists of so many."""
    for argument in frame.function.node.args.args[:16] if frame.function is not None else ():
        value = _local(frame, argument.arg)
        items = items_of(value)
        if items is not None and len(items) == count:
            yield argument.arg


def names_for(frame: Scene, wanted: int, before: ast.AST | None = None) -> Iterator[str]:
    """Parameters of the enclosing function, fields of its objects, and the variables that it sets above `before`, that
    hold the wanted size."""
    if frame.function is None:
        return
    fields: list[str] = []
    for argument in frame.function.node.args.args[:16]:
        value = _local(frame, argument.arg)
        if is_number(value) and value == wanted:
            yield argument.arg
        elif isinstance(value, Instance):
            for field, held in value.slots.items():
                if is_number(held) and held == wanted:
                    fields.append(f"{argument.arg}.{field}")
    body = as_kind(frame.function.node.body, list)
    if before is not None and body is not None:
        yield from _variables(frame, body, wanted, getattr(before, "lineno", 0))
    yield from fields


def _local(frame: Scene, name: str) -> Value:
    """A variable of a function, also as a comprehension in it sees it."""
    return next((names[name] for names in (frame.names, *frame.closure[:1]) if name in names), None)


def _variables(frame: Scene, body: list[ast.stmt], wanted: int, line: int) -> Iterator[str]:
    """Variables that a function sets once, above a line and outside of blocks, to the wanted size."""
    stored = [
        part.id for statement in body for part in nodes_in(statement, ast.Name) if isinstance(part.ctx, ast.Store)
    ]
    for statement in of_kind(body, ast.Assign):
        if statement.lineno < line:
            for part in (name for target in statement.targets for name in ast.walk(target)):
                value = _local(frame, part.id) if isinstance(part, ast.Name) else None
                if isinstance(part, ast.Name) and stored.count(part.id) == 1:
                    if is_number(value) and value == wanted:
                        yield part.id


def passed_for(node: ast.expr, frame: Scene) -> tuple[ast.expr, Scene] | None:
    """Where the value of an expression was written: the argument of the call that made this frame, the default of the
    parameter, the number that a variable or the field of a configuration was given."""
    match node:
        case ast.Attribute():
            written = _field(node, frame)
            return _kept(node, frame) if written is None else written
        case ast.Subscript():
            entry = _entry(node, frame)
            return None if entry is None else (entry, frame)
    function = frame.function
    if not isinstance(node, ast.Name):
        return None
    if function is not None:
        spec = function.node.args
        names = [argument.arg for argument in by_position(spec)]
        if node.id in names:
            return _argument(function, names.index(node.id), node.id, frame)
    number = _number(frame.scope, node.id) or (_number(parse(frame.source), node.id) if function is not None else None)
    return None if number is None else (number, frame)


def written_for(node: ast.expr, frame: Scene) -> tuple[ast.expr, Scene] | None:
    """Where what an expression stands for was written: the expression itself, or what its name was passed."""
    place: tuple[ast.expr, Scene] | None = (node, frame)
    for _ in range(5):
        if place is None or not is_place(place[0]):
            return place
        place = passed_for(*place)
    return None


def _kept(node: ast.Attribute, frame: Scene) -> tuple[ast.expr, Scene] | None:
    """Where the value of ``self.size`` was written: what ``__init__`` assigns to it, once; where that is a parameter of
    it, or a field of one, the argument of the call that made the object."""
    found, owner = kept_in_init(node, frame), as_kind(frame.receiver, Instance)
    if found is None or owner is None:
        return None
    method, value = found
    return (value, frame) if isinstance(value, _LITERALS) else _given(method, value, owner)


def kept_in_init(node: ast.Attribute, frame: Scene) -> tuple[ast.FunctionDef, ast.expr] | None:
    """The ``__init__`` that assigns to ``self.size``, and what, if that is the only place of the class that does."""
    owner, function = as_kind(frame.receiver, Instance), frame.function
    if owner is None or not isinstance(node.value, ast.Name) or function is None:
        return None
    first = function.node.args.args[:1]
    if not first or first[0].arg != node.value.id or owner.cls.path != frame.path or owner.site is None:
        return None
    methods = of_kind(owner.cls.node.body, ast.FunctionDef)
    given = [
        (method, value)
        for method in methods
        for statement in nodes_in(method, ast.Assign)
        for target, value in assigned_pairs(statement)
        if is_attribute(target, node.attr)
    ]
    return given[0] if len(given) == 1 and given[0][0].name == "__init__" else None


def _given(method: ast.FunctionDef, value: ast.expr, owner: Instance) -> tuple[ast.expr, Scene] | None:
    """The argument of the call that made an object for a parameter of its constructor, or for a field of one."""
    names = [argument.arg for argument in by_position(method.args)]
    name = as_kind(value.value if isinstance(value, ast.Attribute) else value, ast.Name)
    site = owner.site
    if name is None or name.id not in names or site is None or site.call is None:
        return None
    written = argument_of(site.call, names.index(name.id) - 1, name.id) or _spread(site.call, name.id, site.scene)
    if isinstance(value, ast.Attribute):
        if not isinstance(written, ast.Name):
            return None
        return _field(ast.Attribute(written, value.attr, ast.Load()), site.scene)
    if written is not None:
        return written, site.scene
    place = names.index(name.id) - (len(names) - len(method.args.defaults))
    default = method.args.defaults[place] if place >= 0 else None
    return (default, site.scene) if isinstance(default, _LITERALS) and owner.cls.path == site.scene.path else None


def _argument(function: Function, index: int, name: str, frame: Scene) -> tuple[ast.expr, Scene] | None:
    method = function.owner is not None and function.kind == "function"
    if frame.caller is not None and frame.call is not None:
        written = argument_of(frame.call, index - 1 if method else index, name) or _spread(
            frame.call, name, frame.caller
        )
        if written is not None:
            return written, frame.caller
    spec = function.node.args
    count = len(by_position(spec))
    place = index - (count - len(spec.defaults))
    default = spec.defaults[place] if place >= 0 else None
    return (default, frame) if isinstance(default, _LITERALS) else None


def _spread(call: ast.Call, name: str, frame: Scene) -> ast.expr | None:
    """The entry for a parameter of the dict of options that a call passes: ``Model(**options)``."""
    spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
    return _entry(ast.Subscript(spread[0], ast.Constant(name), ast.Load()), frame) if len(spread) == 1 else None


def _entry(node: ast.Subscript, frame: Scene) -> ast.expr | None:
    """The number under a key of a dict that is written down: ``{"dim": 64}`` or ``dict(dim=64)``, also inside another."""
    if not is_text(node.slice):
        return None
    table = _table(node.value, frame)
    found: list[ast.expr] = []
    match table:
        case ast.Dict():
            found = [
                value
                for key, value in zip(table.keys, table.values)
                if isinstance(key, ast.Constant) and key.value == node.slice.value
            ]
        case ast.Call():
            found = [keyword.value for keyword in table.keywords if keyword.arg == node.slice.value]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Constant | ast.Dict) else None


def _table(node: ast.expr, frame: Scene) -> ast.expr | None:
    """The dict display, or call of dict, that a name or an entry of another dict stands for."""
    if isinstance(node, ast.Subscript):
        return _entry(node, frame)
    if not isinstance(node, ast.Name):
        return None
    scopes: list[ast.AST] = [frame.function.node] if frame.function is not None else []
    for scope in (*scopes, parse(frame.source)):
        stores = [part for part in ast.walk(scope) if is_name(part, node.id)]
        if sum(isinstance(part.ctx, ast.Store) for part in stores) == 1:
            for statement in nodes_in(scope, ast.Assign):
                if any(target in stores for target in statement.targets):
                    value = statement.value
                    made = isinstance(value, ast.Call) and ast.unparse(value.func) == "dict"
                    return value if made or isinstance(value, ast.Dict) else None
    return None


def _number(scope: ast.AST, name: str) -> ast.expr | None:
    """The constant that a scope assigns to a variable, if that is all that it assigns to it."""
    nodes = index(scope).nodes if isinstance(scope, ast.Module) else list(ast.walk(scope))
    found = [part for part in nodes if is_name(part, name) and isinstance(part.ctx, ast.Store)]
    if len(found) != 1:
        return None
    for statement in of_kind(nodes, ast.Assign):
        if found[0] in statement.targets:
            return statement.value if isinstance(statement.value, _LITERALS) else None
    return None


def _field(node: ast.Attribute, frame: Scene) -> tuple[ast.expr, Scene] | None:
    """The number that a field of a configuration object was given, by its constructor's call or by its class, which may stand in
    another file; the default of an argument of the command line."""
    owner = held(node.value, frame)
    if is_object_named(owner, "Namespace"):
        default = _default(node.attr, frame)
        return None if default is None else (default, frame)
    if not isinstance(owner, Instance) or owner.is_module:
        return None
    site, defined = owner.site, owner.cls.site
    for keyword in site.call.keywords if site is not None and site.call is not None else ():
        if site is not None and keyword.arg == node.attr:
            return (keyword.value, site.scene) if isinstance(keyword.value, _LITERALS) else None
    for statement in of_kind(owner.cls.node.body, ast.AnnAssign) if defined is not None else ():
        if defined is not None and isinstance(statement.target, ast.Name) and statement.target.id == node.attr:
            return (statement.value, defined.scene) if isinstance(statement.value, _LITERALS) else None
    return None


def held(node: ast.expr, frame: Scene) -> Value:
    """The value of a literal or a name, of an attribute of an object or an entry of a dict: ``self.cfg["width"]``."""
    if isinstance(node, ast.Name):
        scopes = (frame.names, *frame.closure, frame.globals)
        return next((names[node.id] for names in scopes if node.id in names), None)
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return literal(node)
    owner = held(node.value, frame)
    if isinstance(node, ast.Attribute):
        return _fields_of(owner).get(node.attr)
    return (owner.items or {}).get(literal(node.slice)) if isinstance(owner, DictValue) else None


def _fields_of(owner: Value) -> Mapping[object, Value]:
    """The attributes of an object or a class; of an object also those of its class."""
    inherited = owner.cls.slots if isinstance(owner, Instance) else {}
    return {**inherited, **owner.slots} if isinstance(owner, Instance | ClassValue | LibraryObject) else {}


def _default(name: str, frame: Scene) -> ast.expr | None:
    """The number that ``add_argument("--name", default=…)`` gives an argument, if one call of the file does."""
    found: list[ast.expr] = []
    for node in index(parse(frame.source)).nodes:
        if is_method_call(node, "add_argument"):
            flags = [part.value for part in of_kind(node.args, ast.Constant)]
            if name in {str(flag).lstrip("-").replace("-", "_") for flag in flags}:
                found += [keyword.value for keyword in node.keywords if keyword.arg == "default"]
    return found[0] if len(found) == 1 and isinstance(found[0], _LITERALS) else None


def constructor_related(module: LibraryModule, argument: str | None, value: object) -> list[Related]:
    if module.site is None:
        return []
    span = module.site.span
    text = (
        message("related.constructor", layer=layer_text(module), argument=argument, value=value)
        if argument
        else message("related.constructor.plain", layer=layer_text(module))
    )
    return [span.related(text)]
