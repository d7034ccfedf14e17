"""Shared by the rules about Accelerate: which accelerators there are, and what stands inside of ``with accelerator.accumulate(model):``."""

from __future__ import annotations

import ast

from torchsleuth.interp.library.accelerate import ACCELERATOR, STEPS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_method_call
from torchsleuth.values import Site, is_object


def accumulated(analysis: Analysis) -> int | None:
    """How many batches make up a step of all accelerators, None where that is not known, or is one."""
    made = [call for call in analysis.calls_at_places(ACCELERATOR) if is_object(call.result, ACCELERATOR)]
    steps = {number if type(number := call.kwargs.get(STEPS)) is int else None for call in made}
    number = next(iter(steps), None)
    return number if len(steps) == 1 and number is not None and number > 1 else None


def conditions_in_region(analysis: Analysis, site: Site) -> tuple[list[ast.If], list[ast.AST]] | None:
    """The conditions that stand between ``accelerator.accumulate()`` and a statement in it, and all that is around that; None where
    it is in no such region."""
    statement = statement_of(analysis, site)
    around = analysis.trail(site.span.path, statement) if statement is not None else []
    for place, part in reversed(list(enumerate(around))):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While):
            return None
        if is_region(part):
            return of_kind(around[place:], ast.If), around
    return None


def is_region(node: ast.AST) -> bool:
    """``with accelerator.accumulate(model):``"""
    return isinstance(node, ast.With) and any(called(item.context_expr) == "accumulate" for item in node.items)


def name_of(call: LibraryCall) -> str | None:
    """The name of the accelerator where a method of it is called."""
    node = call.site.call
    return call.site.source.segment(node.func.value) if is_method_call(node) else None


def called_by_name(analysis: Analysis, *names: str) -> bool:
    """Whether some method of these names may be called anywhere in the program."""
    return any(f"{name}(" in source.text for source in analysis.sources for name in names)
