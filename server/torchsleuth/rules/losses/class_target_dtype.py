"""class-target-dtype: class indices that are not int64.

What it finds
    Targets of CrossEntropyLoss or NLLLoss with a floating point or int32 dtype, and one-hot targets that are integers.
Why it hurts
    PyTorch stops with "expected target dtype to be Long or Byte, but got Float".
Example
    labels = torch.tensor([0.0, 2.0, 1.0])
    F.cross_entropy(logits, labels)
Use instead
    F.cross_entropy(logits, labels.long())
Fix safety
    Safe: the values stay the same, in the dtype that the loss wants.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.casts import casts
from torchsleuth.rules.evidence.operands import (
    Operand,
    lineage,
    operand,
    package_name,
    replaced,
    suffixed,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binary
from torchsleuth.tensors import dims
from torchsleuth.values import Tensor
from torchsleuth.values.frames import Scene

CODE = "TS302"
_CLASSES = ("int64", "int32", "uint8", "int16", "int8", "bool")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        operation = failure.operation
        target, prediction = operand(operation, 1, "target"), operand(operation, 0, "input")
        if target is None or prediction is None:
            yield plain
            continue
        probabilities = "class probabilities" in failure.failure.message
        text = message(
            "target.probabilities" if probabilities else "target.classes",
            target=target.described("the target"),
            dtype=target.spec.dtype,
            loss=operation.name,
        )
        if probabilities and prediction.spec.dtype in _CLASSES:
            loss, dtype = operation.name, prediction.spec.dtype
            text = message("target.scores", prediction=prediction.described("the prediction"), dtype=dtype, loss=loss)
            yield Finding(operation.site.span, text, trail(analysis, failure), _scores(analysis, prediction))
            continue
        candidates = _candidates(analysis, target, prediction, probabilities)
        yield Finding(operation.site.span, text, trail(analysis, failure), candidates)


def _candidates(analysis: Analysis, target: Operand, prediction: Operand, probabilities: bool) -> Iterator[Candidate]:
    if probabilities:
        if len(prediction.shape) == 1:
            yield from _all_pairs(analysis, prediction)
            return
        yield from suffixed(target, ".argmax(dim=1)", safe=True)
        yield from suffixed(target, ".float()")
        return
    yield from _mixed(target, prediction)
    yield from casts(analysis, target, "int64")
    if len(target.shape) == 2 and target.shape[1:] == (1,):
        yield from suffixed(target, ".squeeze(1).long()")


def _scores(analysis: Analysis, prediction: Operand) -> Iterator[Candidate]:
    """The prediction without the `argmax` that has made classes of it."""
    for _, operation in lineage(analysis, prediction.tensor):
        node, source = operation.site.call, operation.site.source
        if operation.target.endswith(".argmax") and node is not None:
            method = isinstance(node.func, ast.Attribute) and operation.target.startswith("Tensor.")
            inner = node.func.value if method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
            if inner is not None:
                title = message("fix.remove", text="argmax")
                yield Candidate(title, (edits.replace(source, node, source.segment(inner)),))
            return


def _all_pairs(analysis: Analysis, prediction: Operand) -> Iterator[Candidate]:
    """The similarity of each with each, where there is one of each pair: scores for which the class is the partner."""
    for _, operation in lineage(analysis, prediction.tensor):
        node, source = operation.site.call, operation.site.source
        if operation.target.endswith("cosine_similarity") and node is not None and len(node.args) == 2:
            one, other = (written(source, part) for part in node.args)
            new = f"{source.segment(node.func)}({one}[:, None], {other}[None], dim=-1)"
            yield replaced(operation.site, node, new, safe=False)
            return


def _mixed(target: Operand, prediction: Operand) -> Iterator[Candidate]:
    """Classes that are mixed by weights, as mixup does it, mixed as vectors: ``lam * F.one_hot(y, 10) + …``."""
    origin = target.tensor.origin
    node = origin.site.node if origin is not None else None
    if origin is None or len(prediction.shape) != 2 or not is_binary(node, ast.Add):
        return
    site, source = origin.site, origin.site.source
    functional = package_name(site, "torch.nn.functional")
    terms = [side for side in of_kind((node.left, node.right), ast.BinOp) if isinstance(side.op, ast.Mult)]
    parts = [part for term in terms for part in (term.left, term.right) if _holds_classes(part, site.scene)]
    if functional is None or len(parts) != 2:
        return
    hot = f"{functional}.one_hot({{}}, {dims.text(prediction.shape[1])}).float()"
    changes = tuple(edits.replace(source, part, hot.format(source.segment(part))) for part in parts)
    title = message("fix.replace", old=source.segment(parts[0]), new=hot.format(source.segment(parts[0])))
    yield Candidate(title, changes)


def _holds_classes(node: ast.expr, frame: Scene) -> bool:
    inner = as_kind(node.value if isinstance(node, ast.Subscript) else node, ast.Name)
    held = as_kind(frame.names.get(inner.id), Tensor) if inner is not None else None
    return held is not None and held.spec.dtype == "int64" and held.spec.rank == 1


RULE = Rule(FAULTS[CODE], find)
