"""A worker with an engine that does what the document's first line says; everything else about it is real."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from torchsleuth.schema import Diagnostic, FileAnalysis, Position
from torchsleuth.worker import __main__ as worker


class Double:
    unrepaired = False
    saving = ""

    def analyze(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        verify: bool = True,
        codes: Sequence[str] | None = None,
    ) -> FileAnalysis:
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
        if wish == "raise":
            raise RuntimeError("no such luck")
        if wish == "noise":
            print("printed by a library", flush=True)
            os.write(1, b'{"id": 1, "result": "from C"}\n')
            assert sys.stdin.read() == ""
        place = Position(1, 1)
        message = f"{len(overlay or {})} other documents, roots {', '.join(roots) or 'none'}: {text}"
        return FileAnalysis(path, (Diagnostic(path, "TS000", "double", "hint", message, place, place),))

    def repair(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        codes: Sequence[str] | None = None,
        seconds: float = 0.0,
    ) -> FileAnalysis:
        return self.analyze(path, text, overlay, roots)

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
