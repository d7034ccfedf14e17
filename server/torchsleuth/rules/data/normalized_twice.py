"""normalized-twice: images are normalised before a detector that does it itself.

What it finds
    A detection model of torchvision, with the mean and the deviation that it has by default or is given, and images that a Normalize
    has made.
Why it hurts
    `GeneralizedRCNNTransform` is the first part of these models: it takes images from 0 to 1. The mean is subtracted twice, and pretrained
    weights see colours that are none. Nothing is raised.
Example
    image = v2.Normalize(mean, std)(image)
    losses = fasterrcnn_resnet50_fpn(weights="DEFAULT")([image], [target])
Use instead
    losses = fasterrcnn_resnet50_fpn(weights="DEFAULT")([image], [target])
Fix safety
    Safe: the model normalises by itself.
References
    torchvision.models.detection.fasterrcnn_resnet50_fpn; torchvision.models.detection.transform.GeneralizedRCNNTransform
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display
from torchsleuth.values import LibraryModule, LibraryObject

CODE = "TS660"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for fault in analysis.trace.data:
        normalize = as_kind(fault.values[0], LibraryObject) if fault.kind == "normalized" else None
        model = as_kind(fault.values[2], LibraryModule) if normalize is not None else None
        if normalize is None or normalize.site is None or model is None or normalize.site.span in seen:
            continue
        seen.add(normalize.site.span)
        text = message("normalized.twice", model=model.type_name)
        place = fault.at.span.related(message("normalized.model"))
        yield Finding(normalize.site.span, text, (place,), tuple(_without(analysis, normalize)))


def _without(analysis: Analysis, normalize: LibraryObject) -> Iterator[Candidate]:
    """The list of transforms without this one."""
    site = normalize.site
    assert site is not None
    index = analysis.index(site.span.path)
    around = index.parents.get(index.same(site.node) or site.node)
    if is_display(around):
        place = next((number for number, one in enumerate(around.elts) if site.source.span(one) == site.span), None)
        if place is not None and isinstance(site.node, ast.expr):
            change = edits.remove_element(site.source, around.elts, place)
            yield Candidate(message("fix.remove", text=normalize.type_name), (change,))


RULE = Rule(FAULTS[CODE], find)
