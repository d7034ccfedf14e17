"""boxes-may-be-empty: the boxes of a picture are a tensor of a list that a condition may leave empty.

What it finds
    `"boxes": torch.as_tensor(boxes)` in the target of a detector of torchvision, where the list holds those objects alone that fulfil a
    condition, and nothing in the function asks whether it is empty.
Why it hurts
    A tensor of an empty list has the shape (0,), and detectors want (0, 4): ValueError at the first picture without objects.
Example
    boxes = [one.box for one in objects if one.area > 20]
    target = {"boxes": torch.as_tensor(boxes), "labels": labels}
Use instead
    boxes = [one.box for one in objects if one.area > 20]
    target = {"boxes": torch.as_tensor(boxes).reshape(-1, 4), "labels": labels}
Fix safety
    Safe: boxes that are there keep their shape.
References
    torchvision.models.detection.fasterrcnn_resnet50_fpn
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import Target, bound_once, targets
from torchsleuth.rules.rule import Analysis, Finding, Rule, appended
from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax.forms import called, is_method_call, names_in, nodes_in, plain_name

CODE = "TS642"
_MAKES = frozenset("tensor as_tensor FloatTensor".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    for target in targets(analysis):
        values = bound_once(target.function)
        boxes = _value(target.given["boxes"], values)
        if not isinstance(boxes, ast.Call) or called(boxes) not in _MAKES or not boxes.args:
            continue
        names = [name for name, value in values.items() if value is boxes]
        if any(
            is_method_call(one, "reshape", "view") and plain_name(one.func.value) in names
            for one in nodes_in(target.function, ast.Call)
        ):
            continue
        condition = _condition(analysis, target, boxes.args[0], values)
        if condition is not None:
            text = message("boxes.empty", boxes=target.source.segment(boxes.args[0]))
            place = target.source.span(condition).related(message("boxes.empty.condition"))
            yield Finding(
                target.source.span(boxes), text, (place,), (appended(target.source, boxes, ".reshape(-1, 4)"),)
            )


def _value(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """The expression that a name was bound to, the one time it was."""
    name = plain_name(node)
    return values.get(name, node) if name is not None else node


def _condition(analysis: Analysis, target: Target, given: ast.expr, values: dict[str, ast.expr]) -> ast.expr | None:
    """The condition that may leave a list empty, if nothing in the function asks whether it has."""
    asked: set[str] = set()
    for _ in range(3):
        name = plain_name(given)
        asked |= {name} if name is not None else set()
        listed = _value(given, values)
        match listed:
            case ast.ListComp(generators=[ast.comprehension(ifs=[test, *_])]):
                return None if _asks(target.function, asked) else test
            case ast.ListComp(generators=[ast.comprehension(iter=given)]):
                continue
            case ast.List(elts=[]) if name is not None:
                tests = list(_tests(analysis, target, name))
                return tests[0] if tests and not _asks(target.function, asked) else None
        return None
    return None


def _tests(analysis: Analysis, target: Target, name: str) -> Iterator[ast.expr]:
    """The conditions under which a loop puts something into a list; none where it also does without."""
    for call in nodes_in(target.function, ast.Call):
        if is_method_call(call, "append") and plain_name(call.func.value) == name:
            around = analysis.trail(target.source.path, call)
            inside = around[max((place for place, one in enumerate(around) if isinstance(one, ast.For)), default=0) :]
            if not any_are(inside, ast.For):
                continue
            skips = [
                one
                for loop in of_kind(inside, ast.For)
                for one in of_kind(loop.body, ast.If)
                if any_are(one.body, ast.Continue)
            ]
            conditions = [one for one in of_kind(inside, ast.If) if not one.orelse] + skips
            yield from (one.test for one in conditions[:1])


def _asks(function: ast.FunctionDef | ast.Module, names: set[str]) -> bool:
    """Whether a condition of the function is about one of these names, as ``if not boxes:``."""
    asking = (one for one in ast.walk(function) if isinstance(one, ast.If | ast.IfExp | ast.While | ast.Assert))
    return any(names & names_in(one.test) for one in asking)


RULE = Rule(FAULTS[CODE], find)
