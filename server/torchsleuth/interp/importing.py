"""Imports. A module of the workspace is executed once; of a large package, only what its importers turn out to need."""

from __future__ import annotations

import ast
import itertools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from torchsleuth.interp import misuse, unparsed
from torchsleuth.interp.checked import CheckedCalls
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import is_function_call, is_method_call, last_word, loads
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    DictValue,
    Globals,
    Instance,
    ListValue,
    Namespace,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING
from torchsleuth.values.names import Names

MAX_SEARCHED = 40
"""Modules that are looked through for a name that ``import *`` may have brought."""
LARGE_STATEMENT = 1000
"""Nodes of a statement, such as a table of configurations, that is executed only when what it binds is needed."""

_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_READING = frozenset("get items keys values copy index count".split())
_READERS = frozenset("len list tuple dict set sorted isinstance enumerate zip map min max sum str repr print".split())


@dataclass(eq=False)
class Body:
    """The body of an imported module, with an import statement of its own for each imported name.

    `waiting`: the statements that are not executed yet. `wanted`: names that are being looked for.
    """

    frame: Frame
    statements: list[ast.stmt]
    waiting: set[ast.stmt]
    wanted: set[str] = field(default_factory=set)
    begun: bool = False

    @cached_property
    def binds(self) -> dict[str, list[ast.stmt]]:
        """By name: the statements that bind it, in order."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.statements:
            for name in dict.fromkeys(_bound(statement)):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        return [one for one in of_kind(self.statements, ast.ImportFrom) if one.names[0].name == "*"]

    @cached_property
    def rebound(self) -> dict[str, list[ast.stmt]]:
        """Names that mean one thing here and another there, with all the statements that speak of them, in order."""
        names = {
            name
            for name, binding in self.binds.items()
            if len(binding) > 1 and not (name.startswith("__") or all_are(binding, *_IMPORTS))
        }
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.statements if names else ():
            for name in names.intersection(_mentioned(statement)):
                found.setdefault(name, []).append(statement)
        return found

    def needed(self, name: str) -> list[ast.stmt]:
        """The statements that have to be executed, in order, for a name to be bound."""
        found = dict.fromkeys(self.binds.get(name, ()))
        if not self.rebound or not found:
            return list(found)
        pending = list(self.rebound.values())
        while related := [group for group in pending if any(one in found for one in group)]:
            pending = [group for group in pending if group not in related]
            found.update(dict.fromkeys(one for group in related for one in group))
        return [one for one in self.statements if one in found]

    def may_change(self, name: str) -> bool:
        """Whether a container called this may be changed by a function of the module, or by what is not executed."""
        return self.frame.source.text.count(name) > 1 and name in self.changed

    @cached_property
    def changed(self) -> frozenset[str]:
        outside = [one for one in self.waiting if not isinstance(one, _IMPORTS)]
        inside = [part for one in self.statements if one not in self.waiting for part in _functions(one)]
        return frozenset(name for part in (*outside, *inside) for name in _changed(part))


class Importing(CheckedCalls):
    """Modules of the workspace, of installed libraries, and those known by name only."""

    import_steps: int
    """Nodes that the bodies of imported modules may still take before they are executed as needed only."""
    import_began: int | None = None
    """The step at which the outermost of the imports began that are going on."""
    searched = 0
    """Modules that were looked through for the name that is being looked for."""

    def do_Import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            whole = self.import_module(alias.name, frame, 0, node)
            if alias.asname:
                self.assign_name(alias.asname, whole, frame)
            else:
                top = alias.name.partition(".")[0]
                self.assign_name(top, self.import_module(top, frame, 0, node), frame)

    def do_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = self.import_module(node.module or "", frame, node.level, node)
        for alias in node.names:
            if alias.name == "*":
                for name in self._names_of(module):
                    if isinstance(module, Native) or not name.startswith("_"):
                        self.assign_name(name, self.attribute(module, name, node, frame), frame)
                continue
            self.assign_name(alias.asname or alias.name, self._imported(module, alias, node, frame), frame)

    def _imported(self, module: Value, alias: ast.alias, node: ast.ImportFrom, frame: Frame) -> Value:
        if isinstance(module, Namespace):
            return self._imported_from(module, alias.name, node, frame)
        if is_unknown(module) and node.level:
            # ``from . import name`` in a folder without ``__init__.py``
            path = f"{node.module or ''}.{alias.name}".strip(".")
            if self.workspace.find(path, frame.path, node.level) is not None:
                return self.import_module(path, frame, node.level, node)
        return self.attribute(module, alias.name, alias, frame)

    def _imported_from(self, module: Namespace, name: str, node: ast.ImportFrom, frame: Frame) -> Value:
        """A name of a module, or a module of a package."""
        body = module.slots.body
        if name in module.slots or (body is not None and name in body.binds):
            value = self.member(module, name)
            if value is not MISSING:
                return value
        path = f"{node.module or ''}.{name}".strip(".")
        if self.workspace.find(path, frame.path, node.level) is None:
            value = self.fetch(module.slots, name)
            if value is not MISSING:
                return value
        return self.import_module(path, frame, node.level, node)

    def import_module(self, name: str, frame: Frame, level: int, node: ast.AST) -> Value:
        """A workspace module, an installed library's module, or an external one known by name only."""
        source = self.workspace.find(name, frame.path, level)
        if source is not None:
            if source.path in self.modules:
                return self.modules[source.path]
            return self.execute_module(source, name)
        if level:
            return UNKNOWN
        try:
            return self.oracle.resolve(name)
        except LookupError:
            owner, _, last = name.rpartition(".")
            misuse.absent(self, owner, last, node, frame)
            known = name.partition(".")[0] in sys.stdlib_module_names or self.workspace.is_folder(name, frame.path)
            if not known:
                self.trace.missing.setdefault((name, frame.path), node)
            return Native(name, "external")

    def submodule(self, owner: Namespace | Native, name: str, frame: Frame) -> Value:
        """The module called `name` in a package of the user's, MISSING where there is none. What reads it supposes that something has
        imported it: other code, or the package, when it is asked."""
        if isinstance(owner, Native):
            # A folder without ``__init__.py`` binds nothing else.
            if not self.workspace.is_folder(owner.path, frame.path):
                return MISSING
            source = self.workspace.find(f"{owner.path}.{name}", frame.path, 0)
            if source is None:
                return MISSING
            return self.modules.get(source.path) or self.execute_module(source, f"{owner.path}.{name}")
        file = as_kind(owner.slots.get("__file__"), str)
        if file is None or os.path.basename(file) != "__init__.py":
            return MISSING
        base = os.path.join(os.path.dirname(file), name)
        places = (f"{base}.py", os.path.join(base, "__init__.py"))
        known = next((found for path in places if (found := self.modules.get(path)) is not None), None)
        if known is not None:
            return known
        sources = filter(None, map(self.workspace.source, places))
        return next((self.execute_module(one, f"{owner.name}.{name}") for one in sources), MISSING)

    def execute_module(self, source: SourceText, name: str) -> Namespace:
        """The namespace of a workspace module that is imported for the first time."""
        names = Globals(__name__=name, __file__=os.path.abspath(source.path))
        namespace = self.modules[source.path] = Namespace(name, names)
        frame = Frame(source, names, names)
        tree = parse(source)
        self.read_declarations(source, tree)
        statements = [part for statement in tree.body for part in _split(statement)]
        names.body = Body(frame, statements, set(statements))
        began, outer = self.steps, self.import_began
        if outer is None:
            self.import_began = began
        try:
            for statement in statements:
                if self._as_needed():
                    self._open(names)
                    break
                self._execute(statement, names)
        finally:
            self.import_began = outer
            if outer is None:
                self.import_steps -= self.steps - began
        return namespace

    def _as_needed(self) -> bool:
        """Whether bodies of modules have taken so many steps that they are executed as needed only."""
        spent = self.steps - self.import_began if self.import_began is not None else 0
        if not self.as_needed and spent > self.import_steps:
            self.as_needed = True
            for module in self.modules.values():
                self._open(module.slots)
        return self.as_needed

    # -- as needed ---------------------------------------------------------------------------------

    def member(self, module: Namespace, name: str) -> Value:
        """The value that a module binds a name to, MISSING where it does not."""
        return module.slots[name] if name in module.slots else self.fetch(module.slots, name)

    def fetch(self, names: Names, name: str) -> Value:
        """The value that those statements of a module bind a name to that are not executed yet, MISSING where they do not."""
        body = names.body
        if body is None or not body.waiting or name in body.wanted:
            return MISSING
        body.wanted.add(name)
        try:
            binding = body.needed(name)
            if binding and not self.as_needed:
                binding = body.statements[: body.statements.index(binding[-1]) + 1]
            elif binding and not body.begun and not isinstance(binding[0], _IMPORTS):
                self._begin_body(names, body)
            for statement in binding:
                self._execute(statement, names)
            if name in names:
                return names[name]
            return self._from_stars(body, name) if self.as_needed and not name.startswith("_") else MISSING
        finally:
            body.wanted.discard(name)

    def _begin_body(self, names: Names, body: Body) -> None:
        """Execute the body of a module that is needed, but for its imports and for what takes long."""
        body.begun = True
        end = self.steps + self.budget.module_steps
        apart = {one for group in body.rebound.values() for one in group}
        for statement in body.statements:
            if not (isinstance(statement, _IMPORTS) or statement in apart or _is_large(statement)):
                self._execute(statement, names)
            if self.steps > end:
                break
        self._open(names)

    def body(self, statements: list[ast.stmt], frame: Frame) -> int:
        """The statements of a module, up to one that ends it."""
        return next((ended for one in statements if (ended := self.statement_of_module(one, frame))), 0)

    def statement_of_module(self, statement: ast.stmt, frame: Frame) -> int:
        """A statement of a module's body. It may be left out: what it mentions may be anything then."""
        if not self.parts.begin(frame.source, statement):
            unparsed.leave_out(self, statement, frozenset(_bound(statement)), frame)
            return 0
        try:
            return self.statement(statement, frame)
        finally:
            self.parts.end()

    def _execute(self, statement: ast.stmt, names: Names) -> None:
        """Execute a statement of an imported module. What it does holds in all branches of the importer."""
        body = names.body
        if body is None or statement not in body.waiting:
            return
        body.waiting.discard(statement)
        kept = self.grad, self.grad_off, self.autocast, self.loop_points, self.forward_depth, self.entry_point
        self.grad, self.grad_off, self.autocast, self.loop_points, self.forward_depth = True, None, {}, [], 0
        self.entry_point = None
        mark = self.heap.mark()
        try:
            ended = self.statement_of_module(statement, body.frame) != 0
        except BaseException:
            self.heap.rollback(mark)
            body.waiting.add(statement)
            raise
        finally:
            self.grad, self.grad_off, self.autocast, self.loop_points, self.forward_depth, self.entry_point = kept
        if self.as_needed and body.begun:
            for name in _bound(statement):
                self._open_value(name, names.get(name), body, set())
        if ended:
            body.waiting.clear()
        self.heap.keep(mark)

    def _from_stars(self, body: Body, name: str) -> Value:
        """The value that one of the modules binds a name to of which everything is imported, UNKNOWN if there are too many."""
        outer = self.searched
        try:
            for star in reversed(body.stars):
                self.searched += 1
                if self.searched > MAX_SEARCHED:
                    return UNKNOWN
                module = self.import_module(star.module or "", body.frame, star.level, star)
                found = self.member(module, name) if isinstance(module, Namespace) else MISSING
                if isinstance(module, Native) and name in self.oracle.public_names(module.path):
                    found = self.attribute(module, name, star, body.frame)
                if found is not MISSING:
                    return found
            return MISSING
        finally:
            self.searched = self.searched if outer else 0

    def _names_of(self, module: Value, seen: frozenset[int] = frozenset()) -> list[str]:
        """The names that ``import *`` takes from a module."""
        if isinstance(module, Native):
            return list(self.oracle.public_names(module.path))
        if not isinstance(module, Namespace) or id(module) in seen:
            return []
        names = dict.fromkeys(module.slots)
        body = module.slots.body
        if body is not None and body.waiting and self.as_needed:
            names.update(dict.fromkeys(body.binds))
            for star in body.stars:
                inner = self.import_module(star.module or "", body.frame, star.level, star)
                names.update(dict.fromkeys(self._names_of(inner, seen | {id(module)})))
        return [name for name in names if not name.startswith("_")]

    # -- what is not executed ----------------------------------------------------------------------

    def _open(self, names: Names) -> None:
        """Forget the containers of a module: what is not executed may have put things into them."""
        seen: set[int] = set()
        for name, value in list(names.items()):
            self._open_value(name, value, names.body, seen)

    def _open_value(self, name: str, value: Value, body: Body | None, seen: set[int]) -> None:
        """A container that is empty is there to be filled, and so may be one that its module changes."""
        if name.startswith("__") or id(value) in seen:
            return
        seen.add(id(value))
        match value:
            case ListValue() | DictValue():
                items = value.items if isinstance(value, ListValue) else value.entries
                if not items or body is None or (body.may_change(name) and not self.is_trusting()):
                    self.heap.set(value.slots, "items", None)
                else:
                    for item in items.values() if isinstance(items, dict) else items:
                        self._open_value(name, item, body, seen)
            case tuple():
                for item in value:
                    self._open_value(name, item, body, seen)
            case ClassValue() | Instance() if not self.is_trusting():
                path = value.path if isinstance(value, ClassValue) else value.cls.path
                if path in self.modules:
                    named = [(name, item) for name, item in value.slots.items() if isinstance(name, str)]
                    for attribute, item in named:
                        self._open_value(attribute, item, self.modules[path].slots.body, seen)


def _split(statement: ast.stmt) -> list[ast.stmt]:
    """An import statement for each imported name, also of what is there for type checkers; other statements as they are."""
    match statement:
        case ast.If() if ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            return [part for one in statement.body for part in _split(one)]
        case ast.Import() if len(statement.names) > 1:
            return [ast.copy_location(ast.Import([alias]), statement) for alias in statement.names]
        case ast.ImportFrom() if len(statement.names) > 1:
            made = (ast.ImportFrom(statement.module, [alias], statement.level) for alias in statement.names)
            return [ast.copy_location(one, statement) for one in made]
    return [statement]


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement of a module binds."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, _IMPORTS):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Name):
        if not loads(node):
            yield node.id
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bound(target)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        yield from _bound(node.target)
    elif not isinstance(node, ast.Lambda):
        if isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        for part in ast.iter_child_nodes(node):
            yield from _bound(part)


def _mentioned(node: ast.AST) -> Iterator[str]:
    """The names that a statement of a module uses or binds when it is executed."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, _DEFINITIONS):
        yield node.name
    for field_name, value in ast.iter_fields(node):
        if field_name != "body" or not isinstance(node, _FUNCTIONS):
            for part in of_kind(value if isinstance(value, list) else [value], ast.AST):
                yield from _mentioned(part)


def _is_large(statement: ast.stmt) -> bool:
    if isinstance(statement, _DEFINITIONS):
        return False
    return next(itertools.islice(ast.walk(statement), LARGE_STATEMENT, None), None) is not None


def _functions(node: ast.AST) -> Iterator[ast.AST]:
    """The functions that a statement defines, also as methods; what is inside of them is not looked at."""
    if isinstance(node, _FUNCTIONS):
        yield node
    elif isinstance(node, ast.stmt | ast.ExceptHandler):
        for part in ast.iter_child_nodes(node):
            yield from _functions(part)


def _changed(node: ast.AST) -> Iterator[str]:
    """The names and attributes that are used otherwise than for reading a container."""
    reading: set[int] = set()
    named: list[ast.Name | ast.Attribute] = []
    for part in ast.walk(node):
        match part:
            case ast.Name() | ast.Attribute():
                named.append(part)
            case ast.Subscript(ctx=ast.Load()):
                reading.add(id(part.value))
            case ast.Compare():
                reading.update(map(id, (part.left, *part.comparators)))
            case ast.For() | ast.comprehension():
                reading.add(id(part.iter))
            case ast.If() | ast.IfExp() | ast.While():
                reading.add(id(part.test))
            case ast.UnaryOp():
                reading.add(id(part.operand))
            case _ if isinstance(part, ast.Starred | ast.FormattedValue) or (
                isinstance(part, ast.keyword) and part.arg is None
            ):
                reading.add(id(part.value))
            case ast.Dict():
                reading.update(id(value) for key, value in zip(part.keys, part.values) if key is None)
            case _ if is_method_call(part, *_READING):
                reading.add(id(part.func.value))
            case _ if is_function_call(part, *_READERS):
                reading.update(map(id, part.args))
    yield from (last_word(part) for part in named if id(part) not in reading)
