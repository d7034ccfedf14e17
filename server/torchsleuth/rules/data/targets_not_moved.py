"""targets-not-moved: transforms.v2 turn and cut an image, and leave the boxes or the mask in it where they were.

What it finds
    A transform of torchvision.transforms.v2 that flips, crops or turns, and is given an image with boxes, masks or keypoints, or an
    image and a mask of its size, that are plain tensors.
Why it hurts
    v2 moves what is of its own classes: tv_tensors.BoundingBoxes, Mask, KeyPoints. A plain tensor is passed on as it is: in
    half of the samples the boxes lie beside their objects. Nothing is raised.
Example
    boxes = torch.tensor([[10.0, 10.0, 40.0, 30.0]])
    image, target = transforms(image, {"boxes": boxes})
Use instead
    boxes = tv_tensors.BoundingBoxes([[10.0, 10.0, 40.0, 30.0]], format="XYXY", canvas_size=image.shape[-2:])
    image, target = transforms(image, {"boxes": boxes})
Fix safety
    Unsafe for boxes: their format is not known from their values. Safe for masks.
References
    torchvision.tv_tensors; "Getting started with transforms v2" in the documentation of torchvision
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_name, nodes_in
from torchsleuth.values import Image, LibraryObject, Tensor
from torchsleuth.values.sites import Site

CODE = "TS644"
_WRAPPERS = {"boxes": "BoundingBoxes", "keypoints": "KeyPoints"}
_FORMATS = ("XYXY", "XYWH")
_SIZED = frozenset({"Image", "to_image", "pil_to_tensor", "to_tensor", "read_image", "decode_image"})
"""Functions that give an image whose last two sizes are its height and width."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        transform = as_kind(fault.values[0], LibraryObject) if fault.kind == "left behind" else None
        left = as_kind(fault.values[1], Tensor) if transform is not None else None
        if transform is None or left is None or left.origin is None:
            continue
        key = str(fault.values[2])
        wrapper = _WRAPPERS.get(key, "Mask")
        text = message("targets.left", transform=transform.type_name, what=key or "the mask", wrapper=wrapper)
        places = (fault.at.span.related(message("targets.left.called")),)
        yield Finding(left.origin.site.span, text, places, tuple(_wrapped(analysis, fault, left.origin.site, wrapper)))


def _wrapped(analysis: Analysis, fault: DataFault, made: Site, wrapper: str) -> Iterator[Candidate]:
    """The tensor in the class of its kind, where it is made."""
    call = fault.at.call
    if call is None or not isinstance(made.node, ast.expr) or not call.args:
        return
    source, tree = made.source, analysis.tree(made.span.path)
    imported = edits.add_import(source, tree, "from torchvision import tv_tensors")
    text = source.segment(made.node)
    if wrapper == "Mask":
        edit = edits.replace(source, made.node, f"tv_tensors.Mask({text})")
        yield Candidate(message("fix.wrap.as", wrapper=wrapper, form=""), (*imported, edit))
        return
    size = _size_of(fault, call.args[0])
    for form in _FORMATS if size is not None and wrapper == "BoundingBoxes" else ():
        new = f'tv_tensors.BoundingBoxes({text}, format="{form}", canvas_size={size})'
        title = message("fix.wrap.as", wrapper=wrapper, form=f" of the format {form}")
        yield Candidate(title, (*imported, edits.replace(source, made.node, new)), safe=False)


def _size_of(fault: DataFault, image: ast.expr) -> str | None:
    """The height and the width of an image, as an expression."""
    if not isinstance(image, ast.Name):
        return None
    held = fault.at.scene.names.get(image.id)
    if isinstance(held, Image):
        return f"{image.id}.size[::-1]"
    made = [one.value for one in nodes_in(fault.at.scene.scope, ast.Assign) if is_name(one.targets[0], image.id)]
    sized = any(isinstance(one, ast.Call) and called(one) in _SIZED for one in made)
    return f"{image.id}.shape[-2:]" if sized or isinstance(held, Tensor) else None


RULE = Rule(FAULTS[CODE], find)
