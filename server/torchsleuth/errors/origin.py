"""Where the operands of a failing expression were made: read from the source and the calls that led there.

The analysis follows values further (`agreement.py` prefers its notes); this holds for every crash, also where sizes came from
files, and shows the nearest place that an expert would look at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice, zip_longest

from torchsleuth.errors.case import Case, CrashFrame, shape_text
from torchsleuth.messages import message
from torchsleuth.schema import Json, Related, Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.edits import enclosing_statement
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    defaults_of,
    every_parameter,
    given_to,
    is_assignment,
    is_attribute,
    is_display,
    is_dotted,
    is_method_call,
    is_name,
    names_in,
    nodes_in,
    stands_on,
    targets_of,
)
from torchsleuth.syntax.text import SourceText

MAX_ORIGINS = 5
MAX_PLACES = 4
"""Places of one operand."""
MAX_STEPS = 8
"""Assignments and calls that one operand is followed through."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def related_origins(case: Case) -> list[Related]:
    """The assignments, loops and arguments that gave the operands their values, and the layers that made them; where a library failed
    that the line says nothing of, as a framework's trainer, the samples of the user's datasets."""
    frame = case.frame
    samples = []
    if case.input is not None and case.given is None and not frame.tensor_operands():
        places = islice(_Followed(case.frames).samples(frame), MAX_ORIGINS)
        samples = [source.span(place) for source, place in places]
    notes = [Related(span.path, span.start, span.end, message("error.sample")) for span in samples]
    return notes + _of_operands(case)


def _of_operands(case: Case) -> list[Related]:
    frame = case.frame
    shown = {(item.path, item.span.start.line) for item in case.frames}
    found: dict[tuple[str, int], Related] = {}
    ways = [_places(case, node, shown) for node in _operands(case)]
    for step in zip_longest(*ways):
        for node, place in zip(_operands(case), step):
            if place is not None:
                note = _note(frame, node, frame.value(node), *place)
                found.setdefault((note.path, note.start.line), note)
    return list(found.values())[:MAX_ORIGINS]


def _places(case: Case, node: ast.expr, shown: set[tuple[str, int]]) -> list[tuple[SourceText, ast.AST]]:
    """The nearest places that made the value of an operand, but for the lines of the calls, which are shown anyway."""
    places = (
        (source, place)
        for source, place in _Followed(case.frames).of(node, 0)
        if (source.path, source.span(place).start.line) not in shown
    )
    return list(islice(places, MAX_PLACES))


def followed_operands(case: Case) -> Iterator[tuple[ast.expr, SourceText, ast.AST]]:
    """The operands of the failing expression with the places that made them, themselves included, the nearest first."""
    for node in _operands(case):
        yield node, case.frame.source, node
        yield from ((node, source, place) for source, place in _Followed(case.frames).of(node, 0))


def made_at(frames: list[CrashFrame], depth: int, name: str) -> Span | None:
    """Where a name of one of the frames, or an attribute of its ``self``, was filled, or else bound."""
    frame = frames[depth]
    if name.startswith("self."):
        place = next((node for node in ast.walk(frame.tree) if _sets(node, name.removeprefix("self."))), None)
        return None if place is None else frame.source.span(place)
    for scope in (frame.enclosing, frame.tree):
        filled = next(iter([*_appended(scope, name), *_stored(scope, name)]), None)
        bound = binding(scope, name, frame.line)
        place = filled or (bound[0] if bound is not None else None)
        if place is not None:
            return frame.source.span(place)
    return None


def _operands(case: Case) -> list[ast.expr]:
    """Operands of the failing expression whose making explains it: tensors, and calls of layers."""
    frame = case.frame
    wanted = [node for node in frame.operands() if not isinstance(node, ast.Constant)]
    if frame.call is not None and case.module is None and not wanted:
        wanted = [frame.call.func]
    if isinstance(frame.node, ast.Attribute) or not wanted:
        wanted = [node for node, _ in frame.tensors()][:2] or wanted
    statement = frame.statement
    if isinstance(statement, ast.Assign) and isinstance(frame.node, ast.Tuple) and not wanted:
        return [statement.value]
    if is_assignment(statement) and frame.node is None:
        wanted.append(statement.targets[0])
    return wanted


def _note(frame: CrashFrame, node: ast.expr, value: Json | None, source: SourceText, place: ast.AST) -> Related:
    span = source.span(place)
    text = frame.source.on_one_line(node)[:40]
    if value is not None and value["kind"] == "tensor":
        return Related(
            span.path, span.start, span.end, message("error.comes_from.shape", name=text, shape=shape_text(value))
        )
    return Related(span.path, span.start, span.end, message("error.comes_from", name=text))


class _Followed:
    """A value on its way back through assignments, parameters and the calls of the traceback."""

    def __init__(self, frames: list[CrashFrame]) -> None:
        self.frames = frames
        self.steps = 0

    def of(self, node: ast.expr, depth: int) -> Iterator[tuple[SourceText, ast.AST]]:
        """Places that made the value of an expression in the frame of that depth, the nearest first."""
        self.steps += 1
        if self.steps > MAX_STEPS or depth >= len(self.frames):
            return
        frame = self.frames[depth]
        yield from ((frame.source, made) for made in _handed_over(node, frame.tree))
        root = _root(node)
        match root:
            case ast.Attribute():
                yield from self._attribute(root, frame)
            case ast.Name():
                yield from self._name(root, depth)
            case ast.Call():
                yield from self._call(root, frame, depth)
            case ast.BinOp():
                yield from self.of(root.left, depth)
                yield from self.of(root.right, depth)
            case ast.List() | ast.Tuple():
                for part in root.elts:
                    yield from self.of(part, depth)

    def _name(self, name: ast.Name, depth: int) -> Iterator[tuple[SourceText, ast.AST]]:
        frame = self.frames[depth]
        scope = frame.enclosing
        bound = binding(scope, name.id, frame.line)
        if bound is None and isinstance(scope, _Function):
            passed = self._passed(scope, name.id, depth)
            if passed is not None:
                yield self.frames[depth + 1].source, passed
                if not isinstance(passed, ast.Constant):
                    yield from self.of(passed, depth + 1)
                return
            if depth + 1 >= len(self.frames) or not frame.direct:
                yield from ((frame.source, statement) for statement in _starts(frame.tree, scope.name))
            if not frame.direct and _is_parameter(scope, name.id):
                yield from self.samples(frame)
            if (default := _default(scope, name.id)) is not None:
                yield frame.source, default
                return
            bound = binding(frame.tree, name.id, 1 << 30)
        if bound is None:
            return
        place, value = bound
        yield frame.source, place
        yield from ((frame.source, node) for node in carried(scope, name.id, frame.line))
        if isinstance(value, ast.List) and not value.elts:
            yield from ((frame.source, node) for node in _appended(scope, name.id))
        if value is not None and _root(value) is not name:
            yield from self.of(value, depth)

    def _passed(self, function: _Function, name: str, depth: int) -> ast.expr | None:
        """The argument of the call in the next frame that a parameter got."""
        names = [argument.arg for argument in by_position(function.args)]
        known = {*names, *(argument.arg for argument in function.args.kwonlyargs)}
        if name not in known or depth + 1 >= len(self.frames) or not self.frames[depth].direct:
            return None
        call = as_kind(self.frames[depth + 1].node, ast.Call)
        if call is None:
            return None
        method = names[:1] in (["self"], ["cls"])
        position = names.index(name) - method if name in names else -1
        return argument_of(call, position, name)

    def samples(self, frame: CrashFrame) -> Iterator[tuple[SourceText, ast.AST]]:
        """Samples of the datasets in the user's files: a framework that calls a function of the user's does it with these."""
        for other in {item.path: item for item in (frame, *self.frames)}.values():
            for node in other.all(ast.ClassDef):
                methods = [item for item in node.body if isinstance(item, _Function)]
                made = next((item for item in methods if item.name == "__getitem__"), None)
                yield from ((other.source, place) for place in (_results(made) if made is not None else ()))

    def _attribute(self, node: ast.Attribute, frame: CrashFrame) -> Iterator[tuple[SourceText, ast.AST]]:
        """``self.mask`` → the assignment in the class."""
        if not (is_name(node.value, "self")):
            return
        for part in ast.walk(_class_around(frame) or frame.tree):
            if isinstance(part, ast.Assign | ast.AnnAssign):
                targets = targets_of(part)
                if any(is_attribute(target, node.attr) for target in targets):
                    if part.value is not None and part.lineno != frame.line:
                        yield frame.source, part.value
                        yield from _collected(frame, node.attr)
                        yield from self._given(part.value, frame)
                        return
            if isinstance(part, ast.Call) and is_attribute(part.func, "register_buffer") and part.args:
                if getattr(part.args[0], "value", None) == node.attr:
                    yield frame.source, part
                    return

    def _given(self, value: ast.expr, frame: CrashFrame) -> Iterator[tuple[SourceText, ast.AST]]:
        """The argument for a parameter of the constructor where the class is called in one of the files."""
        around = _class_around(frame)
        used = names_in(value)
        for made in (item for item in around.body if isinstance(item, _Function)) if around is not None else ():
            names = [argument.arg for argument in made.args.args] if made.name == "__init__" else []
            parameters = [name for name in names[1:] if name in used]
            for other in {item.path: item for item in (frame, *self.frames)}.values() if parameters else ():
                calls = list(other.all(ast.Call))
                call = next((node for node in calls if around is not None and _calls_class(node, around.name)), None)
                given = argument_of(call, names.index(parameters[0]) - 1, parameters[0]) if call else None
                if given is not None:
                    yield other.source, given
                    if isinstance(given, ast.Name):
                        yield from ((other.source, node) for node in _appended(other.tree, given.id))
                    return

    def _call(self, call: ast.Call, frame: CrashFrame, depth: int) -> Iterator[tuple[SourceText, ast.AST]]:
        """A layer: where it was built. What is defined in the same file: what it returns, or gives as a sample. Another: what
        it is given."""
        function = call.func
        if is_dotted(function, "self"):
            yield from self._attribute(function, frame)
        elif isinstance(function, ast.Name):
            defined = _defined(frame.tree, function.id)
            if defined is not None:
                yield from ((frame.source, node) for node in _results(defined))
                for argument in call.args if isinstance(defined, _Function) else ():
                    yield from self.of(argument, depth)
                return
            yield from self._name(function, depth)
        collate = argument_of(call, None, "collate_fn")
        for argument in [*([collate] if collate is not None else []), *call.args[:1]]:
            named = _defined(frame.tree, argument.id) if isinstance(argument, ast.Name) else None
            if named is not None:
                yield from ((frame.source, node) for node in _results(named))
            else:
                yield from self.of(argument, depth)


def _collected(frame: CrashFrame, attribute: str) -> Iterator[tuple[SourceText, ast.AST]]:
    """Where a method puts something into a list of its object, or one of several by their keys, and where that method is called:
    ``meter.add(loss.item())``."""
    around = _class_around(frame)
    for method in around.body if around is not None else ():
        appends = [
            part
            for part in ast.walk(method)
            if is_method_call(part, "append") and is_attribute(_whole(part.func.value), attribute)
        ]
        if appends and isinstance(method, _Function):
            calls = list(frame.all(ast.Call))
            yield from ((frame.source, node) for node in calls if is_attribute(node.func, method.name))
            yield frame.source, appends[0]
            return


def _whole(node: ast.expr) -> ast.expr:
    """The whole that a part is taken of by its key: ``self.values`` of ``self.values[phase]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _handed_over(node: ast.expr, tree: ast.Module) -> Iterator[ast.AST]:
    """The result of a function that is handed over to be called elsewhere: ``await to_thread(prepare, step)``, ``pool.submit(crop,
    row).result()``."""
    part: ast.AST | None = node
    while part is not None:
        for argument in part.args if isinstance(part, ast.Call) else ():
            named = _defined(tree, argument.id) if isinstance(argument, ast.Name) else None
            if isinstance(named, _Function):
                yield from _results(named)
        part = part.func if isinstance(part, ast.Call) else getattr(part, "value", None)


def _starts(tree: ast.Module, name: str) -> Iterator[ast.AST]:
    """The first statement that hands a function over to what calls it: ``pool.submit(train, width)``, ``Thread(target=train)``."""
    for node in ast.walk(tree):
        given = given_to(node)
        if any(is_name(item, name) for item in given):
            statement = enclosing_statement(tree, node)
            if statement is not None:
                yield statement if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) else node
                return


def _is_parameter(function: _Function, name: str) -> bool:
    given = function.args
    return any(item.arg == name for item in every_parameter(given))


def _default(function: _Function, name: str) -> ast.expr | None:
    """The default of a parameter."""
    return defaults_of(function.args).get(name)


def _calls_class(call: ast.Call, name: str) -> bool:
    return getattr(call.func, "attr", getattr(call.func, "id", None)) == name


def _defined(tree: ast.Module, name: str) -> ast.AST | None:
    """The function of a name, or the method of a dataset's class that makes its samples."""
    for node in ast.walk(tree):
        if isinstance(node, _Function) and node.name == name:
            return node
        if isinstance(node, ast.ClassDef) and node.name == name:
            methods = [item for item in node.body if isinstance(item, _Function)]
            return next((item for item in methods if item.name in ("__getitem__", "__iter__")), None)
    return None


def _results(function: ast.AST) -> Iterator[ast.AST]:
    """The expression that a function returns or yields last."""
    found = [node for node in nodes_in(function, ast.Return, ast.Yield) if node.value is not None]
    yield from found[-1:]


def _appended(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """Where something is put into a list."""
    for node in _inside(scope):
        if is_method_call(node, "append"):
            if is_name(node.func.value, name):
                yield node


def _stored(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """Where something is put under a key."""
    for node in _inside(scope):
        for target in of_kind(node.targets if isinstance(node, ast.Assign) else (), ast.Subscript):
            if is_name(target.value, name):
                yield node


def _sets(node: ast.AST, attribute: str) -> bool:
    """``self.attribute = …``"""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(is_attribute(target, attribute) for target in targets)


def _root(node: ast.expr) -> ast.expr:
    """``x`` of ``x.view(-1)[0].T``, ``self.mask`` of ``self.mask[:3]``; a call that is no method of a value stays."""
    while True:
        match node:
            case ast.Subscript() | ast.Starred() | ast.Await():
                node = node.value
            case ast.Attribute():
                if is_name(node.value, "self"):
                    return node
                node = node.value
            case _ if is_method_call(node):
                owner = node.func.value
                if is_name(owner, "self", "torch", "F", "nn", "np"):
                    return node
                if isinstance(owner, ast.Attribute) and isinstance(_root(owner), ast.Name):
                    return node
                node = owner
            case _:
                return node


def binding(scope: ast.AST, name: str, line: int) -> tuple[ast.AST, ast.expr | None] | None:
    """The nearest statement above a line that binds a variable in a function or module, and the value it gets; else the
    last one below, which a loop may have reached before."""
    found: list[tuple[int, ast.AST, ast.expr | None]] = []
    for node in _inside(scope):
        match node:
            case ast.Assign():
                for target in node.targets:
                    if _binds(target, name):
                        found.append((node.lineno, node, _part(target, node.value, name)))
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr() if _binds(node.target, name):
                found.append((node.lineno, node, node.value))
            case ast.For() | ast.AsyncFor() if _binds(node.target, name):
                found.append((node.lineno, node.iter, node.iter))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None and _binds(item.optional_vars, name):
                        found.append((node.lineno, item.context_expr, item.context_expr))
    above = [item for item in found if item[0] < line]
    best = max(above, key=lambda item: item[0], default=None) or max(found, key=lambda item: item[0], default=None)
    return best[1:] if best is not None else None


def carried(scope: ast.AST, name: str, line: int) -> Iterator[ast.AST]:
    """Assignments further down in a loop around a line: what the step before left."""
    for loop in _inside(scope):
        if isinstance(loop, ast.For | ast.While | ast.AsyncFor) and loop.lineno < line <= (loop.end_lineno or 0):
            for node in nodes_in(loop, ast.Assign):
                if node.lineno > line and any(_binds(item, name) for item in node.targets):
                    yield node
                    return


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """The part of ``x, y = a, b`` that a name gets."""
    if is_display(target) and is_display(value):
        if len(target.elts) == len(value.elts):
            for part, given in zip(target.elts, value.elts):
                if _binds(part, name):
                    return given
    return value


def _binds(target: ast.expr, name: str) -> bool:
    return name in names_in(target) and not isinstance(target, ast.Subscript | ast.Attribute)


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of the functions and classes in it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _class_around(frame: CrashFrame) -> ast.ClassDef | None:
    found: ast.ClassDef | None = None
    for node in frame.all(ast.ClassDef):
        if stands_on(node, frame.line):
            found = node
    return found
