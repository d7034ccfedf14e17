"""output-too-small: a convolution or pooling that leaves nothing.

What it finds
    A kernel larger than its padded input, or a pooling whose output would have the size 0: one stage too many for the
    height and width of the images.
Why it hurts
    PyTorch stops with "Kernel size can't be greater than actual input size" or "Output size is too small".
Example
    nn.MaxPool2d(2)(torch.randn(8, 64, 1, 1))
Use instead
    one pooling less, or padding in the convolutions
Fix safety
    Unsafe: it changes the layers of the model.
References
    torch.nn.Conv2d, torch.nn.MaxPool2d
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import without_layer, written_call
from torchsleuth.rules.evidence.constructors import change_argument, written_for
from torchsleuth.rules.evidence.describe import expression_text, layer_text, operator_text, shape_text
from torchsleuth.rules.evidence.operands import Operand, lineage, operands, replaced, short
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.spatial import padding
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_display
from torchsleuth.values import LibraryModule

CODE = "TS112"
_POOLS = ("MaxPool", "AvgPool", "max_pool", "avg_pool", "LPPool")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        given = operands(failure.operation)
        if not given or given[0].spec.shape is None:
            yield plain
            continue
        module = failure.operation.module
        kernel = (
            as_kind(module.given(2 if module.type_name.startswith("Conv") else 0, "kernel_size"), int, tuple)
            if module
            else None
        )
        text = message(
            "output.small",
            tensor=expression_text(given[0].node, "the input"),
            shape=shape_text(given[0].spec),
            layer=layer_text(module) if module is not None else operator_text(failure.operation),
            kernel=kernel if kernel is not None else "its kernel",
        )
        candidates = _candidates(analysis, failure, given[0])
        yield Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _candidates(analysis: Analysis, failure: OperatorFailure, used: Operand) -> Iterator[Candidate]:
    operation = failure.operation
    behind = [item for _, item in lineage(analysis, used.tensor)]
    if operation.module is not None and operation.module.type_name.startswith("Conv"):
        yield from _unsafe(padding(operation.module))
    else:
        yield from _dropped(analysis, operation)
    for item in behind:
        if item.module is not None and item.module.type_name.startswith("Conv"):
            yield from _unsafe(padding(item.module))
    for item in behind:
        yield from _dropped(analysis, item)
    if operation.module is not None and operation.module.type_name.startswith("Conv"):
        yield from _unsafe(_smaller(analysis, operation.module, used))


def _stage_less(analysis: Analysis, layer: LibraryModule) -> Iterator[Candidate]:
    """A layer that is built in a loop: one round less, where what the loop goes over is written down."""
    site = layer.site
    around = analysis.trail(site.span.path, site.node) if site is not None else ()
    loops = [part for part in around if isinstance(part, ast.For | ast.ListComp | ast.GeneratorExp)]
    if site is None or not loops:
        return
    inner = loops[-1].iter if isinstance(loops[-1], ast.For) else loops[-1].generators[0].iter
    found = written_for(inner, site.scene)
    if found is None:
        return
    node, frame = found
    at = frame.site(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and len(node.args) == 1:
        count = written_for(node.args[0], frame)
        if count is not None and isinstance(count[0], ast.Constant) and isinstance(count[0].value, int):
            number, frame = count
            at = frame.site(number)
            yield replaced(at, number, str(int(count[0].value) - 1), safe=False)
    elif is_display(node) and len(node.elts) > 2:
        source, texts = at.source, [ast.unparse(part) for part in node.elts]
        repeated = [place for place in range(1, len(texts)) if texts[place] == texts[place - 1]]
        for place in (*repeated[-1:], len(texts) - 1):
            edit = edits.remove_element(source, node.elts, place)
            yield Candidate(
                message("fix.remove_from", text=texts[place], whole=short(source.segment(node))), (edit,), False
            )


def _unsafe(candidates: Iterator[Candidate]) -> Iterator[Candidate]:
    return (made.unsafe() for made in candidates)


def _dropped(analysis: Analysis, operation: Operation) -> Iterator[Candidate]:
    """The model without a pooling."""
    name = operation.name
    if not name.startswith(_POOLS):
        return
    title = message("fix.remove", text=name)
    if operation.module is not None:
        yield from _stage_less(analysis, operation.module)
        yield from _unsafe(without_layer(analysis, operation.module, title))
    node = operation.site.call
    given = operands(operation)
    site = written_call(operation)
    if site is not None and site.call is not None:
        yield added_argument(site.source, site.call, "ceil_mode=True", safe=False)
    if node is not None and given and given[0].node is not None and given[0].node is not node:
        made = replaced(operation.site, node, operation.site.source.segment(given[0].node))
        yield Candidate(title, made.edits, safe=False)


def _smaller(analysis: Analysis, layer: LibraryModule, used: Operand) -> Iterator[Candidate]:
    """A kernel that fits."""
    spatial = of_kind(used.shape[2:], int)
    if spatial:
        yield from change_argument(analysis, layer, 2, "kernel_size", min(spatial))


RULE = Rule(FAULTS[CODE], find)
