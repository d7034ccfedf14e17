"""Where something happened."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind

if TYPE_CHECKING:
    from torchsleuth.syntax.text import SourceText
    from torchsleuth.values.frames import Frame, Scene


@dataclass(frozen=True)
class Site:
    """Where something happened: the node, its file, the frame it ran in, and when, as the heap counts."""

    span: Span
    node: ast.AST
    frame: Frame
    moment: int = field(default=0, compare=False)

    @property
    def call(self) -> ast.Call | None:
        """The call that stands there, None where something else does."""
        return as_kind(self.node, ast.Call)

    @property
    def source(self) -> SourceText:
        """The file that it is in."""
        return self.frame.source

    @property
    def scene(self) -> Scene:
        """The variables as they were then."""
        return self.frame.at(self.moment)
