"""The answer of a probe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from torchsleuth.schema import Diagnostic, Json, Position

Outcome = Literal["passed", "found", "impossible"]
EXIT_STATUS: dict[Outcome, int] = {"passed": 0, "found": 1, "impossible": 2}


@dataclass(frozen=True)
class Place:
    """A stretch of the user's code."""

    path: str
    start: Position
    end: Position

    def to_json(self) -> Json:
        return {"path": self.path, "start": self.start.to_json(), "end": self.end.to_json()}


@dataclass(frozen=True)
class Result:
    """`message` is the verdict in one line, `place` the code that it is about; `curve` are pairs to be drawn, the first of
    them named `axis`, `related` what is said of other places, and `measured` is what the run has told. `diagnosis`: that of the
    crash for which there is no answer."""

    kind: str
    outcome: Outcome
    message: str
    place: Place | None = None
    details: tuple[str, ...] = ()
    related: tuple[tuple[str, Place], ...] = ()
    axis: str = ""
    curve: tuple[tuple[float, float], ...] = ()
    measured: Json = field(default_factory=dict)
    diagnosis: Diagnostic | None = None

    def to_json(self) -> Json:
        return {
            "probe": self.kind,
            "outcome": self.outcome,
            "message": self.message,
            "place": None if self.place is None else self.place.to_json(),
            "details": list(self.details),
            "related": [{"message": text, **place.to_json()} for text, place in self.related],
            "measured": self.measured,
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_json(),
        }
