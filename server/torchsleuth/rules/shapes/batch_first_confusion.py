"""batch-first-confusion: a sequence layer that takes the samples for time steps.

What it finds
    RNN, LSTM, GRU, MultiheadAttention and Transformer layers built without `batch_first=True` that get the batch in
    dimension 0, and layers built with it that get it in dimension 1. Which dimension is the batch is known from the loader,
    from a convolution before, whose samples are in dimension 0, or from the loss, which compares that many predictions with
    as many targets. And the last step taken from the other dimension: `out[:, -1]` of an LSTM without `batch_first=True`.
Why it hurts
    Nothing is raised. The layer runs along the samples, so that each prediction depends on the others of its batch, and
    never on the order in time.
Example
    lstm = nn.LSTM(16, 32)
    out, _ = lstm(batch)                                 # (64, 20, 16): 64 samples of 20 steps
Use instead
    lstm = nn.LSTM(16, 32, batch_first=True)
Fix safety
    Safe where all that follows still fits.
References
    torch.nn.LSTM, torch.nn.TransformerEncoderLayer
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import call_trail, expression_text, layer_text
from torchsleuth.rules.evidence.layouts import batch_by_layer, takes_last_of_second
from torchsleuth.rules.evidence.operands import Operand, operand, steps, suffixed
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import LibraryModule, Origin, Tensor, origin_of

CODE = "TS119"
_LAYERS = (
    "RNN",
    "LSTM",
    "GRU",
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
    "TransformerEncoder",
    "TransformerDecoder",
)
_LOSSES = tuple(
    "CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss MSELoss L1Loss cross_entropy nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits mse_loss l1_loss".split()
)
_RECURRENT = ("RNN", "LSTM", "GRU")
_Losses = list[tuple[Operation, Operand | None, Operand | None]]
_MAX_STEPS = 60
_STEPS_BEFORE = 4
_ARRANGEMENTS = frozenset("view reshape unflatten view_as reshape_as rearrange".split())
_TURNS = frozenset("transpose permute swapaxes movedim einsum unsqueeze".split())
_PACKING = "torch.nn.utils.rnn.pack_padded_sequence"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    losses = [
        (item, operand(item, 0, "input"), operand(item, 1, "target"))
        for item in analysis.trace.operations
        if item.name in _LOSSES
    ]
    for operation in analysis.trace.operations:
        module = operation.module
        if module is None or module.type_name not in _LAYERS:
            continue
        used = operand(operation, 0, "input", "query", "src")
        first = _is_batch_first(module)
        if used is None or used.spec.shape is None or len(used.shape) != 3 or first is None:
            continue
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        axis, proof = batch_of(used.tensor), None
        if axis is None:
            axis, proof = _by_others(analysis, losses, operation, used, first)
        if axis in (0, 1) and axis != (0 if first else 1) and 1 not in used.shape[:2] and key not in seen:
            seen.add(key)
            yield _finding(operation, module, used, axis, proof)
    yield from _packed(analysis)
    yield from _last_of_samples(analysis, seen)


def _by_others(
    analysis: Analysis, losses: _Losses, operation: Operation, used: Operand, first: bool
) -> tuple[int | None, Related | None]:
    """The dimension of the samples as a loss or a layer before tells it, and the place that does."""
    axis, loss = _by_loss(losses, operation, used, first)
    if loss is not None:
        return axis, loss.site.span.related(message("batch.loss"))
    found = batch_by_layer(analysis, used.tensor)
    site = found[1].site if found is not None else None
    if found is None or site is None:
        return None, None
    return found[0], site.span.related(message("batch.layer", layer=found[1].type_name))


def _last_of_samples(analysis: Analysis, seen: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """``out[:, -1]`` of a recurrent layer that has the steps in dimension 0: all steps of the last sample."""
    for operation in analysis.trace.operations:
        given = operation.args[0] if operation.args else None
        origin = origin_of(given)
        layer = analysis.operation_of(origin)
        module = layer.module if layer is not None else None
        if (
            layer is None
            or module is None
            or module.type_name not in _RECURRENT
            or _is_batch_first(module) is not False
        ):
            continue
        used = operand(layer, 0, "input")
        start = layer.site.span.start
        key = (layer.site.span.path, start.line, start.column)
        if used is None or not isinstance(given, Tensor):
            continue
        if key in seen or not takes_last_of_second(operation, given) or _is_turned(used.tensor):
            continue
        known = used.spec.shape
        if known is not None and (len(known) != 3 or 1 in known[:2]):
            continue
        seen.add(key)
        text = message("batch.last_step", taken=expression_text(operation.site.node, "this"), layer=layer_text(module))
        places = (
            *constructor_related(module, "batch_first", False),
            *call_trail(operation.site.scene, limit=1),
        )
        yield Finding(operation.site.span, text, places, _candidates(module, used, 0))


def _is_turned(tensor: Tensor) -> bool:
    """Whether the dimensions were put in this order on purpose right before."""
    return any(origin.name in _TURNS for _, origin in steps(tensor, _STEPS_BEFORE))


def _packed(analysis: Analysis) -> Iterator[Finding]:
    """Sequences that are packed along the wrong dimension."""
    seen: set[object] = set()
    for call in analysis.calls.get(_PACKING, ()):
        padded, first = as_kind(call.given(0, "input"), Tensor), as_kind(call.given(2, "batch_first", False), bool)
        if padded is None:
            continue
        shape, axis = padded.spec.shape, batch_of(padded)
        if shape is None or axis is None or first is None or axis == (0 if first else 1) or axis > 1:
            continue
        if call.site.span in seen or 1 in shape[:2] or call.site.call is None:
            continue
        seen.add(call.site.span)
        node = call.site.call.args[0] if call.site.call.args else None
        used = Operand(padded, padded.spec, node, call.site, 0)
        text = message(
            "batch.first",
            tensor=used.described("the input"),
            layer="pack_padded_sequence",
            axis=axis,
            samples=dims.text(shape[axis]),
            built=axis == 1,
            other=1 - axis,
        )
        places = tuple(call_trail(call.site.scene, limit=1))
        yield Finding(call.site.span, text, places, tuple(_at_padding(padded)))


def _layer(module: LibraryModule) -> LibraryModule:
    """The layer that a stack repeats, or else the module itself."""
    if module.type_name in ("TransformerEncoder", "TransformerDecoder"):
        given = module.args[0] if module.args else None
        for value in of_kind(
            (given, module.kwargs.get("encoder_layer"), module.kwargs.get("decoder_layer")), LibraryModule
        ):
            return value
    return module


def _is_batch_first(module: LibraryModule) -> bool | None:
    module = _layer(module)
    if module.type_name in ("TransformerEncoder", "TransformerDecoder"):
        return None
    position = 3 if module.type_name in _RECURRENT else 99
    value = module.given((position + 1), "batch_first", False)
    return as_kind(value, bool)


def _by_loss(losses: _Losses, operation: Operation, used: Operand, first: bool) -> tuple[int | None, Operation | None]:
    """The dimension that a loss takes for the samples: the time of the layer, though targets come one for each."""
    time, batch = (used.shape[1], used.shape[0]) if first else (used.shape[0], used.shape[1])
    if time == batch:
        return None, None
    for loss, prediction, target in losses:
        if prediction is None or target is None or not prediction.spec.shape or not target.spec.shape:
            continue
        single = target.shape[1:] in ((), (1,)) and len(prediction.shape) <= 2
        alike = single and prediction.shape[0] == time == target.shape[0]
        if alike and _comes_from(prediction.tensor, operation, batch):
            return (1 if first else 0), loss
    return None, None


def _comes_from(tensor: Tensor, operation: Operation, batch: Size) -> bool:
    """Whether a tensor was computed from what an operation returned, without its dimension of that size taken apart: one that
    folds the samples and something else into one is no dimension of steps."""
    pending, seen = [tensor], set()
    for _ in range(_MAX_STEPS):
        if not pending:
            return False
        current = pending.pop()
        origin = current.origin
        if origin is None or id(origin) in seen:
            continue
        seen.add(id(origin))
        if origin.site is operation.site:
            return True
        if not _takes_apart(current, origin, batch):
            pending += origin.sources
    return False


def _takes_apart(result: Tensor, origin: Origin, size: Size) -> bool:
    """Whether a tensor is another arrangement of one whose first dimension has this size."""
    if origin.name not in _ARRANGEMENTS or not origin.sources:
        return False
    before, after = origin.sources[0].spec.shape, result.spec.shape
    return before is not None and before[:1] == (size,) and after is not None and after[:1] != (size,)


def _finding(operation: Operation, module: LibraryModule, used: Operand, axis: int, proof: Related | None) -> Finding:
    text = message(
        "batch.first",
        tensor=used.described("the input"),
        layer=layer_text(module),
        axis=axis,
        samples=dims.text(used.shape[axis]),
        built=axis == 1,
        other=1 - axis,
    )
    places: list[Related] = constructor_related(module, "batch_first", axis == 1)
    if proof is not None:
        places.append(proof)
    places += call_trail(operation.site.scene, limit=1)
    return Finding(operation.site.span, text, tuple(places), _candidates(module, used, axis))


def _candidates(module: LibraryModule, used: Operand, axis: int) -> Iterator[Candidate]:
    yield from _at_padding(used.tensor)
    site = _layer(module).site
    if site is not None and site.call is not None:
        source = site.source
        written = keyword_of(site.call, "batch_first")
        text = f"batch_first={axis == 0}"
        if written is not None:
            yield replacement(source, written, text)
        else:
            yield added_argument(source, site.call, text)
    yield from suffixed(used, ".transpose(0, 1)", safe=False)


def _at_padding(tensor: Tensor) -> Iterator[Candidate]:
    """The other layout where pad_sequence makes it."""
    padding = (origin for _, origin in steps(tensor, _MAX_STEPS) if origin.operator.endswith("pad_sequence"))
    origin = next(padding, None)
    call = origin.site.call if origin is not None else None
    if origin is None or call is None:
        return
    source = origin.site.source
    written = keyword_of(call, "batch_first")
    if written is None and len(call.args) == 1:
        edit = edits.add_argument(source, call, "batch_first=True")
        yield Candidate(message("fix.add_argument_to", argument="batch_first=True", layer="pad_sequence"), (edit,))
    elif written is not None and isinstance(written.value, ast.Constant):
        text = f"batch_first={not written.value.value}"
        yield replacement(source, written, text)


RULE = Rule(FAULTS[CODE], find)
