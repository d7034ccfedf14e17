"""augmented-apart: an image and its mask are cropped, flipped or turned at random, each in its own way.

What it finds
    A `__getitem__` that gives the image and then its mask to the same transform, of which a part moves pixels at random, where
    the random numbers are not set back in between.
Why it hurts
    Each call draws anew: the image may be flipped and the mask not. The model learns from masks that belong to other places,
    and the loss stops falling early. Nothing is raised.
Example
    image = self.transform(image)
    mask = self.transform(mask)
Use instead
    state = torch.get_rng_state()
    image = self.transform(image)
    torch.set_rng_state(state)
    mask = self.transform(mask)
Fix safety
    Unsafe: both draw the same numbers from then on; transforms.v2 take both at once, and know how to resize a mask.
References
    torchvision.transforms.v2; "Transforms" in the documentation of torchvision
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.transforms import composed, is_given
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_reference, names_in, nodes_in

CODE = "TS627"
_MOVING = frozenset(
    "RandomCrop RandomResizedCrop RandomHorizontalFlip RandomVerticalFlip RandomRotation RandomAffine RandomPerspective "
    "ElasticTransform RandomZoomOut RandomIoUCrop RandomShortestSize".split()
)
"""Transforms that draw where each pixel goes."""
_MASKS = frozenset("mask masks seg segmentation gt groundtruth depth annotation".split())
"""Words for what belongs to the pixels of an image."""
_REPEATS = frozenset("manual_seed seed set_rng_state setstate set_state fork_rng".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "Compose" not in source.text or "__getitem__" not in source.text:
        return
    moving = [call for call in composed(analysis) if any(called(part) in _MOVING for part in nodes_in(call, ast.Call))]
    for owner in index.of_type(ast.ClassDef) if moving else ():
        for method in of_kind(owner.body, ast.FunctionDef):
            if method.name == "__getitem__" and not any(
                called(node) in _REPEATS for node in nodes_in(method, ast.Call)
            ):
                for image, mask in _pairs(method):
                    made = next((one for one in moving if is_given(analysis, owner, image.func, one)), None)
                    if made is not None:
                        yield _finding(analysis, method, image, mask, made)


def _pairs(method: ast.FunctionDef) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Two calls of one transform, of an image and of a mask."""
    alone = [node for node in nodes_in(method, ast.Call) if len(node.args) == 1 and not node.keywords]
    for mask in alone:
        if _words(mask.args[0]) & _MASKS and is_reference(mask.func):
            same = [other for other in alone if ast.unparse(other.func) == ast.unparse(mask.func)]
            images = [other for other in same if not _words(other.args[0]) & _MASKS]
            if images:
                yield images[0], mask


def _words(node: ast.expr) -> set[str]:
    attributes = {part.attr for part in nodes_in(node, ast.Attribute)}
    return {word for name in names_in(node) | attributes for word in name.lower().split("_")}


def _finding(analysis: Analysis, method: ast.FunctionDef, image: ast.Call, mask: ast.Call, made: ast.Call) -> Finding:
    source = analysis.source
    drawn = next(part for part in nodes_in(made, ast.Call) if called(part) in _MOVING)
    text = message(
        "augmented.apart", image=source.segment(image.args[0]), mask=source.segment(mask.args[0]), name=called(drawn)
    )
    places = (
        source.span(drawn).related(message("augmented.drawn")),
        source.span(image).related(message("augmented.image")),
    )
    return Finding(source.span(mask), text, places, tuple(_alike(analysis, method, image, mask)))


def _alike(analysis: Analysis, method: ast.FunctionDef, image: ast.Call, mask: ast.Call) -> Iterator[Candidate]:
    """The state of the random numbers kept in front of the one and set back in front of the other."""
    source, tree = analysis.source, analysis.tree(analysis.source.path)
    first, second = (edits.enclosing_statement(tree, node) for node in (image, mask))
    simple = isinstance(first, ast.Assign) and isinstance(second, ast.Assign) and first is not second
    if simple and "state" not in names_in(method) and first and second:
        changes = (
            *edits.add_import(source, tree, "import torch"),
            edits.insert_line_before(source, first, "state = torch.get_rng_state()"),
            edits.insert_line_before(source, second, "torch.set_rng_state(state)"),
        )
        yield Candidate(message("fix.drawn_alike"), changes, safe=False)


RULE = Rule(FAULTS[CODE], find)
