"""What is to be changed where a run has shown a fault: the edits that follow from what was measured, and the places that they concern."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    given_to,
    is_attribute,
    is_literal,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    last_word,
    nodes_in,
    targets_of,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Place
from torchsleuth.verdicts.evidence import Evidence, Finding
from torchsleuth.verdicts.text import function_around

Remedy = Fix | Related
"""An edit; or a place that the fault has to do with."""


def remedied(evidence: Evidence, finding: Finding) -> tuple[tuple[Related, ...], tuple[Fix, ...]]:
    """The places that a fault has to do with, and the fixes."""
    find = _REMEDIES.get(finding.code)
    found = list(find(evidence, finding.place)) if find is not None and finding.place is not None else []
    return tuple(of_kind(found, Related)), tuple(of_kind(found, Fix))


def _here(evidence: Evidence, path: str, node: ast.AST, identifier: str) -> Related:
    span = evidence.sources(path).span(node)
    return Related(span.path, span.start, span.end, message(identifier))


def _statement(evidence: Evidence, place: Place) -> ast.stmt | None:
    """The innermost statement at a place."""
    found = [node for node in nodes_in(evidence.tree(place.path), ast.stmt) if node.lineno == place.line]
    return found[-1] if found else None


def _clear(evidence: Evidence, place: Place) -> Iterator[Remedy]:
    """``optimizer.zero_grad()`` in front of ``loss.backward()``, where nothing cleared the gradients."""
    statement = _statement(evidence, place)
    steps = [one.step_place for one in evidence.stepped if one.clear_place is None and one.step_place is not None]
    if len(steps) != 1 or statement is None or steps[0].path != place.path:
        return
    tree = evidence.tree(place.path)
    step = _statement(evidence, steps[0])
    call = step.value if isinstance(step, ast.Expr) else None
    if is_method_call(call, "step") and not given_to(call):
        if function_around(tree, place.line) is function_around(tree, steps[0].line):
            source = evidence.sources(place.path)
            line = f"{source.segment(call.func.value)}.zero_grad()"
            yield Fix(message("fix.insert", text=line), (edits.insert_line_before(source, statement, line),))


def _once_an_epoch(evidence: Evidence, place: Place) -> Iterator[Remedy]:
    """``scheduler.step()`` behind the loop over batches, where the schedule was at its end after a part of the steps."""
    step, tree = _statement(evidence, place), evidence.tree(place.path)
    if not isinstance(step, ast.Expr) or not is_method_call(step.value, "step") or given_to(step.value):
        return
    for outer in nodes_in(tree, ast.For):
        for inner in of_kind(outer.body, ast.For):
            if step in inner.body and len(inner.body) > 1:
                source = evidence.sources(place.path)
                text = source.on_one_line(step)
                changes = edits.relocate(source, [step], inner)
                if changes:
                    title = message("fix.move_after", text=text, line=inner.end_lineno)
                    yield Fix(title, changes, safe=False)


def _usual_momentum(evidence: Evidence, place: Place) -> Iterator[Remedy]:
    """The momentum of batch normalisation, where it is given, and taken away."""
    tree, source = evidence.tree(place.path), evidence.sources(place.path)
    for call in nodes_in(tree, ast.Call):
        names = [last_word(part) for part in (call.func, *call.args[:1])]
        given = keyword_of(call, "momentum") if any("BatchNorm" in name for name in names) else None
        if given is not None:
            yield _here(evidence, place.path, given, "run.lag.momentum")
            for written in _settings(tree, given.value):
                yield _here(evidence, place.path, written, "run.lag.momentum")
            title = message("fix.remove_argument", argument=source.segment(given))
            yield Fix(title, (edits.remove_keyword(source, call, given),), safe=False)


def _settings(tree: ast.Module, value: ast.expr) -> Iterator[ast.AST]:
    """Where a setting is written that a name or an attribute stands for: an option's default, a field, a parameter's default."""
    name = last_word(value)
    for node in nodes_in(tree, ast.Call, ast.AnnAssign) if name else ():
        if isinstance(node, ast.AnnAssign):
            if is_name(node.target, name) and node.value is not None:
                yield node
        elif called(node) == "add_argument":
            options = [part.value.lstrip("-").replace("-", "_") for part in node.args if is_text(part)]
            if name in options and keyword_of(node, "default") is not None:
                yield node


def _own_samples(evidence: Evidence, place: Place) -> Iterator[Remedy]:
    """Where a part of a data set sets the transform of the whole, which the evaluated part shares."""
    tree, source = evidence.tree(place.path), evidence.sources(place.path)
    for statement in nodes_in(tree, ast.Assign):
        for target in targets_of(statement):
            if isinstance(target, ast.Attribute) and is_attribute(target.value, "dataset"):
                if "transform" in target.attr or "augment" in target.attr:
                    yield _here(evidence, place.path, statement, "run.redrawn.shared")
                    yield from _copied(tree, source, statement, target.value)


def _copied(tree: ast.Module, source: SourceText, statement: ast.stmt, whole: ast.Attribute) -> Iterator[Fix]:
    """``train.dataset = copy.copy(train.dataset)`` in front of what changes it."""
    name = ast.unparse(whole.value)
    line = f"{name}.dataset = copy.copy({name}.dataset)"
    changes: tuple[Edit, ...] = (
        *edits.add_import(source, tree, "import copy"),
        edits.insert_line_before(source, statement, line),
    )
    yield Fix(message("fix.own_dataset", name=name), changes)


def _switched_off(evidence: Evidence, place: Place) -> Iterator[Remedy]:
    """``set_detect_anomaly(True)`` → ``set_detect_anomaly(False)``"""
    source = evidence.sources(place.path)
    for call in nodes_in(evidence.tree(place.path), ast.Call):
        if called(call) == "set_detect_anomaly" and call.lineno == place.line:
            for given in given_to(call):
                if is_literal(given, True):
                    title = message("fix.replace", old=source.segment(call), new="set_detect_anomaly(False)")
                    yield Fix(title, (edits.replace(source, given, "False"),))


_REMEDIES: dict[str, Callable[[Evidence, Place], Iterator[Remedy]]] = {
    "TS501": _clear,
    "TS536": _once_an_epoch,
    "TS573": _usual_momentum,
    "TS952": _own_samples,
    "TS958": _switched_off,
}
