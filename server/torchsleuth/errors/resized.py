"""The layer that gave one of two tensors another size, wherever it was built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import BuildSite
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, keyword_of


def _built(case: Case) -> Iterator[tuple[str, str, BuildSite, ast.Call]]:
    """The variable, the class of the layer, and the call that built it."""
    for item in case.crash.get("resized") or ():
        for frame in item["constructor"]["frames"][:1]:
            site = BuildSite(case, frame)
            call = site.call(item["type"])
            if call is not None:
                yield item["name"], item["type"], site, call


def _resized_here(case: Case) -> Iterator[Related]:
    for name, kind, site, call in _built(case):
        span = site.source.span(call)
        yield Related(span.path, span.start, span.end, message("error.resized", name=name, layer=kind))


def _whole_multiple(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``nn.ConvTranspose1d(i, o, 2 * r, stride=r, padding=r // 2)`` → ``padding=(r + 1) // 2, output_padding=r % 2``, which makes of each
    step r, also where r is odd."""
    for _, kind, site, call in _built(case):
        stride, padding = argument_of(call, 3, "stride"), keyword_of(call, "padding")
        if (
            not kind.startswith("ConvTranspose")
            or stride is None
            or padding is None
            or keyword_of(call, "output_padding")
        ):
            continue
        step = site.source.segment(stride)
        if "".join(site.source.segment(padding.value).split()) == f"{''.join(step.split())}//2":
            new = f"({step} + 1) // 2, output_padding={step} % 2"
            changes: tuple[Edit, ...] = (edits.replace(site.source, padding.value, new),)
            yield Fix(
                message("fix.replace", old=site.source.segment(padding), new=f"padding={new}"[:60]), changes, safe=False
            )


_SIZES = r"must match the size of tensor|Sizes of tensors must match|using a target size"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_SIZES, _whole_multiple),)
PLACES = ((_SIZES, _resized_here),)
