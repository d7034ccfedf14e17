"""``torchsleuth env``: Python, PyTorch, accelerator and driver of an interpreter, with a small smoke test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torchsleuth
from torchsleuth.cli.files import complain
from torchsleuth.messages import message
from torchsleuth.schema import Json

SECONDS = 180.0
"""Time the interpreter has to import torch and answer."""
# Read, not imported: it runs in the interpreter that is asked, which may not have this package.
_PROBE = Path(torchsleuth.__file__).parent / "runtime" / "environment.py"


def env(output_format: str, python: str | None) -> int:
    interpreter = python or sys.executable
    try:
        found = _ask(interpreter)
    except OSError as error:
        complain(message("cli.cannot_start", python=interpreter, error=error.strerror or error))
        return 2
    except (subprocess.SubprocessError, ValueError) as error:
        complain(message("cli.no_answer", python=interpreter, error=error))
        return 2
    if output_format == "json":
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    if found["torch"] is None:
        complain(message("cli.env_no_torch", python=interpreter, error=found["error"]))
        return 2
    return 0


def _ask(interpreter: str) -> Json:
    """Raises OSError, SubprocessError or ValueError where there is no answer."""
    program = _PROBE.read_text(encoding="utf-8")
    done = subprocess.run([interpreter, "-"], input=program, capture_output=True, text=True, timeout=SECONDS)
    lines = done.stdout.strip().splitlines()
    if not lines:
        raise ValueError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    found: Json = json.loads(lines[-1])
    return found


def _print(found: Json) -> None:
    for key, value in found.items():
        label = key.replace("_", " ")
        if isinstance(value, dict):
            print(f"{label}:")
            print("\n".join(f"  {name} {version}" for name, version in value.items()))
        elif isinstance(value, list):
            print(f"{label}: {'; '.join(value) or 'none'}")
        else:
            print(f"{label}: {'none' if value is None else {True: 'yes', False: 'no'}.get(value, value)}")
