"""Tuples that a comma at the end of a line makes: ``self.norm = nn.LayerNorm(width),``."""

from __future__ import annotations

import ast

from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment
from torchsleuth.syntax.text import SourceText


def by_comma(analysis: Analysis, path: str, name: str) -> ast.Tuple | None:
    """The tuple of one that a name, dotted or not, is bound to without parentheses, where nothing else binds it."""
    bound = [
        statement
        for statement in analysis.index(path).of_type(ast.Assign)
        if any(ast.unparse(target) == name for target in statement.targets)
    ]
    value = bound[0].value if len(bound) == 1 and is_assignment(bound[0]) else None
    if not isinstance(value, ast.Tuple) or len(value.elts) != 1:
        return None
    return None if analysis.source_of(path).segment(value).startswith("(") else value


def without_comma(source: SourceText, made: ast.Tuple) -> Candidate:
    text = source.segment(made.elts[0])
    return Candidate(
        message("fix.without_comma", text=" ".join(text.split())[:40]), (edits.replace(source, made, text),)
    )
