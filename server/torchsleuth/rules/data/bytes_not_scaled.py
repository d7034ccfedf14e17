"""bytes-not-scaled: pixels are made floats, stay between 0 and 255, and are normalised as if they went from 0 to 1.

What it finds
    `ToDtype(torch.float32)` of transforms v2 without `scale=True` on a picture or on bytes, and behind it a Normalize whose mean and
    deviation are at most 1.
Why it hurts
    The mean of 0.485 and the deviation of 0.229 are for values up to 1: the network gets numbers up to a thousand, which no weights
    were trained for. Nothing is raised, and the training is slow or does not get anywhere.
Example
    v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32), v2.Normalize([0.485], [0.229])])
Use instead
    v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485], [0.229])])
Fix safety
    Safe: what is normalised is between 0 and 1 then.
References
    torchvision.transforms.v2.ToDtype
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.values import LibraryObject, Value, items_of

CODE = "TS659"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        mean = _mean(fault) if fault.kind == "bytes" else None
        maker = as_kind(fault.values[2], LibraryObject) if mean is not None else None
        if maker is None or maker.site is None or maker.site.call is None:
            continue
        call, source = maker.site.call, maker.site.source
        normalize = as_kind(fault.values[0], LibraryObject)
        place = normalize.site if normalize is not None and normalize.site is not None else fault.at
        fix = (added_argument(source, call, "scale=True"),) if keyword_of(call, "scale") is None else ()
        yield Finding(
            maker.site.span,
            message("bytes.unscaled"),
            (place.span.related(message("bytes.normalize", mean=mean)),),
            fix,
        )


def _mean(fault: DataFault) -> float | None:
    """The greatest mean that is subtracted, where mean and deviation are for values from 0 to 1."""
    normalize = fault.values[0]
    means, deviations = (_numbers(normalize.given(place, name)) for place, name in enumerate(("mean", "std")))
    small = all(0 <= number <= 1 for number in (*means, *deviations))
    return max(means) if means and deviations and small and any(means) else None


def _numbers(value: Value) -> tuple[float, ...]:
    items = items_of(value)
    return tuple(map(float, items)) if items and all_are(items, int, float) else ()


RULE = Rule(FAULTS[CODE], find)
