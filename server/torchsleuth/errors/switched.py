"""Parameters that a function freezes and frees: an optimizer gets others of them here than it had where its state was saved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame, enclosing_function
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import called, is_attribute, is_method_call, loads, names_in, nodes_in, targets_of

_Switch = tuple[CrashFrame, ast.Call]
MAX_SHOWN = 2


def _switches(case: Case) -> set[str]:
    """The functions that set ``requires_grad`` of parameters by one of their own parameters: ``set_trainable(net, flag)``."""
    found = set()
    for file in case.files:
        for function in file.all(ast.FunctionDef):
            given = {part.arg for part in nodes_in(function, ast.arg)}
            for node in nodes_in(function, ast.Assign, ast.Call):
                if isinstance(node, ast.Assign):
                    values = (
                        [node.value] if any(is_attribute(part, "requires_grad") for part in targets_of(node)) else []
                    )
                else:
                    values = node.args if is_method_call(node, "requires_grad_") else []
                if any(given & names_in(value) for value in values):
                    found.add(function.name)
    return found


def _calls(case: Case) -> tuple[list[_Switch], list[_Switch]]:
    """The calls of such functions in the failing one, in front of the failing line, and those elsewhere that are written otherwise."""
    names, scope = _switches(case), case.frame.enclosing
    here = [
        (case.frame, node)
        for node in nodes_in(scope, ast.Call)
        if called(node) in names and node.lineno <= case.frame.line
    ]
    texts = {case.frame.text(node) for _, node in here}
    others = [
        (file, node)
        for file in (case.files if here else ())
        for node in file.all(ast.Call)
        if called(node) in {called(own) for _, own in here} and file.text(node) not in texts
        if file.path != case.frame.path or enclosing_function(file.tree, node.lineno) is not scope
    ]
    return here, others


def _switched_here(case: Case) -> Iterator[Related]:
    here, others = _calls(case)
    for file, node in here[-1:] if others else ():
        yield note(file.source, node, "error.switched", other=others[0][0].source.on_one_line(others[0][1])[:60])


def _switched_alike(case: Case, found: object) -> Iterator[Fix]:
    """``set_trainable(net, False)`` → ``set_trainable(net, stage.trains)``, as it was for the optimizer whose state was saved, where
    all its names are known."""
    here, others = _calls(case)
    scope = case.frame.enclosing
    known = {node.id for node in nodes_in(scope, ast.Name) if not loads(node)} | {
        part.arg for part in nodes_in(scope, ast.arg)
    }
    known |= {node.id for part in case.frame.tree.body for node in nodes_in(part, ast.Name) if not loads(node)}
    known |= {part.name for part in case.frame.tree.body if isinstance(part, ast.FunctionDef)}
    for file, node in others[:MAX_SHOWN] if len(here) == 1 else ():
        if names_in(node) <= known:
            yield replace(case.frame, here[0][1], file.text(node), safe=False)


_STATE = r"loaded state dict (?:contains|has)"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_STATE, _switched_alike),)
PLACES = ((_STATE, _switched_here),)
