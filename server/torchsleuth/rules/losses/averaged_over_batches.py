"""averaged-over-batches: an area under a curve is computed batch by batch, and the mean of these is taken.

What it finds
    AUROC or average precision, as functions of scikit-learn or torchmetrics, called in a loop over a loader, where the results are
    put into a list, or added up, and their mean is taken behind the loop.
Why it hurts
    Samples are ranked within their batch alone: what separates the batches from one another is not seen, and a batch with one class has
    no area at all. The mean is another number than the area of all samples. Nothing is raised.
Example
    for scores, target in loader:
        areas.append(binary_auroc(scores, target))
    print(torch.stack(areas).mean())
Use instead
    area = BinaryAUROC()
    for scores, target in loader:
        area.update(scores, target)
    print(area.compute())
Fix safety
    No fix: the metric is kept by an object, or the scores of all batches are.
References
    torchmetrics.classification.BinaryAUROC, sklearn.metrics.roc_auc_score
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_method_call,
    last_word,
    names_in,
    nodes_in,
    plain_name,
)

CODE = "TS371"
_RANKING = frozenset("roc_auc_score average_precision_score auroc average_precision".split())
_TASKS = ("binary_", "multiclass_", "multilabel_")
_LOADS = ("loader", "dataloader", "batches")


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    ranking = [use.call for use in analysis.names.uses if use.call is not None and _ranks(use.path)]
    loaders = {
        ast.unparse(target)
        for one in index.of_type(ast.Assign)
        for target, value in assigned_pairs(one)
        if called(value) == "DataLoader"
    }
    for call in ranking:
        trail = index.trail(call)
        loops = [place for place, one in enumerate(trail) if isinstance(one, ast.For | ast.While | ast.ListComp)]
        loop = as_kind(trail[loops[-1]], ast.For) if loops else None
        if loop is None or not _is_of_batches(loop, loaders):
            continue
        scope = next(one for one in reversed(trail) if isinstance(one, ast.FunctionDef | ast.Module))
        kept = _kept(trail[loops[-1] :], call)
        mean = next((one for one in nodes_in(scope, ast.expr) if kept and _is_mean(one, kept, loop)), None)
        if mean is not None:
            place = source.span(mean).related(message("averaged.mean"))
            yield Finding(source.span(call), message("averaged.batches", metric=called(call)), (place,))


def _ranks(path: str) -> bool:
    name = path.rpartition(".")[2]
    for task in _TASKS:
        name = name.removeprefix(task)
    return name in _RANKING and path.startswith(("sklearn.metrics.", "torchmetrics.functional."))


def _is_of_batches(loop: ast.For, loaders: set[str]) -> bool:
    over = loop.iter
    while isinstance(over, ast.Call) and called(over) in ("enumerate", "tqdm") and over.args:
        over = over.args[0]
    return called(over) == "DataLoader" or ast.unparse(over) in loaders or last_word(over).lower().endswith(_LOADS)


def _kept(trail: list[ast.AST], call: ast.Call) -> str | None:
    """The list that a result is put into, or the sum that it is added to."""
    for one in reversed(trail):
        if is_method_call(one, "append") and call is not one:
            return plain_name(one.func.value)
        if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
            return plain_name(one.target)
        if isinstance(one, ast.Assign):
            break
    statement = next((one for one in reversed(trail) if isinstance(one, ast.Assign)), None)
    name = plain_name(statement.targets[0]) if statement is not None and statement.value is call else None
    loop = trail[0]
    for one in nodes_in(loop, ast.Call) if name is not None else ():
        if is_method_call(one, "append") and [plain_name(part) for part in one.args] == [name]:
            return plain_name(one.func.value)
    for one in nodes_in(loop, ast.AugAssign) if name is not None else ():
        if isinstance(one.op, ast.Add) and plain_name(one.value) == name:
            return plain_name(one.target)
    return None


def _is_mean(node: ast.expr, name: str, loop: ast.For) -> bool:
    """Whether an expression behind a loop is the mean of what it has kept."""
    if node.lineno <= (loop.end_lineno or 0) or name not in names_in(node):
        return False
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and (plain_name(node.left) == name or called(node.left) == "sum")
    return isinstance(node, ast.Call) and called(node) in ("mean", "fmean", "nanmean")


RULE = Rule(FAULTS[CODE], find)
