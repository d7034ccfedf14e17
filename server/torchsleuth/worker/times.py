"""How long each part of an engine's work may take."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torchsleuth.interp.budget import Budget


@dataclass(frozen=True)
class Times:
    """Seconds of the processor, which are the same on a busy machine. What is over ends with what was found so far."""

    document: float = 20.0
    """One document in all: its execution, its rules, and what is left is for its fixes."""
    execution: float = Budget.seconds
    """The execution of one document."""
    grace: float = 2.0
    """Beyond that of an execution, after which it is interrupted: it looks at the clock itself, but not everywhere."""
    behind: float = 2.0
    """The analysis behind layers that do not fit."""
    contracts: float = 720.0
    """The contracts of a document. They end by the work that they take; this is for where that does not tell the time."""
    contract: float = 120.0
    """One of them."""
    recording: float = 60.0
    """The training of a document that is executed for its memory."""
    rules: float = 4.0
    """All the rules together."""
    rule: float = 2.0
    """One rule."""
    candidates: float = 4.0
    """After it, only the first candidate of each finding is tried; unverified ones are never offered."""
    fixes: float = 20.0
    """After it, no candidate is tried."""

    def slower(self, factor: float) -> Times:
        """The same for a machine that is slower by a factor."""
        return Times(*(factor * getattr(self, field.name) for field in fields(self)))
