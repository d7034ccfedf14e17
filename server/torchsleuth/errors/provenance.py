"""Where a value was made, through constructors, collate functions, other files and whatever else no frame of a crash stands in.

Everything that a value may have been made from is visited once, the nearest first, as the text has it. That is more than what a
run has gone through, so whoever asks takes only what it knows as a cause: a call that pads, a number of the message, a filter.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache

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
    is_display,
    is_dotted,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    last_word,
    names_in,
    nodes_in,
    parts_of_tuple,
    returned_by,
    stands_on,
    targets_of,
)
from torchsleuth.syntax.trees import index

MAX_VISITED = 600
"""Expressions that one value is followed through."""
MAX_STRAIGHT = 24
"""Steps that a value is followed back on its one way."""
MAX_DEFINED = 3
"""Functions or attributes of one name, beyond which none of them is the one that is meant."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_LIBRARY = re.compile(r"(?:torch|np|numpy|F|nn|pd|pandas|plt|einops|functools|itertools|random|math|os)(?:\.\w+)+")
_SAME = frozenset(
    "unsqueeze squeeze view reshape transpose permute expand expand_as to float double long int half bool contiguous flatten clone detach"
    " cpu cuda numpy T repeat".split()
)
"""Methods whose results hold what the tensor held."""
_SAMPLES = ("__getitem__", "__iter__", "__call__", "forward")
"""Methods whose results are what is got out of an object."""


def made_from(case: Case, file: CrashFrame, node: ast.expr) -> list[Filled]:
    """The expressions that a value may have been made from, itself first, the nearest first."""
    way = _files(case)
    if id(node) in way.known:
        return way.known[id(node)]
    found, seen = way.known.setdefault(id(node), []), set[int]()
    waiting = deque([(file, node)])
    while waiting and len(seen) < MAX_VISITED:
        place, part = waiting.popleft()
        if id(part) not in seen:
            seen.add(id(part))
            found.append((place, part))
            waiting.extend(way.before(place, part))
    return found


def defined(case: Case, name: str) -> list[tuple[CrashFrame, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions and methods of a name in the user's files; none where there are too many."""
    found = _files(case).functions.get(name, [])
    return found if len(found) <= MAX_DEFINED else []


def straight(case: Case, file: CrashFrame, node: ast.expr) -> list[Filled]:
    """The one way of a value back: through names, arguments, loops and the functions whose result it is, as far as there is only one
    of each; itself left out."""
    way, found, seen = _files(case), list[Filled](), set[int]()
    step: Filled | None = (file, node)
    while step is not None and id(step[1]) not in seen and len(found) < MAX_STRAIGHT:
        seen.add(id(step[1]))
        step = way.one_before(*step)
        if step is not None:
            found.append(step)
    return found


def batches_of(case: Case, file: CrashFrame, loader: ast.expr) -> list[Filled]:
    """The values that a loader of the user's gives, as its ``collate_fn`` or its data set returns it."""
    return _files(case).batches(file, loader)


class _Files:
    """The user's files, and one step back from an expression in them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._files = case.files
        self.known: dict[int, list[Filled]] = {}
        """What was asked for, by the identity of the expression."""
        self.functions: dict[str, list[tuple[CrashFrame, _Function]]] = defaultdict(list)
        self._classes: list[tuple[CrashFrame, ast.ClassDef]] = []
        self._calls: dict[str, list[tuple[CrashFrame, ast.Call]]] = defaultdict(list)
        """Calls by the name of what they call."""
        self._handed: dict[str, list[tuple[CrashFrame, ast.Call]]] = defaultdict(list)
        """Calls by the names of their arguments."""
        self._put: dict[tuple[str, str], list[tuple[int, ast.expr]]] = defaultdict(list)
        """What is appended to something, or stored in it by an index, with its line; by the file and what it is put into."""
        self._attributes: dict[str, list[tuple[CrashFrame, ast.ClassDef, ast.expr]]] = defaultdict(list)
        """The values that classes give their attributes."""
        self.under_key: dict[str, list[Filled]] = defaultdict(list)
        """The values of dictionaries that are written out, by their keys."""
        self._declared: dict[str, list[tuple[str, int]]] = defaultdict(list)
        """The classes that declare a field without a value, as dataclasses do, and its place among their fields."""
        for file in self._files:
            for node in index(file.tree).nodes:
                self._note(file, node)

    def _note(self, file: CrashFrame, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name].append((file, node))
            case ast.Dict():
                for key, held in zip(node.keys, node.values):
                    if is_text(key):
                        self.under_key[key.value].append((file, held))
            case ast.ClassDef():
                self._classes.append((file, node))
                for name, value in _fields(node):
                    self._attributes[name].append((file, node, value))
                declared = [part for part in node.body if isinstance(part, ast.AnnAssign)]
                for number, part in enumerate(declared):
                    if part.value is None and isinstance(part.target, ast.Name):
                        self._declared[part.target.id].append((node.name, number))
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() if node.value is not None:
                for target in of_kind(targets_of(node), ast.Subscript):
                    self._put[file.path, file.text(target.value)].append((node.lineno, node.value))
                pairs = assigned_pairs(node) if isinstance(node, ast.Assign) else [(node.target, node.value)]
                for place, value in ((part, held) for target, held in pairs for part in _places(target)):
                    kind = _class_around(file, node) if is_dotted(place, "self") else None
                    if kind is not None and isinstance(place, ast.Attribute):
                        self._attributes[place.attr].append((file, kind, value))
            case ast.Call():
                if not _LIBRARY.fullmatch(file.text(node.func)):
                    self._calls[called(node)].append((file, node))
                for name in {last_word(part) for part in given_to(node)} - {""}:
                    self._handed[name].append((file, node))
                if called(node) in ("register_buffer", "register_parameter") and len(node.args) > 1:
                    kind = _class_around(file, node) if is_text(node.args[0]) else None
                    if kind is not None and is_text(node.args[0]):
                        self._attributes[node.args[0].value].append((file, kind, node.args[1]))
                if is_method_call(node, "append", "extend", "add", "put") and node.args:
                    self._put[file.path, file.text(node.func.value)].append((node.lineno, node.args[0]))

    def _put_into(self, file: CrashFrame, scope: ast.AST, text: str) -> Iterator[Filled]:
        """The values put into something in a part of a file."""
        first, last = getattr(scope, "lineno", 0), getattr(scope, "end_lineno", None) or 1 << 30
        yield from ((file, value) for line, value in self._put[file.path, text] if first <= line <= last)

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
            case ast.Subscript(slice=ast.Constant(str(key))):
                yield from self.under_key.get(key, [])[: 2 * MAX_DEFINED]
                yield file, node.value
            case ast.IfExp():
                yield from ((file, part) for part in (node.body, node.orelse))
            case _:
                for part in ast.iter_child_nodes(node):
                    yield from ((file, item) for item in _values_in(part))

    def one_before(self, file: CrashFrame, node: ast.expr) -> Filled | None:
        """Where a value was before, if that is one place: what a name is bound to, a function returns, a list is filled with."""
        match node:
            case ast.Name():
                places = list(self._name(file, node))
                alone = len(places) == 1 or bool(places) and _is_returned(*places[0])
                return self._of_loop(places[0], node) if alone else None
            case ast.Attribute(value=ast.Name("self")):
                places = list(self._attribute(file, node))
                return places[0] if len(places) == 1 else None
            case ast.Attribute(value=ast.Name()) if not _LIBRARY.fullmatch(file.text(node)):
                places = [(at, part) for at, part in self._attribute(file, node) if part is not node.value]
                return places[0] if len(places) == 1 else None
            case ast.Subscript() | ast.Starred():
                return file, node.value
            case ast.Call(func=ast.Name("reversed" | "list" | "tuple" | "sorted" | "iter"), args=[whole]):
                return file, whole
            case ast.Call():
                results = list(self._results_of(called(node))) or self._forward_of(file, node)
                if len(results) == 1:
                    return results[0]
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                of_tensor = owner is not None and not _LIBRARY.fullmatch(file.text(node.func)) and not results
                return (file, owner) if of_tensor and owner is not None and called(node) in _SAME else None
        return None

    def _of_loop(self, whole: Filled, node: ast.Name) -> Filled | None:
        """The part that a name gets of what a loop goes through: of ``for a, b in zip(rows, marks)`` the one that is for it."""
        file, given = whole
        loop = next((part for part in file.all(ast.For) if part.iter is given), None)
        parts = parts_of_tuple(loop.target) if loop is not None else []
        if len(parts) > 1:
            place = next((index for index, part in enumerate(parts) if node.id in names_in(part)), 0)
            zipped = called(given) == "zip" and isinstance(given, ast.Call) and len(given.args) == len(parts)
            if zipped and isinstance(given, ast.Call):
                return file, given.args[place]
            batches = [(at, parts_of_tuple(value)) for at, value in self.batches(file, given)]
            fitting = [(at, items[place]) for at, items in batches if len(items) == len(parts)]
            return fitting[0] if len(fitting) == 1 else None
        return whole

    def batches(self, file: CrashFrame, node: ast.expr) -> list[Filled]:
        """The values of a loader: the results of its ``collate_fn``, else the samples of its data set."""
        loaders = [node, *(part for _, part in straight(self._case, file, node))]
        loader = next((part for part in loaders if called(part) == "DataLoader"), None)
        if not isinstance(loader, ast.Call):
            return []
        collate = keyword_of(loader, "collate_fn")
        if collate is not None:
            return list(self._results_of(last_word(collate.value) or called(collate.value)))
        rows = argument_of(loader, 0, "dataset")
        made = [rows, *(part for _, part in straight(self._case, file, rows))] if rows is not None else []
        names = {called(part) for part in made} & {kind.name for _, kind in self._classes}
        samples = [item for name in names for item in self._samples_of(name)]
        return [item for item in samples if _method_around(*item) == "__getitem__"]

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
        yield from self._results_of(node.id)

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
        yield from self._put_into(file, scope, name)

    def _part_of(self, file: CrashFrame, statement: ast.AST, value: ast.expr, name: str) -> Iterator[Filled]:
        """The value that a statement gives a name; of ``edges, labels = read(path)`` the one of the results that it gets."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        names = [name in names_in(part) for part in target.elts] if isinstance(target, ast.Tuple) else []
        results: list[Filled] = []
        if sum(names) == 1 and isinstance(value, ast.Call):
            results = list(self._results_of(called(value))) or self._forward_of(file, value)
        elif sum(names) == 1 and isinstance(value, ast.Name):
            results = straight(self._case, file, value)[-1:]
        parts = [(place, _items(result)) for place, result in results]
        if not parts or any(len(items) != len(names) for _, items in parts):
            yield file, value
            return
        yield from ((place, items[names.index(True)]) for place, items in parts)
        yield from ((file, given) for given in given_to(value))

    def _passed(self, file: CrashFrame, function: _Function, name: str) -> Iterator[Filled]:
        """The values of a parameter: by the call of the traceback, by the calls of that name, by what the function is handed over to."""
        names = [part.arg for part in by_position(function.args)]
        method = names[:1] in (["self"], ["cls"])
        position = names.index(name) - method if name in names else None
        running = [
            (outer, outer.call)
            for inner, outer in zip(self._case.frames, self._case.frames[1:])
            if inner.enclosing is function and inner.direct and outer.call is not None
        ]
        for place, call in (running or self._calls_of(file, function))[: 2 * MAX_DEFINED]:
            given = argument_of(call, position, name)
            if given is not None:
                yield self._own(place), given
            if function.args.vararg is not None and function.args.vararg.arg == name:
                yield from ((self._own(place), part) for part in call.args[len(names) - method :])
        for place, call in self._handed[function.name] if not running else ():
            others = [part for part in given_to(call) if last_word(part) != function.name]
            yield from ((place, part) for part in others[:2])
        defaults = dict(zip(reversed(names), reversed(function.args.defaults)))
        if name in defaults:
            yield file, defaults[name]

    def _calls_of(self, file: CrashFrame, function: _Function) -> list[tuple[CrashFrame, ast.Call]]:
        """The calls by the name of a function; for a constructor those of its class, ``cls(…)`` in it too."""
        if function.name != "__init__":
            return self._calls[function.name]
        owner = next((kind for place, kind in self._classes if place is file and function in kind.body), None)
        own = [(place, call) for place, call in self._calls["cls"] if place is file and owner is not None]
        inside = [(place, call) for place, call in own if owner is not None and stands_on(owner, call.lineno)]
        return [*(self._calls[owner.name] if owner is not None else ()), *inside]

    def _own(self, frame: CrashFrame) -> CrashFrame:
        """The one frame that stands for a file here."""
        return next((file for file in self._files if file.path == frame.path), frame)

    def _imported(self, file: CrashFrame, name: str) -> Iterator[Filled]:
        for node in file.all(ast.ImportFrom):
            for item in node.names:
                if (item.asname or item.name) == name:
                    stem = (node.module or "").rpartition(".")[2]
                    for other in self._files:
                        if re.search(rf"(?:^|[\\/]){re.escape(stem)}(?:\.py|[\\/]__init__\.py)$", other.path):
                            found = binding(other.tree, item.name, 1 << 30)
                            if found is not None and found[1] is not None:
                                yield other, found[1]

    def _attribute(self, file: CrashFrame, node: ast.Attribute) -> Iterator[Filled]:
        own = _class_around(file, node)
        kinds = self._classes
        if is_name(node.value, "self", "cls") and own is not None:
            kinds = [(file, own)]
        owners = {kind for _, kind in kinds}
        values = [(place, value) for place, kind, value in self._attributes[node.attr] if kind in owners]
        values += [item for place, kind in kinds for item in self._put_into(place, kind, f"self.{node.attr}")]
        if not values and not is_name(node.value, "self"):
            fields = self._given_to_field(node.attr)
            if 0 < len(fields) <= 2 * MAX_DEFINED:
                yield from fields
                return
        if len(values) <= 2 * MAX_DEFINED:
            yield from values
        if not _LIBRARY.fullmatch(file.text(node)):
            yield from ((place, value) for place, value in self._option(node.attr))
            if not is_name(node.value, "self"):
                yield file, node.value

    def _given_to_field(self, name: str) -> list[Filled]:
        """The arguments that the calls of the one class that declares a field give it."""
        kinds = self._declared[name]
        given = [
            (file, argument_of(call, place, name))
            for kind, place in (kinds if len(kinds) <= MAX_DEFINED else ())
            for file, call in self._calls[kind]
        ]
        return [(file, value) for file, value in given if value is not None]

    def _option(self, name: str) -> Iterator[Filled]:
        """The default of an option of the command line."""
        for file, call in self._calls["add_argument"]:
            texts = [str(part.value) for part in of_kind(call.args, ast.Constant)]
            if name in [text.lstrip("-").replace("-", "_") for text in texts]:
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
        """The values that a function of the user's gives back."""
        for file, function in defined(self._case, name) if name and not name.startswith("__") else ():
            yields = [part.value for part in nodes_in(function, ast.Yield) if part.value is not None]
            yield from ((file, value) for value in [*returned_by(function), *yields])

    def _forward_of(self, file: CrashFrame, call: ast.Call) -> list[Filled]:
        """The values that the ``forward`` returns of an object of the user's that is called: ``net(x)``, where ``net = Net()``."""
        kinds = {kind.name for _, kind in self._classes}
        made: list[ast.expr] = []
        if isinstance(call.func, ast.Name):
            made = [part for _, part in self._name(file, call.func)]
        elif isinstance(call.func, ast.Attribute) and is_name(call.func.value, "self"):
            made = [part for _, part in self._attribute(file, call.func)]
        names = {called(part) for part in made} & kinds
        results = [item for name in names for item in self._samples_of(name)]
        return [item for item in results if _method_around(*item) in ("forward", "__call__")]

    def _samples_of(self, name: str) -> Iterator[Filled]:
        """The values that an object of a class of the user's gives when it is indexed, gone through or called."""
        for file, kind in self._classes:
            for method in of_kind(kind.body, ast.FunctionDef) if kind.name == name else ():
                if method.name in _SAMPLES:
                    yields = [part.value for part in nodes_in(method, ast.Yield) if part.value is not None]
                    yield from ((file, value) for value in [*returned_by(method), *yields])


@lru_cache(maxsize=1)
def _files(case: Case) -> _Files:
    return _Files(case)


def _items(node: ast.expr) -> list[ast.expr]:
    """The items of a tuple, or of what a comprehension makes of each item of one: ``a, b`` of ``[load(part) for part in (a, b)]``."""
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
        whole = node.generators[0]
        return list(whole.iter.elts) if is_display(whole.iter) and not whole.ifs else [node]
    return list(node.elts) if is_display(node) else [node]


def _parameters(function: _Function) -> list[ast.arg]:
    more = function.args.vararg
    return [*every_parameter(function.args), *([more] if more is not None else [])]


def _values_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly in a part of an expression, conditions of comprehensions left out."""
    if isinstance(node, ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.keyword):
        yield node.value
    elif isinstance(node, ast.expr):
        yield node


def _fields(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The values that a class gives its attributes as fields, or by properties."""
    for part in kind.body:
        if isinstance(part, ast.AnnAssign | ast.Assign) and part.value is not None:
            yield from ((target.id, part.value) for target in of_kind(targets_of(part), ast.Name))
        if isinstance(part, _Function) and part.decorator_list:
            yield from ((part.name, value) for value in returned_by(part))


def _places(target: ast.expr) -> list[ast.expr]:
    """The names that a target of an assignment binds: each part of ``self.train, self.rest = split(rows)``."""
    return list(target.elts) if is_display(target) else [target]


def _is_returned(file: CrashFrame, node: ast.expr) -> bool:
    return isinstance(edits.enclosing_statement(file.tree, node), ast.Return)


def is_result_of(file: CrashFrame, node: ast.expr, method: str) -> bool:
    """Whether a value is what a method of that name returns, or one of several."""
    return _is_returned(file, node) and _method_around(file, node) == method


def _method_around(file: CrashFrame, node: ast.expr) -> str:
    trail = edits.path_to(file.tree, node)
    return next((part.name for part in reversed(trail) if isinstance(part, _Function)), "")


def _class_around(file: CrashFrame, node: ast.AST) -> ast.ClassDef | None:
    trail = edits.path_to(file.tree, node)
    return next((part for part in reversed(trail) if isinstance(part, ast.ClassDef)), None)
