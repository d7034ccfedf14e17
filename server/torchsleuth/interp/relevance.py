"""Whether a document has anything to do with PyTorch, as far as the imports of it and of what it imports say, or what it does
with things that it is given."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.trace import Trace
from torchsleuth.syntax.text import SourceText

MAX_MODULES = 400
"""Modules of the workspace that are looked through; one that imports more is taken to concern PyTorch."""

_BUILT_ON_TORCH = frozenset({"timm", "transformers", "einops", "lightning", "accelerate"})
"""Packages whose names do not say it. With those that do, all that the rules know something of."""
_COMMENT = re.compile(r"#[^\n]*|\\\r?\n")
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t\f]*(?:import[ \t]+(?P<modules>[^\n;]+)"
    r"|from[ \t]*(?P<dots>[. \t]*)(?P<module>[\w. \t]*?)[ \t]*\bimport\b[ \t]*(?P<names>\([^)]*\)|[^\n;]*))",
    re.MULTILINE,
)
"""Import statements, also in texts that do not parse; one in a string is taken for one, which costs time and nothing else."""


_TRAINS = re.compile(r"\.(?:backward|zero_grad)\(|\.eval\(\)")
"""Calls that next to nothing but PyTorch has."""


def irrelevant(source: SourceText, workspace: Workspace) -> Trace | None:
    """The findings in a document that is nothing to do with PyTorch, which need not be executed: where modules are
    looked for that were not found, as they may have. None for any other document."""
    trace = Trace()
    if _TRAINS.search(source.text):
        return None
    waiting, seen = [source], {source.path}
    while waiting:
        one = waiting.pop()
        for level, name, exact in _imports(one.text):
            found = workspace.find(name, one.path, level)
            if found is not None:
                if found.path not in seen:
                    seen.add(found.path)
                    waiting.append(found)
            elif _is_relevant(name) and not level:
                return None
            elif exact and not level and name.partition(".")[0] not in sys.stdlib_module_names:
                trace.missing.setdefault((name, one.path), ast.Pass(lineno=_line(one.text, name)))
        if len(seen) > MAX_MODULES:
            return None
    return trace


def _is_relevant(name: str) -> bool:
    package = name.partition(".")[0]
    return "torch" in package or package in _BUILT_ON_TORCH


def _imports(text: str) -> Iterator[tuple[int, str, bool]]:
    """Level and name of each module that a text imports, and of what may be one; whether it is one for certain."""
    for found in _IMPORT.finditer(_COMMENT.sub(" ", text)):
        if found["modules"] is not None:
            for name in (part.split()[0] for part in found["modules"].split(",") if part.split()):
                yield 0, name, True
                yield 0, name.partition(".")[0], False
            continue
        level, module = found["dots"].count("."), "".join(found["module"].split())
        yield level, module, True
        for part in found["names"].strip("()").split(","):
            yield from ((level, f"{module}.{name}".strip("."), False) for name in part.split()[:1] if name != "*")


def _line(text: str, name: str) -> int:
    """The first line that mentions a module."""
    return text.count("\n", 0, max(text.find(name), 0)) + 1


__all__ = ["irrelevant"]
