"""The report of a run, folded from its events."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchsleuth.errors.diagnose import crash_diagnostic
from torchsleuth.runtime.secrets import Secrets
from torchsleuth.schema import Diagnostic, Json, Sample, TensorFact, Values
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.text import SourceText

Sources = Callable[[str], SourceText]


@dataclass(frozen=True)
class RunReport:
    """The record of a run. `exit_code` is the script's own; negative is the signal that ended it.

    `loaded` are the user's files that took part; `training` is None for a script that did not train, else
    {losses: [first, last], finite, change: largest change of a parameter since the first optimizer step, or None}.
    """

    script: str
    exit_code: int
    cancelled: bool
    crash: Json | None
    diagnostics: tuple[Diagnostic, ...]
    facts: tuple[TensorFact, ...]
    seconds: float = 0.0
    loaded: tuple[str, ...] = ()
    training: Json | None = None
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables of a script that crashed; `to_json` leaves their values out."""
    ended: str = "exit"
    """How: ``exit``, ``signal``, ``interrupted`` (Ctrl-C), ``cancelled``, or the limit that was reached: ``timeout``,
    ``max-steps``, ``smoke``."""

    @property
    def trained_soundly(self) -> bool:
        """It ended well and, if it trained, its losses are finite and its parameters moved."""
        if self.exit_code != 0 or self.crash is not None:
            return False
        return self.training is None or bool(self.training["finite"] and self.training["change"] != 0)

    def to_json(self) -> Json:
        """The report as it is kept: without the values of the environment."""
        secrets = Secrets(self.environment)
        return {
            "script": self.script,
            "exit_code": self.exit_code,
            "cancelled": self.cancelled,
            "ended": self.ended,
            "seconds": self.seconds,
            "crash": secrets.without(self.crash),
            "training": self.training,
            "diagnostics": [secrets.without(diagnostic.to_json()) for diagnostic in self.diagnostics],
            "facts": [fact.to_json() for fact in self.facts],
            "loaded": list(self.loaded),
        }


class Collector:
    """Keeps the latest of each kind of event, so that a run without end does not grow."""

    def __init__(self) -> None:
        self._facts: dict[tuple[Any, ...], Json] = {}
        self._loaded: dict[str, None] = {}
        self._crash: Json | None = None
        self._training: Json | None = None
        self._ended: str | None = None

    def add(self, event: Json) -> None:
        kind = event.get("event")
        if kind == "facts":
            for item in event["facts"]:
                key = (item["path"], *item["span"])
                self._facts[key] = item
        elif kind == "loaded":
            self._loaded[event["path"]] = None
        elif kind == "crash":
            self._crash = event
        elif kind == "ended":
            self._ended = event["why"]
        elif kind == "training":
            self._training = {name: value for name, value in event.items() if name != "event"}

    def report(
        self, script: str, exit_code: int, cancelled: bool, seconds: float, ended: str | None = None
    ) -> RunReport:
        """`ended` is what the one who ran it knows of the end."""
        crash = dict(self._crash) if self._crash is not None and not cancelled else None
        sources = read_sources(crash.pop("sources", {}) if crash else {})
        environment = crash.pop("environment", []) if crash else []
        found = crash_diagnostic(crash, sources) if crash is not None else None
        facts = {
            (fact.path, fact.start, fact.end): fact
            for item in self._facts.values()
            for fact in observed_facts(item, sources)
        }
        return RunReport(
            script,
            exit_code,
            cancelled,
            crash,
            () if found is None else (found,),
            tuple(facts[key] for key in sorted(facts)),
            seconds,
            tuple(self._loaded),
            self._training,
            tuple((name, value) for name, value in environment),
            ended or self._ended or _how_it_ended(exit_code, cancelled),
        )


def _how_it_ended(exit_code: int, cancelled: bool) -> str:
    if cancelled:
        return "cancelled"
    if exit_code == -signal.SIGINT:
        return "interrupted"
    return "signal" if exit_code < 0 else "exit"


def read_sources(known: Mapping[str, str | None] | None = None) -> Sources:
    """Sources by path: as they were when the run loaded them, else from disk, decoded as Python does."""
    cache = {path: SourceText(path, text) for path, text in (known or {}).items() if text is not None}

    def read(path: str) -> SourceText:
        if path not in cache:
            try:
                cache[path] = SourceText(path, read_source(path))
            except Unreadable:
                cache[path] = SourceText(path, "")
        return cache[path]

    return read


def _values(item: Json | None) -> Values | None:
    if item is None:
        return None
    return Values(
        item["count"], Sample(**item["first"]), Sample(**item["last"]), item["low"], item["high"], item["bad"]
    )


def observed_facts(item: Json, sources: Sources) -> list[TensorFact]:
    """The fact about an expression, and the one about the name or attribute that it is assigned to."""
    source = sources(item["path"])
    spans: list[tuple[list[int], str | None]] = [(item["span"], None)]
    if item["binding"] is not None:
        spans.append((item["binding"][1], item["binding"][0]))
    found: list[TensorFact] = []
    for span, binding in spans:
        start, end = source.from_utf8(span[0], span[1]), source.from_utf8(span[2], span[3])
        found.append(
            TensorFact(
                source.path,
                start,
                end,
                source.slice(start, end),
                tuple(item["shape"]),
                item["dtype"],
                item["device"],
                item["requires_grad"],
                binding,
                "run",
                None if item["later"] is None else tuple(item["later"]),
                values=_values(item.get("values")),
            )
        )
    return found
