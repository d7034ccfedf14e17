"""Losses, gradients, units and updates whose numbers show that a training goes wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from torchsleuth.messages import message
from torchsleuth.training import PART, Activation, Parameter
from torchsleuth.verdicts.computed import set_to
from torchsleuth.verdicts.evidence import ENOUGH, TOO_LARGE, Course, Evidence, Finding
from torchsleuth.verdicts.text import cast_to_short, constructed, initialised, updated

DEAD = 0.9
SWINGS = 0.08
"""Usual norm of late updates, relative to that of the parameters, with which a loss swings instead of falling."""
TOO_SMALL = 1e-5
VANISHED = 1e-5
EXPLODED = 1e5
LARGE = 1e3
"""Norm of all gradients, relative to that of the parameters: by itself, and where the loss overflows within a few steps."""
STEPS = 30
"""Steps without which nothing is said of a loss that does not fall."""


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _large_weights(evidence)
    yield from _exploding(evidence)
    yield from _uphill(evidence)
    yield from _thrown_over(evidence)
    yield from _too_large(evidence)
    yield from _swinging(evidence)
    yield from _dead(evidence)
    yield from _saturated(evidence)
    yield from _vanishing(evidence)
    yield from _fading(evidence)
    yield from _clipped_away(evidence)
    yield from _too_small(evidence)
    yield from _left_behind(evidence)
    yield from _rounded_away(evidence)
    yield from _always_zero(evidence)
    yield from _decayed(evidence)
    yield from _same_output(evidence)
    yield from _collapsed(evidence)
    yield from _rising(evidence)
    yield from _without_bound(evidence)
    yield from _large_targets(evidence)
    yield from _of_a_guess(evidence)


def _worse(course: Course) -> bool:
    """Whether the loss is higher at the end than in the beginning, or no number any more."""
    return course.bad > course.count // 2 or not course.values or course.late > 2 * abs(course.early) + 1e-6


def _first_loss(evidence: Evidence, course: Course) -> float | None:
    first = [one.values.first for one in evidence.training.losses if one.values.first_bad != 1 and one.values.points]
    return first[0] if first else (course.values[0] if course.values else None)


def _exploding(evidence: Evidence) -> Iterator[Finding]:
    """Gradients are as large from the first step on, before any update could have made them so."""
    steps = evidence.steps
    overflows = evidence.training.bad is not None and evidence.training.bad.step <= 2 * ENOUGH
    if not steps or steps[0].number > 2 or steps[0].gradient < (LARGE if overflows else EXPLODED):
        return
    if _large_data(evidence):
        return
    weights = [one for one in evidence.training.parameters if one.samples and one.samples[0].gradient is not None]
    largest = max(weights, key=lambda one: one.samples[0].gradient or 0.0, default=None)
    if largest is None:
        return
    values = {"name": largest.name, "norm": largest.samples[0].gradient, "ratio": steps[0].gradient}
    yield Finding("TS923", evidence.loss_place, message("run.exploding", **values), rank=20)


START = 5.0
"""Times that the first loss is above that of a guess, for a start that is far off."""
LARGE_WEIGHTS = 4.0
"""The root of the mean square of a weight, relative to 1 / sqrt(inputs): layers of PyTorch begin with 0.6, He et al. with 1.4."""


def _large_weights(evidence: Evidence) -> Iterator[Finding]:
    """The first loss is many times that of a guess, since the weights are too large for their numbers of inputs."""
    course = evidence.course
    first = _first_loss(evidence, course) if course is not None else None
    guess = math.log(max(len(evidence.shares_of_labels), 2))
    if course is None or first is None or course.loss.kind not in ("cross_entropy", "nll") or first < START * guess:
        return
    scales = {one.name: scale for one in _weights(evidence) if (scale := _scale(one)) is not None}
    if not scales or median(scales.values()) < LARGE_WEIGHTS or _large_data(evidence):
        return
    name = max(scales, key=lambda one: scales[one])
    values = {"name": name, "scale": scales[name], "first": first, "guess": guess}
    weights = [one for one in evidence.training.parameters if one.name == name]
    yield Finding("TS950", initialised(evidence, weights[0]), message("run.large_weights", **values), rank=17)


def _scale(parameter: Parameter) -> float | None:
    """The root of the mean square of a weight in the first step, relative to 1 / sqrt(inputs)."""
    known = parameter.samples[0] if parameter.samples else None
    if known is None or known.norm is None or known.step > 2 or (known.update or 0.0) > 0.5:
        return None
    elements = math.prod(parameter.shape)
    seen = elements / math.ceil(elements / PART)  # the norm is that of a part
    return known.norm * math.sqrt(elements / parameter.shape[0] / seen)


def _large_data(evidence: Evidence) -> bool:
    """Whether inputs or targets are large themselves."""
    samples = (*evidence.samples("first"), *evidence.samples("input"), *evidence.samples("target"))
    return any(max(abs(one.low or 0.0), abs(one.high or 0.0)) > 100 for one in samples if "int" not in one.dtype)


def _too_large(evidence: Evidence) -> Iterator[Finding]:
    largest = evidence.largest_update
    if largest < TOO_LARGE or not evidence.courses:
        return
    course = evidence.courses[0]
    first = _first_loss(evidence, course)
    worse = _worse(course) or first is not None and course.values and course.late > 2 * abs(first)
    died = any(_died(one) for one in evidence.training.activations)
    if worse or died or _thrown(course, first):
        step = max(evidence.steps, key=lambda one: one.update)
        text = message("run.too_large", ratio=largest, step=step.number, lower=_lower(evidence))
        yield Finding("TS927", evidence.update_place, text, rank=22)


def _thrown_over(evidence: Evidence) -> Iterator[Finding]:
    """The steps of an optimizer change more than all of its parameters, from first to last."""
    for number, one in enumerate(evidence.training.optimizers):
        late = [step.update for step in evidence.steps_of(evidence.parameters_of(number))[2:]]
        if one in evidence.stepped and one.steps >= STEPS and len(late) >= ENOUGH + 2 and min(late) >= TOO_LARGE:
            text = message("run.thrown_over", type=one.type, ratio=median(late), lower=_lower(evidence))
            yield Finding("TS927", one.place, text, rank=28)
            return


UPHILL = 0.05
"""Cosine between an update and the gradient, from which on it goes up, whatever momentum and noise do."""


def _uphill(evidence: Evidence) -> Iterator[Finding]:
    """The first steps of an optimizer go along the gradient, and the loss rises."""
    course = evidence.course
    if course is None or not (course.bad or len(course.values) > ENOUGH and course.late > course.early):
        return
    for optimizer in evidence.stepped:
        if len(optimizer.slopes) >= ENOUGH and min(optimizer.slopes) > UPHILL:
            text = message("run.uphill", type=optimizer.type, count=len(optimizer.slopes))
            yield Finding("TS948", updated(evidence, optimizer) or optimizer.place, text, rank=10)


def _thrown(course: Course, first: float | None) -> bool:
    """Whether the loss rose to several times its first value, and has not come down to half of that."""
    if first is None or first <= 0 or not course.values:
        return False
    return max(course.values) > 3 * first and course.late > first / 2


def _lower(evidence: Evidence) -> str:
    """The remedy for steps that are too large; where the script makes them itself, their rate is not known."""
    rates = [group.rates.high for one in evidence.stepped for group in one.groups if group.rates.high is not None]
    return message("run.lower_rate", rate=max(rates)) if rates else message("run.lower_step")


def _swinging(evidence: Evidence) -> Iterator[Finding]:
    """The loss goes up and down and has stopped falling, while each step changes much of the parameters."""
    course = evidence.course
    if course is None or course.loss.kind not in _SUPERVISED or course.bad or len(course.values) < 2 * STEPS:
        return
    late = [one.update for one in evidence.steps if 5 * one.number > evidence.training.steps]
    if len(late) < ENOUGH or median(late) < SWINGS:
        return
    half = course.values[len(course.values) // 2 :]
    falls = median(half[len(half) // 2 :]) < 0.9 * median(half[: len(half) // 2])
    low, high = (sorted(half)[len(half) * part // 10] for part in (1, 9))
    if not falls and course.late > course.early / 2 and high > 1.2 * low:
        text = message("run.swinging", low=low, high=high, ratio=median(late), lower=_lower(evidence))
        yield Finding("TS927", evidence.update_place, text, rank=29)


def _died(activation: Activation) -> bool:
    """Whether units that worked in the first step are off at the end."""
    dead = [one.dead for one in activation.samples if one.dead is not None]
    return len(dead) > ENOUGH and dead[0] < 0.5 and _dead_at_the_end(dead)


def _dead_at_the_end(dead: list[float]) -> bool:
    """Whether most units are off in the last looks."""
    return len(dead) >= ENOUGH and min(dead[-max(ENOUGH, len(dead) // 3) :]) >= DEAD


def _dead(evidence: Evidence) -> Iterator[Finding]:
    for activation in evidence.training.activations:
        dead = [one.dead for one in activation.samples if one.dead is not None]
        late = dead[-max(ENOUGH, len(dead) // 3) :]
        if activation.function == "relu" and _dead_at_the_end(dead):
            values = {"share": min(late), "after": activation.after or "the layer before", "count": len(late)}
            yield Finding("TS925", activation.place or evidence.loss_place, message("run.dead", **values), rank=24)
            return


def _saturated(evidence: Evidence) -> Iterator[Finding]:
    """Units at the bounds of their function from the first step on, in a layer with others behind it."""
    last = max((one.order for one in evidence.training.activations), default=0)
    for activation in evidence.training.activations:
        shares = [one.saturated for one in activation.samples if one.saturated is not None]
        inner = activation.after is not None and (activation.order < last or activation.function == "tanh")
        if inner and len(shares) >= ENOUGH and min(shares) >= DEAD and _flat(evidence):
            values = {"share": min(shares), "after": activation.after, "function": activation.function}
            place = activation.place or evidence.loss_place
            yield Finding("TS926", place, message("run.saturated", **values), rank=25)
            return


def _flat(evidence: Evidence, share: float = 0.05) -> bool:
    """Whether the loss has not fallen."""
    course = evidence.course
    return (
        course is not None and len(course.values) >= ENOUGH and course.late >= course.early - share * abs(course.early)
    )


def _weights(evidence: Evidence) -> list[Parameter]:
    """Weights of layers in the order in which they were made, that gradients come to."""
    return [
        one
        for one in evidence.training.parameters
        if len(one.shape) >= 2 and one.trainable and one.reached >= ENOUGH and one.module is not None
        and evidence.training.modules[one.module].type != "Embedding"
    ]  # fmt: skip


def _relative(parameter: Parameter) -> dict[int, float]:
    """The norm of the gradient by step, relative to that of the parameter."""
    return {one.step: one.gradient / one.norm for one in parameter.samples if one.gradient and one.norm}


def _vanishing(evidence: Evidence) -> Iterator[Finding]:
    """All of the first layers have next to no gradient: a single one has its own reasons, as the queries of an attention that looks
    everywhere alike."""
    weights = _weights(evidence)
    if len(weights) < 4:
        return
    first, last = max(weights[: len(weights) // 4], key=_middle), max(weights[len(weights) // 2 :], key=_middle)
    one, other = _relative(first), _relative(last)
    ratios = [one[step] / other[step] for step in sorted(one.keys() & other.keys()) if step > 1]
    if len(ratios) < ENOUGH or median(ratios) > VANISHED:
        return
    bounded = sum(one.function in ("sigmoid", "tanh") for one in evidence.training.activations)
    through = f", through {bounded} sigmoid or tanh" if bounded >= 3 else ""
    values = {"first": first.name, "last": last.name, "ratio": median(ratios), "through": through}
    yield Finding("TS924", evidence.loss_place, message("run.vanishing", **values), rank=26)


def _fading(evidence: Evidence) -> Iterator[Finding]:
    """The outputs of the layers differ less and less between samples, until nothing of the input is left, nor of the gradient on its
    way back."""
    found = [
        (median(known), one)
        for one in sorted(evidence.training.activations, key=lambda one: one.order)
        if len(known := [sample.std for sample in one.samples if sample.std is not None]) >= ENOUGH
    ]
    if len(found) < 4 or not _flat(evidence):
        return
    first = max(std for std, _ in found[: len(found) // 4])
    last = max(std for std, _ in found[-(len(found) // 4) :])
    if 0 < last <= VANISHED * first:
        place = next(one.place for std, one in found if std < first / 10)
        text = message("run.fading", first=first, last=last, count=len(found))
        yield Finding("TS924", place or evidence.loss_place, text, rank=26)


def _middle(parameter: Parameter) -> float:
    return median(_relative(parameter).values() or [0.0])


CUT = 100
"""Times that clipping makes gradients smaller, which is more than it does to keep them from exploding."""


def _clipped_away(evidence: Evidence) -> Iterator[Finding]:
    """Next to nothing is left of the gradients after clipping, so that no step changes the parameters."""
    clips = {event.place for event in evidence.training.events if event.kind == "clip" and event.count >= ENOUGH}
    steps = [one for one in evidence.steps if one.gradient]
    before = evidence.training.gradient_norm.values
    if len(clips) != 1 or len(steps) < ENOUGH or not before or not _flat(evidence):
        return
    after = median(one.gradient * one.norm for one in steps)
    largest = max(one.update for one in steps)
    if largest < TOO_SMALL and median(before) >= CUT * after:
        values = {"before": median(before), "after": after, "ratio": largest}
        yield Finding("TS949", clips.pop(), message("run.clipped_away", **values), rank=26)


def _too_small(evidence: Evidence) -> Iterator[Finding]:
    """All updates of a whole training are next to nothing, though there are gradients."""
    steps = [one for one in evidence.steps if one.gradient > 1e-8]
    if len(steps) < 4 or evidence.training.steps < STEPS or evidence.training.scale.count:
        return
    largest = max(one.update for one in steps)
    rates = [group.rates.high for one in evidence.stepped for group in one.groups if group.rates.high is not None]
    if largest < 1e-8 or largest < TOO_SMALL and _flat(evidence):
        if any(event.kind == "clip-scaled" for event in evidence.training.events):
            return
        if rates and not max(rates):
            steps_made = evidence.training.steps
            near = evidence.optimizer_place
            made = (constructed(evidence, one.type, near) for one in evidence.training.schedulers)
            place = next((one for one in made if one is not None), near)
            yield Finding("TS544", place, message("run.rate_of_zero", steps=steps_made), rank=27)
            return
        values = {"ratio": largest, "rate": max(rates, default=0.0)}
        yield Finding("TS928", evidence.optimizer_place, message("run.too_small", **values), rank=27)


APART = 100
"""Times that the steps of another optimizer are larger."""


def _left_behind(evidence: Evidence) -> Iterator[Finding]:
    """Of several optimizers, the steps of one change next to nothing, those of another one do."""
    largest: dict[int, float] = {}
    for number, one in enumerate(evidence.training.optimizers):
        steps = [step for step in evidence.steps_of(evidence.parameters_of(number)) if step.gradient > 1e-8]
        if one in evidence.stepped and one.steps >= STEPS and len(steps) >= 4:
            largest[number] = max(step.update for step in steps)
    for number, ratio in largest.items():
        if ratio < TOO_SMALL and ratio * APART < max(largest.values()):
            one = evidence.training.optimizers[number]
            rate = max((group.rates.high or 0.0 for group in one.groups), default=0.0)
            if rate:
                text = message("run.left_behind", type=one.type, ratio=ratio, rate=rate, other=max(largest.values()))
                yield Finding("TS928", one.place, text, rank=27)


def _same_output(evidence: Evidence) -> Iterator[Finding]:
    """Every sample of a batch gets the same prediction, though the inputs differ."""
    inputs = evidence.samples("input")
    if evidence.training.steps < 2 * ENOUGH or not inputs or any(one.rows_equal for one in inputs):
        return
    for batches in evidence.batches("prediction"):
        late = [one for one in batches.samples if one.step > 2]
        if len(late) < ENOUGH or any(len(one.shape) < 1 or one.shape[0] < 4 for one in late):
            continue
        if all(one.rows_equal for one in late):
            values = {"count": late[-1].shape[0], "looks": len(late)}
            yield Finding("TS922", batches.place or evidence.loss_place, message("run.same_output", **values), rank=30)
            return


TOGETHER = 0.15
"""How far outputs are apart that have come together, relative to their size and to how far they were apart."""


def _collapsed(evidence: Evidence) -> Iterator[Finding]:
    """Embeddings of different inputs come together in one point, under a loss that the script computes without targets."""
    course = evidence.course
    if course is None or course.loss.kind is not None or evidence.training.steps < STEPS:
        return
    falls = min(course.values) >= 0 and course.late <= 0.05 * course.early
    aligned = min(course.values) >= -1.001 and course.late <= -0.9  # the mean of cosines, with a minus
    if not (falls or aligned) or any(one.rows_equal for one in evidence.samples("input")):
        return
    for batches in evidence.batches("output"):
        spread = [one.distance for one in batches.samples if one.distance is not None and one.shape[-1] >= 4]
        if len(spread) > ENOUGH and spread[-1] <= TOGETHER and spread[-1] <= TOGETHER * max(spread):
            values = {"first": max(spread), "last": spread[-1]}
            yield Finding("TS922", batches.place, message("run.collapsed", **values), rank=30)
            return


LOST = 0.5
"""Share of updates that are too small for the numbers that they are added to."""


def _rounded_away(evidence: Evidence) -> Iterator[Finding]:
    """Parameters of 16 bits that most steps do not change, though they have gradients."""
    shares = [
        (sample.lost, sample.update or 0.0)
        for one in evidence.training.parameters
        if len(one.shape) >= 2
        for sample in one.samples
        if sample.lost is not None and 8 * sample.step > evidence.training.steps
    ]
    if len(shares) < 2 * ENOUGH or evidence.training.steps < STEPS or evidence.training.scale.count:
        return
    lost = sum(share for share, _ in shares) / len(shares)
    if lost >= LOST:
        near = evidence.optimizer_place
        text = message("run.rounded_away", share=lost, ratio=median(update for _, update in shares))
        yield Finding("TS955", cast_to_short(evidence, near) or near, text, mild=True)


def _always_zero(evidence: Evidence) -> Iterator[Finding]:
    """A loss that is 0 in each step has no gradient."""
    for course in evidence.courses:
        if course.count >= STEPS and course.values and not course.bad and not any(course.values):
            text = message("run.always_zero", count=course.count)
            yield Finding("TS921", course.loss.place, text, rank=12)
            return


def _decayed(evidence: Evidence) -> Iterator[Finding]:
    """The weights shrink towards zero, faster than the loss can hold against it."""
    decay = [group.weight_decay or 0.0 for one in evidence.stepped for group in one.groups]
    norms = evidence.norms
    if not decay or not max(decay) or evidence.training.steps < STEPS or len(norms) <= ENOUGH:
        return
    if norms[-1] <= 0.1 * norms[0] and _flat(evidence, 0.1):
        values = {"decay": max(decay), "share": norms[-1] / norms[0]}
        near = evidence.optimizer_place
        place = set_to(evidence, near, "weight_decay", max(decay)) or near
        yield Finding("TS944", place, message("run.decayed", **values), rank=16)
        return
    yield from _outweighed(evidence, max(decay), norms)


HEAVY = 0.05
"""A weight decay that is part of the gradient, from which on it is looked at whether it outweighs the loss."""
_COUPLED = frozenset(("SGD", "Adam", "RMSprop", "Adagrad"))
"""Optimizers that add it to the gradient."""


def _outweighed(evidence: Evidence, decay: float, norms: list[float]) -> Iterator[Finding]:
    """The loss has stopped falling where the weight decay, a loss of half its square norm times itself, is as large."""
    course, optimizer = evidence.course, evidence.stepped[0] if evidence.stepped else None
    if course is None or optimizer is None or optimizer.type not in _COUPLED or decay < HEAVY or course.bad:
        return
    whole = all(group.weight_decay == decay for group in optimizer.groups)
    late = median(norms[-max(1, len(norms) // 3) :])
    middle = course.values[len(course.values) // 3 : 2 * len(course.values) // 3]
    stays = bool(middle) and course.late >= 0.8 * median(middle)
    if whole and stays and late < norms[0] and decay / 2 * late**2 >= course.late > 0:
        values = {"decay": decay, "penalty": decay / 2 * late**2, "last": course.late}
        near = evidence.optimizer_place
        place = set_to(evidence, near, "weight_decay", decay) or near
        yield Finding("TS944", place, message("run.outweighed", **values), rank=16)


BOUNDLESS = 1e4
"""Times the size of the first loss, below zero."""


def _without_bound(evidence: Evidence) -> Iterator[Finding]:
    """A loss that falls below zero and on and on: one of its terms has the wrong sign."""
    for course in evidence.courses:
        first = _first_loss(evidence, course)
        if first is None or course.count < STEPS or not course.values:
            continue
        bound = BOUNDLESS if not _goes_on_falling(course) else BOUNDLESS / 300
        if course.late < -bound * max(1.0, abs(first)):
            values = {"first": first, "last": course.late}
            yield Finding("TS945", course.loss.place, message("run.without_bound", **values), rank=18)
            return


def _goes_on_falling(course: Course) -> bool:
    """Whether a loss falls as fast at the end as before, after a hundred steps."""
    if course.count < 100 or len(course.values) < 20:
        return False
    early, middle, late = (median(course.values[int(len(course.values) * part) :][:5]) for part in (0, 0.45, 0.9))
    return middle - late >= 0.8 * (early - middle) > 0


LARGE_TARGETS = 100.0


def _large_targets(evidence: Evidence) -> Iterator[Finding]:
    """A regression to large numbers, of which the predictions do not come near in the whole training."""
    course = evidence.course
    if course is None or course.loss.kind not in _DISTANCES or evidence.training.steps < STEPS or course.bad:
        return
    last = {role: samples[-1] for role in ("prediction", "target") if (samples := evidence.samples(role))}
    if len(last) < 2 or any(one.mean is None or one.std is None for one in last.values()):
        return
    target, prediction = last["target"], last["prediction"]
    size, reached = (abs(one.mean or 0.0) + (one.std or 0.0) for one in (target, prediction))
    if size > LARGE_TARGETS and reached < size / 10:
        values = {"mean": target.mean, "std": target.std, "reached": reached, "steps": evidence.training.steps}
        place = next((one.place for one in evidence.batches("target") if one.place is not None), course.loss.place)
        yield Finding("TS951", place, message("run.large_targets", **values), rank=15)


def _of_a_guess(evidence: Evidence) -> Iterator[Finding]:
    """The loss of a classifier is that of a guess from the first step to the last, for whatever reason."""
    course = evidence.course
    if course is None or course.loss.kind not in ("cross_entropy", "nll") or course.bad or course.count < LONG:
        return
    plain = course.loss.mean and not course.loss.scaled
    quarter = max(1, len(course.values) // 4)
    falls = course.late < 0.95 * median(course.values[quarter : 2 * quarter] or course.values)
    classes, guess = len(evidence.shares_of_labels), evidence.guess
    even = classes > 1 and guess >= EVEN * math.log(classes)  # a loss of others may be weighted
    if not even or not plain or falls or not 0.97 * guess <= course.late <= 1.5 * guess:
        return
    late = [one.update for one in evidence.steps if 5 * one.number > evidence.training.steps]
    rates = [group.rates.high or 0.0 for one in evidence.stepped for group in one.groups]
    if late and median(late) >= RESTLESS and "Adam" in evidence.stepped[0].type and max(rates) >= HIGH_RATE:
        values = {"last": course.late, "guess": guess, "ratio": median(late), "lower": _lower(evidence)}
        yield Finding("TS927", evidence.update_place, message("run.restless", **values), rank=29)
        return
    values = {"steps": course.count, "last": course.late, "guess": evidence.guess, "classes": classes}
    yield Finding("TS921", course.loss.place, message("run.of_a_guess", **values), rank=50)


RESTLESS = 0.02
"""Usual norm of late updates, relative to that of the parameters, of a classifier that is no better than a guess."""
HIGH_RATE = 0.05
"""Learning rates of Adam from here on change weights as they begin by all of their size, in a few steps."""
EVEN = 0.8
"""Of ln(classes), the loss of a guess where the classes are about as frequent as one another."""
LONG = 100
"""Steps in which any classifier gets better than a guess."""
_DISTANCES = frozenset(("mse", "huber", "smooth_l1"))
_SUPERVISED = frozenset(("cross_entropy", "nll", "mse", "bce", "bce_with_logits", "huber", "smooth_l1"))


def _rising(evidence: Evidence) -> Iterator[Finding]:
    course = evidence.course
    if course is None or course.loss.kind not in _SUPERVISED or evidence.training.steps < STEPS or course.bad:
        return
    if course.early > 0 and course.late > 3 * course.early:
        values = {"first": course.early, "last": course.late}
        yield Finding("TS921", course.loss.place, message("run.rising", **values), rank=40)
