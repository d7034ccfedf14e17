"""A copy of a script's project to repair: the files that ran are copied, everything else is linked.

So the copy sees the same data beside it as the original, and a huge folder costs nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from torchsleuth.messages import message

_MARKER = ".torchsleuth-copy"


class CopyRefused(ValueError):
    """The folder for the copy holds something else."""


class ProjectCopy:
    """`folder` mirrors `root`. Only files below `root` can be edited in the copy."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root.resolve()
        self.folder = folder.resolve()

    def create(self, files: Iterable[Path]) -> None:
        """Start afresh with copies of these files. Raises CopyRefused if the folder is not an earlier copy."""
        if self.folder == self.root or self.folder in self.root.parents:
            raise CopyRefused(message("repair.copy_is_original", folder=self.folder))
        if self.folder.exists():
            if any(self.folder.iterdir()) and not (self.folder / _MARKER).exists():
                raise CopyRefused(message("repair.copy_not_empty", folder=self.folder))
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        (self.folder / _MARKER).touch()
        self._link_entries(self.root, self.folder)
        for file in files:
            if self.holds(file):
                self.make_own(self.of(file))

    def of(self, original: Path) -> Path:
        """Where a file or folder of the project lies in the copy; one outside the project, or in the copy, stays where it
        is."""
        path = Path(os.path.abspath(original))
        if self.folder in path.parents:
            return path
        for root in (self.root, Path(os.path.abspath(self.root))):
            if path == root or root in path.parents:
                return self.folder / path.relative_to(root)
        resolved = path.resolve()
        return self.folder / resolved.relative_to(self.root) if self.holds(path) else path

    def original(self, copied: Path) -> Path:
        path = Path(os.path.abspath(copied))
        return self.root / path.relative_to(self.folder) if self.folder in path.parents else path

    def holds(self, file: Path) -> bool:
        return self.root in file.resolve().parents

    def make_own(self, copied: Path) -> Path:
        """A real file in the copy instead of the link to the original, so that it can be edited. Returns it."""
        current = self.folder
        for part in copied.relative_to(self.folder).parts[:-1]:
            current = current / part
            if current.is_symlink():
                target = current.resolve()
                current.unlink()
                current.mkdir()
                self._link_entries(target, current)
        if copied.is_symlink():
            target = copied.resolve()
            copied.unlink()
            shutil.copy2(target, copied)
        return copied

    def _link_entries(self, source: Path, folder: Path) -> None:
        for entry in source.iterdir():
            target = Path(os.path.realpath(entry))  # resolve() raises for a link that leads to itself
            if target == self.folder or entry.name in ("__pycache__", _MARKER):
                continue
            try:
                (folder / entry.name).symlink_to(target, target_is_directory=entry.is_dir())
            except OSError:  # a system where links need a privilege: small files are copied instead
                if entry.is_file() and entry.stat().st_size < 1 << 20:
                    shutil.copy2(entry, folder / entry.name)
