"""``[tool.torchsleuth]`` of the pyproject.toml above a file, and what the command line or the editor puts over it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from torchsleuth.control.selection import (
    ConfigurationError,
    Layer,
    fit,
    is_selected,
    selected,
    selector,
    severity_level,
    severity_of,
)
from torchsleuth.messages import message
from torchsleuth.schema import Severity
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax.files import Unreadable, read_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "pyproject.toml"
_LISTS = ("select", "extend-select", "ignore", "extend-ignore", "exclude")
_KEYS = (*_LISTS, "per-file-ignores", "severity")


@dataclass(frozen=True)
class Configuration:
    """The configuration of the files below `root`."""

    layers: tuple[Layer, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    root: str = ""

    def codes(self) -> tuple[str, ...] | None:
        """The codes to look for, None for those that are on by default."""
        chosen = selected(self.layers)
        return None if chosen == selected(()) else chosen

    def wants(self, code: str, path: str) -> bool:
        """Whether findings of a code are shown in a file."""
        if not is_selected(code, self.layers):
            return False
        return not any(fit(codes, code) and self._fits(pattern, path) for pattern, codes in self.per_file_ignores)

    def severity(self, code: str, own: Severity) -> Severity:
        return severity_of(code, own, self.layers)

    def excludes(self, path: str) -> bool:
        """Whether the file or a folder that it lies in is excluded."""
        return any(self._fits(pattern, path) for pattern in self.exclude)

    def with_layer(self, layer: Layer, exclude: Sequence[str] = ()) -> Configuration:
        return Configuration((*self.layers, layer), self.per_file_ignores, (*self.exclude, *exclude), self.root)

    def _fits(self, pattern: str, path: str) -> bool:
        """Whether a pattern fits a file or a folder that it lies in."""
        inside = self._inside(path)
        return any(_fits(pattern, place) for place in (inside, *inside.parents))

    def _inside(self, path: str) -> PurePath:
        absolute = os.path.abspath(path)
        try:
            return PurePath(os.path.relpath(absolute, self.root or os.getcwd()))
        except ValueError:  # another drive
            return PurePath(absolute)


def _fits(pattern: str, place: PurePath) -> bool:
    """Whether a pattern fits a file or folder: its name, or its path from the root."""
    written = pattern.strip("/").removeprefix("./").removeprefix("**/").removesuffix("/**")
    return place.name != "" and (fnmatchcase(place.name, written) or fnmatchcase(place.as_posix(), written))


class Configurations:
    """Configurations by folder, each file read once. `over`: the layer on top; `isolated`: no files are read."""

    def __init__(
        self,
        over: Layer | None = None,
        exclude: Sequence[str] = (),
        file: str | None = None,
        isolated: bool = False,
    ) -> None:
        self._over = over or Layer()
        self._exclude = tuple(exclude)
        self._isolated = isolated
        self._given = self._finished(load(file)) if file is not None else None
        self._folders: dict[str, Configuration] = {}

    def of(self, path: str) -> Configuration:
        """The configuration of a file. Raises ConfigurationError."""
        if self._given is not None:
            return self._given
        return self._of_folder(os.path.dirname(os.path.abspath(path)))

    def _of_folder(self, folder: str) -> Configuration:
        if folder not in self._folders:
            candidate = os.path.join(folder, FILE)
            above = os.path.dirname(folder)
            if not self._isolated and declares(candidate):
                found = self._finished(load(candidate))
            elif self._isolated or above == folder:
                found = self._finished(Configuration(root=os.getcwd()))
            else:
                found = self._of_folder(above)
            self._folders[folder] = found
        return self._folders[folder]

    def _finished(self, base: Configuration) -> Configuration:
        return base.with_layer(self._over, self._exclude)


def declares(path: str) -> bool:
    """Whether there is such a file and it has our table. One that cannot be read, or that names us and is no TOML, counts:
    loading it says what is wrong."""
    if not os.path.isfile(path):
        return False
    try:
        data = read_bytes(path)
        return b"torchsleuth" in data and "torchsleuth" in _table(_parsed(data, path), "tool", path)
    except (Unreadable, ConfigurationError):
        return True


def load(path: str) -> Configuration:
    """The configuration in a file. Raises ConfigurationError."""
    table = _table(_table(_read(path), "tool", path), "torchsleuth", path)
    for key in table:
        if key not in _KEYS:
            raise ConfigurationError(message("control.key", where=path, key=key, known=", ".join(_KEYS)))
    lists = {key: _strings(table[key], f"{path}: {key}") for key in _LISTS if key in table}
    select = lists.get("select")
    layer = Layer(
        None if select is None else selectors(select, f"{path}: select"),
        selectors(lists.get("extend-select", ()), f"{path}: extend-select"),
        (
            *selectors(lists.get("ignore", ()), f"{path}: ignore"),
            *selectors(lists.get("extend-ignore", ()), f"{path}: extend-ignore"),
        ),
        severities(_table(table, "severity", path), f"{path}: severity"),
    )
    ignores = tuple(
        (pattern, selectors(_strings(codes, f"{path}: per-file-ignores"), f"{path}: per-file-ignores"))
        for pattern, codes in _table(table, "per-file-ignores", path).items()
    )
    return Configuration((layer,), ignores, lists.get("exclude", ()), os.path.dirname(os.path.abspath(path)))


def selectors(texts: Sequence[str], where: str) -> tuple[str, ...]:
    """Raises ConfigurationError for a selector that fits no code."""
    return tuple(selector(text, where) for text in texts)


def severities(table: Mapping[str, object], where: str) -> dict[str, Severity]:
    return {selector(code, where): severity_level(level, where) for code, level in table.items()}


def _read(path: str) -> dict[str, Any]:
    try:
        return _parsed(read_bytes(path), path)
    except Unreadable as error:
        raise ConfigurationError(str(error)) from error


def _parsed(data: bytes, path: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return found
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(message("control.toml", where=path, error=error)) from error
    except RecursionError as error:
        raise ConfigurationError(message("control.toml", where=path, error=message("control.deep"))) from error


def _table(table: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
    found = as_kind(table.get(key, {}), dict)
    if found is None:
        raise ConfigurationError(message("control.type", where=f"{path}: {key}", wanted="a table"))
    return found


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all_are(value, str):
        raise ConfigurationError(message("control.type", where=where, wanted="a list of strings"))
    return tuple(value)
