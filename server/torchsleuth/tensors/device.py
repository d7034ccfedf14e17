"""The device domain: cpu, a fixed accelerator, or "an accelerator when the machine has one"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Device:
    """`symbolic`: the accelerator if available, else the CPU, as in
    ``torch.device("cuda" if torch.cuda.is_available() else "cpu")``. `when`: the condition under which it is the
    accelerator, where it is known (see values/conditions.py)."""

    kind: str
    index: int | None = None
    symbolic: bool = False
    when: Any = None

    def __eq__(self, other: object) -> bool:
        """As of any dataclass, and quicker: most devices are one of very few."""
        if self is other:
            return True
        if not isinstance(other, Device):
            return NotImplemented
        same = self.kind == other.kind and self.index == other.index and self.symbolic == other.symbolic
        return same and (self.when is other.when or self.when == other.when)

    def __str__(self) -> str:
        return self.kind if self.index is None else f"{self.kind}:{self.index}"

    @property
    def described(self) -> str:
        return f"{self} when available" if self.symbolic else str(self)


CPU = Device("cpu")


def parse(text: str) -> Device:
    """The device that ``torch.device(text)`` names."""
    kind, _, index = text.partition(":")
    return Device(kind, int(index) if index.isdigit() else None)


def conflict(left: Device, right: Device) -> bool:
    """Whether operands on these devices cannot be combined in some execution.

    The CPU against a symbolic accelerator is a conflict: it fails on every machine that has one.
    Two accelerators of one kind conflict only when both indices are written out and differ; an index
    is not compared with its absence, which means "the current one".
    """
    if left.kind != right.kind:
        return "cpu" in (left.kind, right.kind) and "meta" not in (left.kind, right.kind)
    return left.index is not None and right.index is not None and left.index != right.index
