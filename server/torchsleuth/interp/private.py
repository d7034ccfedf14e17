"""Private names: ``__x`` in the body of a class is ``_Class__x``."""

from __future__ import annotations

import ast

from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.trees import index
from torchsleuth.values.frames import Frame


def is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def mangled(name: str, cls: str) -> str:
    """A private name as it is in the body of a class of this name."""
    bare = cls.lstrip("_")
    return f"_{bare}{name}" if bare and is_private(name) else name


def named(name: str, node: ast.AST, frame: Frame) -> str:
    """The name that one stands for where it is written at this node."""
    if not is_private(name):
        return name
    tree = index(parse(frame.source))
    trail = tree.trail(tree.same(node) or node)
    around = next((part for part in reversed(trail[:-1]) if isinstance(part, ast.ClassDef)), None)
    return name if around is None else mangled(name, around.name)


__all__ = ["is_private", "mangled", "named"]
