"""Rewrites modules of the user's project as they are imported.

Only what a source file's loader gives as a module's code is exchanged: finders, loaders, bytecode caches and the messages of
the compiler stay those of Python, and tracebacks show no frame of ours, because `get_code` carries the file name of the
import system, whose frames Python leaves out.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

Rewrite = Callable[[bytes, str, types.CodeType], types.CodeType]
_FILE_OF_IMPORTS = "<frozen importlib._bootstrap_external>"


class ImportHook:
    """`rewrite` gets the source, path and plain code of each module that `owns` says is the user's; `before` has functions
    that are called before modules of these names are executed."""

    def __init__(self, owns: Callable[[str], bool], rewrite: Rewrite, before: Mapping[str, Callable[[], None]]) -> None:
        self._owns = owns
        self._rewrite = rewrite
        self._before = before
        self._original: Any = None

    def install(self) -> None:
        original = self._original = SourceFileLoader.get_code
        owns, rewritten, before = self._owns, self._rewritten, self._before

        def get_code(self: SourceFileLoader, fullname: str) -> types.CodeType | None:
            try:
                code = original(self, fullname)
            except BaseException as error:
                if error.__traceback__ is not None:
                    error.__traceback__ = error.__traceback__.tb_next  # without this frame
                raise
            if fullname in before:
                before[fullname]()
            elif code is not None and type(self) is SourceFileLoader and owns(self.path):
                code = rewritten(self, code)
            return code

        get_code.__code__ = get_code.__code__.replace(co_filename=_FILE_OF_IMPORTS)
        SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]

    def remove(self) -> None:
        if self._original is not None:
            del SourceFileLoader.get_code  # it is inherited
            self._original = None

    def _rewritten(self, loader: SourceFileLoader, code: types.CodeType) -> types.CodeType:
        path = str(loader.path)
        try:
            return self._rewrite(loader.get_data(path), path, code)
        except Exception:  # what cannot be watched must not keep the script from running
            return code


def silently(compile_source: Callable[[], Any]) -> Any:
    """Its result; what the compiler warns of has been said. The list is exchanged, because whoever changes the filters makes
    Python forget which warnings it has shown."""
    warnings: Any = sys.modules.get("warnings")
    if warnings is None:
        return compile_source()
    filters = warnings.filters
    warnings.filters = [("ignore", None, Warning, None, 0)]
    try:
        return compile_source()
    finally:
        warnings.filters = filters
