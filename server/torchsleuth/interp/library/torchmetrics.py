"""torchmetrics: what its metrics refuse when they are made."""

from __future__ import annotations

from torchsleuth.installed import version_of
from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import models
from torchsleuth.values import UNKNOWN, Value

_OF_TASKS = (
    "Accuracy AUROC AveragePrecision CalibrationError CohenKappa ConfusionMatrix F1Score FBetaScore HammingDistance HingeLoss "
    "JaccardIndex MatthewsCorrCoef Precision PrecisionRecallCurve Recall ROC Specificity StatScores"
).split()
"""The metrics that make one of those for a task."""
_SINCE = (0, 11)
"""The version since when the task has to be told."""


@models(*(f"torchmetrics.{package}{name}" for package in ("", "classification.") for name in _OF_TASKS))
def _of_task(interp: Interpreter, call: Arguments) -> Value:
    """A metric of classes, of which the task is the first thing that it has to be told."""
    version = version_of("torchmetrics")
    if call.exact and not call.args and "task" not in call.kwargs and version is not None and version >= _SINCE:
        text = f"{call.name}.__new__() missing 1 required positional argument: 'task'"
        misuse.refuses(interp, call.path, call, "TypeError", text)
    interp.escape((*call.args, *call.kwargs.values()))
    return UNKNOWN
