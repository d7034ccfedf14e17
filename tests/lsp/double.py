"""A worker with an engine that does what the document's first line says; everything else about it is real."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from torchsleuth.schema import Contract, ContractInput, ContractValue, Diagnostic, Edit, FileAnalysis, Fix, Position
from torchsleuth.worker import __main__ as worker
from torchsleuth.worker.progress import of_this_process
from torchsleuth.worker.request import Analyze, Called, Infer, Repair, Request, Served


class Double(Served):
    unrepaired = False
    saving = ""

    def __init__(self) -> None:
        self.slices: dict[str, int] = {}
        """Documents whose fixes are being verified, and how often that was gone on with."""
        self._slices = 0

    def ask(self, request: Request) -> FileAnalysis:
        kinds = {
            Analyze: self._analyze,
            Repair: self._repair,
            Infer: self._infer,
            Called: lambda request: FileAnalysis(request.path),
        }
        return kinds[type(request)](request)  # type: ignore[operator]

    def _analyze(self, request: Request) -> FileAnalysis:
        path, text, overlay, roots = request.path, request.text, request.overlay, request.roots
        wish, _, detail = text.split("\n")[0].removeprefix("# ").partition(" ")
        if wish == "die":
            os._exit(9)
        if wish == "die-once" and not Path(detail).exists():
            Path(detail).touch()
            os._exit(9)
        self.saving = wish
        if wish == "hang":
            child = subprocess.Popen(["sleep", "1000"])
            if detail:
                Path(detail).write_text(str(child.pid))
            threading.Event().wait()
        if wish in ("raise", "raises"):
            raise RuntimeError("no such luck")
        if wish == "noise":
            print("printed by a library", flush=True)
            os.write(1, b'{"id": 1, "result": "from C"}\n')
            assert sys.stdin.read() == ""
        if wish == "slow-fixes":
            self._keep(path)
            return FileAnalysis(path, stats={"unverified": True})
        if wish in ("fix", "after"):
            if wish == "after":
                Path(detail).read_text()  # a pipe: waits until somebody writes
            self._slices = 0
            return self._fixable(path, text)
        place = Position(1, 1)
        message = f"{len(overlay)} other documents, roots {', '.join(roots) or 'none'}: {text}"
        return FileAnalysis(path, (Diagnostic(path, "TS000", "double", "hint", message, place, place),))

    def _repair(self, request: Repair) -> FileAnalysis:
        path, text = request.path, request.text
        if text.startswith(("# fix", "# after")):
            self._slices += 1
            return self._fixable(path, text)
        if not text.startswith("# slow-fixes"):
            return self._analyze(request)
        if path not in self.slices:
            self._keep(path)
        self.slices[path] += 1
        if self.slices[path] < 3:
            return FileAnalysis(path, stats={"unverified": True})
        place = Position(1, 1)
        found = (Diagnostic(path, "TS000", "double", "hint", "all fixes are there", place, place),)
        return FileAnalysis(path, found, stats={"unverified": False})

    def _infer(self, request: Infer) -> FileAnalysis:
        """A text that begins with `# infer` has one for each function; one with `# infer-slowly` tells the pipe that it names, and
        goes on until it is withdrawn."""
        path, text, first = request.path, request.text, request.first
        wish, _, detail = text.split("\n")[0].removeprefix("# ").partition(" ")
        progress = of_this_process()
        if detail:
            with contextlib.suppress(OSError):  # nobody reads any more
                pipe = os.open(detail, os.O_WRONLY | os.O_NONBLOCK)
                os.write(pipe, b"begun")
                os.close(pipe)
        while wish == "infer-slowly" and not progress.withdrawn:
            threading.Event().wait(0.001)
        if not wish.startswith("infer"):
            return FileAnalysis(path)
        if progress.withdrawn:
            return FileAnalysis(path, stats={"withdrawn": True})
        line = text.split("\n")[first - 1]
        place, name = Position(first, 1), line.removeprefix("def ").partition("(")[0]
        value = ContractValue("tensor", ("n",))
        contract = Contract(path, place, place, None, name, (), (ContractInput("x", value),), value, examples=3)
        return FileAnalysis(path, contracts=(contract,), stats={"read": []})

    def _keep(self, path: str) -> None:
        """As the engine does, but only two analyses."""
        self.slices.pop(path, None)
        self.slices[path] = 0
        if len(self.slices) > 2:
            del self.slices[next(iter(self.slices))]

    def _fixable(self, path: str, text: str) -> FileAnalysis:
        """Each `bad` is found; that it has to be `good` is known after a while."""
        found = []
        for number, line in enumerate(text.split("\n"), 1):
            for match in re.finditer(r"\bbad\b", line):
                start, end = Position(number, match.start() + 1), Position(number, match.end() + 1)
                fix = Fix("Write good", (Edit(path, start, end, "good"),), verified=True)
                fixes = (fix,) if self._slices >= 2 else ()
                found.append(Diagnostic(path, "TS101", "double", "error", "not good", start, end, fixes=fixes))
        return FileAnalysis(path, tuple(found), stats={"unverified": self._slices < 4})

    def vocabulary(self) -> list[str]:
        return []

    def save(self) -> None:
        if self.saving == "die-saving":
            os._exit(9)
        if self.saving == "raise-saving":
            raise MemoryError


if __name__ == "__main__":
    worker._start = lambda: (Double(), "0.0")
    worker._close_wall = lambda: None  # it starts processes and writes files on demand
    sys.exit(worker.main())
