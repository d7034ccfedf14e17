"""The folder of the user's caches that is ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path


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
