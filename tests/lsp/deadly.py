"""A worker with the real engine, that dies when the oracle is asked about `torch.bernoulli`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from torchsleuth.oracle.oracle import Oracle
from torchsleuth.worker import __main__ as worker

answered = Oracle.call


def call(self: Oracle, target: Any, *arguments: Any) -> Any:
    if target == "torch.bernoulli":
        os._exit(9)
    return answered(self, target, *arguments)


if __name__ == "__main__":
    Oracle.call = call  # type: ignore[method-assign]
    sys.exit(worker.main())
