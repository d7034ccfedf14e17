"""``torchsleuth env``: Python, PyTorch, accelerator and driver of an interpreter, with a small smoke test."""

from __future__ import annotations

import json
import subprocess
import sys

from torchsleuth.cli.files import complain

PROBE = """
import json, platform, shutil, subprocess, sys
found = {"python": platform.python_version(), "executable": sys.executable, "platform": platform.platform()}
try:
    from importlib.metadata import distributions
    names = {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"]}
    found["packages"] = {n: v for n, v in sorted(names.items()) if n.lower().startswith(("torch", "nvidia", "numpy", "triton"))}
    import torch
    found["torch"] = torch.__version__
    found["cuda_build"] = torch.version.cuda
    found["cuda_available"] = torch.cuda.is_available()
    found["cudnn"] = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    if found["cuda_available"]:
        found["devices"] = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        x = torch.randn(64, 64, device="cuda")
        found["smoke_test"] = "ok" if torch.isfinite(x @ x).all().item() else "non-finite"
    else:
        x = torch.randn(64, 64)
        found["smoke_test"] = "ok" if torch.isfinite(x @ x).all().item() else "non-finite"
except Exception as error:
    found["error"] = f"{type(error).__name__}: {error}"
if shutil.which("nvidia-smi"):
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,memory.used", "--format=csv,noheader"]
    found["nvidia_smi"] = subprocess.run(query, capture_output=True, text=True).stdout.strip().splitlines()
print(json.dumps(found))
"""


def env(output_format: str, python: str | None) -> int:
    interpreter = python or sys.executable
    try:
        done = subprocess.run([interpreter, "-c", PROBE], capture_output=True, text=True, timeout=180)
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        complain(f"{interpreter} could not be asked: {error}")
        return 2
    if output_format == "json":
        print(json.dumps(found, indent=2))
    else:
        for key, value in found.items():
            if isinstance(value, dict):
                print(f"{key}:")
                print("\n".join(f"  {name} {version}" for name, version in value.items()))
            else:
                print(f"{key}: {value}")
    return 2 if "torch" not in found else 0
