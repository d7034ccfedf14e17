"""Tells when the script is about to start a debugger, a tracer or a profiler, so that these see nothing of ours.

What starts them is looked up in ``sys`` first: there the functions are taken out, and a module's ``__getattr__`` gives them
back, genuine, after the call that makes room for them. Nothing is wrapped, and no event is listened to: an audit hook would
cost every ``id()`` of the script half a microsecond.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

_STARTERS = ("settrace", "setprofile", "monitoring")
_C_TRACERS = ("coverage", "debugpy", "line_profiler", "pyinstrument", "viztracer", "yappi")
"""Packages that need none of these functions."""


class TracerWatch:
    """Calls `told` once, at the latest right before the first tracer starts."""

    def __init__(self, told: Callable[[], None]) -> None:
        self._told: Callable[[], None] | None = told
        self._hidden: dict[str, Any] = {}

    def install(self) -> None:
        self._hidden = {name: vars(sys).pop(name) for name in _STARTERS if name in vars(sys)}
        shadow = type("module", (types.ModuleType,), {name: property(self._reached(name)) for name in self._hidden})
        vars(sys)["__getattr__"] = shadow("sys").__getattribute__

    def imported(self) -> None:
        """Look at what the script has imported: profilers in C ask nobody."""
        profile = sys.modules.get("cProfile")
        if profile is not None and "enable" not in vars(profile.Profile):
            enable = profile.Profile.enable

            def reached(profiler: Any) -> Any:
                self.tell()
                return enable.__get__(profiler)

            profile.Profile.enable = property(reached)
        if not sys.modules.keys().isdisjoint(_C_TRACERS):
            self.tell()

    def tell(self) -> None:
        told, self._told = self._told, None
        vars(sys).update(self._hidden)
        vars(sys).pop("__getattr__", None)
        if told is not None:
            told()

    def _reached(self, name: str) -> Callable[[Any], Any]:
        def reached(shadow: Any) -> Any:
            self.tell()
            return self._hidden[name]

        return reached
