"""The bodies of documents, run so that their classes and functions are there, and the calls that are seen on the way."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.library import records
from torchsleuth.interp.library.distributions import is_distribution
from torchsleuth.interp.outcomes import Call, Part
from torchsleuth.interp.written import WrittenContracts
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.values import (
    UNKNOWN,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    NamedResult,
    Scalar,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

CALLER_STEPS = 8_000
"""Nodes evaluated in a run of what calls an entry."""
CALLER_BODY_STEPS = 30_000
"""Nodes evaluated in the body of another document that calls an entry."""
CALLER_WORK = 100_000
"""Work (`Execution.work`) in all the runs of one such."""
BODY_WORK = 400_000
"""Work in the body of a document."""


class Documents(WrittenContracts):
    """Runs the bodies of documents, and keeps the calls of the functions of the one that contracts are inferred for."""

    document: tuple[ast.Module, Frame] | None = None
    calls: list[tuple[ast.AST, dict[str, Value]]] | None = None
    """The calls of the document's functions since the run began."""

    def begin_document(self, source: SourceText, tree: ast.Module, frame: Frame) -> None:
        """Run the body of a document, so that its classes and functions are there."""
        self.document = (tree, frame)
        self._run_body(source, tree, frame)

    def begin_user(self, source: SourceText) -> Frame:
        """Run the body of another document, as far as it does not go on for long, for the calls of this one in it."""
        names = Names(__name__="__main__", __file__=source.path)
        frame = Frame(source, names, names)
        with self._no_longer_than(CALLER_BODY_STEPS):
            self._run_body(source, parse(source), frame)
        return frame

    def _run_body(self, source: SourceText, tree: ast.Module, frame: Frame) -> None:
        self.read_declarations(source, tree)
        self.calls = []
        if not self._protect(lambda: self._define_and_run(tree, frame)):
            self._lose_globals(tree, frame)

    def _define_and_run(self, tree: ast.Module, frame: Frame) -> None:
        """Execute a body. What comes behind its last definition takes no longer than where a document is only checked."""
        definitions = [
            place for place, one in enumerate(tree.body, 1) if isinstance(one, ast.ClassDef | ast.FunctionDef)
        ]
        last = max(definitions, default=0)
        if not self.body(tree.body[:last], frame):
            with self._no_longer_than(Budget.steps):
                self.body(tree.body[last:], frame)

    @contextlib.contextmanager
    def _no_longer_than(self, steps: int) -> Iterator[None]:
        """A limit on nodes, and on the work in the body of a document."""
        limit = self.step_limit
        self.step_limit = min(limit, self.steps + steps)
        try:
            with self.no_more_than(self.work + BODY_WORK):
                yield
        finally:
            self.step_limit = limit

    @contextlib.contextmanager
    def no_more_than(self, end: int) -> Iterator[None]:
        """A limit on the work of this execution. What reaches it ends; who set it goes on."""
        limit = self.work_limit
        self.work_limit = min(limit, end)
        try:
            yield
        finally:
            self.work_limit = limit
            self.overdue = self.is_over()

    @contextlib.contextmanager
    def counted_anew(self, seconds: float) -> Iterator[None]:
        """An execution of which the work does not depend on what was done before."""
        self.oracle.count_anew()
        self.next_look, deadline = 0, self.deadline
        self.deadline = min(deadline, time.process_time() + seconds)
        try:
            yield
        finally:
            self.deadline = deadline
            self.overdue = self.is_over()

    @contextlib.contextmanager
    def briefly(self) -> Iterator[None]:
        """Runs that are only for the calls in them do not go on for long."""
        budget, self.budget = self.budget, replace(self.budget, entry_steps=CALLER_STEPS)
        try:
            with self.no_more_than(self.work + CALLER_WORK):
                yield
        finally:
            self.budget = budget

    def calls_seen(self) -> list[Call]:
        """The calls since the run began, with everything put in that was found out later."""
        calls, self.calls = self.calls or [], []
        return [Call(node, {name: self._part(value) for name, value in passed.items()}) for node, passed in calls]

    def _part(self, value: Value) -> Part:
        value = records.plain(value)
        match value:
            case Tensor():
                spec = self.resolved_spec(value.spec)
                device = None if spec.device is None else str(spec.device)
                return Part("tensor", spec.shape, spec.dtype, device, cause=value.obscured)
            case NamedResult():
                return Part("tuple", parts=tuple(map(self._part, value)), names=value.fields)
            case tuple():
                return Part("tuple", parts=tuple(map(self._part, value)))
            case ListValue() if value.items is not None:
                return Part("list", parts=tuple(map(self._part, value.items)))
            case DictValue() if value.items is not None:
                names = tuple(map(str, value.items))
                return Part("dict", parts=tuple(map(self._part, value.items.values())), names=names)
            case Instance() if value.cls.is_dataclass:
                return self._record(value)
            case Instance() | LibraryObject() if held := self._held_by(value):
                name = value.cls.name if isinstance(value, Instance) else value.path.rpartition(".")[2]
                return Part("record", parts=tuple(map(self._part, held.values())), names=tuple(held), text=name)
        if is_int(value) and not isinstance(value, bool):
            return Part("value", text=dims.text(self.resolved(value)))
        match value:
            case None | bool() | float() | str():
                return Part("value", text=repr(value))
            case Scalar():
                return Part("value", text=value.type)
        return Part("unknown", cause=as_kind(value, Unknown))

    def _record(self, value: Instance) -> Part:
        """The fields of a dataclass that are not None."""
        filled = {name: value.slots.get(name, UNKNOWN) for name in records.fields(value.cls)}
        told = {name: one for name, one in filled.items() if one is not None}
        return Part("record", parts=tuple(map(self._part, told.values())), names=tuple(told), text=value.cls.name)

    def _held_by(self, value: Instance | LibraryObject) -> dict[str, Tensor]:
        """The tensors in the attributes of an object; of a distribution the parameters that it was made with, or its mean."""
        made = value.native if isinstance(value, Instance) else value
        held = {name: one for name, one in value.slots.items() if isinstance(name, str)}
        if is_distribution(made) and made.site is not None:
            node, frame = made.site.node, made.site.frame
            parameters = [one.name for one in self.oracle.signature(made.path) or ()]
            names = (*parameters[: len(made.args)], *made.kwargs, "mean")
            asked = {name: self.operate(f"{made.path}.{name}", (made,), {}, node, frame) for name in names}
            known = [name for name, one in asked.items() if isinstance(one, Tensor) and one.spec.shape is not None]
            held = {name: asked[name] for name in known[:-1] or ["mean"]}
        return {name: one for name, one in held.items() if isinstance(one, Tensor)}


__all__ = ["Documents"]
