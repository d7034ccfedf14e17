"""train-not-shuffled: training goes through ordered samples in the same order each epoch.

What it finds
    A loader without shuffle=True and without a sampler whose batches train a model, epoch after epoch, over samples that
    have an order: classes one after the other, files as a folder lists them. Silent where the samples are drawn at
    random, where random_split has mixed them, for an IterableDataset, and where a recurrent state goes from batch to batch.
Why it hurts
    Batches of one class pull the weights to and fro, BatchNorm learns the statistics of one class at a time, and the
    model sees the same batches in the same order in every epoch.
Example
    train_loader = DataLoader(train_set, batch_size=64)
Use instead
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
Fix safety
    Safe for samples that are independent of each other.
References
    torch.utils.data.DataLoader, torch.utils.data.RandomSampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import Plan, option
from torchsleuth.interp.trace import LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import construction_of, head
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, keyword_of
from torchsleuth.values import DictValue, Instance, LibraryObject, ListValue, Tensor, Value, is_object_named

CODE = "TS604"
_RANDOM = frozenset(
    "rand randn randint normal rand_like randn_like randint_like randperm bernoulli multinomial poisson".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for event in analysis.trace.events:
        point = next((point for point in reversed(event.loops) if point.loader is not None), None)
        if event.kind != "step" or not event.certain or point is None or id(point.loader) in seen:
            continue
        seen.add(id(point.loader))
        outer = event.loops[: event.loops.index(point)]
        if outer and point.loader is not None and _in_order(point.loader) and not _keeps_state(point):
            yield from _finding(analysis, point, point.loader)


def _in_order(loader: LibraryObject) -> bool:
    """Whether a loader is known to give several batches of samples that have an order, always in that order."""
    if option(loader, "shuffle") not in (None, False) or option(loader, "batch_size") is None:
        return False
    if option(loader, "sampler") is not None or option(loader, "batch_sampler") is not None:
        return False
    plan, sample = as_kind(loader.slots.get("plan"), Plan), loader.slots.get("sample")
    if plan is None or plan.count is None or plan.count == 1:
        return False
    dataset = option(loader, "dataset")
    if is_object_named(dataset, "Subset"):
        return False
    return isinstance(dataset, Instance | LibraryObject | ListValue) and _ordered(_label(sample))


def _label(sample: Value) -> Value:
    """The label of a sample: the last of its parts."""
    match sample:
        case tuple() if sample:
            return sample[-1]
        case DictValue() if sample.items:
            words = ("label", "labels", "target", "y")
            return next((sample.items[key] for key in words if key in sample.items), None)
    return None


def _ordered(label: Value) -> bool:
    """Whether labels come in an order: they are known one by one, or computed from what has an order."""
    match label:
        case int() | float() | str() if not isinstance(label, bool):
            return True
        case Tensor():
            makers = set(_makers(label))
            return bool(makers) and not makers & (_RANDOM | {"?"})
    return False


def _makers(tensor: Tensor, depth: int = 12) -> Iterator[str]:
    """The functions that made what a tensor was computed from; ``?`` for what is not known."""
    origin = tensor.origin
    if origin is None or depth == 0:
        yield "?"
    elif origin.sources:
        for source in origin.sources:
            yield from _makers(source, depth - 1)
    else:
        yield origin.name


def _keeps_state(point: LoopPoint) -> bool:
    """Whether something goes from one batch to the next, cut off from its graph: a recurrent state."""
    return any(is_attribute(part, "detach", "detach_") for part in ast.walk(point.node))


def _finding(analysis: Analysis, point: LoopPoint, loader: LibraryObject) -> Iterator[Finding]:
    call = construction_of(loader)
    if call is None or loader.site is None:
        return
    path = loader.site.span.path
    source = analysis.source_of(path)
    given = keyword_of(call, "shuffle")
    edit = (
        edits.replace(source, given.value, "True")
        if given is not None
        else edits.add_argument(source, call, "shuffle=True")
    )
    span = analysis.source_of(point.span.path).span(getattr(point.node, "iter", point.node))
    trained = span.related(message("data.trained"))
    candidate = Candidate(message("fix.add_argument", argument="shuffle=True"), (edit,))
    yield Finding(head(analysis, path, call), message("data.unshuffled"), (trained,), (candidate,))


RULE = Rule(FAULTS[CODE], find, of_absence=True)
