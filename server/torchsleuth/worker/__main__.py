"""The analysis worker: runs in the user's interpreter and answers `analyze` and `repair` requests until its input ends.

Its standard output is pointed at standard error before anything else is imported, so that nothing a library prints can
end up between two messages. It ends at once, even in the middle of an analysis, when its client is gone.
"""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from torchsleuth.lifetime import end_with_parent

if TYPE_CHECKING:
    from torchsleuth.worker.request import Served

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 4)


@dataclass(frozen=True)
class Problem:
    """Why an interpreter cannot run the analysis. `name`: that of the message."""

    name: str
    text: str


def main() -> int:
    end_with_parent()
    requests, answers = _take_pipes()
    # Nothing of the analysis needs a GPU, and fake tensors on one would occupy it.
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return serve(requests, answers)


def serve(requests: IO[bytes], answers: IO[bytes]) -> int:
    """Say hello, then answer. The exit status is 3 where this interpreter cannot run the analysis."""
    from torchsleuth.worker import collector
    from torchsleuth.worker.wire import SYNTAX, write

    where = {"executable": sys.executable, "python": platform.python_version()}
    started = _start_without_torch() if SYNTAX in sys.argv[1:] else _start()
    if isinstance(started, Problem):
        about = {"reason": started.text, "problem": started.name, "site": _site()}
        write(answers, {"method": "unavailable", "params": {**about, **where}})
        return 3
    engine, version = started
    ready = {"torch": version, "words": engine.vocabulary(), "search_path": sys.path, **where}
    write(answers, {"method": "ready", "params": ready})
    _close_wall()
    collector.quiet()
    collector.tidy()
    inbox, number = _inbox(requests), 0
    while (request := inbox.get()).get("method") != "shutdown":
        answered = answer(engine, request)
        write(answers, answered)
        # What was withdrawn made room for a request that is on its way: no time for anything else.
        if inbox.empty() and not answered.get("result", {}).get("stats", {}).get("withdrawn"):
            _save(engine)
            number += 1
            collector.tidy(engine.unrepaired, thorough=number % collector.REQUESTS == 0)
    return 0


def _close_wall() -> None:
    """Nothing that is analysed from now on can do more than compute and be remembered."""
    from torchsleuth import wall
    from torchsleuth.caches import folder

    with contextlib.suppress(OSError):
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    wall.close(folder())


def _save(engine: Served) -> None:
    """Keep what the oracle found out; where that fails it is lost, and no worker ends of it."""
    try:
        engine.save()
    except Exception:
        traceback.print_exc()


def answer(engine: Served, request: dict[str, Any]) -> dict[str, Any]:
    """The result of one request, or the traceback of what went wrong: an analysis never ends the worker."""
    from torchsleuth.interp.parts import Part
    from torchsleuth.worker.progress import of_this_process
    from torchsleuth.worker.request import from_json

    try:
        asked = from_json(request["method"], request["params"])
        left_out = [Part(*part) for part in request.get("left_out") or ()]
        with of_this_process().request(request["id"], left_out):
            analysis = engine.ask(asked)
        return {"id": request["id"], "result": analysis.to_json()}
    except Exception:
        return {"id": request.get("id"), "error": traceback.format_exc()}


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the protocol's ends for ourselves; what libraries read is empty and what they print is standard error."""
    requests: IO[bytes] = os.fdopen(os.dup(0), "rb")
    answers: IO[bytes] = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, answers


def _start_without_torch() -> tuple[Served, str]:
    from torchsleuth.worker.progress import of_this_process
    from torchsleuth.worker.syntax import SyntaxEngine

    of_this_process()
    return SyntaxEngine(), ""


def _start() -> tuple[Served, str] | Problem:
    """The engine and torch's version, or why there is none."""
    from torchsleuth.messages import message

    def problem(identifier: str, **parts: object) -> Problem:
        return Problem(identifier.partition(".")[2], message(identifier, python=sys.executable, **parts))

    if sys.version_info < OLDEST_PYTHON:
        return problem("worker.old_python", version=platform.python_version(), wanted="3.10")
    try:
        import torch

        version = str(torch.__version__)
        if tuple(int(part) for part in version.split("+")[0].split(".")[:2]) < OLDEST_TORCH:
            return problem("worker.old_torch", version=version, wanted="2.4")
        from torchsleuth.caches import folder
        from torchsleuth.oracle.oracle import Oracle
        from torchsleuth.oracle.store import Store
        from torchsleuth.worker.engine import Engine
        from torchsleuth.worker.progress import of_this_process

        return Engine(Oracle(Store(folder(), version)), of_this_process()), version
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return problem("worker.no_torch")
        return problem("worker.broken_torch", error=error)
    except Exception as error:
        return problem("worker.broken_torch", error=f"{type(error).__name__}: {error}")


def _site() -> list[str]:
    """Where libraries are installed."""
    return [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]


def _inbox(requests: IO[bytes]) -> queue.Queue[dict[str, Any]]:
    """Requests as they come. The end of the input ends the process, whatever it is doing."""
    from torchsleuth.worker.wire import read

    inbox: queue.Queue[dict[str, Any]] = queue.Queue()

    def pump() -> None:
        while (request := read(requests)) is not None:
            inbox.put(request)
        _end()

    threading.Thread(target=pump, name="torchsleuth-requests", daemon=True).start()
    return inbox


def _end() -> None:
    """End now, and whatever libraries started with it; the client gave the worker a process group of its own."""
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
