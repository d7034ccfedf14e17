"""Rules: a fault of the catalogue, and a function from an analysis to findings."""

from __future__ import annotations

import ast
import importlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from torchsleuth.faults import Fault
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.library.hierarchy import descendants, parts_of
from torchsleuth.interp.misuses import Misuse, P, Way
from torchsleuth.interp.trace import Event, LibraryCall, LoopPoint, Operation, Trace
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Related, Severity, Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import Index, index
from torchsleuth.values import AnyModule, Origin, is_module
from torchsleuth.values.graph import GraphNode


@dataclass(frozen=True)
class Candidate:
    """A possible repair, not yet verified."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True

    def unsafe(self) -> Candidate:
        """The same repair, where it may not be what the author meant."""
        return replace(self, safe=False)


def replacement(source: SourceText, node: ast.AST, new: str, safe: bool = True) -> Candidate:
    """Another text in the place of a node."""
    title = message("fix.replace", old=source.segment(node), new=new)
    return Candidate(title, (edits.replace(source, node, new),), safe)


def appended(source: SourceText, node: ast.AST, suffix: str, safe: bool = True) -> Candidate:
    """A text behind a node, such as a method."""
    title = message("fix.append", expression=source.segment(node), suffix=suffix)
    return Candidate(title, (edits.insert_after_node(source, node, suffix),), safe)


def added_argument(source: SourceText, call: ast.Call, argument: str, safe: bool = True) -> Candidate:
    """A call with one more argument."""
    title = message("fix.add_argument", argument=argument)
    return Candidate(title, (edits.add_argument(source, call, argument),), safe)


def moved_after(source: SourceText, statement: ast.stmt, other: ast.stmt, safe: bool = True) -> Candidate:
    """A statement on a line of its own moved behind another one."""
    text = source.segment(statement)
    changes = (edits.remove_line(source, statement.lineno), edits.insert_line_after(source, other, text))
    return Candidate(message("fix.move_after", text=text, line=other.lineno), changes, safe)


@dataclass(frozen=True)
class Finding:
    """`candidates` in order of preference; those that re-analysis refutes are dropped. They are made when they are asked
    for, if that is a generator."""

    at: Span
    message: str
    related: tuple[Related, ...] = ()
    candidates: Iterable[Candidate] = ()
    severity: Severity | None = None
    """Where it weighs less, or more, than the rule's findings do in general."""


class Candidates:
    """The candidates of a finding, made when they are first asked for. If their maker raises, `failed` is told, and there
    are those that it had made: the finding itself stands. `at_call`: those at the call that leads to the finding."""

    def __init__(
        self, made: Iterable[Candidate], failed: Callable[[Exception], None], at_call: Iterable[Candidate] = ()
    ) -> None:
        self._made = made
        self._failed = failed
        self.at_call: Iterable[Candidate] = Candidates(at_call, failed) if at_call else ()

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._all)

    @property
    def possible(self) -> bool:
        """Whether there may be some, as far as is known without making them."""
        return self._made != () or self.at_call != ()

    @cached_property
    def _all(self) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        try:
            for candidate in self._made:
                found.append(candidate)
        except Exception as error:
            self._failed(error)
        return tuple(found)


@dataclass
class Analysis:
    """The input of rules: the trace, and the sources it refers to."""

    source: SourceText
    trace: Trace
    workspace: Workspace
    torch: tuple[int, ...] = (2, 4)
    """Major and minor version of the installed torch; the oldest one that is supported, where it is not known."""
    _trees: dict[str, ast.Module] = field(default_factory=dict)
    _statements: dict[str, list[ast.stmt]] = field(default_factory=dict)

    @cached_property
    def names(self) -> Names:
        """The library names that the document itself uses."""
        return Names(self.tree(self.source.path))

    @cached_property
    def sources(self) -> list[SourceText]:
        """The document itself, and the files of the workspace that it uses."""
        own = os.path.abspath(self.source.path)
        return [self.source, *(one for one in self.workspace.read if os.path.abspath(one.path) != own)]

    @cached_property
    def scopes(self) -> list[ast.Module | ast.FunctionDef]:
        """The document itself, and the functions in it."""
        return [self.tree(self.source.path), *self.index(self.source.path).of_type(ast.FunctionDef)]

    @cached_property
    def operations(self) -> dict[int, Operation]:
        """The recorded operations, by the identity of their sites."""
        return {id(operation.site): operation for operation in self.trace.operations}

    def operation_of(self, origin: Origin | GraphNode | None) -> Operation | None:
        """The recorded operation that a tensor, or a node of the graph, comes from."""
        return self.operations.get(id(origin.site)) if origin is not None else None

    def operations_at(self, place: Span) -> list[Operation]:
        """All that were recorded at a place."""
        return [operation for operation in self.trace.operations if operation.site.span == place]

    def events(self, kind: str) -> list[Event]:
        """The recorded events of one kind, in order."""
        return self._events_by_kind.get(kind, [])

    @cached_property
    def _events_by_kind(self) -> dict[str, list[Event]]:
        found: defaultdict[str, list[Event]] = defaultdict(list)
        for event in self.trace.events:
            found[event.kind].append(event)
        return found

    def events_of(self, subject: object, kind: str) -> list[Event]:
        """The recorded events of one kind that happen to one object, in order."""
        return self._events_by_subject.get((id(subject), kind), [])

    @cached_property
    def _events_by_subject(self) -> dict[tuple[int, str], list[Event]]:
        found: defaultdict[tuple[int, str], list[Event]] = defaultdict(list)
        for event in self.trace.events:
            found[id(event.subject), event.kind].append(event)
        return found

    def misuses(self, way: Way[P]) -> list[Misuse[P]]:
        """The recorded misuses of one way, in order."""
        return [misuse for misuse in self.trace.misuses if misuse.way is way]

    def events_within(self, point: LoopPoint) -> list[Event]:
        """The events in any iteration of one execution of a loop, in order."""
        return self._events_by_loop.get(point.execution, [])

    @cached_property
    def _events_by_loop(self) -> dict[int, list[Event]]:
        found: defaultdict[int, list[Event]] = defaultdict(list)
        for event in self.trace.events:
            for point in event.loops:
                found[point.execution].append(event)
        return found

    @cached_property
    def calls(self) -> dict[str, list[LibraryCall]]:
        """The recorded calls of the library, in order, by their paths."""
        found: defaultdict[str, list[LibraryCall]] = defaultdict(list)
        for call in self.trace.calls:
            found[call.path].append(call)
        return found

    def calls_at_places(self, *ends: str) -> list[LibraryCall]:
        """The calls of library paths with one of these ends, one for each place where they stand: the last."""
        found = (call for path, calls in self.calls.items() if path.endswith(ends) for call in calls)
        return list({call.site.span: call for call in found}.values())

    @cached_property
    def wholes(self) -> dict[int, AnyModule]:
        """The outermost module that is known to hold a part, by the identity of the part."""
        known = [event.subject for event in self.events("forward")] + [item.owner for item in self.trace.attributes]
        sizes: dict[int, int] = {}
        found: dict[int, AnyModule] = {}
        for module in {id(module): module for module in known if is_module(module)}.values():
            size = sum(1 for _ in descendants(module))
            for part in parts_of(module):
                if size > sizes.get(id(part), 0):
                    sizes[id(part)], found[id(part)] = size, module
        return found

    def tree(self, path: str) -> ast.Module:
        """The tree of a file; mostly the one that the nodes in the trace belong to."""
        if path not in self._trees:
            self._trees[path] = parse(self.source_of(path))
        return self._trees[path]

    def index(self, path: str) -> Index:
        """The nodes of a file's tree, by place and class."""
        return index(self.tree(path))

    def trail(self, path: str, node: ast.AST) -> list[ast.AST]:
        """The nodes of a file from its root down to one, both included."""
        return self.index(path).trail(node)

    def statements(self, path: str) -> list[ast.stmt]:
        """Every statement of a file, at any depth."""
        if path not in self._statements:
            self._statements[path] = of_kind(self.index(path).nodes, ast.stmt)
        return self._statements[path]

    def source_of(self, path: str) -> SourceText:
        if path == self.source.path:
            return self.source
        found = self.workspace.source(path)
        return found if found is not None else SourceText(path, "")


Finder = Callable[[Analysis], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A detector of one fault in the text. `of_absence`: it argues from what a script does not do, so it is silent about one
    that was not executed to its end."""

    fault: Fault
    find: Finder
    of_absence: bool = False

    @property
    def code(self) -> str:
        return self.fault.code


def load_rule(fault: Fault) -> Rule:
    """The rule that finds a fault in the text, loaded alone. Raises ModuleNotFoundError if there is none."""
    rule: Rule = importlib.import_module(f"torchsleuth.rules.{fault.rule}").RULE
    return rule
