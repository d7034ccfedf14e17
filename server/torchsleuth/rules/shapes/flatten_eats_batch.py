"""flatten-eats-batch: a flatten that merges the samples of a batch.

What it finds
    `flatten()`, `view(-1)` and `torch.flatten(x)` of a whole batch, where the vector of all its samples then goes into a
    layer with weights.
Why it hurts
    The layer sees one long vector instead of a batch: it fits one batch size only, and mixes the samples.
Example
    x = images.flatten()                                 # (32, 1, 28, 28) to (25088,)
    self.fc(x)
Use instead
    x = images.flatten(1)
Fix safety
    Safe where the layer has the size of one sample; else its in_features is changed together with it.
References
    torch.flatten, torch.nn.Flatten
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.evidence.operands import Operand, lineage, operand, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.tensors import dims

CODE = "TS118"
_FLATTENS = ("flatten", "view", "reshape", "ravel")


def find(analysis: Analysis) -> Iterator[Finding]:
    failed = {(failure.operation.site.span, failure.operation.target) for failure in analysis.trace.failures}
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        if operation.module is None or operation.module.type_name != "Linear":
            continue
        if (operation.site.span, operation.target) in failed:
            continue
        used = operand(operation, 0, "input")
        if used is None or used.spec.shape is None or len(used.shape) > 2 or used.shape[:-1] not in ((), (1,)):
            continue
        found = _flatten(analysis, used)
        if found is None:
            continue
        start = found[0].site.span.start
        key = (found[0].site.span.path, start.line, start.column)
        if key not in seen:
            seen.add(key)
            yield _finding(analysis, operation, *found)


def _flatten(analysis: Analysis, used: Operand) -> tuple[Operation, Operand] | None:
    """The operation that made one vector of a whole batch, and its operand."""
    for _, operation in lineage(analysis, used.tensor):
        name = operation.name
        if name not in _FLATTENS or operation.module is not None:
            continue
        given = operand(operation, 0, "input")
        if given is None or given.spec.shape is None or len(given.shape) < 2 or not _is_batch(analysis, given):
            return None
        samples = given.shape[0]
        whole = dims.product(given.shape)
        return (operation, given) if samples != 1 and whole == dims.product(used.shape) else None
    return None


def _is_batch(analysis: Analysis, given: Operand) -> bool:
    """Whether dimension 0 is that of samples: a loader, or a layer for batches, has made it."""
    axis = batch_of(given.tensor)
    if axis is not None:
        return axis == 0
    for _, operation in lineage(analysis, given.tensor):
        module = operation.module
        if module is None or not operation.specs or operation.specs[0].shape is None:
            continue
        rank = len(operation.specs[0].shape)
        if module.type_name.startswith(("Conv2d", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d")):
            return rank == 4
        if module.type_name.startswith("BatchNorm"):
            return True
    return False


def _finding(analysis: Analysis, layer: Operation, flatten: Operation, given: Operand) -> Finding:
    assert layer.module is not None
    text = message(
        "flatten.batch",
        tensor=given.described(),
        size=dims.text(dims.product(given.shape)),
        samples=dims.text(given.shape[0]),
        layer=layer_text(layer.module),
    )
    place = layer.site.span.related(message("flatten.layer"))
    return Finding(flatten.site.span, text, (place,), _candidates(analysis, layer, flatten, given))


def _candidates(analysis: Analysis, layer: Operation, flatten: Operation, given: Operand) -> Iterator[Candidate]:
    node = flatten.site.call
    if given.node is None or node is None or layer.module is None:
        return
    source = flatten.site.source
    edit = edits.replace(source, node, f"{written(source, given.node)}.flatten(1)")
    yield Candidate(message("fix.flatten"), (edit,))
    features = as_kind(dims.product(given.shape[1:]), int)
    if features is not None:
        for made in change_argument(analysis, layer.module, 0, "in_features", features):
            yield Candidate(f"{message('fix.flatten')}; {made.title}", (edit, *made.edits))


RULE = Rule(FAULTS[CODE], find)
