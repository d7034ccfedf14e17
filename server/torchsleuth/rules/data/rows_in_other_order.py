"""rows-in-other-order: what a shuffling loader gave in one pass is compared with labels of another pass, or as they are stored.

What it finds
    A comparison, or a loss, between what was computed of all batches of a loader that shuffles, and labels that were
    collected in another pass over the same loader, or that are taken from its data set as they are stored there. Counts of what both
    are true for, as in `(guess & (labels == 1)).sum()`, are such comparisons.
Why it hurts
    Each pass has a new random order: every prediction is compared with the label of some other sample. The accuracy is that of
    guessing, or what is trained on such pairs learns nothing. Nothing is raised.
Example
    loader = DataLoader(data, batch_size=32, shuffle=True)
    predictions = torch.cat([model(x).argmax(1) for x, _ in loader])
    labels = torch.cat([y for _, y in loader])
    print((predictions == labels).float().mean())
Use instead
    loader = DataLoader(data, batch_size=32, shuffle=False)
Fix safety
    Unsafe: what is trained with the same loader is no longer shuffled. Otherwise, collect both in one pass.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import Rows, rows_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import construction_of, made_here
from torchsleuth.rules.evidence.operands import operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import keyword_of, literal
from torchsleuth.values import Instance, LibraryObject, Tensor, Value

CODE = "TS626"
_MAX_STEPS = 200
_SEEDS = ("torch.manual_seed", "torch.random.manual_seed", "torch.seed")
_SEEDING = (".seed_everything", ".set_seed")
_MEETS = frozenset(
    "eq ne cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss CrossEntropyLoss "
    "NLLLoss BCELoss BCEWithLogitsLoss MSELoss L1Loss and_ bitwise_and logical_and sub".split()
)
_ONE_BY_ONE = frozenset("eq ne gt lt ge le bool int long float to bitwise_not logical_not squeeze flatten".split())
"""Operations that leave the rows of a tensor in their order."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for operation in analysis.trace.operations:
        if operation.name not in _MEETS or len(operation.operands) < 2:
            continue
        for predicted, labels in (operation.operands[:2], operation.operands[1::-1]):
            what = _apart(predicted, labels) if not _is_predicted(labels) and _is_predicted(predicted) else None
            if what is None or what[1].loader.identity in seen:
                continue
            if what[0] == "order.stored" or not _draws_again(analysis, what[1].loader):
                seen.add(what[1].loader.identity)
                yield _finding(analysis, operation, *what)


def _draws_again(analysis: Analysis, loader: LibraryObject) -> bool:
    """Whether random numbers may be drawn once more as they were: then two passes may have one order."""
    seeded = sum(len(calls) for path, calls in analysis.calls.items() if path in _SEEDS or path.endswith(_SEEDING))
    restored = any(path.endswith(("set_rng_state", "fork_rng", "set_state")) for path in analysis.calls)
    return restored or seeded > 1 or loader.given(10, "generator") is not None


def _is_predicted(tensor: Tensor) -> bool:
    """Whether a tensor was computed by layers, or by functions of them: it is no label."""
    pending, seen = [tensor], set[int]()
    while pending and len(seen) < _MAX_STEPS:
        origin = pending.pop().origin
        if origin is not None and id(origin) not in seen:
            seen.add(id(origin))
            if origin.operator.startswith("torch.nn.") and not origin.operator.endswith("one_hot"):
                return True
            pending.extend(origin.sources)
    return False


def _apart(predicted: Tensor, labels: Tensor) -> tuple[str, Rows] | None:
    """The order of what was predicted, if the labels are not in the same."""
    first, second = rows_of(predicted), rows_of(labels)
    if first is None or first.axis != 0:
        return None
    if second is not None:
        apart = second.loader is first.loader and second.axis == 0 and second.number != first.number
        return ("order.passes", first) if apart else None
    held = tuple(_stored(first.loader))
    return ("order.stored", first) if any(one is part for one in _made_of(labels) for part in held) else None


def _made_of(tensor: Tensor) -> Iterator[Tensor]:
    """A tensor, and what it was computed from row by row, with nothing else: ``labels`` of ``labels == 1``."""
    for _ in range(_MAX_STEPS):
        yield tensor
        origin = tensor.origin
        if origin is None or len(origin.sources) != 1 or origin.operator.rpartition(".")[2] not in _ONE_BY_ONE:
            return
        tensor = origin.sources[0]


def _stored(loader: LibraryObject) -> Iterator[Value]:
    """The tensors or arrays that the data set of a loader has its samples of."""
    dataset = loader.given(0, "dataset")
    match dataset:
        case LibraryObject() if dataset.type_name == "TensorDataset":
            yield from dataset.args
        case Instance():
            yield from dataset.slots.values()


def _finding(analysis: Analysis, operation: Operation, what: str, rows: Rows) -> Finding:
    one, other, *_ = operands(operation)
    if rows_of(one.tensor) != rows:
        one, other = other, one
    text = message(what, one=one.text("one side"), other=other.text("the other"))
    return Finding(operation.site.span, text, made_here(analysis, rows.loader), _in_order(analysis, rows.loader))


def _in_order(analysis: Analysis, loader: LibraryObject) -> Iterator[Candidate]:
    """The loader without shuffling."""
    call = construction_of(loader)
    given = keyword_of(call, "shuffle") if call is not None else None
    if call is not None and loader.site is not None and given is not None:
        source = loader.site.source
        trains = any(event.loops and event.loops[-1].loader is loader for event in analysis.events("step"))
        if literal(given.value) is True or isinstance(given.value, ast.Name) or not trains:
            yield replacement(source, given.value, "False", safe=False)


RULE = Rule(FAULTS[CODE], find)
