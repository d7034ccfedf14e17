"""Reports the exceptions that end no script: in threads, in ``__del__``, in functions that run at the interpreter's end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchsleuth.runtime.launch import Launch


def watch_hooks(launch: Launch) -> None:
    """Hooks that the script sets itself stay its own: below them, where threads call theirs; not in the other case."""
    make = getattr(threading, "_make_invoke_excepthook", None)
    if make is not None:

        def make_reporting() -> Callable[[threading.Thread], None]:
            invoke = make()

            def report_and_invoke(thread: threading.Thread) -> None:
                error = sys.exc_info()[1]
                if isinstance(error, Exception):
                    launch.report(error, error.__traceback__, thread.name)
                invoke(thread)

            return report_and_invoke

        threading._make_invoke_excepthook = make_reporting  # type: ignore[attr-defined]

    unraisable = sys.unraisablehook

    def report_unraisable(arguments: Any) -> None:
        error = arguments.exc_value
        if isinstance(error, Exception):
            launch.report(error, error.__traceback__, "")
        unraisable(arguments)

    sys.unraisablehook = report_unraisable
