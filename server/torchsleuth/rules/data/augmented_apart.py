"""augmented-apart: an image and its mask are cropped, flipped or turned at random, each in its own way.

What it finds
    A `__getitem__` that gives the image and then its mask to the same transform, which moves, or of which a part moves, pixels at random, where
    the random numbers are not set back in between. A function that is given both, mirrors or turns the image at random, and
    returns what belongs to its places, of two dimensions or more, as it came.
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
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.transforms import composed, is_given
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import by_position, called, is_binding, is_name, is_reference, names_in, nodes_in
from torchsleuth.values import Tensor

CODE = "TS627"
_MOVING = frozenset(
    "RandomCrop RandomResizedCrop RandomHorizontalFlip RandomVerticalFlip RandomRotation RandomAffine RandomPerspective "
    "ElasticTransform RandomZoomOut RandomIoUCrop RandomShortestSize".split()
)
"""Transforms that draw where each pixel goes."""
_MASKS = frozenset("mask masks seg segmentation gt groundtruth depth annotation".split())
"""Words for what belongs to the pixels of an image."""
_REPEATS = frozenset("manual_seed seed set_rng_state setstate set_state fork_rng".split())


_TURNING = frozenset("flip fliplr flipud rot90 hflip vflip".split())
"""Operators that move each pixel."""
_DRAWS = frozenset("rand random randint uniform random_sample binomial bernoulli".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _left_behind(analysis)
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "transforms" not in source.text or "__getitem__" not in source.text:
        return
    moving = [call for call in composed(analysis) if any(called(part) in _MOVING for part in nodes_in(call, ast.Call))]
    inner = {id(part) for call in moving for part in ast.walk(call)}
    alone = [use.call for use in analysis.names.uses if use.call is not None and id(use.call) not in inner]
    moving += [call for call in alone if called(call) in _MOVING]
    for owner in index.of_type(ast.ClassDef) if moving else ():
        for method in of_kind(owner.body, ast.FunctionDef):
            if method.name == "__getitem__" and not any(
                called(node) in _REPEATS for node in nodes_in(method, ast.Call)
            ):
                for image, mask in _pairs(method):
                    made = next((one for one in moving if is_given(analysis, owner, image.func, one)), None)
                    if made is not None:
                        yield _finding(analysis, method, image, mask, made)


def _left_behind(analysis: Analysis) -> Iterator[Finding]:
    """``if torch.rand(1) < 0.5: image = image.flip(-1)`` in a function that returns ``image, points``."""
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        site = operation.site
        function = site.scene.function.node if site.scene.function is not None else None
        if operation.bare_name not in _TURNING or site.span in seen or not isinstance(function, ast.FunctionDef):
            continue
        seen.add(site.span)
        trail = analysis.trail(site.span.path, site.node)
        statement = next((part for part in reversed(trail) if isinstance(part, ast.stmt)), None)
        drawn = any(
            called(call) in _DRAWS
            for branch in of_kind(trail, ast.If)
            if branch.lineno > function.lineno
            for call in nodes_in(branch.test, ast.Call)
        )
        if not drawn or not is_binding(statement) or statement.targets[0].id not in names_in(statement.value):
            continue
        image = statement.targets[0].id
        for other in _beside(function, image):
            known = as_kind(site.scene.names.get(other), Tensor)
            shape = known.spec.shape if known is not None else None
            if known is not None and shape is not None and len(shape) > 1:
                text = message("augmented.alone", image=image, other=other, shape=shape_text(known.spec))
                yield Finding(site.span, text)
                break


def _beside(function: ast.FunctionDef, image: str) -> list[str]:
    """The other parameters of a function that is given an image, where each return gives back both, and nothing else is done with
    these."""
    given = [one.arg for one in by_position(function.args)]
    results = [one.value for one in nodes_in(function, ast.Return)]
    if image not in given or not results or not all(isinstance(one, ast.Tuple) for one in results):
        return []
    found = []
    for name in given:
        kept = [part for one in of_kind(results, ast.Tuple) for part in one.elts if is_name(part, name)]
        used = [part for part in nodes_in(function, ast.Name) if part.id == name]
        if name != image and len(kept) == len(results) == len(used):
            found.append(name)
    return found


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
