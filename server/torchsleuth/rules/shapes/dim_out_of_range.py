"""dim-out-of-range: a dimension that the tensor does not have.

What it finds
    A `dim` argument beyond the number of dimensions of the tensor: softmax(dim=2) of a matrix, transpose(1, 2) of one,
    size(3) of an image without a batch.
Why it hurts
    PyTorch stops with "Dimension out of range (expected to be in range of [-2, 1], but got 2)".
Example
    torch.randn(8, 10).softmax(dim=2)
Use instead
    torch.randn(8, 10).softmax(dim=-1)
Fix safety
    Safe: the last dimension is what a number one too high stands for. Other dimensions are offered as unsafe.
References
    torch.Tensor.dim
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import passed_for
from torchsleuth.rules.evidence.describe import operator_text
from torchsleuth.rules.evidence.operands import operands, package_name, replaced, suffixed, written
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax.forms import given_to, is_display, written_index
from torchsleuth.synthesis.shapes import same_shape
from torchsleuth.values import Site
from torchsleuth.values.frames import Scene

CODE = "TS107"
_RANGE = re.compile(r"range of \[(-?\d+), (-?\d+)\], but got (-?\d+)")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        found = _RANGE.search(failure.failure.message)
        given = operands(failure.operation)
        if found is None or not given:
            yield plain
            continue
        low, high, got = (int(part) for part in found.groups())
        text = message(
            "dim.range",
            tensor=given[0].described(),
            rank=len(given[0].shape),
            operator=operator_text(failure.operation),
            dim=got,
            low=low,
            high=high,
        )
        candidates = _candidates(failure, low, high, got)
        yield Finding(failure.operation.site.span, text, trail(analysis, failure, "dim", got), candidates)


def _candidates(failure: OperatorFailure, low: int, high: int, got: int) -> Iterator[Candidate]:
    operation = failure.operation
    yield from _stacked(failure, got)
    yield from _of_those_there(operation, high)
    sites: list[Site] = [operation.site]
    if operation.module is not None and operation.module.site is not None:
        sites = [operation.module.site]
    for site in sites:
        for node in _arguments(site):
            if not isinstance(node, ast.Constant):
                yield from _where_written(node, site.scene, high, got)
        written = [node for node in _arguments(site) if written_index(node) == got]
        for node in written:
            for new in (-1, *range(high, low - 1, -1)):
                if new != got and (new < 0) <= (new == -1):
                    yield replaced(site, node, str(new), safe=new == -1)
        if len(written) == 1 and operation.target.endswith("transpose") and high == 1:
            call = site.call
            if call is not None:
                yield replaced(site, call.args[-2], "0", safe=False)
    given = operands(operation)
    if len(given) == 1 and got == high + 1:
        for index in (0, 1):
            yield from suffixed(given[0], f".unsqueeze({index})", safe=False)


def _of_those_there(operation: Operation, high: int) -> Iterator[Candidate]:
    """``mean(dim=[dim for dim in (0, 2, 3) if dim < x.dim()])``, where some of several dimensions are there: as in a hook of layers
    whose outputs have more and fewer."""
    given = operands(operation)
    tensor = given[0].node if len(given) == 1 else None
    for part in (
        given_to(operation.site.node) if tensor is not None and isinstance(operation.site.node, ast.Call) else ()
    ):
        dims = [written_index(item) for item in part.elts] if is_display(part) else []
        known = [dim for dim in dims if dim is not None and dim >= 0]
        if tensor is not None and len(known) == len(dims) and min(known, default=high + 1) <= high:
            source = operation.site.source
            text = f"[dim for dim in {source.segment(part)} if dim < {written(source, tensor)}.dim()]"
            yield replaced(operation.site, part, text, safe=False)


def _stacked(failure: OperatorFailure, got: int) -> Iterator[Candidate]:
    """Vectors of one length as the columns of a matrix: ``torch.stack([x, t], dim=1)`` for ``torch.cat([x, t], dim=1)``."""
    operation = failure.operation
    call, given = operation.site.call, operands(operation)
    torch = package_name(operation.site, "torch")
    if not operation.target.endswith((".cat", ".concat", ".concatenate")) or call is None or not torch:
        return
    if got == 1 and len(given) > 1 and all(len(used.shape) == 1 for used in given):
        if all(same_shape(used.shape, given[0].shape) for used in given):
            yield replaced(operation.site, call.func, f"{torch}.stack")


def _where_written(node: ast.expr, frame: Scene, high: int, got: int) -> Iterator[Candidate]:
    """Another dimension where it was written that came to the call by name: a default, an argument."""
    place: tuple[ast.expr, Scene] | None = (node, frame)
    for _ in range(4):
        place = passed_for(*place) if place is not None else None
        if place is not None and written_index(place[0]) == got:
            for new in (-1, high):
                yield replaced(place[1].site(place[0]), place[0], str(new), safe=new == -1)
            return


def _arguments(site: Site) -> list[ast.expr]:
    node = site.node
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if not isinstance(node, ast.Call):
        return []
    found = given_to(node)
    return [inner for part in found for inner in (part.elts if is_display(part) else [part])]


RULE = Rule(FAULTS[CODE], find)
