"""Describes the Python, PyTorch and accelerator of an interpreter, as one JSON object on standard output.

The text of this file is handed to the interpreter that is asked, so it stands alone: standard library, and torch inside
a `try`.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from typing import Any

_PACKAGES = ("torch", "nvidia", "cuda", "triton", "numpy")
_SMI = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,memory.used", "--format=csv,noheader"]


def describe() -> dict[str, Any]:
    """Everything that can be told; `error` says why torch cannot be used, where it cannot."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "torch": None,
    }
    try:
        import torch

        found["torch"] = str(torch.__version__)
        found.update(_accelerator(torch))
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
    found["nvidia_smi"] = _nvidia_smi()
    found["packages"] = _packages()
    return found


def _accelerator(torch: Any) -> dict[str, Any]:
    available = bool(torch.cuda.is_available())
    device = "cuda" if available else "cpu"
    return {
        "cuda_available": available,
        "cuda_build": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None,
        "devices": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        if available
        else [],
        "smoke_test": _smoke_test(torch, device),
    }


def _smoke_test(torch: Any, device: str) -> str:
    """A product and its backward pass on the device: "ok on cuda", or what went wrong."""
    try:
        weight = torch.ones(64, 64, device=device, requires_grad=True)
        (weight @ weight).sum().backward()
        right = bool((weight.grad == 128).all().item())
    except Exception as error:
        return f"failed on {device}: {type(error).__name__}: {error}".splitlines()[0]
    return f"ok on {device}" if right else f"wrong numbers on {device}"


def _nvidia_smi() -> list[str] | None:
    """A line for each GPU of the driver, None without one."""
    if shutil.which("nvidia-smi") is None:
        return None
    try:
        done = subprocess.run(_SMI, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"failed: {error}"]
    return (done.stdout or done.stderr).strip().splitlines()


def _packages() -> dict[str, str]:
    names = {item.metadata["Name"]: item.version for item in distributions() if item.metadata["Name"]}
    return {name: names[name] for name in sorted(names) if name.lower().startswith(_PACKAGES)}


if __name__ == "__main__":
    print(json.dumps(describe()))
