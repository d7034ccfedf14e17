"""Records of requests to a worker, which its clients, its process and its engines share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from torchsleuth.schema import FileAnalysis, Json

P = ParamSpec("P")
R = TypeVar("R", bound="Request")


@dataclass(frozen=True)
class Request:
    """A question about a document. `overlay`: texts of other open documents. `roots`: folders that imports start from."""

    method: ClassVar[str]
    seconds_at_most: ClassVar[float] = 60.0
    """How long it may take, unless the client says otherwise."""

    path: str
    text: str
    overlay: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """The texts of all open documents."""
        return {**self.overlay, self.path: self.text}

    def also(self, kind: type[R], **more: Any) -> R:
        """Another question about the same document."""
        return kind(self.path, self.text, self.overlay, self.roots, **more)

    def to_json(self) -> Json:
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True)
class Analyze(Request):
    """The findings of a document. With `verify` false fixes are left to `Repair`. `codes`: the rules to ask, None for those on by
    default. `observed`: facts of a run, as JSON, which stand for what is unknown in the facts; nothing is found by them."""

    method = "analyze"
    verify: bool = True
    codes: Sequence[str] | None = None
    observed: Sequence[Json] = ()


@dataclass(frozen=True)
class Repair(Request):
    """The findings with the fixes that were verified so far, after going on with that for about `seconds`.
    `stats["unverified"]` says whether there is more to do."""

    method = "repair"
    codes: Sequence[str] | None = None
    seconds: float = math.inf


@dataclass(frozen=True)
class Explain(Request):
    """Facts about the expressions in the lines from `first` to `last`, and why the rest is unknown:
    `FileAnalysis.explanations`."""

    method = "explain"
    first: int = 1
    last: float = math.inf


@dataclass(frozen=True)
class Infer(Request):
    """The contracts of the modules and functions that begin in the lines from `first` to `last`: `FileAnalysis.contracts`, and what
    they say of the expressions inside: `FileAnalysis.facts`. `stats["read"]`: the other files of the workspace that these
    depend on. `stats["withdrawn"]`: this was given up, since something else is asked for."""

    method = "contracts"
    seconds_at_most = 800.0
    first: int = 1
    last: float = math.inf


@dataclass(frozen=True)
class Called(Request):
    """The facts about the expressions of a document where other files of the workspace call what is in it:
    `FileAnalysis.facts`. `stats["read"]`: those files; `stats["withdrawn"]`: as for `Infer`."""

    method = "called"
    seconds_at_most = 300.0


@dataclass(frozen=True)
class Estimate(Request):
    """The memory that a step of the training in a document takes: `FileAnalysis.memory`. `batch`: the size of a batch, where it is
    to be another one than in the text; `limit`: bytes of the device, for which the largest batch is looked for; `device`: its
    kind, None for that of the script; `remedies`: also what would save memory."""

    method = "estimate"
    seconds_at_most = 600.0
    batch: int | None = None
    limit: int | None = None
    device: str | None = None
    remedies: bool = True


REQUESTS: dict[str, type[Request]] = {kind.method: kind for kind in (Analyze, Repair, Explain, Infer, Called, Estimate)}


def from_json(method: str, parameters: Json) -> Request:
    """A request as it came over the wire. Raises ValueError for what is none."""
    if method not in REQUESTS:
        raise ValueError(f"no method of the worker: {method}")
    return REQUESTS[method](**{**parameters, "roots": tuple(parameters.get("roots") or ())})


def _asking(kind: Callable[P, Request]) -> Callable[Concatenate[Analyzer, P], FileAnalysis]:
    def ask(self: Analyzer, /, *args: P.args, **more: P.kwargs) -> FileAnalysis:
        return self.ask(kind(*args, **more))

    return ask


class Analyzer(ABC):
    """Answers requests, which can also be made by a method with the fields of the record."""

    @abstractmethod
    def ask(self, request: Request) -> FileAnalysis: ...

    analyze = _asking(Analyze)
    repair = _asking(Repair)
    explain = _asking(Explain)
    contracts = _asking(Infer)
    called = _asking(Called)
    estimate = _asking(Estimate)


class Served(Analyzer):
    """The interface that the process of the worker serves. `unrepaired`: whether analyses are kept whose fixes, or contracts, are
    still to be found."""

    @property
    @abstractmethod
    def unrepaired(self) -> bool: ...

    @abstractmethod
    def vocabulary(self) -> list[str]:
        """The attributes of the installed libraries, by which a word that is still being typed is told from others."""

    @abstractmethod
    def save(self) -> None:
        """Keep what was found out for the workers to come."""
