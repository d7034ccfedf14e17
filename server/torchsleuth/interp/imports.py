"""Finds the source of a module of the user's: relative imports, packages, ``src/`` layouts, several roots."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from torchsleuth.syntax.files import Unreadable, python_files, read_source
from torchsleuth.syntax.text import SourceText

_OF_PROJECTS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")
"""Files in the outermost folder of a project, from which its scripts are run."""

_INSTALLED = ("site-packages", "dist-packages")
"""Folders that packages are installed into."""

MOST_FOLDERS = 500
"""Folders of a project that are looked through for the users of something."""
MOST_CHARACTERS = 20_000_000
"""Characters of its sources that are."""


class Workspace:
    """Module names to sources. `overlay`: texts of open documents by path, which win over the disk."""

    def __init__(self, overlay: Mapping[str, str], roots: tuple[str, ...]) -> None:
        self.overlay = {os.path.abspath(path): text for path, text in overlay.items()}
        self.roots = roots
        self._sources: dict[str, SourceText | None] = {}
        self._folders: dict[tuple[str, str], bool] = {}
        self._files: dict[str, bool] = {}
        self._found: dict[tuple[str, str, int], SourceText | None] = {}
        self._projects: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, dict[str, str]] = {}

    @property
    def read(self) -> tuple[SourceText, ...]:
        """The sources that were looked at so far."""
        return tuple(source for source in self._sources.values() if source is not None)

    def find(self, name: str, importer: str, level: int) -> SourceText | None:
        """The source that ``import name`` in `importer` means, or None if it is not the user's own."""
        place = (name, os.path.dirname(os.path.abspath(importer)), level)
        if place not in self._found:
            self._found[place] = self._find(*place)
        return self._found[place]

    def _find(self, name: str, folder: str, level: int) -> SourceText | None:
        parts = [part for part in name.split(".") if part]
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._module(os.path.join(folder, *parts)) if parts or level else None
        if not parts:
            return None
        own = _installed_package(folder)
        for root in self._search_path(folder):
            if os.path.basename(root) in _INSTALLED and os.path.join(root, parts[0]) != own:
                continue
            source = self._module(os.path.join(root, *parts))
            if source is not None:
                return source
        return None

    def is_folder(self, name: str, importer: str) -> bool:
        """Whether ``import name`` in `importer` may mean a folder of the user's without ``__init__.py``."""
        folder = os.path.dirname(os.path.abspath(importer))
        known = self._folders.get((name, folder))
        if known is None:
            parts = name.split(".")
            known = any(os.path.isdir(os.path.join(root, *parts)) for root in self._search_path(folder))
            self._folders[name, folder] = known
        return known

    def is_current(self) -> bool:
        """Whether the sources that were read are still what lies on the disk."""
        return all(_text_of(source.path) == source.text for source in self.read if source.path not in self.overlay)

    def _search_path(self, folder: str) -> list[str]:
        """The importer's folder, the folder above its package, every root and the project's folder with its ``src``; then the
        folders between a root and the importer, from any of which a script may be started."""
        places = [folder]
        top = folder
        while self._exists(os.path.join(top, "__init__.py")):
            top = os.path.dirname(top)
        if top != folder:
            places.append(top)
        for root in (*self.roots, *self._project(folder)):
            places += [root, os.path.join(root, "src")]
        return places + self._between(folder)

    def _between(self, folder: str) -> list[str]:
        """The folders around an importer that lie in a root, the nearest first."""
        roots = [Path(os.path.abspath(root)) for root in self.roots]
        return [str(one) for one in Path(folder).parents if any(root in one.parents for root in roots)]

    def _project(self, folder: str) -> tuple[str, ...]:
        """The innermost folder around a file that looks like a project's, if there is one."""
        if folder not in self._projects:
            above = os.path.dirname(folder)
            if any(os.path.exists(os.path.join(folder, name)) for name in _OF_PROJECTS):
                self._projects[folder] = (folder,)
            else:
                self._projects[folder] = self._project(above) if above != folder else ()
        return self._projects[folder]

    def _module(self, base: str) -> SourceText | None:
        for candidate in (base + ".py", os.path.join(base, "__init__.py")):
            if self._exists(candidate):
                return self.source(candidate)
        return None

    def _exists(self, path: str) -> bool:
        if path not in self._files:
            self._files[path] = os.path.abspath(path) in self.overlay or os.path.isfile(path)
        return self._files[path]

    def mentioning(self, word: str, path: str) -> list[SourceText]:
        """The other files of the project of a file whose texts have a word: those first that also name the file, as an import of
        it does, of them those that call what has the name, and of these the shortest."""
        path = os.path.abspath(path)
        around = [root for root in self.roots if Path(path).is_relative_to(os.path.abspath(root))]
        folder = min((*around, *self._project(os.path.dirname(path))), key=len, default=os.path.dirname(path))
        installed = _installed_package(os.path.dirname(path))
        folder = max(folder, installed, key=len) if installed is not None else folder
        if folder not in self._texts:
            self._texts[folder] = dict(_texts_below(folder))
        texts = self._texts[folder] | self.overlay
        pattern, called = (re.compile(rf"\b{re.escape(word)}{end}") for end in (r"\b", r"\("))
        stem = Path(path).stem if Path(path).stem != "__init__" else Path(path).parent.name
        found = sorted(
            (stem not in text, not called.search(text), len(text), one)
            for one, text in texts.items()
            if one != path and word in text and pattern.search(text)
        )
        return [source for *_, one in found if (source := self.source(one)) is not None]

    def source(self, path: str) -> SourceText | None:
        """The text of a file, decoded as Python decodes it; None when it cannot be read."""
        path = os.path.abspath(path)
        if path not in self._sources:
            text = self.overlay.get(path)
            text = _text_of(path) if text is None else text
            self._sources[path] = None if text is None else SourceText(path, text)
        return self._sources[path]


def _installed_package(folder: str) -> str | None:
    """The folder of the installed package that a folder belongs to. What is installed beside it is not the user's."""
    while os.path.dirname(folder) != folder:
        above = os.path.dirname(folder)
        if os.path.basename(above) in _INSTALLED:
            return folder
        folder = above
    return None


def _texts_below(folder: str) -> Iterator[tuple[str, str]]:
    """The sources below a folder by their paths, as far as there are not too many."""
    files = python_files(Path(folder), lambda _: False, lambda _: None, MOST_FOLDERS)
    left = MOST_CHARACTERS
    for file in files:
        text = _text_of(str(file))
        left -= len(text or "")
        if left < 0:
            return
        if text is not None:
            yield str(file), text


def _text_of(path: str) -> str | None:
    try:
        return read_source(path)
    except Unreadable:
        return None
