"""classes-for-scores: a metric that ranks samples by their scores gets classes that were decided on.

What it finds
    `roc_auc_score()`, `average_precision_score()`, `roc_curve()` and `precision_recall_curve()` of scikit-learn, and AUROC,
    AveragePrecision, ROC and PrecisionRecallCurve of torchmetrics, for what `argmax()` gives, `scores > 0.5` or `round()`; also through
    lists that are filled batch by batch.
Why it hurts
    With two different scores the curve has one corner: the number that is printed is that of one threshold, mostly lower than the
    area, and it says nothing of how well samples are ranked. Nothing is raised.
Example
    predicted = model(x).argmax(dim=1)
    area = roc_auc_score(y, predicted)
Use instead
    scores = model(x).softmax(dim=1)[:, 1]
    area = roc_auc_score(y, scores)
Fix safety
    Unsafe: the second of two classes is taken for the one that is looked for.
References
    sklearn.metrics.roc_auc_score, torchmetrics.classification.BinaryAUROC
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.decided import Scope, decided, scopes
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    is_literal,
    is_method_call,
    is_name,
    is_reference,
    literal,
)
from torchsleuth.syntax.names import Names

CODE = "TS370"
_RANKING = frozenset("roc_auc_score average_precision_score roc_curve precision_recall_curve det_curve".split())
_KINDS = ("AUROC", "AveragePrecision", "ROC", "PrecisionRecallCurve")
_OBJECTS = frozenset(f"{task}{kind}" for task in ("", "Binary", "Multiclass", "Multilabel") for kind in _KINDS)
_FUNCTIONS = frozenset(
    f"{task}{kind}"
    for task in ("", "binary_", "multiclass_", "multilabel_")
    for kind in ("auroc", "average_precision", "roc", "precision_recall_curve")
)


def find(analysis: Analysis) -> Iterator[Finding]:
    source, tree = analysis.source, analysis.tree(analysis.source.path)
    if not any(word in source.text for word in ("sklearn.metrics", "torchmetrics")):
        return
    uses = {id(use.call): use for use in Names(tree).uses if use.call is not None}
    metrics = {
        ast.unparse(target): use.path.rpartition(".")[2]
        for one in analysis.index(source.path).of_type(ast.Assign)
        for target, value in assigned_pairs(one)
        if (use := uses.get(id(value))) is not None and _is_object(use.path) and is_reference(target)
    }
    for scope in scopes(tree):
        for call in scope.calls:
            use = uses.get(id(call))
            scores, name = _scores(call, use.path if use is not None else "", metrics)
            place = decided(scores, scope) if scores is not None else None
            if scores is not None and place is not None:
                text = message("classes.for_scores", metric=name, scores=source.on_one_line(scores))
                made = () if place is scores else (source.span(place).related(message("classes.decided")),)
                yield Finding(source.span(scores), text, made, tuple(_scored(analysis, scope, place)))


def _is_object(path: str) -> bool:
    return path.startswith("torchmetrics.") and path.rpartition(".")[2] in _OBJECTS


def _scores(call: ast.Call, path: str, metrics: dict[str, str]) -> tuple[ast.expr | None, str]:
    """The expression that a metric is given as scores, and its name."""
    name = path.rpartition(".")[2]
    if path.startswith("sklearn.metrics") and name in _RANKING:
        return argument_of(call, 1, "y_score", "probas_pred"), name
    if path.startswith("torchmetrics.functional") and name in _FUNCTIONS:
        return argument_of(call, 0, "preds"), name
    owner = call.func.value if is_method_call(call, "update") else call.func
    if is_reference(owner) and ast.unparse(owner) in metrics:
        return argument_of(call, 0, "preds"), metrics[ast.unparse(owner)]
    return None, ""


def _scored(analysis: Analysis, scope: Scope, place: ast.expr) -> Iterator[Candidate]:
    """The scores in the place of what is decided by them."""
    source = analysis.source
    if is_method_call(place, "argmax"):
        dim = literal(argument_of(place, 0, "dim"))
        if dim in (1, -1):
            scores = source.segment(place.func.value)
            yield replacement(source, place, f"{scores}.softmax(dim={dim})[:, 1]", safe=False)
    elif isinstance(place, ast.Compare) and len(place.ops) == 1 and isinstance(place.ops[0], ast.Gt | ast.GtE):
        if is_literal(place.comparators[0], 0.5) or is_name(place.comparators[0], "threshold"):
            yield replacement(source, place, source.segment(place.left), safe=False)


RULE = Rule(FAULTS[CODE], find)
