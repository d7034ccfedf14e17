"""Faults in the order of a training loop and in the form of a loss, as a run has seen them, with the numbers it counted.

Each needs several steps that agree. What the text shows too has the same code here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.syntax.forms import is_attribute, nodes_in
from torchsleuth.training import Event, Optimizer, Scheduler
from torchsleuth.verdicts.computed import rounded_weight
from torchsleuth.verdicts.evidence import ENOUGH, Evidence, Finding, falls_to
from torchsleuth.verdicts.text import (
    calls,
    condition_of_step,
    constructed,
    filled,
    function_around,
    handed_over,
    name_of,
    place_of,
    rebound,
)

MANY = 8
SEVERAL = 20
LONG = 100
SELDOM = 4
"""Steps for one clearing of the gradients, at least."""
STATELESS = "SGD"
MEMORY = 100
"""Steps that an optimizer is given at least which scales by averages of squared gradients, of the thousand they are made for."""


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _of_gradients(evidence)
    yield from _unmoved(evidence)
    yield from _nothing_loaded(evidence)
    yield from _of_events(evidence)
    yield from _masked_extremes(evidence)
    yield from _weights_of_zero(evidence)
    yield from _anomalies(evidence)
    yield from _accumulated(evidence)
    yield from _made_again(evidence)
    yield from _schedules(evidence)
    yield from _kept(evidence)
    yield from _scale(evidence)
    yield from _samples_for_time(evidence)


def _of_gradients(evidence: Evidence) -> Iterator[Finding]:
    """Faults in the steps of each optimizer: no gradients, those of older steps, no steps."""
    for optimizer in evidence.training.optimizers:
        steps, values = optimizer.steps, {"type": optimizer.type, "steps": optimizer.steps}
        if optimizer.closure:
            continue
        if steps == 0:
            yield from _never_stepped(evidence, optimizer)
        elif steps < ENOUGH:
            continue
        elif optimizer.without_gradients == steps:
            if optimizer.backwards == 0:
                yield Finding("TS502", optimizer.step_place, message("run.no_backward", **values))
            elif optimizer.cleared_after_backward >= steps - 1:  # before the first one, the optimizer was not known
                yield Finding("TS504", optimizer.clear_place, message("run.cleared_early", **values))
            else:
                yield from _without_graph(evidence)
        elif steps > ENOUGH and optimizer.uncleared == steps - 1 and optimizer.clear_place is None:
            text = message("run.not_cleared", count=optimizer.uncleared, **values)
            yield Finding("TS501", optimizer.backward_place, text)
        elif optimizer.discarded >= steps - 1 and _accumulates(evidence):
            yield Finding("TS525", optimizer.clear_place, message("run.discarded", **values))
        elif steps >= SEVERAL and SELDOM * optimizer.uncleared >= (SELDOM - 1) * steps:
            text = message("run.seldom_cleared", count=optimizer.uncleared, **values)
            yield Finding("TS501", optimizer.clear_place, text)


def _accumulates(evidence: Evidence) -> bool:
    """Whether one scaled loss goes backward several times for each step, and nothing in its file reads gradients."""
    course = evidence.course
    if course is None or course.loss.place is None or not course.loss.scaled or evidence.training.scale.count:
        return False
    several = evidence.training.backwards >= 2 * evidence.training.steps
    tree = evidence.tree(course.loss.place.path)
    return several and not any(is_attribute(node, "grad") for node in nodes_in(tree, ast.Attribute))


def _unmoved(evidence: Evidence) -> Iterator[Finding]:
    """A loop without an optimizer changes no parameter that gradients came to: what it updates is only a name for it."""
    training, place = evidence.training, evidence.loss_place
    reached = [one for one in training.parameters if one.reached >= ENOUGH]
    idle = not training.optimizers and training.backwards >= MANY and all(one.changed is False for one in reached)
    found = rebound(evidence, place.path) if idle and reached and place is not None else None
    if found is not None:
        yield Finding("TS528", found, message("run.unmoved", count=training.backwards))


def _nothing_loaded(evidence: Evidence) -> Iterator[Finding]:
    """All keys of a state differ by a prefix from those of the module, and ``strict=False`` lets that pass."""
    for event in evidence.training.events:
        if event.kind != "keys-apart":
            continue
        has, wants = event.details["has"], event.details["wants"]
        if event.details["unexpected"] >= event.details["missing"] and (has.endswith(wants) or wants.endswith(has)):
            text = message("run.nothing_loaded", count=event.details["unexpected"], has=has, wants=wants)
            yield Finding("TS530", event.place, text, mild=True)
            return


def _never_stepped(evidence: Evidence, optimizer: Optimizer) -> Iterator[Finding]:
    training = evidence.training
    number = training.optimizers.index(optimizer)
    own = [one for one in training.parameters if one.optimizer == number and one.reached]
    unchanged = own and all(one.changed is False for one in own)
    if unchanged and training.backwards >= ENOUGH and not training.scale.count:
        condition = None if evidence.stepped else condition_of_step(evidence)
        if condition is not None:
            values = {"type": optimizer.type, "count": training.backwards, "condition": evidence.text(condition)}
            yield Finding("TS503", condition, message("run.step_condition", **values))
            return
        text = message("run.never_stepped", type=optimizer.type, count=training.backwards)
        yield Finding("TS503", optimizer.place if evidence.stepped else evidence.loss_place, text)


def _without_graph(evidence: Evidence) -> Iterator[Finding]:
    """The loss is a tensor made anew, with ``requires_grad`` set by hand."""
    for course in evidence.courses:
        place = course.loss.place
        if place is None or course.loss.leaf < max(ENOUGH, course.loss.values.count):
            continue
        tree = evidence.tree(place.path)
        made = [
            node
            for node in nodes_in(tree, ast.Call)
            if (
                name_of(node.func) == "requires_grad_"
                or any(keyword.arg == "requires_grad" for keyword in node.keywords)
            )
        ]
        near = [node for node in made if function_around(tree, node.lineno) is function_around(tree, place.line)]
        chosen = place_of(place.path, (near or made)[-1]) if near or made else place
        yield Finding("TS402", chosen, message("run.leaf", count=course.count))


_EVENTS = {
    "softmax-before-cross-entropy": ("TS303", "run.softmax_before"),
    "sigmoid-before-bce-with-logits": ("TS304", "run.sigmoid_before"),
    "nll-without-log-softmax": ("TS305", "run.nll"),
    "softmax-over-batch": ("TS308", "run.softmax_batch"),
    "softmax-beside-classes": ("TS319", "run.softmax_beside"),
    "loss-broadcast": ("TS114", "run.broadcast"),
    "scores-too-close": ("TS957", "run.scores_too_close"),
    "not-cleared": ("TS501", "run.not_cleared_by_hand"),
    "clip-after-step": ("TS509", "run.clip_late"),
    "clip-before-backward": ("TS509", "run.clip_early"),
    "clip-scaled": ("TS509", "run.clip_scaled"),
}
"""Code and message by the kind of an event."""


def _of_events(evidence: Evidence) -> Iterator[Finding]:
    for event in evidence.training.events:
        known = _EVENTS.get(event.kind)
        if known is None or event.place is None or event.count < ENOUGH or _also_otherwise(event, evidence):
            continue
        values = {
            "layer": "",
            "shape": "",
            "high": 0.0,
            "factor": 0.0,
            "apart": 0.0,
            "dim": 0,
            "axis": 0,
            **event.details,
            "count": event.count,
        }
        yield Finding(known[0], event.place, message(known[1], **values), mild=known[0] == "TS509")


def _masked_extremes(evidence: Evidence) -> Iterator[Finding]:
    """The minimum of each row is one of the zeros of a mask, in each step that was looked at."""
    for event in evidence.training.events:
        if event.kind == "extreme-of-masked" and event.place is not None and event.count >= ENOUGH:
            function = event.details["function"]
            fill = 'float("inf")' if function == "min" else '-float("inf")'
            text = message("run.masked_extreme", function=function, rows=event.details["rows"], fill=fill)
            yield Finding("TS358", event.place, text, mild=True)


def _weights_of_zero(evidence: Evidence) -> Iterator[Finding]:
    """The weight of a term is computed by a division that rounds down, and was 0 in all steps of a long training."""
    for event in evidence.training.events:
        always = event.kind == "term-of-zero" and event.count >= max(MANY - 2, int(event.details["looked"]))
        if not always or event.place is None or evidence.training.steps < LONG:
            continue
        found = rounded_weight(evidence, event.place)
        if found is not None:
            values = {"factor": found[0], "text": evidence.text(found[1]), "steps": evidence.training.steps}
            yield Finding("TS586", found[1], message("run.weight_zero", **values), mild=True)
            return


def _anomalies(evidence: Evidence) -> Iterator[Finding]:
    """Autograd keeps a stack for each function, and looks for NaN in each gradient, from the first step to the last."""
    event = next((one for one in evidence.training.events if one.kind == "anomaly-detection"), None)
    if event is None or evidence.training.steps < SEVERAL or evidence.training.bad is not None:
        return
    near = evidence.loss_place
    found = (
        []
        if near is None
        else [
            place_of(near.path, call)
            for name in ("set_detect_anomaly", "detect_anomaly", "Trainer")
            for call in calls(evidence.tree(near.path), name)
            if name != "Trainer" or any(one.arg == "detect_anomaly" for one in call.keywords)
        ]
    )
    text = message("run.anomalies", steps=evidence.training.steps)
    yield Finding("TS958", found[0] if len(found) == 1 else near, text, mild=True)


def _also_otherwise(event: Event, evidence: Evidence) -> bool:
    """Whether the same call clips in the right place, too, or the gradients are cleared before many of the other updates."""
    if event.kind == "not-cleared":
        return SELDOM * event.count < (SELDOM - 1) * int(event.details["looked"])
    return event.kind.startswith("clip") and any(
        other.kind == "clip" and other.place == event.place and other.count > event.count // ENOUGH
        for other in evidence.training.events
        if event.kind != "clip-scaled"
    )


def _accumulated(evidence: Evidence) -> Iterator[Finding]:
    course = evidence.course
    if course is None or course.loss.per_step is None or evidence.training.scale.count:
        return
    low, high = course.loss.per_step
    loss = course.loss
    if low >= 2 and high - low <= high // 2 and loss.mean and not loss.scaled and evidence.training.steps >= ENOUGH:
        text = message("run.accumulated", count=high)
        yield Finding("TS514", loss.place, text, mild=True)


def _made_again(evidence: Evidence) -> Iterator[Finding]:
    """Optimizers with a memory that is lost, because they are made again and again for the same parameters."""
    again = [one for one in evidence.training.optimizers if one.again >= ENOUGH]
    for optimizer in again[:1]:
        alike = [one for one in evidence.training.optimizers if one.place == optimizer.place]
        short = max(one.steps for one in alike) <= _memory(optimizer)
        rates = {group.rates.first for one in alike for group in one.groups}
        if short and len(rates) == 1 and not optimizer.closure:
            text = message("run.made_again", type=optimizer.type, count=len(alike), steps=optimizer.steps)
            yield Finding("TS535", optimizer.place, text, mild=True)


def _memory(optimizer: Optimizer) -> int:
    """The steps that an optimizer averages over; 0 for one that remembers nothing."""
    momentum = max((group.momentum or 0.0 for group in optimizer.groups), default=0.0)
    if optimizer.type == STATELESS and not momentum:
        return 0
    return 4 if optimizer.type == STATELESS else MEMORY


def _schedules(evidence: Evidence) -> Iterator[Finding]:
    for scheduler in evidence.training.schedulers:
        number = scheduler.optimizer
        if number is None or not 0 <= number < len(evidence.training.optimizers):
            continue
        optimizer = evidence.training.optimizers[number]
        constant = all(group.rates.low == group.rates.high for group in optimizer.groups)
        if scheduler.steps == 0 and constant and _several_passes(evidence, optimizer):
            near = optimizer.place or optimizer.step_place
            place = constructed(evidence, scheduler.type, near) or near
            text = message("run.schedule_unused", type=scheduler.type, steps=optimizer.steps)
            yield Finding("TS938", place, text, mild=True)
        elif cycles := list(_cycles(evidence, scheduler, optimizer)):
            yield from cycles
        elif fast := list(_too_fast(evidence, scheduler, optimizer)):
            yield from fast
        elif slow := list(_too_slow(evidence, scheduler, optimizer)):
            yield from slow
        elif (
            scheduler.before_first_step
            and optimizer.steps
            and scheduler.steps >= 2
            and not evidence.training.scale.count
        ):
            text = message("run.schedule_early", type=scheduler.type)
            yield Finding("TS508", scheduler.step_place, text, mild=True)


def _several_passes(evidence: Evidence, optimizer: Optimizer) -> bool:
    """Whether the training went on behind its first pass over the data, as far as that is known."""
    rounds = [loader.rounds for loader in evidence.training.loaders if loader.training]
    return optimizer.steps >= 2 * MANY and max(rounds) >= 2 if rounds else optimizer.steps >= 6 * MANY


def _too_fast(evidence: Evidence, scheduler: Scheduler, optimizer: Optimizer) -> Iterator[Finding]:
    """The learning rate is next to nothing for the larger part of the training: steps were taken for epochs."""
    if scheduler.steps < 0.8 * (scheduler.counted or optimizer.steps) or optimizer.steps < 20 or not optimizer.groups:
        return
    rates = optimizer.groups[0].rates
    values = [(step, value) for step, value in rates.points if value is not None]
    high = rates.high or 0.0
    small = [step for step, value in values if value < 1e-3 * high]
    lasts = small and all(value < 1e-3 * high for step, value in values if step >= small[0])
    begins = next((step for step, value in values if value == high), 0)
    if lasts and begins < small[0] <= 0.6 * values[-1][0]:
        text = message("run.schedule_fast", type=scheduler.type, high=high, step=small[0], steps=optimizer.steps)
        near = optimizer.place or optimizer.step_place
        yield Finding("TS536", scheduler.step_place or constructed(evidence, scheduler.type, near) or near, text)


def _cycles(evidence: Evidence, scheduler: Scheduler, optimizer: Optimizer) -> Iterator[Finding]:
    """A cosine that is made for as many steps as there are passes over the data goes up and down several times in each pass."""
    known = scheduler.settings.get("half_cycle", scheduler.settings.get("T_max"))
    loaders = [one for one in evidence.training.loaders if one.training and one.rounds]
    if (
        not isinstance(known, int)
        or len(loaders) != 1
        or scheduler.steps < 0.8 * (scheduler.counted or optimizer.steps)
    ):
        return
    passes = loaders[0].rounds
    batches = loaders[0].batches // passes
    about = passes // 2 <= known <= passes
    if about and known >= 2 and 2 * known <= batches and optimizer.steps >= max(MANY * known, SEVERAL):
        values = {"type": "CosineAnnealingLR", "length": known, "passes": passes, "count": batches, "cycle": 2 * known}
        near = optimizer.place or optimizer.step_place
        place = constructed(evidence, "CosineAnnealingLR", near) or scheduler.step_place or near
        yield Finding("TS536", place, message("run.cycles_in_a_pass", **values), mild=True)


_LENGTHS = ("total_steps", "T_max", "total_iters", "num_training_steps")
"""Settings of a scheduler that say for how many steps it is made."""


def _too_slow(evidence: Evidence, scheduler: Scheduler, optimizer: Optimizer) -> Iterator[Finding]:
    """A schedule that is as long as the steps of the optimizer were many goes on once an epoch: it hardly leaves its beginning."""
    lengths = [scheduler.settings[name] for name in _LENGTHS if name in scheduler.settings]
    made_for = max((one for one in lengths if isinstance(one, int)), default=0)
    alone = len(evidence.stepped) == 1 and 2 * scheduler.counted >= optimizer.steps >= SEVERAL
    if not alone or not 0.9 * optimizer.steps <= made_for <= 1.15 * optimizer.steps:
        return
    if 0 < scheduler.steps <= scheduler.counted // 5:
        values = {"type": scheduler.type, "length": made_for, "count": scheduler.steps, "steps": optimizer.steps}
        near = optimizer.place or optimizer.step_place
        made = constructed(evidence, scheduler.type, near)
        place = scheduler.step_place or (handed_over(evidence, made) if made is not None else None) or near
        yield Finding("TS536", place, message("run.schedule_slow", **values), mild=True)


def _kept(evidence: Evidence) -> Iterator[Finding]:
    """Graphs of older steps that are still alive: the line that keeps them."""
    for course in evidence.courses:
        loss, nodes = course.loss, course.loss.nodes
        grows = nodes.first and nodes.last and nodes.last > 1.5 * nodes.first
        if loss.retained >= ENOUGH and grows:
            text = message("run.carried", first=int(nodes.first or 0), last=int(nodes.last or 0))
            yield Finding("TS408", loss.place, text)
            return
    kept = sorted(evidence.training.kept, key=lambda one: (not one.grows, -one.alive))
    for one in kept:
        if one.grows:
            text = message("run.graph_grows", steps=one.steps)
            yield Finding("TS701", one.place, text, mild=True)
            return
    for one in kept:
        if one.holder and one.alive >= 4:
            place = filled(evidence, one.place.path, one.holder, one.place.line) or one.place
            text = message("run.graphs_kept", name=one.holder, count=one.alive)
            yield Finding("TS701", place, text, mild=True)
            return


def _scale(evidence: Evidence) -> Iterator[Finding]:
    scale = evidence.training.scale
    if scale.count >= MANY and falls_to(scale, 2**-10):
        text = message("run.scale", first=scale.first, last=scale.last, count=scale.count)
        yield Finding("TS937", evidence.training.scaler_place or evidence.loss_place, text)


def _samples_for_time(evidence: Evidence) -> Iterator[Finding]:
    """A recurrent layer that runs over the samples of the batch."""
    sizes = {sample.shape[0] for sample in evidence.samples("target") if sample.shape}
    if len(sizes) != 1:
        return
    (size,) = sizes
    for module in evidence.training.modules:
        shapes = module.shapes
        both = {sample.shape[:2] for sample in evidence.samples("target")} == {shape[:2] for shape in shapes}
        if both and size not in {one.batch_size for one in evidence.training.loaders if one.training}:
            continue  # targets that have a time too, which may come first as it does here
        if len(shapes) >= ENOUGH and all(len(shape) == 3 and shape[0] == size != shape[1] for shape in shapes):
            text = message("run.batch_for_time", type=module.type, shape=list(shapes[0]), count=size)
            yield Finding("TS119", module.sites[0].place if module.sites else module.place, text)
