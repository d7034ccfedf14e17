"""A probe's access to the process that it works in: places, the stream of events, and the end of the script."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from torchsleuth.runtime import places
from torchsleuth.runtime.places import Places
from torchsleuth.runtime.rewrite import Site

MAX_STOPS = 3
"""Times that a script may catch the exception which ends it."""


@dataclass
class Desk:
    """One for each process with a probe. `places` finds the user's code, `constructor` where a module, optimizer or loader
    was made, `alive` those that there are; `record` exchanges what rewritten code calls with each value."""

    places: Places
    sites: list[Site]
    texts: dict[str, bytes]
    alive: Callable[[], list[Any]]
    constructor: Callable[[Any], Any]
    record: Callable[[Callable[[int, Any], Any]], None]
    send: Callable[..., None]
    crashed: bool = False
    """Whether an exception that nobody catches has left the script."""
    _sent: bool = False
    _stops: int = 0
    process: int = field(default_factory=os.getpid)

    def here(self, depth: int = 0) -> dict[str, Any] | None:
        """The innermost place in the user's code; `depth` frames above the caller's are passed over."""
        return places.to_json(self.places.here(depth + 1))

    def made_at(self, value: Any) -> dict[str, Any] | None:
        """Where a module, optimizer or loader was constructed."""
        found = self.constructor(value)
        frames = found["frames"] if found is not None else []
        return {name: frames[0][name] for name in ("path", "line", "span", "function")} if frames else None

    def tell(self, kind: str, **measured: Any) -> None:
        """Send the result; the first one counts."""
        if not self._sent:
            self._sent = True
            self.send("probe", of=kind, **measured)

    @property
    def told(self) -> bool:
        """Whether the result has been sent."""
        return self._sent

    def stop(self) -> NoReturn:
        """End the script, as limits do; at once where it catches that again and again."""
        self._stops += 1
        if self._stops == 1:
            self.send("ended", why="probe")
        if self._stops > MAX_STOPS:
            os._exit(0)
        raise SystemExit(0)
