"""The oracle's answers on disk: what one worker found out, the next one knows from the start.

One file for each version of torch, of Python and of what computes the answers. Answers are appended in blocks; a file
that cannot be read to its end, or that has grown too large, is begun again. Nothing but our own descriptions and plain
numbers is ever made out of what is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import platform
import sys
from pathlib import Path
from typing import Any

from torchsleuth.tensors import device, dims, spec

MAX_BYTES = 3 << 20
"""A file that is larger is begun again."""
_SOURCES = (Path(__file__).parent, Path(spec.__file__).parent)
_KINDS = {
    (module.__name__, name): value
    for module in (dims, spec, device)
    for name, value in vars(module).items()
    if isinstance(value, type) and value.__module__ == module.__name__
}
_OURS = frozenset(_KINDS.values())
_PLAIN = {"bool": bool, "float": float, "complex": complex, "NoneType": type(None), "Ellipsis": ...}


class Store:
    """A file of answers. Every method does nothing where the folder cannot be used."""

    def __init__(self, folder: Path, torch_version: str) -> None:
        self.path = folder / f"answers-{_fingerprint(torch_version)}.pickle"

    def load(self) -> dict[Any, Any]:
        """All answers of the file."""
        found: dict[Any, Any] = {}
        try:
            with self.path.open("rb") as file:
                end = os.fstat(file.fileno()).st_size
                if end > MAX_BYTES:
                    raise pickle.UnpicklingError
                data = io.BytesIO(file.read())
            while data.tell() < end:
                found.update(_Reader(data).load())
        except FileNotFoundError:
            pass
        except Exception:  # whatever a damaged file makes of itself
            with contextlib.suppress(OSError):
                self.path.unlink()
        return found

    def append(self, answers: dict[Any, Any]) -> None:
        """Add a block; one write, so that two workers do not mix."""
        block = pickle.dumps({key: value for key, value in answers.items() if _is_ours((key, value))}, protocol=5)
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                os.write(handle, block)
            finally:
                os.close(handle)


class _Reader(pickle.Unpickler):
    """Makes descriptions and plain types, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "builtins" and name in _PLAIN:
            return _PLAIN[name]
        if (module, name) in _KINDS:
            return _KINDS[module, name]
        raise pickle.UnpicklingError(f"{module}.{name}")


def _is_ours(value: Any) -> bool:
    """Whether a question or an answer can be read again."""
    if isinstance(value, tuple):
        return all(map(_is_ours, value))
    if isinstance(value, type):
        return value.__module__ == "builtins" and value.__name__ in _PLAIN
    if type(value) in _OURS:
        return all(map(_is_ours, vars(value).values()))
    return value is None or value is ... or type(value) in (bool, int, float, complex, str)


def folder() -> Path:
    """Where programs keep what they can compute again: ``$XDG_CACHE_HOME`` and its like."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "torchsleuth"


def _fingerprint(torch_version: str) -> str:
    """Of all that an answer depends on."""
    digest = hashlib.sha256(f"{torch_version} {platform.python_version()} {platform.machine()}".encode())
    for path in sorted(path for source in _SOURCES for path in source.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]
