"""What a user waits for, and how much memory it takes: the starts, first analyses, and analyses after a keystroke."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from torchsleuth.worker.client import WorkerClient

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
REPEATS = 5


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def megabytes(process: int) -> float:
    """Resident memory of a process (Linux)."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def report(what: str, value: float, unit: str) -> None:
    print(f"{what:<58} {value:8.1f} {unit}")


def measure_server() -> None:
    """Time until the server's modules are there, and what they take."""
    code = "import torchsleuth.lsp.server, sys; print(); sys.stdout.flush(); sys.stdin.read()"
    times, memory = [], 0.0
    for _ in range(REPEATS):
        began = time.perf_counter()
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            times.append(time.perf_counter() - began)
            memory = megabytes(process.pid)
            process.kill()
    report("server: start", statistics.median(times) * 1000, "ms")
    report("server: memory", memory, "MB")


def measure_worker() -> None:
    worker = WorkerClient(sys.executable)
    try:
        report("worker: start, with import torch", seconds(worker.start) * 1000, "ms")
        assert worker.pid is not None
        report("worker: memory at the start", megabytes(worker.pid), "MB")
        first, again = [], []
        for path in EXAMPLES:
            text = path.read_text(encoding="utf-8")
            first.append(seconds(lambda: worker.analyze(str(path), text)))
            again += [seconds(lambda: worker.analyze(str(path), text + f"# {turn}\n")) for turn in range(REPEATS)]
        report(f"first analysis with fixes: median of {len(EXAMPLES)} examples", statistics.median(first) * 1000, "ms")
        report("    slowest", max(first) * 1000, "ms")
        report("after a keystroke, with fixes: median", statistics.median(again) * 1000, "ms")
        report("    slowest", max(again) * 1000, "ms")
        report("worker: memory at the end", megabytes(worker.pid), "MB")
    finally:
        worker.close()


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.platform()}")
    measure_server()
    measure_worker()
