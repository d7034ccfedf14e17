"""argmax-over-batch: the best sample is picked for each class, instead of the best class for each sample.

What it finds
    argmax, or the indices of max, along the dimension in which a loader has stacked its samples, or of all numbers of a batch
    at once, where the result is then compared with labels of the batch. argmax along the only class of a network with one output.
Why it hurts
    Numbers of samples are compared with numbers of classes. Nothing is raised where the sizes happen to fit, or where one of
    them is 1, as in a test with one sample a batch: then all predictions are class 0. The accuracy is one of nothing.
Example
    predicted = model(images).argmax(dim=0)          # (1, 4, 64, 64): the samples are in dimension 0
    hits = (predicted == masks).float().mean()
Use instead
    predicted = model(images).argmax(dim=1)
Fix safety
    Safe: the classes are in dimension 1, or in the only other one.
References
    torch.argmax
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.marks import KEPT_BY
from torchsleuth.interp.trace import LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import written_call
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.operands import Operand, lineage, operand, replaced, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Related, Span
from torchsleuth.tensors import dims
from torchsleuth.values import Tensor, Value

CODE = "TS323"
_COMPARISONS = frozenset({"eq", "ne"})
_TAKEN = ("Tensor.tolist", "Tensor.numpy")
"""Methods that take the numbers out of a tensor."""
_CHOICES = frozenset({"argmax", "max"})


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for compared in analysis.trace.operations:
        if compared.name not in _COMPARISONS or len(compared.operands) != 2:
            continue
        for picked, labels in (compared.operands, compared.operands[::-1]):
            choice = _choice(analysis, picked) if batch_of(labels) is not None else None
            used = operand(choice, 0, "input", "self") if choice is not None else None
            if choice is None or used is None or choice.site.span in seen:
                continue
            samples = batch_of(used.tensor)
            only = _only_class(choice, used, samples)
            if only is not None:
                seen.add(choice.site.span)
                yield _of_one(compared, choice, used, only)
            elif samples is not None and _picks_samples(choice, used, samples):
                seen.add(choice.site.span)
                yield _finding(compared, choice, used, samples)
    yield from _collected(analysis, seen)


def _collected(analysis: Analysis, seen: set[Span]) -> Iterator[Finding]:
    """Choices that are collected batch by batch beside the labels, to be compared later."""
    taken = [
        (call, call.receiver)
        for path in _TAKEN
        for call in analysis.calls.get(path, ())
        if isinstance(call.receiver, Tensor)
    ]
    labels = [call for call, numbers in taken if _are_labels(numbers)]
    for call, numbers in taken:
        choice = _choice(analysis, numbers)
        used = operand(choice, 0, "input", "self") if choice is not None else None
        beside = next((one for one in labels if one.loops and one.loops == call.loops), None)
        samples = batch_of(used.tensor) if used is not None else None
        if choice is None or used is None or samples is None or beside is None or choice.site.span in seen:
            continue
        if _picks_samples(choice, used, samples):
            seen.add(choice.site.span)
            yield _finding(beside, choice, used, samples)


def _are_labels(tensor: Tensor) -> bool:
    """Whether a tensor holds one integer for each sample of a batch."""
    return (
        isinstance(tensor, Tensor) and tensor.spec.rank == 1 and tensor.spec.dtype == "int64" and batch_of(tensor) == 0
    )


def _choice(analysis: Analysis, picked: Tensor) -> Operation | None:
    """The operation that found the indices which a tensor holds."""
    for tensor, operation in lineage(analysis, picked):
        name = operation.name
        if name in _CHOICES and tensor.spec.dtype == "int64":
            return operation
        if name not in KEPT_BY:
            return None
    return None


def _picks_samples(choice: Operation, used: Operand, samples: int) -> bool:
    """Whether an index is one along the samples; not where another dimension is as long, as in a matrix of each with each."""
    rank, dim = len(used.shape), _dim(choice)
    if rank < 2 or any(dims.equal(size, used.shape[samples]) is not False for size in _others(used, samples)):
        return False
    if dim is None:
        count = used.shape[samples]
        return choice.name == "argmax" and dims.is_number(count) and count > 1
    return type(dim) is int and -rank <= dim < rank and dim % rank == samples


def _only_class(choice: Operation, used: Operand, samples: int | None) -> int | None:
    """The dimension that an index is one along, where there is one element in it, and not the only sample."""
    rank, dim = len(used.shape), _dim(choice)
    if type(dim) is not int or samples is None or not -rank <= dim < rank or dim % rank == samples:
        return None
    return dim % rank if used.shape[dim] == 1 else None


def _of_one(compared: Operation, choice: Operation, used: Operand, dim: int) -> Finding:
    """The score of one class, which is to be compared with a threshold."""
    text = message("argmax.of_one", choice=choice.name, shape=shape_text(used.spec), dim=dim)
    site = written_call(choice)
    fixes = []
    if site is not None and site.call is not None and used.node is not None and choice.name == "argmax":
        threshold = 0.5 if "sigmoid" in used.tensor.tags else 0
        given = f"({written(site.source, used.node)}.squeeze({dim}) > {threshold})"
        fixes.append(replaced(site, site.call, given, safe=False))
    return Finding(choice.site.span, text, _places(compared, choice), fixes)


def _others(used: Operand, samples: int) -> list[dims.Size]:
    return [size for axis, size in enumerate(used.shape) if axis != samples]


def _dim(choice: Operation) -> Value:
    given = choice.given(1, "axis")
    return choice.kwargs.get("dim", given)


def _finding(compared: Operation | LibraryCall, choice: Operation, used: Operand, samples: int) -> Finding:
    classes = 1 if samples == 0 else 0 if len(used.shape) == 2 else -1
    text = message(
        "argmax.samples",
        choice=choice.name,
        shape=shape_text(used.spec),
        samples=samples,
        classes=classes % len(used.shape),
    )
    return Finding(choice.site.span, text, _places(compared, choice), _along(choice, classes))


def _places(compared: Operation | LibraryCall, choice: Operation) -> tuple[Related, ...]:
    """The comparison with the labels, and the call that led to the choice."""
    with_labels = compared.site.span.related(message("argmax.compared"))
    return with_labels, *call_trail(choice.site.scene, limit=1)


def _along(choice: Operation, classes: int) -> Iterator[Candidate]:
    """The same along the classes."""
    site = written_call(choice)
    if site is None or site.call is None:
        return
    given = {keyword.arg: keyword.value for keyword in site.call.keywords}
    node = given.get("dim", given.get("axis"))
    place = 0 if choice.target.startswith("Tensor.") else 1
    if node is None and len(site.call.args) > place:
        node = site.call.args[place]
    if node is not None:
        yield replaced(site, node, str(classes))
    else:
        text = f"dim={classes}"
        yield added_argument(site.source, site.call, text)


RULE = Rule(FAULTS[CODE], find)
