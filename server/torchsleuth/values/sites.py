"""Where something happened."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchsleuth.schema import Span

if TYPE_CHECKING:
    from torchsleuth.values.frames import Frame


@dataclass(frozen=True)
class Site:
    """Where something happened: the node, its file, and the frame it ran in."""

    span: Span
    node: ast.AST
    frame: Frame
