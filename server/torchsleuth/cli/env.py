"""``torchsleuth env``: Python, PyTorch, accelerator and driver of an interpreter, with a small smoke test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import torchsleuth
from torchsleuth.cli.output import complain, data, line
from torchsleuth.messages import message
from torchsleuth.schema import Json
from torchsleuth.worker import bootstrap

SECONDS = 180.0
"""Time the interpreter has to import torch and answer."""
GRACE_SECONDS = 3.0
"""Time that what it left behind may keep its outputs open."""
MAX_ANSWER = 1 << 20
"""Bytes it may print; an answer has some thousands."""
MAX_SAID = 200
"""Characters of its own words that are passed on."""
# Read, not imported: it runs in the interpreter that is asked, which may not have this package.
_PROBE = Path(torchsleuth.__file__).parent / "runtime" / "environment.py"
_START = f'{bootstrap.INSTALLED}\nexec(sys.stdin.buffer.read().decode("utf-8"))'


class NoAnswer(Exception):
    """The process that was started is no Python that answers; the message says what it did instead."""


def env(output_format: str, python: str | None) -> int:
    interpreter = python or sys.executable
    try:
        found = _ask(interpreter)
    except (OSError, ValueError) as error:
        complain(message("cli.cannot_start", python=interpreter, error=getattr(error, "strerror", None) or error))
        return 2
    except NoAnswer as error:
        complain(message("cli.no_answer", python=interpreter, error=error))
        return 2
    if output_format == "json":
        data(json.dumps(found, indent=2))
    else:
        _print(found)
    if found["torch"] is None:
        complain(message("cli.env_no_torch", python=interpreter, error=found.get("error")))
        return 2
    return 0


def _ask(interpreter: str) -> Json:
    """Raises OSError or ValueError where nothing can be started, NoAnswer where there is no answer."""
    output, errors, status = _run([interpreter, "-I", "-c", _START], _PROBE.read_bytes())
    lines = output.decode(errors="replace").strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and "torch" in found:
        return found
    said = errors.decode(errors="replace").strip().splitlines()
    raise NoAnswer(
        said[-1][:MAX_SAID] if said else message("cli.env_silent" if not lines else "cli.env_rubbish", status=status)
    )


def _run(command: list[str], program: bytes) -> tuple[bytes, bytes, int]:
    """The text that a command prints on its two outputs, and its exit status. Raises NoAnswer where it takes too long or prints
    without end; it is ended then, with all that it started."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=bootstrap.environment()
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    kept = [bytearray(), bytearray()]
    readers = [
        threading.Thread(target=_read, args=(stream, into, process), daemon=True)
        for stream, into in zip((process.stdout, process.stderr), kept)
    ]
    for thread in readers:
        thread.start()
    with contextlib.suppress(OSError):  # it may end, or close its input, without reading
        process.stdin.write(program)
        process.stdin.close()
    try:
        status = process.wait(SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NoAnswer(message("cli.env_late", seconds=round(SECONDS))) from error
    finally:
        _kill(process)
        process.wait()
    for thread in readers:
        thread.join(GRACE_SECONDS)
    if max(map(len, kept)) > MAX_ANSWER:
        raise NoAnswer(message("cli.env_flood"))
    return bytes(kept[0]), bytes(kept[1]), status


def _read(stream: IO[bytes], into: bytearray, process: subprocess.Popen[bytes]) -> None:
    while len(into) <= MAX_ANSWER:
        chunk = os.read(stream.fileno(), 1 << 16)
        if not chunk:
            return
        into += chunk
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _print(found: Json) -> None:
    for key, value in found.items():
        label = key.replace("_", " ")
        match value:
            case dict():
                line(f"{label}:")
                for name, version in value.items():
                    line(f"  {name} {version}")
            case list():
                line(f"{label}: {'; '.join(map(str, value)) or 'none'}")
            case _:
                line(f"{label}: {'none' if value is None else {True: 'yes', False: 'no'}.get(value, value)}")
