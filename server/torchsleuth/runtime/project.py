"""Which files are the user's own: those of the script's project, not installed packages."""

from __future__ import annotations

import os

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_INSTALLED = ("site-packages", "dist-packages")
_OWN_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Project:
    """The script's folder and, where a marker shows one, the root of its repository."""

    def __init__(self, script: str) -> None:
        self.script = os.path.abspath(script)
        folder = os.path.dirname(self.script)
        roots = {folder, os.path.realpath(folder), os.path.dirname(os.path.realpath(script)), _marked_root(folder)}
        self._roots = tuple(os.path.join(root, "") for root in roots)
        self._known: dict[str, bool] = {}

    def owns(self, path: str) -> bool:
        """Whether a source file belongs to the user."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._decide(os.path.abspath(path))
        return known

    def _decide(self, path: str) -> bool:
        if path == self.script:
            return True
        if not path.endswith(".py") or path.startswith(os.path.join(_OWN_PACKAGE, "")):
            return False
        root = next((root for root in self._roots if path.startswith(root)), None)
        if root is None:
            return False
        folder = os.path.dirname(path)
        while len(folder) >= len(root):
            if os.path.basename(folder) in _INSTALLED or os.path.exists(os.path.join(folder, "pyvenv.cfg")):
                return False
            folder = os.path.dirname(folder)
        return True


def _marked_root(folder: str) -> str:
    """The nearest folder above with a project's marker, not as far up as the home folder; else the folder itself."""
    home = os.path.expanduser("~")
    current = folder
    while current not in (home, os.path.dirname(current)):
        if any(os.path.exists(os.path.join(current, marker)) for marker in _MARKERS):
            return current
        current = os.path.dirname(current)
    return folder
