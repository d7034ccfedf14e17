"""background-label: a detector is trained with a class that has the number of the background.

What it finds
    Labels of Faster R-CNN, Mask R-CNN, Keypoint R-CNN or SSD of torchvision that are the places of names in a list, from 0 on, where the
    list does not begin with the background.
Why it hurts
    For these detectors 0 is the background: the objects of the first class are learnt as nothing, and the last number has no
    objects. Nothing is raised.
Example
    CATEGORIES = ["bolt", "nut"]
    labels = [CATEGORIES.index(one["category"]) for one in objects]
    target = {"boxes": boxes, "labels": torch.tensor(labels)}
Use instead
    labels = [CATEGORIES.index(one["category"]) + 1 for one in objects]
Fix safety
    Unsafe: what turns numbers into names again has to take 1 off.
References
    torchvision.models.detection.faster_rcnn.FasterRCNN (num_classes)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import Target, bound_once, targets
from torchsleuth.rules.rule import Analysis, Finding, Rule, appended
from torchsleuth.syntax.forms import called, is_method_call, is_name, literal, nodes_in, plain_name

CODE = "TS364"
_WITH_BACKGROUND = r"(?i)faster_?rcnn|mask_?rcnn|keypoint_?rcnn|\bssd(lite)?(300|320)?"
_TENSORS = frozenset("as_tensor tensor LongTensor".split())
_NOTHING = ("back", "bg", "none", "void", "__")
"""How the name of the background begins."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for target in targets(analysis, _WITH_BACKGROUND):
        for place in _places(target):
            names = _names(analysis, target, place.func.value) if isinstance(place.func, ast.Attribute) else None
            if names and not names[0].lower().startswith(_NOTHING):
                text = message("label.background", name=names[0], label=target.source.on_one_line(place))
                at = target.source.span(target.node).related(message("label.background.target"))
                yield Finding(
                    target.source.span(place), text, (at,), (appended(target.source, place, " + 1", safe=False),)
                )


def _places(target: Target) -> Iterator[ast.Call]:
    """The calls of ``names.index(name)`` that the labels are made of, as they are."""
    bound = bound_once(target.function)
    labels = target.given["labels"]
    while True:
        name = plain_name(labels)
        labels = bound.get(name or "", labels)
        if not isinstance(labels, ast.Call) or called(labels) not in _TENSORS or not labels.args:
            break
        labels = labels.args[0]
    if isinstance(labels, ast.ListComp):
        elements = [labels.elt]
    elif isinstance(labels, ast.List) and not labels.elts and name is not None:
        calls = [
            one for one in nodes_in(target.function, ast.Call) if is_method_call(one, "append") and len(one.args) == 1
        ]
        elements = [one.args[0] for one in calls if is_name(one.func.value, name)]
    else:
        elements = []
    yield from (one for one in elements if is_method_call(one, "index") and len(one.args) == 1)


def _names(analysis: Analysis, target: Target, node: ast.expr) -> list[str] | None:
    """The names in a list that the program writes out once."""
    word = node.attr if isinstance(node, ast.Attribute) else plain_name(node)
    found = [bound_once(analysis.tree(source.path)).get(word or "") for source in analysis.sources]
    lists = [one for one in found if isinstance(one, ast.List | ast.Tuple)]
    names = [literal(one) for one in lists[0].elts] if len(lists) == 1 else []
    return (
        [one for one in names if isinstance(one, str)] if names and all(isinstance(one, str) for one in names) else None
    )


RULE = Rule(FAULTS[CODE], find)
