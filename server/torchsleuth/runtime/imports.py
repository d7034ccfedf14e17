"""Rewrites modules of the user's project as they are imported, and tells when torch has been."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Compile = Callable[[bytes, str], types.CodeType]


class ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the user's project rewritten; never from or to a bytecode cache."""

    def __init__(self, fullname: str, path: str, compile_source: Compile) -> None:
        super().__init__(fullname, path)
        self._compile = compile_source

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return self._compile(self.get_data(path), path)


class ImportHook(importlib.abc.MetaPathFinder):
    """First in ``sys.meta_path``; asks the finders behind it, so that editable installs are found too."""

    def __init__(
        self, owns: Callable[[str], bool], compile_source: Compile, after: Mapping[str, Callable[[Any], None]]
    ) -> None:
        self._owns = owns
        self._compile = compile_source
        self._after = after

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None) -> Any:
        spec = self._find(fullname, path, target)
        loader = getattr(spec, "loader", None)
        if fullname in self._after and loader is not None:
            _call_after(loader, self._after[fullname])
        elif type(loader) is importlib.machinery.SourceFileLoader and self._owns(loader.path):
            spec.loader = ProjectLoader(fullname, loader.path, self._compile)
        return spec

    def _find(self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None) -> Any:
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None


def _call_after(loader: Any, told: Callable[[Any], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        del loader.exec_module
        execute(module)
        with contextlib.suppress(Exception):  # what we cannot watch must not keep the script from running
            told(module)

    loader.exec_module = exec_module
