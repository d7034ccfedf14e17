"""box-format: boxes with centre and size are given to a function that takes corners.

What it finds
    `box_iou`, `nms` and the others of torchvision.ops that take corners, for what `box_convert(…, "cxcywh")`, or a function called
    like `xyxy_to_cxcywh`, has made, or one that joins what it calls `cx`, `cy` and `wh`; and for the output of a network that a loss compares with such boxes. Boxes of annotations in
    the format of COCO, a corner with width and height, as targets of a detector of torchvision.
Why it hurts
    A centre and a size are read as two corners: the overlaps are those of other boxes, or of none. What is measured by them is
    wrong, and so is what is chosen by it. Nothing is raised.
Example
    loss = F.l1_loss(model(images), box_convert(boxes, "xyxy", "cxcywh"))
    overlap = box_iou(model(images), boxes)
Use instead
    overlap = box_iou(box_convert(model(images), "cxcywh", "xyxy"), boxes)
Fix safety
    Safe where torchvision's own function has made the boxes.
References
    torchvision.ops.box_iou, torchvision.ops.box_convert
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import bound_once, targets
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_method_call,
    is_name,
    is_reference,
    literal,
    loads,
    nodes_in,
    parts_of_tuple,
    plain_name,
    returned_by,
)
from torchsleuth.syntax.text import SourceText

CODE = "TS354"
_CORNERS = "xyxy"
_TAKE_CORNERS = frozenset(
    "box_iou generalized_box_iou complete_box_iou distance_box_iou generalized_box_iou_loss complete_box_iou_loss "
    "distance_box_iou_loss nms batched_nms box_area clip_boxes_to_image remove_small_boxes".split()
)
_COMPARES = re.compile(r"(loss|Loss|crit|criterion)$|^(mse|l1|smooth_l1|huber)")
_NAMED = re.compile(r"(xyxy|cxcywh|xywh)_?(?:to|2)_?(xyxy|cxcywh|xywh)$")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    yield from _of_coco(analysis)
    if not any(f"{name}(" in source.text for name in _TAKE_CORNERS):
        return
    own = {one.name for one in analysis.index(source.path).of_type(ast.FunctionDef)}
    trained = _trained(analysis)
    for scope in analysis.scopes:
        bound = bound_once(scope)
        for call in _own_calls(scope):
            if called(call) not in _TAKE_CORNERS or called(call) in own:
                continue
            for given in call.args[:2]:
                known = _format(given, bound) or trained.get(_network(given, bound) or "")
                known = known or _by_names(analysis, given, bound)
                if known is None or known[0] == _CORNERS:
                    continue
                kind, place = known
                text = message("box.format", boxes=source.on_one_line(given), kind=kind, function=called(call))
                places = () if place is given else (source.span(place).related(message("box.made", kind=kind)),)
                yield Finding(source.span(given), text, places, tuple(_converted(analysis, given, kind)))


def _own_calls(scope: ast.Module | ast.FunctionDef) -> Iterator[ast.Call]:
    inner = {id(part) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for part in ast.walk(one)}
    yield from (call for call in nodes_in(scope, ast.Call) if id(call) not in inner)


def _format(node: ast.expr, bound: dict[str, ast.expr]) -> tuple[str, ast.expr] | None:
    """The format of boxes that a conversion has made, and where."""
    node = bound.get(plain_name(node) or "", node)
    if not isinstance(node, ast.Call):
        return None
    if called(node) == "box_convert":
        kind = literal(argument_of(node, 2, "out_fmt"))
        return (kind, node) if isinstance(kind, str) else None
    named = _NAMED.search(called(node))
    return (named[2], node) if named is not None else None


_CENTRES = re.compile(
    r"(c_?x|x_?c|center_?x|x_?center) (c_?y|y_?c|center_?y|y_?center) (w h|wh|width height|sizes?)$", re.IGNORECASE
)
_JOINS = frozenset("cat concat stack tensor".split())


def _by_names(analysis: Analysis, node: ast.expr, bound: dict[str, ast.expr]) -> tuple[str, ast.expr] | None:
    """The format of boxes that a function of the file puts together out of what it calls centres and sizes, and where."""
    node = bound.get(plain_name(node) or "", node)
    functions = analysis.index(analysis.source.path).of_type(ast.FunctionDef)
    made = [one for one in functions if isinstance(node, ast.Call) and is_name(node.func, one.name)]
    results = returned_by(made[0]) if len(made) == 1 else []
    joined = results[0] if len(results) == 1 else None
    if not isinstance(joined, ast.Call) or called(joined) not in _JOINS or not joined.args:
        return None
    parts = sorted(nodes_in(joined.args[0], ast.Name), key=lambda name: (name.lineno, name.col_offset))
    text = " ".join(name.id for name in parts if name.id not in ("torch", "np"))
    return ("cxcywh", joined) if _CENTRES.match(text) else None


def _network(node: ast.expr, bound: dict[str, ast.expr]) -> str | None:
    """What is called for boxes: ``self.net`` of ``self.net(images)``."""
    node = bound.get(plain_name(node) or "", node)
    if not isinstance(node, ast.Call) or not is_reference(node.func) or len(node.args) != 1 or node.keywords:
        return None
    return None if _COMPARES.search(called(node)) or called(node) == "box_convert" else ast.unparse(node.func)


def _trained(analysis: Analysis) -> dict[str, tuple[str, ast.expr]]:
    """The formats of boxes that the outputs of networks are compared with by a loss, where they are always the same."""
    found: dict[str, list[tuple[str, ast.expr]]] = {}
    for scope in analysis.scopes:
        bound = bound_once(scope)
        for call in _own_calls(scope):
            if not _COMPARES.search(called(call)) or len(call.args) != 2:
                continue
            for one, other in (call.args, call.args[::-1]):
                name, known = _network(one, bound), _format(other, bound)
                if name is not None and known is not None:
                    found.setdefault(name, []).append(known)
    return {name: kinds[0] for name, kinds in found.items() if len({kind for kind, _ in kinds}) == 1}


def _converted(analysis: Analysis, given: ast.expr, kind: str) -> Iterator[Candidate]:
    source = analysis.source
    for call in analysis.index(source.path).of_type(ast.Call):
        if called(call) == "box_convert":
            function = source.segment(call.func)
            yield replacement(source, given, f'{function}({source.segment(given)}, "{kind}", "{_CORNERS}")')
            return


# -- annotations in the format of COCO -------------------------------------------------------------

_COCO = ("category_id", "iscrowd", "image_id", "annotations", "pycocotools", "CocoDetection")
"""Words of a file that reads annotations in the format of COCO, whose boxes are a corner, a width and a height."""
_CORNER = re.compile(r"(x|y|right|bottom|left|top)_?(1|2|0|max|min)$|^(right|bottom|x_?end|y_?end)$", re.IGNORECASE)
_TENSORS = frozenset("as_tensor tensor FloatTensor Tensor array asarray stack".split())
_KEEP = ("reshape", "view", "float", "to")


def _of_coco(analysis: Analysis) -> Iterator[Finding]:
    """``{"boxes": boxes, "labels": labels}`` for a detector, with the boxes as they stand in the annotations."""
    for target in targets(analysis):
        source, function = target.source, target.function
        if sum(word in source.text for word in _COCO) < 2:
            continue
        bound = bound_once(function)
        name = plain_name(target.given["boxes"])
        boxes = bound.get(name or "", target.given["boxes"])
        if not _is_of_annotations(boxes, bound, function) or any(map(_writes_corners, _dicts(analysis))):
            continue
        if name is not None and any(_changes(one, name) for one in nodes_in(function, ast.Assign, ast.AugAssign)):
            continue
        fixes = tuple(_written_out(source, bound, function))
        fixes = fixes or (tuple(_cornered(source, function, name, boxes)) if name is not None else ())
        yield Finding(source.span(boxes), message("box.coco"), (), fixes)


def _dicts(analysis: Analysis) -> Iterator[ast.Dict]:
    return (one for source in analysis.sources for one in analysis.index(source.path).of_type(ast.Dict))


def _writes_corners(made: ast.Dict) -> bool:
    """Whether the file itself writes boxes as two corners: ``{"bbox": [x1, y1, x2, y2]}``."""
    written = next((value for key, value in zip(made.keys, made.values) if literal(key) == "bbox"), None)
    return any(_CORNER.search(name.id) for name in nodes_in(written, ast.Name)) if written is not None else False


def _is_of_annotations(node: ast.expr, bound: dict[str, ast.expr], function: ast.FunctionDef | ast.Module) -> bool:
    """Whether an expression is the boxes of annotations, as they are: a tensor of ``[one["bbox"] for one in annotations]``."""
    while isinstance(node, ast.Call) and (is_method_call(node, *_KEEP) or called(node) in _TENSORS and node.args):
        node = node.func.value if is_method_call(node, *_KEEP) else node.args[0]
    name = plain_name(node)
    node = bound.get(name or "", node)
    if isinstance(node, ast.List) and not node.elts and name is not None:
        added = [one.args[0] for one in nodes_in(function, ast.Call) if is_method_call(one, "append") and len(one.args) == 1
                 and is_name(one.func.value, name)]  # fmt: skip
        return bool(added) and all(_is_box(one, bound, function) for one in added)
    if isinstance(node, ast.List):
        return bool(node.elts) and all(_is_box(one, bound, function) for one in node.elts)
    return isinstance(node, ast.ListComp) and _is_box(node.elt, bound, function)


def _is_box(node: ast.expr, bound: dict[str, ast.expr], function: ast.FunctionDef | ast.Module) -> bool:
    """Whether an expression is ``one["bbox"]``, or its four numbers as they are: ``x, y, w, h = one["bbox"]``, ``[x, y, w, h]``."""
    node = bound.get(plain_name(node) or "", node)
    if isinstance(node, ast.List | ast.Tuple):
        names = [plain_name(part) for part in node.elts]
        taken = [pair for one in nodes_in(function, ast.Assign) for pair in assigned_pairs(one)]
        boxes = [[plain_name(part) for part in parts_of_tuple(target)] for target, value in taken if _is_bbox(value)]
        stored = [part.id for part in nodes_in(function, ast.Name) if not loads(part)]
        return len(names) == 4 and names in boxes and all(stored.count(name or "") == 1 for name in names)
    return _is_bbox(node)


def _is_bbox(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and literal(node.slice) == "bbox"


def _changes(statement: ast.Assign | ast.AugAssign, name: str) -> bool:
    """Whether something is written into the boxes: ``boxes[:, 2:] += boxes[:, :2]``."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(one, ast.Subscript) and is_name(one.value, name) for one in targets)


def _written_out(
    source: SourceText, bound: dict[str, ast.expr], function: ast.FunctionDef | ast.Module
) -> Iterator[Candidate]:
    """``[x, y, x + w, y + h]`` for ``[x, y, w, h]``."""
    for one in nodes_in(function, ast.List):
        if len(one.elts) == 4 and _is_box(one, bound, function):
            x, y, width, height = map(source.segment, one.elts)
            yield replacement(source, one, f"[{x}, {y}, {x} + {width}, {y} + {height}]")


def _cornered(
    source: SourceText, function: ast.FunctionDef | ast.Module, name: str, boxes: ast.expr
) -> Iterator[Candidate]:
    statement = next((one for one in nodes_in(function, ast.Assign) if one.value is boxes), None)
    if statement is not None:
        line = f"{name}[:, 2:] += {name}[:, :2]"
        yield Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, statement, line),))


RULE = Rule(FAULTS[CODE], find)
