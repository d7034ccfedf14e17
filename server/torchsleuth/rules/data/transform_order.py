"""transform-order: an image transform that gets what the one before it does not make.

What it finds
    Normalize, ConvertImageDtype or RandomErasing before ToTensor; ToTensor on what is a tensor already; ToPILImage on an
    image; Normalize on integers, as PILToTensor and v2.ToImage make them; transforms for images on a NumPy array. Known
    without torchvision being installed, where the transform is applied to an image, by a dataset or directly.
Why it hurts
    The transform raises TypeError "img should be Tensor Image", "pic should be PIL Image or ndarray" or "Input tensor
    should be a float tensor" with the first sample.
Example
    transforms.Compose([transforms.Normalize(mean, std), transforms.ToTensor()])
Use instead
    transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, std)])
Fix safety
    Swapping two transforms, or leaving out the second of two conversions, is safe. A conversion that is put in is offered
    as unsafe.
References
    torchvision.transforms.Compose, torchvision.transforms.ToTensor, torchvision.transforms.Normalize
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library import vision
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_method_call, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Array, Image, LibraryObject, Tensor, Value

CODE = "TS606"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        transform = as_kind(fault.values[0], LibraryObject) if fault.kind == "transform" else None
        if transform is not None and transform.site is not None:
            given = fault.values[1]
            text = message("data.transform", transform=transform.type_name, given=given_text(given))
            used = fault.at.span.related(message("data.transform.used"))
            yield Finding(transform.site.span, text, (used,), _repairs(analysis, fault, transform, given))


def given_text(value: Value) -> str:
    match value:
        case Image():
            return "a PIL image"
        case Array():
            return "a NumPy array"
    dtype = value.spec.dtype if isinstance(value, Tensor) else None
    return f"a tensor of {dtype}" if dtype is not None and not dtype.startswith("float") else "a tensor"


def _repairs(analysis: Analysis, fault: DataFault, transform: LibraryObject, given: Value) -> Iterator[Candidate]:
    assert transform.site is not None
    path = transform.site.span.path
    source = analysis.source_of(path)
    found = _in_list(analysis, path, transform)
    if found is None:
        yield from _by_hand(fault)
        return
    elements, index = found
    name = transform.type_name
    converts = [place for place, part in enumerate(elements) if called(part) in ("ToTensor", "PILToTensor", "ToImage")]
    later = next((place for place in converts if place > index), None)
    if isinstance(given, Image) and later is not None:
        yield Candidate(
            message("fix.swap", first=name, second=called(elements[later])), _moved(source, elements, index, later)
        )
    elif name in (("ToTensor", "PILToTensor") if isinstance(given, Tensor) else ("ToPILImage",)):
        text = source.segment(elements[index])
        yield Candidate(message("fix.remove", text=text), (edits.remove_element(source, elements, index),))
    conversion = _conversion(transform, given)
    prefix = _prefix(source, elements[index])
    if conversion is not None and prefix is not None and (later is None or conversion == "ToPILImage()"):
        text = f"{prefix}{conversion}"
        edit = edits.insert(source, source.start_of(elements[index]), f"{text}, ")
        yield Candidate(message("fix.insert", text=text), (edit,), safe=False)


def _by_hand(fault: DataFault) -> Iterator[Candidate]:
    """Transforms that are called one after the other: the one that refuses exchanged with one that follows."""
    source, first = fault.at.source, fault.at.call
    if first is None:
        return
    later = [
        part
        for part in nodes_in(fault.at.scene.scope, ast.Call)
        if len(part.args) == 1 and part.lineno >= first.lineno
        if isinstance(getattr(part.func, "value", part.func), ast.Name | ast.Call)
        if source.segment(part.func) != source.segment(first.func)
        if part.lineno > first.lineno or any(inner is first for inner in ast.walk(part.args[0]))
    ]
    for call in sorted(later, key=lambda part: (part.lineno, -part.col_offset))[:3]:
        one, other = source.segment(first.func), source.segment(call.func)
        changes = (edits.replace(source, first.func, other), edits.replace(source, call.func, one))
        yield Candidate(message("fix.swap", first=one, second=other), changes)


def _in_list(analysis: Analysis, path: str, transform: LibraryObject) -> tuple[list[ast.expr], int] | None:
    """The list that a transform is written in, and its place."""
    site = transform.site
    assert site is not None
    for part in analysis.index(path).of_type(ast.List):
        for index, element in enumerate(part.elts):
            if isinstance(element, ast.Call) and analysis.source_of(path).span(element) == site.span:
                return part.elts, index
    return None


def _prefix(source: SourceText, node: ast.expr) -> str | None:
    """``transforms.`` of ``transforms.Normalize(…)``."""
    if not is_method_call(node):
        return None
    return f"{source.segment(node.func.value)}."


def _moved(source: SourceText, elements: list[ast.expr], index: int, later: int) -> tuple[Edit, ...]:
    """The transform after the conversion instead of before it; what stands between them moves up."""
    texts = [source.segment(part) for part in elements[index : later + 1]]
    turned = [*texts[1:], texts[0]]
    places = elements[index : later + 1]
    return tuple(
        edits.replace(source, part, text) for part, text in zip(places, turned) if source.segment(part) != text
    )


def _conversion(transform: LibraryObject, given: Value) -> str | None:
    """The conversion that has to come before the transform."""
    name, v2 = transform.type_name, vision.is_v2(transform)
    match given:
        case Tensor() if name == "Normalize":
            return "ToDtype(torch.float32, scale=True)" if v2 else "ConvertImageDtype(torch.float32)"
        case Array():
            return "ToTensor()" if name in ("Normalize", "ConvertImageDtype", "RandomErasing") else "ToPILImage()"
    return "ToTensor()" if isinstance(given, Image) and name != "ToPILImage" and not v2 else None


RULE = Rule(FAULTS[CODE], find)
