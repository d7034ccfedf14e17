"""Tells when the script is about to start a debugger, a tracer or a profiler, so that these see nothing of ours, and when that is
gone again.

What starts them is looked up in ``sys`` first: there the functions are taken out, and a module's ``__getattr__`` gives them
back, genuine, after the call that makes room for them. Nothing is wrapped, and no event is listened to: an audit hook would
cost every ``id()`` of the script half a microsecond.

While a tracer may run, no code in Python of ours may. So what asks whether it is gone is made of functions in C: the gates of
rewritten code (`rewrite.switch_gates`) are an object whose truth is asked of them.
"""

from __future__ import annotations

import linecache
import operator
import re
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from types import FrameType
from typing import Any

_STARTERS = ("settrace", "setprofile", "monitoring")
_NAMED = re.compile("|".join(_STARTERS))
_CALLED = re.compile(r"\bsettrace\s*\(")
_C_TRACERS = ("coverage", "debugpy", "line_profiler", "pyinstrument", "viztracer", "yappi")
"""Packages that need none of these functions."""
_TOOLS = 6
"""Of ``sys.monitoring`` at a time."""


class TracerWatch:
    """Calls `told` at the latest right before a tracer starts, with what gates are until it is gone: an object that is false, and
    where the tracer may be seen to go, calls `gone` then. Whoever keeps one of the functions may start another one at any time:
    then it is False, and nothing is called any more."""

    def __init__(self, told: Callable[[Any], None], gone: Callable[[], None]) -> None:
        self._told, self._gone = told, gone
        self._tells = True
        self._hidden: dict[str, Any] = {}

    def install(self) -> None:
        self._tells = True
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
        if _has_tracer_in_c():
            self.tell()

    def tell(self, gate: Any = False) -> None:
        tells, self._tells = self._tells, False
        vars(sys).update(self._hidden)
        vars(sys).pop("__getattr__", None)
        if tells:
            self._told(gate)

    def _reached(self, name: str) -> Callable[[Any], Any]:
        def reached(shadow: Any) -> Any:
            self.tell(self._gate() if name == "settrace" and _is_called(sys._getframe(1)) else False)
            return self._hidden[name]

        return reached

    def _gate(self) -> Any:
        """An object that is false. Asking for its truth in this thread, once that has no tracer, calls `_go_on`, which tells it."""
        asked = chain(_while_traced(), chain.from_iterable(iter(self._go_on, None)))
        return type("Gate", (), {"__bool__": staticmethod(partial(next, asked))})()

    def _go_on(self) -> Iterator[bool]:
        """The truth of the gate now, and what is asked from now on, for the case that it is not over yet."""
        if not self._tells and not _may_be_traced(sys._getframe(1)):
            self.install()
            self._gone()
        return chain((self._tells,), _while_traced())


def _while_traced() -> Iterator[bool]:
    """False, until it is asked for in this thread while that has no tracer and no profiler. All of it is done in C."""
    tools = getattr(sys, "monitoring", None)
    asked = [sys.modules["_thread"].get_ident, sys.gettrace, sys.getprofile]
    asked += [partial(tools.get_tool, number) for number in range(_TOOLS)] if tools is not None else []
    nobody = (asked[0](), *[None] * (len(asked) - 1))
    now = zip(*(iter(function, nobody) for function in asked))
    return map(operator.not_, iter(partial(next, now), nobody))


def _has_tracer_in_c() -> bool:
    return not sys.modules.keys().isdisjoint(_C_TRACERS)


def _is_called(frame: FrameType) -> bool:
    """Whether the line that looks a function up calls it, rather than to keep it for later."""
    return _CALLED.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)) is not None


def _may_be_traced(frame: FrameType) -> bool:
    """Whether something else of the script than this thread is traced, or about to be: another one, those that it will start."""
    threads = sys.modules.get("threading")
    hooks = ("_trace_hook", "_profile_hook")
    return (
        any(getattr(threads, hook, None) is not None for hook in hooks)
        or _has_tracer_in_c()
        or any(_starts_one(one) for one in _stack(frame))
        or _another_thread_is_traced()
    )


def _another_thread_is_traced() -> bool:
    own = sys.modules["_thread"].get_ident()
    stacks = [frame for thread, frame in sys._current_frames().items() if thread != own]
    return any(frame.f_trace is not None for stack in stacks for frame in _stack(stack))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _starts_one(frame: FrameType) -> bool:
    """Whether what a frame executes names one of the functions: it may be evaluating the arguments of their call."""
    code, at = frame.f_code, frame.f_lineno
    if not set(_STARTERS).intersection(code.co_names):
        return False
    spans = code.co_positions() if hasattr(code, "co_positions") else ()
    first = min((begin for begin, end, *_ in spans if begin and end and begin <= at <= end), default=at)
    lines = [linecache.getline(code.co_filename, line, frame.f_globals) for line in range(first, at + 1)]
    return not all(lines) or any(_NAMED.search(line) for line in lines)
