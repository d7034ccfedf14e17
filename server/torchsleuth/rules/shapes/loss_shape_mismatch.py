"""loss-shape-mismatch: a prediction and a target that do not fit together.

What it finds
    Losses whose prediction and target differ in the batch or in another dimension: classes in the last dimension instead
    of dimension 1, a target with a dimension too many, a transposed prediction, a weight for another number of classes.
Why it hurts
    PyTorch stops with "Expected target size [8, 5], got [8, 20]" or "Expected input batch_size (5) to match target
    batch_size (60)".
Example
    nn.CrossEntropyLoss()(logits, tags)                      # (8, 20, 5) and (8, 20)
Use instead
    nn.CrossEntropyLoss()(logits.transpose(1, 2), tags)
Fix safety
    Safe where only the order of dimensions or a dimension of size 1 is at stake. Picking one time step of several is
    offered as unsafe.
References
    torch.nn.CrossEntropyLoss, torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import renamed
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.operands import (
    Operand,
    append,
    fitted,
    layers_behind,
    lineage,
    operand,
    operands,
    package_name,
    replaced,
    resized,
    suffixed,
    tensors_above,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.spatial import resampled
from torchsleuth.rules.losses.mse_on_class_indices import holds_integers
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.rules.shapes.cat_mismatch import joined_otherwise
from torchsleuth.rules.shapes.reshape_size_mismatch import batch_kept
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_reference, nodes_in
from torchsleuth.synthesis import losses
from torchsleuth.synthesis.shapes import Rewriting, Shape, class_indices, same, same_shape, squeezed
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import DictValue, Instance, LibraryModule, Tensor, Value

CODE = "TS113"
_CLASSES = ("CrossEntropyLoss", "NLLLoss", "NLLLoss2d", "cross_entropy", "nll_loss")
_ELEMENTWISE = tuple(
    "BCELoss BCEWithLogitsLoss MSELoss L1Loss SmoothL1Loss HuberLoss binary_cross_entropy "
    "binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss huber_loss".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        name = failure.operation.name
        prediction, target = (
            operand(failure.operation, position, word) for position, word in ((0, "input"), (1, "target"))
        )
        known = (
            prediction is not None and target is not None and prediction.spec.shape and target.spec.shape is not None
        )
        if not known or name not in (*_CLASSES, *_ELEMENTWISE):
            yield replace(plain, candidates=tuple(_rearranged(analysis, failure)))
            continue
        assert prediction is not None and target is not None
        if "weight tensor should" in failure.failure.message:
            yield _weight(analysis, failure, prediction, plain)
        else:
            yield _finding(analysis, failure, prediction, target, name)


def _rearranged(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """Operands of any other loss: without a dimension of size 1, or with the batch in the other of the first two places."""
    given = operands(failure.operation)
    for used in reversed(given):
        yield from fitted(analysis, used, lambda shape: True, squeezed)
    for used in given:
        if len(used.shape) == 3:
            yield from suffixed(used, ".transpose(0, 1)")


def _finding(analysis: Analysis, failure: OperatorFailure, prediction: Operand, target: Operand, name: str) -> Finding:
    classes = name in _CLASSES
    text = message(
        "loss.classes" if classes else "loss.elements",
        loss=name,
        prediction=prediction.described("the prediction"),
        target=target.described("the target"),
        wanted=dims.shape_text(class_indices(prediction.shape) if classes else prediction.shape),
    )
    candidates = chain(
        _candidates(analysis, prediction, target, classes),
        _several_labels(analysis, failure.operation, prediction, target),
    )
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _candidates(analysis: Analysis, prediction: Operand, target: Operand, classes: bool) -> Iterator[Candidate]:
    if classes and len(prediction.shape) == 3 and len(target.shape) == 1:
        yield from _last_step(analysis, prediction)
    yield from _shifted(analysis, prediction, target)
    yield from _other_part(prediction, target, classes)
    for one, other in losses.agreeing(prediction.shape, target.shape, classes):
        if one is None or other is None:
            used, made = (prediction, one) if one is not None else (target, other)
            if made is not None:
                yield from suffixed(used, made.suffix, made.whole)
        else:
            yield from _both(prediction, one, target, other)
    yield from resampled(prediction, target)
    if classes:
        yield from _to_mask(prediction, target)
    yield from _kept_batch(analysis, prediction.tensor, target.shape)
    if target.shape:
        yield from batch_kept(analysis, prediction.tensor, target.shape[0])
    if prediction.shape and target.shape and not same(prediction.shape[0], target.shape[0]):
        yield from joined_otherwise(analysis, prediction.tensor)
    if not classes:
        yield from _one_hot(analysis, prediction, target)
        yield from _one_output(analysis, prediction, target)


def _to_mask(prediction: Operand, target: Operand) -> Iterator[Candidate]:
    """Scores for each pixel brought to the height and width of the mask; where a variable is given them, if that is so,
    as they are used elsewhere too."""
    functional, node = package_name(prediction.site, "torch.nn.functional"), prediction.node
    spatial = len(target.shape) - 1
    if functional is None or node is None or not is_reference(target.node) or spatial != 2:
        return
    if len(prediction.shape) != spatial + 2 or not same(prediction.shape[0], target.shape[0]):
        return
    source, frame = prediction.site.source, prediction.site.scene
    scope = frame.scope
    places = [node]
    if isinstance(node, ast.Name):
        given = [
            part.value
            for part in nodes_in(scope, ast.Assign)
            if [ast.unparse(target) for target in part.targets] == [node.id]
        ]
        known = isinstance(target.node, ast.Attribute) or (given and target.node.id in tensors_above(frame, given[0]))
        places = [*(given if len(given) == 1 and known else []), node]
    for place in places:
        size = f"{source.segment(target.node)}.shape[-2:]"
        text = f'{functional}.interpolate({source.segment(place)}, size={size}, mode="bilinear", align_corners=False)'
        yield replaced(prediction.site, place, text, safe=False)


def _shifted(analysis: Analysis, prediction: Operand, target: Operand) -> Iterator[Candidate]:
    """Each next token as the target: the first one left out where the last prediction is, before both are flattened."""
    flattening = _flattening(analysis, target)
    before = operand(flattening, 0, "input") if flattening is not None else None
    scores = next((used for used in (_flattened_from(analysis, prediction), prediction) if used is not None), None)
    tokens = before or target
    if scores is None or len(tokens.shape) < 2 or len(scores.shape) < 2 or tokens.node is None:
        return
    longer = dims.subtract(tokens.shape[1], scores.shape[1])
    if same(tokens.shape[0], scores.shape[0]) and longer == 1 and is_reference(tokens.node):
        yield from suffixed(tokens, "[:, 1:]")
        yield from _reshaped(flattening, tokens, "[:, 1:]")
    if same(tokens.shape[0], scores.shape[0]) and longer == -1 and scores.node is not None:
        yield from suffixed(scores, "[:, :-1]")


def _reshaped(flattening: Operation | None, tokens: Operand, suffix: str) -> Iterator[Candidate]:
    """A part is not contiguous: ``view`` cannot flatten it."""
    call = flattening.site.node if flattening is not None else None
    if flattening is None or not is_method_call(call):
        return
    if call.func.attr == "view" and tokens.node is not None:
        source = flattening.site.source
        given = ", ".join(source.segment(part) for part in call.args)
        new = f"{written(source, tokens.node)}{suffix}.reshape({given})"
        yield replaced(flattening.site, call, new)


def _flattened_from(analysis: Analysis, used: Operand) -> Operand | None:
    """The operand before it was flattened to one row for each token."""
    flattening = _flattening(analysis, used)
    return operand(flattening, 0, "input") if flattening is not None else None


def _flattening(analysis: Analysis, used: Operand) -> Operation | None:
    for _, operation in lineage(analysis, used.tensor):
        return operation if operation.name in ("reshape", "view", "flatten") else None
    return None


def _other_part(prediction: Operand, target: Operand, classes: bool) -> Iterator[Candidate]:
    """Another part of the same batch, of the shape that the loss asks for: ``data.y`` for ``data.node_class``."""
    wanted = class_indices(prediction.shape) if classes else prediction.shape
    parts = _parts_beside(target)
    for name, held in parts.items():
        if not isinstance(held, Tensor) or held is target.tensor or held.spec.dtype != target.spec.dtype:
            continue
        if held.spec.shape is None or not same_shape(held.spec.shape, wanted):
            continue
        source = target.site.source
        match target.node:
            case ast.Attribute():
                yield replaced(target.site, target.node, f"{source.segment(target.node.value)}.{name}", safe=False)
            case ast.Subscript():
                text = f'{source.segment(target.node.value)}["{name}"]'
                yield replaced(target.site, target.node, text, safe=False)


def _parts_beside(target: Operand) -> dict[str, Value]:
    """Parts of the object or dict that a target is taken from."""
    node = as_kind(target.node.value, ast.Name) if isinstance(target.node, ast.Attribute | ast.Subscript) else None
    owner = target.site.scene.names.get(node.id) if node is not None else None
    held = owner.slots if isinstance(owner, Instance) else owner.items if isinstance(owner, DictValue) else None
    return {name: value for name, value in (held or {}).items() if isinstance(name, str) and name.isidentifier()}


def _several_labels(
    analysis: Analysis, operation: Operation, prediction: Operand, target: Operand
) -> Iterator[Candidate]:
    """Several labels of 0 or 1 for each sample, flattened for a loss that takes one class: a loss of each for itself."""
    flattening = _flattening(analysis, target)
    before = operand(flattening, 0, "input") if flattening is not None else None
    module, call = operation.module, flattening.site.call if flattening is not None else None
    fits = before is not None and len(before.shape) > 1 and same_shape(before.shape, prediction.shape)
    if not fits or before is None or before.node is None or module is None or module.type_name != "CrossEntropyLoss":
        return
    made = renamed(module.site, "BCEWithLogitsLoss") if module.site is not None else None
    if made is None or call is None or module.args or module.kwargs:
        return
    source = target.site.source
    new = f"{written(source, before.node)}.float()"
    title = message("fix.replace", old=module.type_name, new="BCEWithLogitsLoss")
    yield Candidate(title, (made, edits.replace(source, call, new)), safe=False)


def _last_step(analysis: Analysis, prediction: Operand) -> Iterator[Candidate]:
    """One prediction for a sequence: of the last step of a recurrent layer, or of the mean of what a Transformer makes."""
    layer: Operand | None = None
    for _, operation in lineage(analysis, prediction.tensor):
        kind = operation.module.type_name if operation.module is not None else ""
        if kind == "Linear":
            layer = operand(operation, 0, "input")
        elif kind.startswith(("LSTM", "GRU", "RNN", "Transformer", "MultiheadAttention")):
            first = operation.module is not None and operation.module.kwargs.get("batch_first") is True
            if layer is not None and kind.startswith(("LSTM", "GRU", "RNN")):
                yield from suffixed(layer, "[:, -1]" if first else "[-1]", safe=False)
            elif layer is not None:
                yield from suffixed(layer, ".mean(dim=1)", safe=False)
            return


def _both(prediction: Operand, one: Rewriting, target: Operand, other: Rewriting) -> Iterator[Candidate]:
    if prediction.node is None or target.node is None:
        return
    source = prediction.site.source
    changes = (append(source, prediction.node, one.suffix), append(source, target.node, other.suffix))
    flat = one.suffix.startswith(".flatten") and other.suffix.startswith(".flatten")
    names = (source.segment(prediction.node), source.segment(target.node))
    title = (
        message("fix.flatten_both")
        if flat
        else message("fix.append", expression=names[0], suffix=f"{one.suffix}, {names[1]}{other.suffix}")
    )
    yield Candidate(title, changes, one.whole and other.whole)


def _kept_batch(analysis: Analysis, tensor: Tensor, target: Shape) -> Iterator[Candidate]:
    """A view on the way that merged something into the batch: flatten(1), with the next layer built for its size."""
    following: LibraryModule | None = None
    for _, operation in lineage(analysis, tensor):
        name = operation.name
        if operation.module is not None and operation.module.type_name == "Linear":
            following = operation.module
        if name not in ("view", "reshape") or not operation.specs or not target:
            continue
        before = operation.specs[0].shape or ()
        found = operand(operation, 0)
        if len(before) < 3 or not same(before[0], target[0]) or found is None or found.node is None:
            continue
        source = operation.site.source
        flat = edits.replace(source, operation.site.node, f"{source.segment(found.node)}.flatten(1)")
        yield Candidate(message("fix.flatten"), (flat,))
        features = as_kind(dims.product(before[1:]), int)
        if following is not None and features is not None:
            for made in change_argument(analysis, following, 0, "in_features", features):
                yield Candidate(f"{message('fix.flatten')}; {made.title}", (flat, *made.edits))
        return


def _one_hot(analysis: Analysis, prediction: Operand, target: Operand) -> Iterator[Candidate]:
    """A class index for each sample where there is one output for each class: ``one_hot(labels, scores.size(1)).float()``."""
    functional, node = package_name(target.site, "torch.nn.functional"), target.node
    fits = len(prediction.shape) == 2 and len(target.shape) == 1 and same(prediction.shape[0], target.shape[0])
    if (
        functional is None
        or node is None
        or not fits
        or prediction.shape[1] == 1
        or not holds_integers(analysis, target)
    ):
        return
    integers, scores = target.spec.dtype == "int64", as_kind(prediction.node, ast.Name)
    if is_method_call(node, "float"):
        node, integers = node.func.value, True
    labels = written(target.site.source, node) + ("" if integers else ".long()")
    size = f"{scores.id}.size(1)" if scores is not None else dims.text(prediction.shape[1])
    text = f"{functional}.one_hot({labels}, {size}).float()"
    yield replaced(target.site, target.node or node, text, safe=False)


def _one_output(analysis: Analysis, prediction: Operand, target: Operand) -> Iterator[Candidate]:
    """One output instead of several where there is one target for each sample."""
    if len(prediction.shape) != 2 or prediction.node is None or not target.shape:
        return
    single = len(target.shape) == 1 and same(target.shape[0], prediction.shape[0])
    wide = len(target.shape) == 2 and same(target.shape[0], prediction.shape[0])
    for layer in layers_behind(analysis, prediction.tensor, "Linear"):
        wanted = as_kind(1 if single else target.shape[1] if wide else None, int)
        if wanted is not None:
            for made in change_argument(analysis, layer, 1, "out_features", wanted):
                squeeze = (append(prediction.site.source, prediction.node, ".squeeze(1)"),)
                yield Candidate(made.title, made.edits + (squeeze if single else ()), safe=False)
        return


def _weight(analysis: Analysis, failure: OperatorFailure, prediction: Operand, plain: Finding) -> Finding:
    """A weight for another number of classes than the prediction has."""
    operation = failure.operation
    module = operation.module
    given = as_kind(
        module.given(0, "weight", None) if module is not None else operation.kwargs.get("weight"),
        Tensor,
    )
    if given is None or not given.spec.shape or len(prediction.shape) < 2:
        return plain
    classes, weights = prediction.shape[1], given.spec.shape[0]
    text = message(
        "loss.weight",
        prediction=prediction.described("the prediction"),
        classes=dims.text(classes),
        weights=dims.text(weights),
    )
    places = (
        trail(analysis, failure, "weight", dims.shape_text(given.spec.shape)) if module is not None else plain.related
    )
    return Finding(operation.site.span, text, places, _as_many_classes(analysis, prediction, given, classes, weights))


def _as_many_classes(
    analysis: Analysis, prediction: Operand, given: Tensor, classes: Size, weights: Size
) -> Iterator[Candidate]:
    if is_number(weights):
        for layer in layers_behind(analysis, prediction.tensor, "Linear", "Conv"):
            name = "out_features" if layer.type_name == "Linear" else "out_channels"
            yield from change_argument(analysis, layer, 1, name, weights)
            break
    yield from resized(given, 0, classes)


RULE = Rule(FAULTS[CODE], find)
