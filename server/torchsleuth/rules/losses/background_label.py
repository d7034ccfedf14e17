"""background-label: a detector is trained with a class that has the number of the background.

What it finds
    Labels of Faster R-CNN, Mask R-CNN, Keypoint R-CNN or SSD of torchvision that are the places of names in a list, from 0 on, also by a dict that
    numbers them, where the list does not begin with the background.
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
from torchsleuth.syntax.forms import (
    called,
    given_to,
    is_function_call,
    is_method_call,
    is_name,
    last_word,
    literal,
    nodes_in,
    parts_of_tuple,
    plain_name,
)

CODE = "TS364"
_WITH_BACKGROUND = r"(?i)faster_?rcnn|mask_?rcnn|keypoint_?rcnn|\bssd(lite)?(300|320)?"
_TENSORS = frozenset("as_tensor tensor LongTensor".split())
_NOTHING = ("back", "bg", "none", "void", "__")
"""How the name of the background begins."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for target in targets(analysis, _WITH_BACKGROUND):
        for place, of in _places(analysis, target):
            names = _names(analysis, of)
            if names and not names[0].lower().startswith(_NOTHING):
                text = message("label.background", name=names[0], label=target.source.on_one_line(place))
                at = target.source.span(target.node).related(message("label.background.target"))
                yield Finding(
                    target.source.span(place), text, (at,), (appended(target.source, place, " + 1", safe=False),)
                )


def _places(analysis: Analysis, target: Target) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Where the labels are the places of names in a list, as they are, and that list."""
    for one in _labels(target):
        if is_method_call(one, "index") and len(one.args) == 1:
            yield one, one.func.value
        elif isinstance(one, ast.Subscript) and (names := _numbered(analysis, one.value)) is not None:
            yield one, names


def _labels(target: Target) -> list[ast.expr]:
    """The elements that the tensor of labels is made of."""
    bound = bound_once(target.function)
    labels = target.given["labels"]
    while True:
        name = plain_name(labels)
        labels = bound.get(name or "", labels)
        if not isinstance(labels, ast.Call) or called(labels) not in _TENSORS or not labels.args:
            break
        labels = labels.args[0]
    if isinstance(labels, ast.ListComp):
        return [labels.elt]
    if not isinstance(labels, ast.List) or labels.elts or name is None:
        return labels.elts if isinstance(labels, ast.List) else []
    calls = [one for one in nodes_in(target.function, ast.Call) if is_method_call(one, "append") and len(one.args) == 1]
    return [one.args[0] for one in calls if is_name(one.func.value, name)]


def _bound(analysis: Analysis, node: ast.expr) -> list[ast.expr]:
    """The values that the files of the program bind a name, or an attribute, to once."""
    word = last_word(node)
    found = [bound_once(analysis.tree(source.path)).get(word) for source in analysis.sources]
    return [one for one in found if one is not None]


def _numbered(analysis: Analysis, node: ast.expr) -> ast.expr | None:
    """The list of names that a dict numbers from 0 on: ``{name: i for i, name in enumerate(names)}``."""
    made = _bound(analysis, node)
    numbers = made[0] if len(made) == 1 else None
    if not isinstance(numbers, ast.DictComp) or len(numbers.generators) != 1:
        return None
    generator = numbers.generators[0]
    pair = [plain_name(part) for part in parts_of_tuple(generator.target)]
    counts = is_function_call(generator.iter, "enumerate") and len(given_to(generator.iter)) == 1
    if counts and pair == [plain_name(numbers.value), plain_name(numbers.key)] and isinstance(generator.iter, ast.Call):
        return generator.iter.args[0]
    return None


def _names(analysis: Analysis, node: ast.expr) -> list[str] | None:
    """The names in a list that the program writes out once."""
    lists = [one for one in (*_bound(analysis, node), node) if isinstance(one, ast.List | ast.Tuple)]
    names = [literal(one) for one in lists[0].elts] if len(lists) == 1 else []
    return (
        [one for one in names if isinstance(one, str)] if names and all(isinstance(one, str) for one in names) else None
    )


RULE = Rule(FAULTS[CODE], find)
