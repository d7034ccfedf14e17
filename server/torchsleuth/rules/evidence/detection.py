"""Shared by the rules about detection: where a program makes the targets of torchvision's detectors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.forms import assigned_pairs, literal, nodes_in
from torchsleuth.syntax.text import SourceText

_PACKAGE = "torchvision.models.detection"


@dataclass(frozen=True)
class Target:
    """``{"boxes": boxes, "labels": labels}`` in a function, or outside of any, by its keys. `source`: the file that it is in."""

    source: SourceText
    function: ast.FunctionDef | ast.Module
    node: ast.Dict
    given: dict[object, ast.expr]


def targets(analysis: Analysis, detectors: str = "") -> Iterator[Target]:
    """The targets that a program writes, where it uses detectors of torchvision. `detectors`: a pattern that the name of one of them
    matches; empty for any."""
    texts = [source.text for source in analysis.sources]
    uses = any(_PACKAGE in text for text in texts)
    if not uses or (detectors and not any(re.search(detectors, text) for text in texts)):
        return
    for source in analysis.sources:
        if "boxes" not in source.text or "labels" not in source.text:
            continue
        seen: set[int] = set()
        functions: list[ast.FunctionDef] = list(analysis.index(source.path).of_type(ast.FunctionDef))
        scopes: list[ast.FunctionDef | ast.Module] = [*functions, analysis.tree(source.path)]
        for function in scopes:
            for node in nodes_in(function, ast.Dict):
                given = {literal(key): value for key, value in zip(node.keys, node.values) if key is not None}
                if {"boxes", "labels"} <= given.keys() and not (isinstance(function, ast.Module) and id(node) in seen):
                    seen.add(id(node))
                    yield Target(source, function, node, given)


def bound_once(scope: ast.AST) -> dict[str, ast.expr]:
    """The values of the names that a function, or a file, binds once."""
    found: dict[str, list[ast.expr]] = {}
    for one in nodes_in(scope, ast.Assign):
        for target, value in assigned_pairs(one):
            for part in nodes_in(target, ast.Name):
                found.setdefault(part.id, []).append(value if part is target else ast.Constant(None))
    return {name: values[0] for name, values in found.items() if len(values) == 1}
