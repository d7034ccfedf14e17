"""The memory of a training step, estimated before the run, against the peak that is counted in the run.

    python -m benchmarks.estimate [--only NAME…] [--preflight PYTHON]

The scripts are in `benchmarks/scripts/estimate/`. The truth is the most bytes in storages of tensors that are alive at once while
a script runs on the CPU: each storage is counted when an operator first gives a tensor in it, and until it is freed. The estimate
is ``torchsleuth estimate --device cpu``, which executes nothing of the script. `--preflight`: an interpreter that has
torch-preflight, whose estimate is put beside it where it knows the model.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import runpy
import subprocess
import sys
import time
import weakref
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "server"))

SCRIPTS = Path(__file__).parent / "scripts" / "estimate"
GOAL = 0.05
SECONDS = 600


def counted(script: Path) -> int:
    """The most bytes that were alive at once in a run of a script, in this process."""
    import torch
    import torch._dynamo  # what an optimizer imports at its first step is no memory of the script
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_iter

    class Counter(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.alive: dict[int, Any] = {}
            self.now = self.most = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            for value in tree_iter(result):
                if isinstance(value, torch.Tensor):
                    self.see(value.untyped_storage())
            return result

        def see(self, storage: Any) -> None:
            address, size = storage._cdata, storage.nbytes()
            if address not in self.alive:
                self.alive[address] = weakref.ref(storage, partial(self.freed, address, size))
                self.now += size
                self.most = max(self.most, self.now)

        def freed(self, address: int, size: int, reference: Any) -> None:
            self.alive.pop(address, None)
            self.now -= size

    counter = Counter()
    sys.argv = [str(script)]
    with counter, contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(script), run_name="__main__")
    return counter.most


def truth(script: Path, python: str) -> int:
    """The same in a process of its own."""
    command = [python, "-m", "benchmarks.estimate", "--count", str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise RuntimeError(f"{script.name}: {done.stderr.strip().splitlines()[-1]}")
    return int(done.stdout.split()[-1])


def preflight(script: Path, python: str) -> str:
    """What torch-preflight says of a script, without the context of CUDA and what it adds for fragmentation."""
    command = [python, "-m", "torch_preflight", "estimate", "-f", "json", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return "no answer"
    parts = told["breakdown"]
    return (
        f"{told['total_bytes'] - parts['CUDA_context'] - parts['fragmentation']:,}" if told["resolved"] else "unknown"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of scripts")
    parser.add_argument("--count", type=Path, help="only count the memory of a run of this script")
    parser.add_argument("--preflight", help="interpreter with torch-preflight")
    parser.add_argument(
        "--python", default=sys.executable, help="interpreter with the packages that the scripts import"
    )
    parser.add_argument("--scripts", type=Path, default=SCRIPTS, metavar="FOLDER", help="other scripts")
    parser.add_argument("--json", type=Path, help="write the numbers here, too")
    options = parser.parse_args()
    if options.count is not None:
        print(counted(options.count))
        return 0
    from torchsleuth.worker.client import WorkerClient

    worker = WorkerClient(options.python)
    rows, errors = [], []
    print(f"{'model':36} {'counted':>12} {'estimated':>12} {'error':>8} {'seconds':>8}")
    for script in sorted(options.scripts.glob("*.py")):
        if options.only and not any(part in script.stem for part in options.only):
            continue
        real, began = truth(script, options.python), time.perf_counter()
        text = script.read_text(encoding="utf-8")
        found = worker.estimate(str(script), text, device="cpu", remedies=False).memory
        seconds = time.perf_counter() - began
        size = None if found is None else found.size
        rows.append({"model": script.stem, "counted": real, "estimated": size, "seconds": round(seconds, 1)})
        beside = f"   {preflight(script, options.preflight)}" if options.preflight else ""
        if found is None or size is None:
            print(
                f"{script.stem:36} {real:12,} {'unknown':>12} {'':8} {seconds:8.1f}  {found and found.reason}{beside}"
            )
            continue
        errors.append(abs(size - real) / real)
        print(
            f"{script.stem:36} {real:12,} {size:12,} {100 * (size - real) / real:+7.2f}% {seconds:8.1f}{beside}",
            flush=True,
        )
    worker.close()
    mean = sum(errors) / len(errors) if errors else 1.0
    known = f"{len(errors)} of {len(rows)} models known"
    print(
        f"\n{known}; mean error {100 * mean:.2f} %, largest {100 * max(errors, default=1.0):.2f} %, goal {100 * GOAL:.0f} %"
    )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if mean <= GOAL and len(errors) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
