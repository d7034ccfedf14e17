"""Parameters that do not learn: no gradient comes to them, no optimizer has them, all units of a layer stay one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.training import Module, Parameter, Place
from torchsleuth.verdicts.evidence import ENOUGH, Evidence, Finding
from torchsleuth.verdicts.text import assigned, cut, freezes, hooked, initialised, left_out

SHARE = 0.25
"""Of the elements of an optimizer, for parameters without a gradient that nothing in the text cuts off."""


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _in_containers(evidence)
    others = list(_of_others(evidence))
    yield from others
    if not others:
        yield from _not_optimized(evidence)
        yield from _not_reached(evidence)
        yield from _never_reached(evidence)
        yield from _frozen_on_the_way(evidence)
    yield from _alike(evidence)
    yield from _zero(evidence)


def _named(parameters: list[Parameter]) -> str:
    names = [parameter.name for parameter in parameters if parameter.name]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0] if names else "a tensor"


def _in_containers(evidence: Evidence) -> Iterator[Finding]:
    """Layers in lists and dictionaries, and tensors in attributes, that the module does not know."""
    found: dict[tuple[str, str], list[Parameter]] = {}
    for parameter in evidence.training.parameters:
        holder = parameter.holder
        if holder is not None and parameter.optimizer is None and parameter.trainable and parameter.reached >= ENOUGH:
            found.setdefault((holder["type"], holder["attribute"]), []).append(parameter)
    for (owner, attribute), parameters in found.items():
        tensor = all(one.holder is not None and one.holder["tensor"] for one in parameters)
        near = evidence.optimizer_place
        place = assigned(evidence, near.path, owner, attribute) if near is not None else None
        if evidence.stepped:
            values = {"owner": owner, "attribute": attribute, "count": len(parameters)}
            said = message("run.plain_tensor", **values) if tensor else message("run.plain_container", **values)
            yield Finding("TS519" if tensor else "TS511", place or near, said)


def _of_others(evidence: Evidence) -> Iterator[Finding]:
    """No gradient ever comes to what an optimizer has, but to other parameters: of a model made anew, of a copy."""
    parameters = evidence.training.parameters
    learning = [one for one in parameters if one.trainable and one.optimizer is None and one.reached >= ENOUGH]
    if not learning or any(one.changed for one in learning):
        return
    for number, optimizer in enumerate(evidence.training.optimizers):
        idle = optimizer.steps >= ENOUGH and optimizer.without_gradients == optimizer.steps and optimizer.backwards
        own = evidence.parameters_of(number)
        looked = all(one.looked >= ENOUGH and not one.reached and one.changed is not True for one in own)
        if idle and own and looked and not optimizer.cleared_after_backward:
            values = {"names": _named(learning), "elements": sum(map(_elements, learning)), "type": optimizer.type}
            yield Finding("TS512", optimizer.place, message("run.of_others", **values))
            return


def _not_optimized(evidence: Evidence) -> Iterator[Finding]:
    """Gradients come to parameters that no optimizer has."""
    left: dict[int, list[Parameter]] = {}
    modules = evidence.training.modules
    for parameter in evidence.training.parameters:
        free = parameter.trainable and parameter.optimizer is None and parameter.holder is None
        if free and parameter.reached >= ENOUGH and parameter.module is not None and parameter.changed is not True:
            left.setdefault(modules.index(evidence.root_of(modules[parameter.module])), []).append(parameter)
    optimized = any(one.optimizer is not None and one.module is not None for one in evidence.training.parameters)
    if not evidence.stepped or not optimized:  # an optimizer of an image, say, that networks look at
        return
    for number, parameters in left.items():
        root = modules[number]
        elements = sum(_elements(parameter) for parameter in parameters)
        if root.optimized and 2 * elements >= root.elements and _chosen(evidence, root):
            continue
        if not root.optimized and not _trains(root):
            continue
        values = {"names": _named(parameters), "elements": elements, "type": evidence.stepped[0].type}
        yield Finding("TS512", _optimizer_of(evidence, root), message("run.not_optimized", **values))


def _elements(parameter: Parameter) -> int:
    count = 1
    for size in parameter.shape:
        count *= size
    return count


def _trains(root: Module) -> bool:
    """Whether a module that no optimizer has is one that is meant to learn: always in training mode, always in the graph."""
    return bool(root.calls) and root.training == root.calls == root.grad


def _chosen(evidence: Evidence, root: Module) -> bool:
    """Whether an optimizer is given a part of the module by name, such as ``model.head.parameters()``."""
    place = _optimizer_of(evidence, root)
    if place is None:
        return True
    parts = {one.name.rpartition(".")[2] for one in evidence.training.modules if not one.root and one.optimized}
    text = evidence.text(place)
    return any(f".{part}.parameters(" in text or f".{part}.named_parameters(" in text for part in parts)


def _optimizer_of(evidence: Evidence, root: Module) -> Place | None:
    """Where the optimizer is made that has other parameters of a module, else the first one."""
    modules = evidence.training.modules
    for parameter in evidence.training.parameters:
        if parameter.optimizer is not None and parameter.module is not None:
            if evidence.root_of(modules[parameter.module]) is root:
                return evidence.training.optimizers[parameter.optimizer].place
    return evidence.optimizer_place


def _not_reached(evidence: Evidence) -> Iterator[Finding]:
    """An optimizer has parameters to which no gradient ever came, though their layer was called in the steps."""
    found: dict[int, list[Parameter]] = {}
    reached = any(one.reached for one in evidence.training.parameters)
    for one in evidence.training.parameters:
        idle = one.trainable and one.optimizer is not None and one.module is not None and not one.reached
        if idle and one.looked >= ENOUGH and one.seen >= ENOUGH and not one.with_gradient and one.changed is not True:
            assert one.module is not None and one.optimizer is not None
            if evidence.training.modules[one.module].calls >= evidence.training.optimizers[one.optimizer].steps // 2:
                found.setdefault(one.module, []).append(one)
    idle_ones = [parameter for parameters in found.values() for parameter in parameters]
    if not idle_ones or not reached:
        return
    whole = sum(group.elements for optimizer in evidence.stepped for group in optimizer.groups) or 1
    share = sum(map(_elements, idle_ones)) / whole
    values = {"names": _named(idle_ones), "elements": sum(map(_elements, idle_ones)), "share": share}
    for number in found:
        place = left_out(evidence, evidence.training.modules[number])
        if place is not None:
            yield Finding("TS534", place, message("run.left_out", **values))
            return
    for number in found:
        module, owner = evidence.training.modules[number], found[number][0].optimizer
        backward = evidence.training.optimizers[owner].backward_place if owner is not None else None
        place = cut(evidence, module, backward)
        if place is not None:
            yield Finding("TS534", place, message("run.cut", **values))
            return
    if share >= SHARE:
        last = evidence.training.modules[list(found)[-1]]
        place = last.sites[0].place if last.sites else evidence.loss_place
        yield Finding("TS534", place, message("run.not_reached", **values))


def _never_reached(evidence: Evidence) -> Iterator[Finding]:
    """backward() runs before each step of the only optimizer, and gives none of its parameters a gradient."""
    parameters = evidence.training.parameters
    for number, one in enumerate(evidence.training.optimizers):
        own = [parameter for parameter in evidence.parameters_of(number) if parameter.trainable]
        idle = one.steps >= ENOUGH and one.without_gradients == one.steps and one.backwards >= one.steps
        if len(evidence.stepped) != 1 or not idle or not own or one.cleared_after_backward or one.closure:
            continue
        graphs = any(not course.loss.leaf for course in evidence.courses)
        seen = all(parameter.seen >= ENOUGH and not parameter.with_gradient for parameter in own)
        if graphs and seen and not any(parameter.changed for parameter in parameters):
            text = message("run.never_reached", type=one.type, steps=one.steps)
            yield Finding("TS401", one.backward_place, text)


def _frozen_on_the_way(evidence: Evidence) -> Iterator[Finding]:
    """Parameters that had gradients at first and no more since, because of a line that freezes them in each pass."""
    stopped = [one for one in evidence.training.parameters if one.optimizer is not None and _stops(one)]
    whole = sum(group.elements for optimizer in evidence.stepped for group in optimizer.groups) or 1
    share = sum(map(_elements, stopped)) / whole
    place = freezes(evidence) if stopped and share >= SHARE else None
    if place is not None:
        last = max(sample.step for one in stopped for sample in one.samples if sample.gradient is not None)
        yield Finding("TS534", place, message("run.frozen", names=_named(stopped), step=last, share=share))


def _stops(parameter: Parameter) -> bool:
    """Whether it had gradients when it was looked at first, is frozen now, and had none the last times."""
    had = [sample.gradient is not None for sample in parameter.samples]
    return not parameter.trainable and len(had) > ENOUGH and had[0] and not any(had[-2:])


def _alike(evidence: Evidence) -> Iterator[Finding]:
    """All rows of a weight are equal, from the first step to the last: its units compute the same."""
    for one in evidence.training.parameters:
        if not (one.rows_equal and one.trainable and one.optimizer is not None and one.reached >= ENOUGH):
            continue
        if evidence.training.steps < 8 or one.module is None:
            continue
        still = len(one.samples) >= ENOUGH and not any(sample.gradient or sample.norm for sample in one.samples)
        name = "run.zero" if still else "run.alike"
        text = message(name, name=one.name, count=one.shape[0], steps=evidence.training.steps)
        yield Finding("TS943", initialised(evidence, one), text, rank=15)
        return


ZERO_SHARE = 0.1
_TIMES_ZERO = re.compile(r"(?<![\w.])0(\.0*)?\s*\*|\*\s*0(\.0*)?(?![\w.])")
"""What keeps a parameter in the graph without training it."""


def _zero(evidence: Evidence) -> Iterator[Finding]:
    """The gradients of a good part of the parameters were there, and were 0 in each step that was looked at."""
    idle = [one for one in evidence.training.parameters if one.optimizer is not None and _is_zero(one)]
    whole = sum(group.elements for optimizer in evidence.stepped for group in optimizer.groups) or 1
    share = sum(map(_elements, idle)) / whole
    place = evidence.loss_place
    weights = any(len(one.shape) > 1 for one in idle)  # a bias alone may have no part in a symmetric task
    if not weights or place is None or share < ZERO_SHARE or evidence.training.steps < 2 * len(idle[0].samples):
        return
    if _TIMES_ZERO.search(evidence.sources(place.path).text):
        return
    text = message("run.zero_gradients", names=_named(idle), share=share, looks=len(idle[0].samples))
    yield Finding("TS534", hooked(evidence, idle[0]) or initialised(evidence, idle[0]), text, rank=26)


def _is_zero(parameter: Parameter) -> bool:
    samples = parameter.samples
    return len(samples) >= 2 * ENOUGH and all(one.gradient == 0 and one.zeros == 1 for one in samples)
