"""Where a value was made, through constructors, collate functions, other files and whatever else no frame of a crash stands in.

Everything that a value may have been made from is visited once, the nearest first, as the text has it. That is more than what a
run has gone through, so whoever asks takes only what it knows as a cause: a call that pads, a number of the message, a filter.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.origin import binding, carried
from torchsleuth.errors.reached import Filled
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    called,
    every_parameter,
    given_to,
    is_attribute,
    is_method_call,
    is_name,
    keyword_of,
    last_word,
    names_in,
    nodes_in,
    parts_of_tuple,
    returned_by,
)

MAX_VISITED = 600
"""Expressions that one value is followed through."""
MAX_DEFINED = 3
"""Functions or attributes of one name, beyond which none of them is the one that is meant."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_LIBRARY = re.compile(r"(?:torch|np|numpy|F|nn|pd|pandas|plt|einops|functools|itertools|random|math|os)(?:\.\w+)+")
_SAMPLES = ("__getitem__", "__iter__", "__call__", "forward")
"""Methods whose results are what is got out of an object."""


def made_from(case: Case, file: CrashFrame, node: ast.expr) -> Iterator[Filled]:
    """The expressions that a value may have been made from, itself first."""
    way, seen = _Files(case), set[int]()
    waiting = deque([(file, node)])
    while waiting and len(seen) < MAX_VISITED:
        place, part = waiting.popleft()
        if id(part) not in seen:
            seen.add(id(part))
            yield place, part
            waiting.extend(way.before(place, part))


def defined(case: Case, name: str) -> list[tuple[CrashFrame, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions and methods of a name in the user's files; none where there are too many."""
    found = [
        (file, node)
        for file in case.files
        for node in nodes_in(file.tree, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.name == name
    ]
    return found if len(found) <= MAX_DEFINED else []


class _Files:
    """The user's files, and one step back from an expression in them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._files = case.files
        self._classes = [(file, node) for file in case.files for node in nodes_in(file.tree, ast.ClassDef)]
        self._calls = [(file, node) for file in case.files for node in nodes_in(file.tree, ast.Call)]

    def before(self, file: CrashFrame, node: ast.expr) -> Iterator[Filled]:
        match node:
            case ast.Name():
                yield from self._name(file, node)
            case ast.Attribute():
                yield from self._attribute(file, node)
            case ast.Call():
                yield from self._call(file, node)
            case ast.Lambda():
                yield file, node.body
            case ast.IfExp():
                yield from ((file, part) for part in (node.body, node.orelse))
            case _:
                for part in ast.iter_child_nodes(node):
                    yield from ((file, item) for item in _values_in(part))

    def _name(self, file: CrashFrame, node: ast.Name) -> Iterator[Filled]:
        trail = edits.path_to(file.tree, node)
        line = next((part.lineno for part in reversed(trail) if isinstance(part, ast.stmt)), node.lineno)
        for scope in reversed(trail[:-1]):
            if isinstance(scope, _Comprehension):
                whole = [part.iter for part in scope.generators if node.id in names_in(part.target)]
                if whole:
                    yield from ((file, part) for part in whole)
                    return
            if isinstance(scope, _Function | ast.Module) and self._binds(scope, node.id):
                own = isinstance(scope, _Function) or not any(isinstance(part, _Function) for part in trail)
                yield from self._bound(file, scope, node.id, line if own else 1 << 30)
                return
        yield from self._imported(file, node.id)

    def _binds(self, scope: ast.AST, name: str) -> bool:
        own = isinstance(scope, _Function) and any(part.arg == name for part in _parameters(scope))
        return own or binding(scope, name, 0) is not None

    def _bound(self, file: CrashFrame, scope: ast.AST, name: str, line: int) -> Iterator[Filled]:
        found = binding(scope, name, line)
        passed = isinstance(scope, _Function) and any(part.arg == name for part in _parameters(scope))
        if passed and (found is None or getattr(found[0], "lineno", line) >= line):
            assert isinstance(scope, _Function)
            yield from self._passed(file, scope, name)
        if found is not None and found[1] is not None:
            yield from self._part_of(file, found[0], found[1], name)
        for part in carried(scope, name, line):
            if isinstance(part, ast.Assign):
                yield from self._part_of(file, part, part.value, name)
        yield from ((file, part) for part in _put_into(scope, file, name))

    def _part_of(self, file: CrashFrame, statement: ast.AST, value: ast.expr, name: str) -> Iterator[Filled]:
        """The value that a statement gives a name; of ``edges, labels = read(path)`` the one of the results that it gets."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        names = [name in names_in(part) for part in target.elts] if isinstance(target, ast.Tuple) else []
        results = list(self._results_of(called(value))) if sum(names) == 1 and isinstance(value, ast.Call) else []
        parts = [(place, parts_of_tuple(result)) for place, result in results]
        if not parts or any(len(items) != len(names) for _, items in parts):
            yield file, value
            return
        yield from ((place, items[names.index(True)]) for place, items in parts)
        yield from ((file, given) for given in given_to(value))

    def _passed(self, file: CrashFrame, function: _Function, name: str) -> Iterator[Filled]:
        """What a parameter gets: by the call of the traceback, by the calls of that name, by what the function is handed over to."""
        names = [part.arg for part in by_position(function.args)]
        method = names[:1] in (["self"], ["cls"])
        position = names.index(name) - method if name in names else None
        wanted = {function.name}
        owner = next((kind for place, kind in self._classes if place is file and function in kind.body), None)
        if owner is not None and function.name == "__init__":
            wanted = {owner.name}
        inside = [call for place, call in self._calls if owner is not None and place is file and _within(owner, call)]
        running = [
            (outer, outer.call)
            for inner, outer in zip(self._case.frames, self._case.frames[1:])
            if inner.enclosing is function and inner.direct and outer.call is not None
        ]
        calls = running or [
            (place, call)
            for place, call in self._calls
            if called(call) in wanted
            and not _LIBRARY.fullmatch(place.text(call.func))
            or "__init__" == function.name
            and called(call) == "cls"
            and call in inside
        ]
        for place, call in calls[: 2 * MAX_DEFINED]:
            given = argument_of(call, position, name)
            if given is not None:
                yield self._own(place), given
            if function.args.vararg is not None and function.args.vararg.arg == name:
                yield from ((self._own(place), part) for part in call.args[len(names) - method :])
        if not running:
            for place, call in self._calls:
                handed = [part for part in given_to(call) if last_word(part) == function.name]
                others = [part for part in given_to(call) if last_word(part) != function.name]
                yield from ((place, part) for part in others[:2] if handed)
        defaults = dict(zip(reversed(names), reversed(function.args.defaults)))
        if name in defaults:
            yield file, defaults[name]

    def _own(self, frame: CrashFrame) -> CrashFrame:
        """The one frame that stands for a file here."""
        return next((file for file in self._files if file.path == frame.path), frame)

    def _imported(self, file: CrashFrame, name: str) -> Iterator[Filled]:
        for node in nodes_in(file.tree, ast.ImportFrom):
            for item in node.names:
                if (item.asname or item.name) == name:
                    stem = (node.module or "").rpartition(".")[2]
                    for other in self._files:
                        if re.search(rf"(?:^|[\\/]){re.escape(stem)}(?:\.py|[\\/]__init__\.py)$", other.path):
                            found = binding(other.tree, item.name, 1 << 30)
                            if found is not None and found[1] is not None:
                                yield other, found[1]

    def _attribute(self, file: CrashFrame, node: ast.Attribute) -> Iterator[Filled]:
        own = next((part for part in reversed(edits.path_to(file.tree, node)) if isinstance(part, ast.ClassDef)), None)
        kinds = self._classes
        if is_name(node.value, "self", "cls") and own is not None:
            kinds = [(file, own)]
        values = [(place, value) for place, kind in kinds for value in _given_attribute(place, kind, node.attr)]
        if len(values) <= 2 * MAX_DEFINED:
            yield from values
        if not _LIBRARY.fullmatch(file.text(node)):
            yield from ((place, value) for place, value in self._option(node.attr))
            if not is_name(node.value, "self"):
                yield file, node.value

    def _option(self, name: str) -> Iterator[Filled]:
        """The default of an option of the command line."""
        for file, call in self._calls:
            texts = [str(part.value) for part in of_kind(call.args, ast.Constant)]
            if called(call) == "add_argument" and name in [text.lstrip("-").replace("-", "_") for text in texts]:
                given = keyword_of(call, "default")
                if given is not None:
                    yield file, given.value

    def _call(self, file: CrashFrame, node: ast.Call) -> Iterator[Filled]:
        if not _LIBRARY.fullmatch(file.text(node.func)):
            yield from self._results_of(last_word(node.func))
            yield from self._samples_of(last_word(node.func))
            if isinstance(node.func, ast.Attribute):
                yield file, node.func.value
                if is_name(node.func.value, "self"):
                    yield file, node.func
            if isinstance(node.func, ast.Name | ast.Call):
                yield file, node.func  # an object that is called
        for given in given_to(node):
            value = given.value if isinstance(given, ast.Starred) else given
            yield from self._results_of(last_word(value)) if isinstance(value, ast.Name | ast.Attribute) else ()
            yield file, value

    def _results_of(self, name: str) -> Iterator[Filled]:
        """What a function of the user's gives back."""
        for file, function in defined(self._case, name) if name and not name.startswith("__") else ():
            yields = [part.value for part in nodes_in(function, ast.Yield) if part.value is not None]
            yield from ((file, value) for value in [*returned_by(function), *yields])

    def _samples_of(self, name: str) -> Iterator[Filled]:
        """What an object of a class of the user's gives when it is indexed, gone through or called."""
        for file, kind in self._classes:
            for method in of_kind(kind.body, ast.FunctionDef) if kind.name == name else ():
                if method.name in _SAMPLES:
                    yields = [part.value for part in nodes_in(method, ast.Yield) if part.value is not None]
                    yield from ((file, value) for value in [*returned_by(method), *yields])


def _parameters(function: _Function) -> list[ast.arg]:
    more = function.args.vararg
    return [*every_parameter(function.args), *([more] if more is not None else [])]


def _within(tree: ast.AST, node: ast.AST) -> bool:
    return any(part is node for part in ast.walk(tree))


def _values_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly in a part of an expression, conditions of comprehensions left out."""
    if isinstance(node, ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.keyword):
        yield node.value
    elif isinstance(node, ast.expr):
        yield node


def _put_into(scope: ast.AST, file: CrashFrame, text: str) -> Iterator[ast.expr]:
    """What is appended to something, or stored in it by an index."""
    for node in ast.walk(scope):
        if is_method_call(node, "append", "extend", "add", "put") and file.text(node.func.value) == text:
            yield from node.args[:1]
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in of_kind(targets, ast.Subscript):
                if file.text(target.value) == text:
                    yield node.value


def _given_attribute(file: CrashFrame, kind: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    """The values that a class gives an attribute: in its methods, as a field, by a property."""
    for part in kind.body:
        if isinstance(part, ast.AnnAssign | ast.Assign) and part.value is not None:
            if any(
                is_name(target, name) for target in ([part.target] if isinstance(part, ast.AnnAssign) else part.targets)
            ):
                yield part.value
        if isinstance(part, _Function) and part.name == name and part.decorator_list:
            yield from returned_by(part)
    for node in nodes_in(kind, ast.Assign, ast.AnnAssign):
        pairs = assigned_pairs(node) if isinstance(node, ast.Assign) else [(node.target, node.value)]
        for target, value in pairs:
            if is_attribute(target, name) and is_name(target.value, "self") and value is not None:
                yield value
    yield from _put_into(kind, file, f"self.{name}")
