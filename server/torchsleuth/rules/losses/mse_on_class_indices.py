"""mse-on-class-indices: a distance loss between class scores and class numbers.

What it finds
    MSELoss, L1Loss, SmoothL1Loss or HuberLoss of a prediction with several scores for each sample and a target with one
    integer for each.
Why it hurts
    The sizes clash, or they broadcast, and every score is drawn towards the number of the class: class 7 is no more than
    class 2. No error is raised then, and the model learns nothing of use.
Example
    loss = nn.MSELoss()(logits, labels)                 # (32, 10) and (32,)
Use instead
    loss = nn.CrossEntropyLoss()(logits, labels)
Fix safety
    Safe: cross entropy is the loss for scores and class numbers.
References
    torch.nn.CrossEntropyLoss, torch.nn.MSELoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, removals, renamed, written_call
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, lineage, operand, package_name, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.synthesis.shapes import same
from torchsleuth.tensors.dims import is_number

CODE = "TS311"
LOSSES = {
    **{name: "CrossEntropyLoss" for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")},
    **{name: "cross_entropy" for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")},
}


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        found = class_indices(analysis, operation)
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        if found is not None and key not in seen:
            seen.add(key)
            yield _finding(analysis, operation, *found)


def class_indices(analysis: Analysis, operation: Operation) -> tuple[Operand, Operand] | None:
    """Prediction and target, if the operation is a distance between scores for classes and class numbers."""
    if not operation.target.startswith("torch.nn.") or operation.name not in LOSSES:
        return None
    prediction, target = operand(operation, 0, "input"), operand(operation, 1, "target")
    if prediction is None or target is None or not prediction.spec.shape or not target.spec.shape:
        return None
    scores, numbers = prediction.shape, target.shape
    several = len(scores) == 2 and is_number(scores[1]) and scores[1] > 1
    one_each = same(numbers[0], scores[0]) and numbers[1:] in ((), (1,))
    if (
        not several
        or not one_each
        or "logits" not in prediction.tensor.tags
        and "softmax" not in prediction.tensor.tags
    ):
        return None
    return (prediction, target) if holds_integers(analysis, target) else None


def holds_integers(analysis: Analysis, target: Operand) -> bool:
    """Whether the target holds integers, also where they were converted to floating point since."""
    if target.spec.dtype is not None and target.spec.dtype.startswith(("int", "uint")):
        return True
    made = [operation.name for _, operation in lineage(analysis, target.tensor)]
    return bool(made) and made[-1] in ("randint", "randperm")


def _finding(analysis: Analysis, operation: Operation, prediction: Operand, target: Operand) -> Finding:
    name = operation.name
    text = message(
        "mse.classes",
        loss=name,
        prediction=prediction.described("the prediction"),
        target=target.described("the target"),
        whole=LOSSES[name],
    )
    places: list[Related] = []
    if operation.module is not None:
        places += constructor_related(operation.module, None, None)
    places += call_trail(operation.site.scene, limit=1)
    fails = any(failure.operation.site is operation.site for failure in analysis.trace.failures)
    candidates = _candidates(analysis, operation, prediction, target)
    return Finding(operation.site.span, text, tuple(places), candidates, "error" if fails else None)


def _candidates(analysis: Analysis, operation: Operation, prediction: Operand, target: Operand) -> Iterator[Candidate]:
    name = operation.name
    site = written_call(operation)
    edit = renamed(site, LOSSES[name]) if site is not None else None
    if edit is None:
        yield from _called(operation)
        return
    title = message("fix.replace", old=name, new=LOSSES[name])
    changes = [(edit,)] if target.node is None else [(edit,), (edit, _as_classes(target))]
    softmax = applied(analysis, prediction.tensor, ("softmax", "Softmax"))
    if softmax is None or "softmax" not in prediction.tensor.tags:
        yield from (Candidate(title, change) for change in changes)
        return
    for removal in removals(analysis, softmax, "softmax"):
        yield from (Candidate(f"{title}; {removal.title}", (*change, *removal.edits)) for change in changes)


def _called(operation: Operation) -> Iterator[Candidate]:
    """The function in place of a loss whose class is chosen elsewhere, in a table of losses say."""
    call, functional = operation.site.call, package_name(operation.site, "torch.nn.functional")
    if call is not None and functional is not None and operation.module is not None:
        yield replaced(operation.site, call.func, f"{functional}.cross_entropy", safe=False)


def _as_classes(target: Operand) -> Edit:
    """The target as a vector of int64, without a conversion to floating point."""
    assert target.node is not None
    source, node = target.site.source, target.node
    suffix = ".squeeze(1)" if len(target.shape) == 2 else ""
    if not (target.spec.dtype or "").startswith("int64"):
        inner = node.func.value if is_method_call(node) else None
        if inner is not None and is_method_call(node):
            if node.func.attr == "float" and not node.args:
                return edits.replace(source, node, source.segment(inner) + suffix)
        suffix += ".long()"
    return edits.insert_after_node(source, node, suffix)


RULE = Rule(FAULTS[CODE], find)
