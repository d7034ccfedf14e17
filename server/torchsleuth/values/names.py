"""The variables of a scope, with a history, so that what they were at any moment can be told afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from torchsleuth.values.identity import new_identity


class Names(dict[Any, Any]):
    """`history`: each write, with its moment and what stood there before, if anything did. Moments are counted by the heap,
    through which all writes go; they never go back, also where a branch is undone."""

    body: Any = None
    """The body of an imported module whose names these are: some of it may not be executed yet."""

    def __init__(self, *args: Any, **names: Any) -> None:
        super().__init__(*args, **names)
        self.born = new_identity()
        self.history: list[tuple[int, Any, tuple[Any, ...]]] = []
        self._shown: tuple[int, Mapping[Any, Any]] | None = None

    def written(self, moment: int, key: Any) -> None:
        """Called before each write."""
        self.history.append((moment, key, (self[key],) if key in self else ()))

    def at(self, moment: int) -> Mapping[Any, Any]:
        """The variables as they were at a moment."""
        if self._shown is None or self._shown[0] != moment:
            found = dict(self)
            for written, key, before in reversed(self.history):
                if written < moment:
                    break
                if before:
                    found[key] = before[0]
                else:
                    found.pop(key, None)
            self._shown = moment, MappingProxyType(found)
        return self._shown[1]
