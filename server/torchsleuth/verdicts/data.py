"""Faults in the data that goes into a training: inputs, labels, their relation, loaders."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.messages import message
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import names_in, nodes_in, plain_name
from torchsleuth.training import Batches, BatchSample, Loader, Overlap, Place, Series
from torchsleuth.verdicts.computed import by_own_statistics, given_to, same_for_each, shifts
from torchsleuth.verdicts.evidence import ENOUGH, Evidence, Finding, shares_of
from torchsleuth.verdicts.text import (
    HELD_OUT,
    calls,
    filled,
    first_taken,
    function_around,
    loader_made,
    name_of,
    result_of,
    rounds_down,
    seeded_again,
    statements,
)

LARGE = 30.0
"""Mean or standard deviation of what enters the first layer."""
HARDLY = 1e-3
"""Standard deviation of what enters the first layer, beside its mean, with which it is next to constant."""
CHANCE = (0.97, 1.5)
"""Of the loss of a guess, for a loss that is at chance level; what is higher is no loss of a guess, such as a weighted one."""
WAITING_SHARE = 0.3
WAITING_SECONDS = 0.5
WAITING_PASS = 0.4
"""Seconds of each pass over the data: in a shorter one, starting workers takes longer than what they save. In `WAITING_LONG` they
are worth it anyway, kept from one pass to the next."""
WAITING_LONG = 10.0
WAITING_MILLISECONDS = 4.0
"""Of a step; `WAITING_EACH` of a sample, since workers have to send each one too."""
WAITING_EACH = 0.25
WORDS_STEPS = 100
"""Steps before which a loss at chance is nothing unusual where the order of words may count, which is not looked at."""
LONG = 100
"""Steps before which a network that marks places in an image may not have found any."""
_CLASSES = frozenset(("cross_entropy", "nll"))
_BINARY = frozenset(("bce", "bce_with_logits"))


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _inputs(evidence)
    yield from _same_batch(evidence)
    yield from _one_memory(evidence)
    yield from _same_samples(evidence)
    yield from _seeded_again(evidence)
    yield from _out_of_reach(evidence)
    yield from _terms_apart(evidence)
    yield from _frames_too_few(evidence)
    yield from _blank_labels(evidence)
    yield from _scaled_otherwise(evidence)
    yield from _normalised_alone(evidence)
    yield from _labels(evidence)
    yield from _unrelated(evidence)
    yield from _one_class(evidence)
    yield from _overlaps(evidence)
    yield from _redrawn(evidence)
    yield from _renumbered(evidence)
    yield from _shifted_targets(evidence)
    yield from _waiting(evidence)


def _inputs(evidence: Evidence) -> Iterator[Finding]:
    for batches in evidence.batches("first"):
        samples = [one for one in batches.samples if one.mean is not None and one.std is not None]
        if len(samples) < ENOUGH:
            continue
        last = samples[-1]
        if all(one.std == 0 for one in samples) and math.prod(last.shape) > 8:
            yield Finding(
                "TS931", batches.place, message("run.constant_input", value=last.mean, count=len(samples)), 10
            )
            return
        if not batches.normalised and all(max(abs(one.mean or 0.0), one.std or 0.0) > LARGE for one in samples):
            values = {"mean": last.mean, "std": last.std, "low": last.low, "high": last.high}
            yield Finding("TS930", batches.place, message("run.large_input", **values), 14)
            return
        if all((one.std or 0.0) <= HARDLY * max(abs(one.mean or 0.0), 1.0) for one in samples) and _stays(evidence):
            place = result_of(evidence, batches.place) or batches.place
            yield Finding("TS930", place, message("run.hardly_input", mean=last.mean, std=last.std), 14)
            return


def _stays(evidence: Evidence) -> bool:
    """Whether the loss of a long training has not fallen."""
    course = evidence.course
    return course is not None and course.count >= LONG and course.late > 0.95 * course.early > 0


def _same_batch(evidence: Evidence) -> Iterator[Finding]:
    """A loader is begun anew for each step, and without shuffling gives its first batch."""
    for loader in evidence.training.loaders:
        more = loader.size is not None and loader.batch_size is not None and loader.size > loader.batch_size
        if not more or loader.rounds != loader.batches or loader.shuffled is not False or loader.training < 8:
            continue
        for batches in evidence.batches("input"):
            if len(batches.samples) >= ENOUGH and all(one.same for one in batches.samples[1:]):
                values = {"count": loader.batches, "batch": loader.batch_size, "size": loader.size}
                place = first_taken(evidence, loader.place) or batches.place or loader.place
                yield Finding("TS931", place, message("run.same_batch", **values), 11)
                return


def _one_memory(evidence: Evidence) -> Iterator[Finding]:
    """A list of batches that are all one buffer, as it was filled last."""
    for event in evidence.training.events:
        if event.kind == "one-memory" and event.count >= ENOUGH and event.place is not None:
            name, count = event.details["name"], event.details["items"]
            place = filled(evidence, event.place.path, name, event.place.line) or event.place
            yield Finding("TS931", place, message("run.one_memory", name=name, count=count))
            return


def _same_samples(evidence: Evidence) -> Iterator[Finding]:
    """All samples of a batch are one, in each batch, and are to be given different predictions."""
    targets = evidence.batches("target")
    apart = [one for one in targets if all((sample.std or 0.0) > 0 for sample in one.samples)]
    if not apart or len(apart) < len(targets):
        return
    for batches in evidence.batches("first"):
        last = batches.samples[-1]
        if len(batches.samples) > ENOUGH and all(one.rows_equal for one in batches.samples) and last.std:
            values = {"count": last.shape[0], "looks": len(batches.samples)}
            whole = rounds_down(evidence, batches.place)
            if whole is not None:
                said = message("run.rounded_down", text=evidence.text(whole), **values)
                yield Finding("TS931", whole, said, 11)
                return
            yield Finding("TS931", batches.place, message("run.same_samples", **values), 11)
            return


def _seeded_again(evidence: Evidence) -> Iterator[Finding]:
    """Each step draws the same batch, since a seed is set before each draw."""
    for batches in evidence.batches("input"):
        looks = batches.samples[1:]
        if batches.place is None or len(looks) <= ENOUGH or not all(one.same for one in looks):
            continue
        place = seeded_again(evidence, batches.place.path)
        if place is not None and evidence.training.steps >= 8:
            text = message("run.seeded_again", looks=len(looks) + 1, steps=evidence.training.steps)
            yield Finding("TS555", place, text)
            return


_GIVEN = {
    "sigmoid": "sigmoid gives 0 to 1",
    "softmax": "softmax gives 0 to 1",
    "tanh": "tanh gives -1 to 1",
    "relu": "relu gives nothing below 0",
    "bce_with_logits": "this loss takes 0 to 1",
}
"""The numbers that a target can be, by the function that says so."""
OUT_OF_REACH = 0.05
"""Share of the targets."""


def _out_of_reach(evidence: Evidence) -> Iterator[Finding]:
    """Targets that the last function of the network never gives, or the loss does not take."""
    for event in evidence.training.events:
        details = event.details
        if event.kind == "out-of-reach" and event.count >= ENOUGH and details["share"] >= OUT_OF_REACH:
            values = {name: details[name] for name in ("low", "high", "share")}
            text = message("run.out_of_reach", given=_GIVEN[details["function"]], **values)
            yield Finding("TS951", event.place, text)
            return


_TERMS = {"nll": "the cross entropy", "bce_with_logits": "the binary cross entropy"}


def _terms_apart(evidence: Evidence) -> Iterator[Finding]:
    """One term of a loss is thousands of times larger than another one from first to last, since its targets are."""
    for event in evidence.training.events:
        details = event.details
        if event.kind == "terms-apart" and event.count > ENOUGH and 4 * event.count >= 3 * details["looked"]:
            values = {name: details[name] for name in ("value", "small", "size")}
            other = _TERMS.get(details["other"], "another term")
            yield Finding("TS951", event.place, message("run.terms_apart", other=other, **values))
            return


def _frames_too_few(evidence: Evidence) -> Iterator[Finding]:
    """Most transcripts are longer than the output of the network, which says one label in each frame at most."""
    for event in evidence.training.events:
        if event.kind == "frames-too-few" and event.count >= ENOUGH:
            if 2 * event.details["short"] >= event.details["count"]:
                yield Finding("TS954", event.place, message("run.frames_too_few", **event.details))
                return


def _blank_labels(evidence: Evidence) -> Iterator[Finding]:
    """Transcripts in which a label has the number of the blank, which no output can say."""
    for event in evidence.training.events:
        if event.kind == "blank-labels" and event.count >= ENOUGH:
            yield Finding("TS959", event.place, message("run.blank_labels", **event.details))
            return


SCALED = 2.5
"""Times that the standard deviations of inputs differ which are prepared in two ways."""


def _scaled_otherwise(evidence: Evidence) -> Iterator[Finding]:
    """Inputs of an evaluation that are not as those of the training: only one of them is normalised, say."""
    trained = [_together(one.samples) for one in evidence.batches("input")]
    for batches in evidence.batches("evaluated"):
        last = _together(batches.samples)
        alike = [one for one in trained if one.shape[1:] == last.shape[1:] and one.std and one.mean is not None]
        if len(batches.samples) < 2 or not alike or last.mean is None or not last.std or evidence.training.steps < 8:
            continue
        ratios = [max(last.std / one.std, one.std / last.std) for one in alike if one.std]
        if min(ratios) >= SCALED and len(last.shape) > 1:
            other = alike[ratios.index(min(ratios))]
            values = {"mean": last.mean, "std": last.std, "other_mean": other.mean, "other_std": other.std}
            yield Finding("TS956", batches.place, message("run.scaled_otherwise", **values), mild=True)
            return


def _together(samples: tuple[BatchSample, ...]) -> BatchSample:
    """The last of some batches, with the mean and the deviation of all: they may come in an order."""
    known = [(one.mean, one.std) for one in samples if one.mean is not None and one.std is not None]
    if len(known) < len(samples):
        return samples[-1]
    mean = sum(mean for mean, _ in known) / len(known)
    square = sum(mean**2 + std**2 for mean, std in known) / len(known)
    return replace(samples[-1], mean=mean, std=math.sqrt(max(square - mean**2, 0.0)))


EXACT = 1e-3
"""Of the mean and the deviation of numbers that were normalised by their own."""


def _is_exact(sample: BatchSample) -> bool:
    return abs(sample.mean or 0.0) <= EXACT and (sample.std or 0.0) > 0.5


def _normalised_alone(evidence: Evidence) -> Iterator[Finding]:
    """Each batch of an evaluation has mean 0 and the same deviation, which those of the training have not."""
    for batches in evidence.batches("evaluated"):
        samples, shape = batches.samples, batches.samples[-1].shape
        deviations = [one.std or 0.0 for one in samples]
        exact = all(_is_exact(one) for one in samples) and max(deviations) - min(deviations) <= EXACT
        batches_apart = len({one.high for one in samples}) > ENOUGH
        trained = [one for one in evidence.samples("input") if one.shape[1:] == shape[1:]]
        if len(shape) < 2 or not exact or not batches_apart or len(trained) < ENOUGH:
            continue
        if not any(_is_exact(one) for one in trained) and batches.place is not None:
            place = by_own_statistics(evidence, batches.place) or batches.place
            text = message("run.normalised_alone", count=len(samples), mean=max(abs(one.mean or 0) for one in trained))
            yield Finding("TS963", place, text, mild=True)
            return


def _renumbered(evidence: Evidence) -> Iterator[Finding]:
    """The classes of a validation set have other numbers than those of the training: each folder was counted by itself."""
    classifies = any(loss.kind in _CLASSES for loss in evidence.training.losses)
    for one in evidence.training.renumbered if classifies else ():
        values = {name: getattr(one, name) for name in ("name", "trained", "evaluated", "attribute", "conflicts")}
        place = given_to(evidence, one.loader, one.dataset) or one.loader
        yield Finding("TS964", place, message("run.renumbered", **values), mild=True)
        return


def _shifted_targets(evidence: Evidence) -> Iterator[Finding]:
    """The targets of a language model are two places behind its words, in all steps looked at, and those of no other loss one."""
    events = evidence.training.events
    if any(event.kind == "targets-follow" for event in events):
        return
    for event in events:
        if event.kind == "targets-shifted" and event.count >= ENOUGH and event.place is not None:
            place = shifts(evidence, event.place) or event.place
            yield Finding("TS342", place, message("run.targets_shifted", count=event.count))
            return


def _labels(evidence: Evidence) -> Iterator[Finding]:
    for batches in evidence.batches("target"):
        samples = [one for one in batches.samples if one.labels]
        if batches.loss not in _CLASSES or _one_of_several(evidence, batches):
            continue
        if len(samples) < ENOUGH or sum(math.prod(one.shape) for one in samples) < 24:
            continue
        shares = shares_of(samples)
        place = batches.place or evidence.loss_place  # a library computes the loss
        if len(shares) == 1 and not _made_here(evidence, place):
            (label,) = shares
            count = sum(math.prod(one.shape) for one in samples)
            yield Finding("TS932", place, message("run.constant_labels", label=label, count=count), 12)
            return
        own = [max(one.labels.values()) / sum(one.labels.values()) for one in samples if one.labels]
        if len(samples) >= 4 and len(shares) >= 2 and max(shares.values()) <= 0.8 and min(own) >= 0.9:
            loader = next((one for one in evidence.training.loaders if one.training and one.shuffled is False), None)
            place = loader_made(evidence, loader.place) if loader is not None else batches.place
            text = message("run.sorted_labels", classes=len(shares), share=sum(own) / len(own))
            yield Finding("TS604", place, text, 13)
            return


_FILLED = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_full", "arange")


def _made_here(evidence: Evidence, place: Place | None) -> bool:
    """Whether the labels of a loss are written down where it is computed, or in a function that returns them beside the scores:
    ``torch.zeros(…)`` of a contrastive loss."""
    if place is None:
        return True
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    if any(_fills(statement) for statement in statements(scope) if statement.lineno <= place.line):
        return True
    for function in nodes_in(tree, ast.FunctionDef):
        made = {
            name for one in of_kind(statements(function), ast.Assign) if _fills(one) for name in names_in(*one.targets)
        }
        results = [one.value for one in of_kind(statements(function), ast.Return) if isinstance(one.value, ast.Tuple)]
        if any(plain_name(part) in made or _fills(part) for result in results for part in result.elts):
            return True
    return False


def _fills(node: ast.AST) -> bool:
    return any(name_of(call.func) == name for name in _FILLED for call in calls(node, name))


def _unrelated(evidence: Evidence) -> Iterator[Finding]:
    """The loss stays at that of a guess, and the inputs tell nothing of the labels."""
    course, relation = evidence.course, evidence.training.relation
    if course is None or relation is None or relation.samples < 100:
        return
    if course.loss.kind not in (_CLASSES | _BINARY if relation.words else _CLASSES):
        return
    shares = evidence.shares_of_labels
    guess = evidence.guess
    if guess < 0.1 or course.count < (WORDS_STEPS if relation.words else 30):
        return
    deviation = math.sqrt(relation.chance * (1 - relation.chance) / relation.samples)
    apart = relation.neighbours <= relation.chance + 4.5 * deviation
    features = 3 * math.log(max(relation.features, 2)) / max(1, min(len(shares) - 1, 4)) + 6
    at_chance = CHANCE[0] * guess <= course.late <= CHANCE[1] * guess
    if at_chance and apart and relation.spread < features and min(course.values) > 0.5 * guess:
        values = {
            "loss": course.late, "guess": guess, "share": relation.neighbours, "chance": relation.chance,
            "count": relation.samples,
        }  # fmt: skip
        place = next((one.place for one in evidence.batches("target") if one.place is not None), course.loss.place)
        yield Finding("TS933", place, message("run.unrelated", **values), 40)


def _one_class(evidence: Evidence) -> Iterator[Finding]:
    """Only the largest class is ever predicted, at the end."""
    shares = evidence.shares_of_labels
    largest = max(shares, key=lambda label: shares[label], default=None)
    if largest is None or not 2 <= len(shares) <= 64 or shares[largest] < 0.8 or evidence.training.steps < 30:
        return
    for batches in evidence.batches("prediction"):
        last, steps = batches.samples[-1], evidence.training.steps
        if _one_of_several(evidence, batches):
            continue
        if len(last.shape) > 2 and batches.loss in _BINARY and (steps < LONG or 4 * last.step < 3 * steps):
            continue
        samples = [one for one in batches.samples if one.labels]
        late = samples[len(samples) // 2 :]
        alone = max(0.995, 1 - 0.1 * (1 - shares[largest]))
        if len(late) >= ENOUGH and all(_share_of(one, largest) >= alone for one in late):
            count = sum(sum((one.labels or {}).values()) for one in late)
            values = {"label": largest, "share": shares[largest], "count": count}
            yield Finding("TS941", batches.place or evidence.loss_place, message("run.one_class", **values), 38)
            return


def _one_of_several(evidence: Evidence, batches: Batches) -> bool:
    """Whether one call computes losses of several kinds: a library chooses what they are about, such as the regions of an image that a
    detector looks at, of which nearly all are background."""
    kinds = {one.loss for one in evidence.batches(batches.role) if batches.place and one.place == batches.place}
    return len(kinds) > 1


def _share_of(sample: BatchSample, label: str) -> float:
    counts = sample.labels or {}
    return float(counts.get(label, 0)) / (sum(counts.values()) or 1)


def _overlaps(evidence: Evidence) -> Iterator[Finding]:
    for overlap in evidence.training.overlaps:
        share = overlap.shared / max(1, overlap.evaluated)
        if share >= 0.3 and overlap.shared >= 8 and _is_validation(evidence, overlap):
            values = {"shared": overlap.shared, "evaluated": overlap.evaluated}
            place = overlap.evaluation_loader or overlap.evaluation
            yield Finding("TS934", place, message("run.overlap", **values), mild=True)
            return


def _is_validation(evidence: Evidence, overlap: Overlap) -> bool:
    """Whether the evaluation is named as one of other samples; of training samples, it may be meant."""
    place, loader = overlap.evaluation, overlap.evaluation_loader
    if place is None:
        return False
    if overlap.evaluation == overlap.train:  # one loop for both
        if loader is None or loader == overlap.train_loader:
            return False
        around = function_around(evidence.tree(loader.path), loader.line)  # ``def val_dataloader(self):``
        return bool(HELD_OUT.search(evidence.text(loader)) or around is not None and HELD_OUT.search(around.name))
    tree = evidence.tree(place.path)
    words = [evidence.sources(place.path).line(place.line)]
    if loader is not None:
        words.append(evidence.sources(loader.path).line(loader.line))
    function = function_around(tree, place.line)
    if function is None and loader is None or overlap.same_dataset and function is not None:
        words.append(_statement(evidence, place))
    text = " ".join(words)
    called = re.sub(r"\.eval\(\)", "", text)
    return bool(HELD_OUT.search(called)) and not re.search(r"train", called.split("=")[0], re.IGNORECASE)


REDRAWN = 0.9
"""How far a sample may be from itself, relative to how far it is from another one: what is drawn anew is 1."""


def _redrawn(evidence: Evidence) -> Iterator[Finding]:
    """The samples that a classifier is evaluated with are changed at random, other ones in each round."""
    classifies = any(loss.kind in _CLASSES | _BINARY for loss in evidence.training.losses)
    for one in evidence.training.redrawn if classifies else ():
        if 0 < one.apart < REDRAWN and evidence.training.steps:
            yield Finding("TS952", one.loader or one.evaluation, message("run.redrawn"), mild=True)


def _statement(evidence: Evidence, place: Place) -> str:
    return evidence.sources(place.path).line(place.line)


def _usual(waits: Series | None) -> float:
    """The mean of the waiting in a step without the longest tenth, which may be the start of workers or a pause of the machine."""
    values = sorted(waits.values) if waits is not None else []
    kept = values[: len(values) - max(1, len(values) // 10)]
    return sum(kept) / len(kept) if kept else math.inf


def _alone(loader: Loader) -> float:
    """The seconds of waiting for a loader without those in which other programs kept its thread from being executed: as many, for
    the time that it was, as in what the script does between the batches."""
    kept_off = max(0.0, loader.between / loader.busy_between - 1) if loader.busy_between else 0.0
    return max(loader.busy, loader.seconds - loader.busy * kept_off)


def _waiting(evidence: Evidence) -> Iterator[Finding]:
    """Most of the time goes by until the next batch is there."""
    training = evidence.training
    for loader in training.loaders:
        alone = _alone(loader)
        if not loader.training or not loader.batches or alone < WAITING_SECONDS:
            continue
        usual = _usual(training.phase_series.get("data")) * alone / loader.seconds
        each = 1000 * min(alone / loader.batches, usual)
        steps = [value for value in training.step_seconds.values if value > 0]
        if each < max(WAITING_MILLISECONDS, WAITING_EACH * (loader.batch_size or 1)) or not steps:
            continue
        step = 1000 * sorted(steps)[len(steps) // 2]
        share = min(1.0, each / max(step, each))
        lasts = alone >= WAITING_LONG or alone >= WAITING_PASS * loader.rounds
        if share >= WAITING_SHARE and alone >= 0.2 * training.seconds and lasts:
            values = {
                "share": share, "each": each, "step": step, "rest": max(step - each, 0.0), "workers": loader.workers,
            }  # fmt: skip
            place, text = loader_made(evidence, loader.place), message("run.waiting", **values)
            again = same_for_each(evidence, place.path) if place is not None else None
            if again is not None:
                place, text = again, message("run.same_each_time", text=text)
            yield Finding("TS935", place, text, mild=True)
            return
