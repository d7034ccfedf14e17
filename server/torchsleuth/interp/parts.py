"""Parts of an analysis that can be left out one by one, such as functions and the statements of a module."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchsleuth.syntax.text import SourceText


class Part(NamedTuple):
    """`kind`: function, statement (of a module), rule (all that it looks for) or fixes (their verification). `name`: of a
    function, with its class; of a rule its code. `digest`: of the text, so that what was edited is another part."""

    kind: str
    path: str
    name: str
    line: int
    digest: str

    @property
    def identity(self) -> tuple[str, ...]:
        """The properties that stay when lines are inserted above."""
        return self.kind, self.path, self.name, self.digest


class Parts:
    """Is told which functions and statements are being followed, one inside of the other, and says which are left out.
    This one tells nobody, and leaves nothing out."""

    def begin(self, source: SourceText, node: ast.AST, name: str = "") -> bool:
        """Whether a function, or without a name a statement, is to be followed; if so, `end` comes after it."""
        return True

    def end(self) -> None:
        """The part that began last has ended."""

    @property
    def withdrawn(self) -> bool:
        """Whether whoever asked for this wants something else first."""
        return False
