"""Verdicts about made-up records of trainings: each names its fault with its number, and is silent on the record of a sound one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from torchsleuth.faults import FAULTS
from torchsleuth.runtime.statistics import SLICE
from torchsleuth.schema import Diagnostic
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import (
    PART,
    Activation,
    Bad,
    Batches,
    BatchSample,
    Call,
    Event,
    Group,
    Kept,
    Loader,
    Loss,
    Metric,
    Module,
    ModuleSample,
    Optimizer,
    Overlap,
    Parameter,
    ParameterSample,
    Place,
    Range,
    Redrawn,
    Relation,
    Renumbered,
    Scheduler,
    Series,
    Training,
    Variables,
)
from torchsleuth.verdicts.evidence import Finding
from torchsleuth.verdicts.judge import chosen, verdicts

TEXT = """\
class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(4, 4)]
    def forward(self, x):
        x = self.first(x)
        x = x.detach()
        return F.dropout(x, 0.5)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 3)
for x, y in loader:
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    history.append(loss)
val_loss = loss_fn(model(held_out), y)
val_loader = DataLoader(held_out)
"""
STEPS = (1, 2, 4, 8, 16, 32, 64)


def at(line: int, text: str = "") -> Place:
    found = TEXT.splitlines()[line - 1]
    start = found.index(text) if text else len(found) - len(found.lstrip())
    return Place("train.py", line, (line, start, line, start + len(text) if text else len(found)))


def series(*values: float) -> Series:
    points = tuple(enumerate(values, 1))
    low, high = min(values), max(values)
    return Series(
        len(values), 1, points, values[0], values[-1], low, high, values.index(low) + 1, values.index(high) + 1
    )


def falling(count: int = 64, first: float = 2.0, last: float = 0.1) -> Series:
    return series(*(first + (last - first) * index / (count - 1) for index in range(count)))


def parameter(name: str, gradient: float = 0.1, update: float = 0.01, **more: Any) -> Parameter:
    samples = tuple(ParameterSample(step, gradient, 0.0, True, True, 1.0, update) for step in STEPS)
    known: dict[str, Any] = {"module": 1, "reached": 7, "looked": 7, "with_gradient": 7, "seen": 7, "changed": True}
    return Parameter(name, **{"shape": (8, 4), "trainable": True, "optimizer": 0, "samples": samples, **known, **more})


def shrinking(name: str, factor: float) -> Parameter:
    found = parameter(name)
    return replace(found, samples=tuple(replace(one, norm=factor**number) for number, one in enumerate(found.samples)))


def scaled(name: str, norm: float) -> Parameter:
    """A weight of 8 outputs and 4 inputs with a norm; 2.8 is that of 1 / sqrt(inputs) in each element."""
    found = parameter(name)
    return replace(found, samples=tuple(replace(one, norm=norm) for one in found.samples))


def batches(role: str, place: int, loss: str | None = None, **values: Any) -> Batches:
    known: dict[str, Any] = {"shape": (16,), "dtype": "float32", "mean": 0.0, "std": 1.0, "low": -3.0, "high": 3.0}
    return Batches(role, at(place), tuple(BatchSample(step, **{**known, **values}) for step in STEPS), loss)


def call(line: int, text: str = "", **values: Any) -> Call:
    known: dict[str, Any] = {"calls": 64, "training": 64, "grad": 64, "looked": 7, "in_graph": 7, "streak": 1}
    return Call(at(line, text), **{**known, **values})


MODEL = Module("Net", "Net", at(8, "Net()"), True, 64, 64, (), 64, 64, 64, (call(12, "model(x)"),), True)
FIRST = Module("first", "Linear", at(3), False, 32, 32, (), 64, 64, 64, (call(5, "self.first(x)"),), True, 0)
SOUND = Training(
    steps=64,
    backwards=64,
    seconds=10.0,
    losses=(Loss(at(13, "loss.backward()"), falling(), "cross_entropy", looked=7),),
    optimizers=(
        Optimizer("Adam", at(9), at(14), (Group(2, 64, series(0.1, 0.1)),), 64, backwards=64, backward_place=at(13)),
    ),
    parameters=(
        parameter("first.weight"),
        parameter("first.bias", shape=(8,)) if False else parameter("second.weight"),
    ),
    modules=(MODEL, FIRST),
    batches=(
        batches("input", 12),
        batches("first", 12),
        batches("target", 12, "cross_entropy", dtype="int64", labels={"0": 8, "1": 8}),
        batches("prediction", 12, "cross_entropy", shape=(16, 2), labels={"0": 7, "1": 9}),
    ),
    step_seconds=series(*[0.01] * 64),
)


def said(training: Training, text: str = TEXT) -> list[Diagnostic]:
    return list(verdicts(training, lambda path: SourceText(path, text)))


def loss(**values: Any) -> Training:
    return replace(SOUND, losses=(replace(SOUND.losses[0], **values),))


def optimizer(**values: Any) -> Training:
    return replace(SOUND, optimizers=(replace(SOUND.optimizers[0], **values),))


def with_parameters(*parameters: Parameter, **more: Any) -> Training:
    return replace(SOUND, parameters=parameters, **more)


def with_batches(*changed: Batches, **more: Any) -> Training:
    roles = {one.role for one in changed}
    return replace(SOUND, batches=(*(one for one in SOUND.batches if one.role not in roles), *changed), **more)


def evaluated(**values: Any) -> Training:
    site = call(16, "model(held_out)", **{"calls": 8, "training": 8, "in_graph": 0, "grad": 0, "streak": 4, **values})
    return replace(SOUND, modules=(replace(MODEL, modes=("Dropout",), sites=(*MODEL.sites, site)), FIRST))


def activation(function: str, **values: Any) -> tuple[Activation, ...]:
    return (Activation(function, "first", at(12), 0, tuple(ModuleSample(step, **values) for step in STEPS)),)


def event(kind: str, line: int, **details: Any) -> Training:
    return replace(SOUND, events=(Event(kind, at(line), 7, 1, details),))


def slow_schedule(count: int, length: int = 64) -> Training:
    """A schedule of so many steps, for 64 of the optimizer, and how often it went on."""
    made = Scheduler("OneCycleLR", 0, None, at(14), count, {"total_steps": length}, counted=64)
    return replace(optimizer(groups=(Group(2, 64, falling(64, 0.1, 0.09)),)), schedulers=(made,))


def taught(learned: int) -> Training:
    """A network that was trained for some steps is called as the teacher from then on."""
    learns, teaches = call(12, "model(x)", last_step=learned), call(17, in_graph=0, grad=0, last_step=64)
    return replace(SOUND, modules=(replace(MODEL, sites=(learns, teaches)), FIRST))


FAULTY: dict[str, tuple[Training, int]] = {
    "TS501": (optimizer(uncleared=63), 13),
    "TS502": (optimizer(without_gradients=64, backwards=0), 14),
    "TS504": (optimizer(without_gradients=64, cleared_after_backward=63, clear_place=at(12)), 12),
    "TS402": (replace(loss(leaf=64), optimizers=(replace(SOUND.optimizers[0], without_gradients=64),)), 13),
    "TS503": (
        with_parameters(
            parameter("first.weight", changed=False), optimizers=(replace(SOUND.optimizers[0], steps=0),)
        ),
        13,
    ),
    "TS303": (event("softmax-before-cross-entropy", 12, layer="softmax"), 12),
    "TS305": (event("nll-without-log-softmax", 12, high=2.5), 12),
    "TS319": (event("softmax-beside-classes", 12, dim=-1, axis=1, shape=[4, 3, 8, 8]), 12),
    "TS114": (event("loss-broadcast", 12, shape=[16, 16]), 12),
    "TS509": (event("clip-scaled", 14), 14),
    "TS514": (loss(per_step=(4, 4), mean=True), 13),
    "TS535": (
        replace(SOUND, optimizers=tuple(replace(SOUND.optimizers[0], steps=1, again=number) for number in range(8))),
        9,
    ),
    "TS938": (replace(SOUND, schedulers=(Scheduler("StepLR", 0, None),)), 10),
    "TS536": (
        replace(
            optimizer(groups=(Group(2, 64, series(*(0.1 * 0.5**step for step in range(64)))),)),
            schedulers=(Scheduler("StepLR", 0, None, at(14), 64),),
        ),
        14,
    ),
    "TS408": (loss(retained=6, nodes=series(10, 20, 90)), 13),
    "TS701": (replace(SOUND, kept=(Kept(at(12), 9, 9, "history"),)), 15),
    "TS937": (replace(SOUND, scale=series(*(2.0 ** (16 - step) for step in range(40))), scaler_place=at(14)), 14),
    "TS119": (
        replace(SOUND, modules=(MODEL, replace(FIRST, type="LSTM", shapes=((16, 9, 4),) * 4))),
        5,
    ),
    "TS511": (
        with_parameters(
            parameter("first.weight"),
            parameter("Linear.weight", optimizer=None, holder={"type": "Net", "attribute": "layers", "tensor": False}),
        ),
        3,
    ),
    "TS512": (with_parameters(parameter("first.weight"), parameter("b.weight", optimizer=None, changed=False)), 9),
    "TS534": (
        with_parameters(parameter("first.weight", reached=0, with_gradient=0, changed=False), parameter("b", module=0)),
        6,
    ),
    "TS943": (with_parameters(parameter("first.weight", rows_equal=True)), 3),
    "TS923": (with_parameters(parameter("first.weight", gradient=1e9)), 13),
    "TS927": (
        replace(loss(values=falling(64, 1.0, 50.0)), parameters=(parameter("first.weight", update=9.0),)),
        9,
    ),
    "TS925": (replace(SOUND, activations=activation("relu", dead=0.97)), 12),
    "TS926": (
        replace(loss(values=series(*[2.0] * 64)), activations=activation("tanh", saturated=0.98)),
        12,
    ),
    "TS924": (with_parameters(*(parameter(str(number), gradient=10.0 ** (2 * number - 9)) for number in range(5))), 13),
    "TS928": (
        replace(loss(values=series(*[2.0] * 64)), parameters=(parameter("first.weight", update=1e-9),)),
        9,
    ),
    "TS920": (replace(SOUND, bad=Bad(5, "operation", None, at(12), "LogBackward0")), 12),
    "TS922": (with_batches(batches("prediction", 12, shape=(16, 2), rows_equal=True)), 12),
    "TS921": (loss(values=falling(64, 1.0, 9.0)), 13),
    "TS930": (with_batches(batches("first", 12, mean=120.0, std=70.0, low=0.0, high=255.0)), 12),
    "TS931": (with_batches(batches("first", 12, shape=(16, 4), mean=0.0, std=0.0)), 12),
    "TS932": (with_batches(batches("target", 12, "cross_entropy", labels={"1": 16})), 12),
    "TS933": (
        replace(loss(values=series(*[0.69] * 64)), relation=Relation(400, 0.5, 0.5, 2.0, 8)),
        12,
    ),
    "TS941": (
        with_batches(
            batches("target", 12, "cross_entropy", labels={"0": 15, "1": 1}),
            batches("prediction", 12, "cross_entropy", shape=(16, 2), labels={"0": 16}),
        ),
        12,
    ),
    "TS934": (replace(SOUND, overlaps=(Overlap(at(12), at(16), 100, 400, 100, evaluation_loader=at(17)),)), 17),
    "TS935": (
        replace(
            SOUND,
            loaders=(Loader(at(17), "Files", 640, 10, 0, False, True, 1, 64, 64, 6.0),),
            step_seconds=series(*[0.1] * 64),
        ),
        17,
    ),
    "TS505": (evaluated(), 16),
    "TS506": (evaluated(training=0, grad=8, looked=2), 16),
    "TS507": (
        replace(SOUND, modules=(replace(MODEL, modes=("Dropout",), sites=(call(12, training=8),)), FIRST)),
        12,
    ),
    "TS516": (replace(SOUND, modules=(replace(MODEL, training=60), FIRST)), 7),
    "TS936": (
        replace(SOUND, metrics=(Metric(at(16), series(*(1.0 + abs(step - 6) * 0.1 for step in range(30)))),)),
        16,
    ),
    "TS944": (
        replace(
            with_parameters(shrinking("first.weight", 0.5)),
            losses=(replace(SOUND.losses[0], values=series(*[1.4] * 64)),),
            optimizers=(
                replace(SOUND.optimizers[0], groups=(Group(2, 64, series(0.1, 0.1), weight_decay=2.0),)),
            ),
        ),
        9,
    ),
    "TS945": (loss(values=falling(64, 40.0, -1e7)), 13),
    "TS948": (
        replace(
            loss(values=falling(64, 1.0, 1.5)),
            optimizers=(replace(SOUND.optimizers[0], type="Net", slopes=(0.9, 0.6, 0.4)),),
        ),
        9,
    ),
    "TS949": (
        replace(
            loss(values=series(*[2.0] * 64)),
            parameters=(parameter("first.weight", gradient=1e-5, update=1e-9),),
            gradient_norm=series(*[0.7] * 64),
            events=(Event("clip", at(14), 32, 1), Event("clip", at(14), 32, 33)),
        ),
        14,
    ),
    "TS950": (
        replace(
            with_batches(batches("target", 12, "cross_entropy", labels={"0": 8, "1": 8})),
            losses=(Loss(at(13), falling(64, 90.0, 20.0), "cross_entropy", looked=7, mean=True),),
            parameters=(scaled("first.weight", 24.0),),
        ),
        3,
    ),
    "TS951": (
        replace(
            with_batches(
                batches("prediction", 12, "mse", mean=4.0, std=1.0), batches("target", 12, "mse", mean=2e5, std=3e4)
            ),
            losses=(Loss(at(13), falling(64, 5e10, 4.9e10), "mse", looked=7, mean=True),),
        ),
        12,
    ),
    "TS952": (replace(SOUND, redrawn=(Redrawn(at(16), at(17), 0.4),)), 17),
    "TS953": (
        replace(
            event("repeated-operators", 12, times=300, count=600, share=0.9),
            phases={"forward": 1.0, "backward": 1.0, "other": 0.1},
        ),
        12,
    ),
    "TS954": (event("frames-too-few", 12, short=12, count=16, frames=4, labels=9), 12),
    "TS961": (
        replace(
            SOUND,
            left=Bad(1, "input", "target", at(12), loss_place=at(12)),
            modules=(replace(MODEL, sites=(call(12, "model(x)", calls=300, grad=300),)), FIRST),
        ),
        12,
    ),
    "TS962": (
        replace(
            SOUND,
            modules=(MODEL, FIRST, replace(MODEL, optimized=False, sites=(call(16, "model(held_out)", calls=9, grad=0),))),
            metrics=(Metric(at(16), series(*[0.4] * 9)),),
        ),
        19,
    ),
    "TS963": (
        with_batches(
            batches("input", 12, shape=(16, 4), mean=0.2),
            replace(
                batches("evaluated", 16, shape=(16, 4)),
                samples=tuple(
                    BatchSample(step, (16, 4), "float32", 1e-7, 0.97, -2.0, 2 + step / 100) for step in STEPS
                ),
            ),
        ),
        16,
    ),
    "TS964": (
        replace(
            SOUND,
            renumbered=(Renumbered(Place("train.py", 18, (18, 13, 18, 33)), "Leaves", "classes", "b", 1, 0, 2),),
        ),
        17,
    ),
    "TS342": (event("targets-shifted", 12, length=16), 12),
    "TS358": (event("extreme-of-masked", 12, function="min", rows=16), 12),
    "TS586": (replace(event("term-of-zero", 12, looked=7), steps=640), 19),
    "TS959": (event("blank-labels", 12, blank=0, labels=10, whole=95), 12),
    "TS955": (
        with_parameters(
            *(
                replace(one, samples=tuple(replace(sample, lost=0.8) for sample in one.samples))
                for one in (parameter("first.weight"), parameter("second.weight"))
            )
        ),
        9,
    ),
    "TS956": (
        with_batches(batches("input", 12, shape=(16, 4)), batches("evaluated", 16, shape=(16, 4), mean=0.5, std=0.2)),
        16,
    ),
    "TS957": (event("scores-too-close", 12, factor=0.07, apart=0.1), 12),
    "TS958": (event("anomaly-detection", 13), 13),
    "TS401": (
        replace(
            optimizer(without_gradients=64),
            parameters=(parameter("first.weight", with_gradient=0, changed=False),),
        ),
        13,
    ),
    "TS544": (
        replace(
            optimizer(groups=(Group(2, 64, series(0.0, 0.0)),)),
            parameters=(parameter("first.weight", update=0.0),),
            schedulers=(Scheduler("StepLR", 0, None, at(14), 64),),
        ),
        10,
    ),
    "TS946": (
        with_batches(
            replace(batches("input", 12, shape=(4,)), place=at(12, "model(x)")),
            modules=(replace(MODEL, sites=(call(12, "model(x)", calls=1024, grad=1024, streak=16),)), FIRST),
        ),
        12,
    ),
    "TS947": (
        replace(
            evaluated(calls=320, training=0, streak=20),
            phases={"evaluation": 6.0, "forward": 1.0, "backward": 0.5, "optimizer": 0.2},
        ),
        16,
    ),
}  # fmt: skip
"""A record with the fault, and the line of `TEXT` that it is said at, by code."""


WEIGHED = TEXT.replace("loss_fn(model(x), y)\n", "loss_fn(model(x), y) + plan(step) * kl\n", 1) + (
    "def plan(step):\n    return min(step, 9) // 10\n"
)
TEXTS = {
    "TS961": TEXT.replace("    loss.backward()", "    if isfinite(loss): loss.backward()"),
    "TS586": WEIGHED,
    "TS962": TEXT + "for slow, p in zip(copy.parameters(), model.parameters()):\n    slow = 0.9 * slow + 0.1 * p\n",
    "TS964": TEXT.replace("val_loader", "held_out = Leaves(valid)\nval_loader"),
}
"""The files of those that are told by their text, too."""


@pytest.mark.parametrize("code", FAULTY)
def test_a_fault_is_named_alone_at_its_line(code: str) -> None:
    training, line = FAULTY[code]
    found = said(training, TEXTS.get(code, TEXT))
    assert [(one.code, one.start.line) for one in found] == [(code, line)]
    assert found[0].layer == "run" and found[0].name == FAULTS[code].name and found[0].severity in ("warning", "error")


ENCODED = """\
def encode(count):
    return torch.log(count)
def step(x, y):
    loss = mse(net(x), encode(y))
    if not torch.isfinite(loss):
        return
    loss.backward()
"""


def test_batches_that_are_left_out_are_told_by_what_is_not_finite() -> None:
    near = (Variables("train.py", 4, {"y": Range(64, 0, 0.0, 9.0)}),)
    place = Place("train.py", 4, (4, 11, 4, 33))
    left = Bad(1, "input", "target", place, loss_place=place, near=near, value="inf")
    network = replace(MODEL, sites=(replace(MODEL.sites[0], calls=300, grad=300),))
    training = replace(SOUND, left=left, modules=(network, FIRST))
    assert [(one.code, one.start.line) for one in said(training, ENCODED)] == [("TS961", 2)]
    assert not said(replace(training, modules=(replace(network, sites=MODEL.sites), FIRST)), ENCODED), (
        "all led to a step"
    )
    assert not said(training, ENCODED.replace("isfinite", "compare")), "nothing leaves them out"


def test_a_cosine_that_is_made_for_passes_and_steps_with_batches() -> None:
    text = TEXT.replace("StepLR(optimizer, 3)", "CosineAnnealingLR(optimizer, T_max=4)")
    loader = Loader(at(17), "Rows", 1600, 100, 0, False, True, 4, 64, 64)
    for length, expected in ((4, ["TS536"]), (64, []), (9, [])):
        schedule = Scheduler("CosineAnnealingLR", 0, None, at(14), 64, {"T_max": length}, counted=64)
        found = said(replace(SOUND, schedulers=(schedule,), loaders=(loader,)), text)
        assert [one.code for one in found] == expected


def test_a_frozen_network_that_compares_in_training_mode() -> None:
    sites = (call(12, "model(x)", through=64, last_step=64), call(12, "loss_fn(model(x), y)", last_step=64))
    features = replace(MODEL, name="features", modes=("Dropout",), sites=sites, optimized=False)
    own = replace(parameter("body.weight", module=2, optimizer=None, samples=()), trainable=False)
    training = replace(SOUND, modules=(MODEL, FIRST, features), parameters=(*SOUND.parameters, own))
    assert [one.code for one in said(training)] == ["TS505"]
    once = replace(features, sites=sites[:1])
    assert not said(replace(training, modules=(MODEL, FIRST, once)))
    learning = replace(own, trainable=True, changed=True, optimizer=0)
    assert not said(replace(training, parameters=(*SOUND.parameters, learning)))


ROWS = """\
class Rows:
    def scaled(self):
        return (self.table - self.table.mean(0)) / self.table.std(0)
    def __getitem__(self, i):
        return self.scaled()[i]
"""


def test_what_each_sample_computes_again_is_told_where_that_is() -> None:
    found = said(FAULTY["TS935"][0], TEXT + ROWS)
    assert [(one.code, one.start.line) for one in found] == [("TS935", 20)]
    drawn = ROWS.replace("self.table.std(0)", "self.random.rand()")
    assert [one.start.line for one in said(FAULTY["TS935"][0], TEXT + drawn)] == [17]


def test_a_loader_that_a_library_makes_again_is_told_where_the_script_made_it() -> None:
    text = (
        TEXT
        + "train_loader = DataLoader(data)\nmodel, train_loader, val_loader = prepare(model, train_loader, val_loader)\n"
    )
    call = "prepare(model, train_loader, val_loader)"
    start = text.splitlines()[18].index(call)
    waiting = FAULTY["TS935"][0]
    loader = replace(waiting.loaders[0], place=Place("train.py", 19, (19, start, 19, start + len(call))))
    assert [(one.code, one.start.line) for one in said(replace(waiting, loaders=(loader,)), text)] == [("TS935", 18)]


FREEZING = TEXT.replace("        return F", "        self.first.requires_grad_(False)\n        return F")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FREEZING, [("TS534", 7)]),
        (FREEZING.replace("self.first.req", "if self.late: self.first.req"), []),
        (FREEZING + "model.requires_grad_(True)\n", []),
        (TEXT, []),
    ],
)
def test_parameters_that_a_line_freezes_on_the_way(text: str, expected: list[tuple[str, int]]) -> None:
    one = parameter("first.weight", with_gradient=4)
    samples = tuple(replace(sample, gradient=0.1 if sample.step <= 8 else None) for sample in one.samples)
    training = with_parameters(replace(one, trainable=False, samples=samples), parameter("second.weight"))
    assert [(found.code, found.start.line) for found in said(training, text)] == expected


def two_optimizers(update: float, other: float) -> Training:
    """A training with two optimizers, each with a parameter that is changed by so much."""
    return replace(
        SOUND,
        optimizers=(SOUND.optimizers[0], replace(SOUND.optimizers[0], place=at(10))),
        parameters=(parameter("first.weight", update=update), parameter("second.weight", update=other, optimizer=1)),
    )


def of_a_guess(first: float, last: float, **more: Any) -> Training:
    return replace(
        with_batches(batches("target", 12, "cross_entropy", labels={"0": 8, "1": 8})),
        losses=(Loss(at(13), falling(128, first, last), "cross_entropy", looked=7, mean=True, **more),),
    )


def zeros(**more: Any) -> Training:
    one = parameter("first.weight", gradient=0.0, **more)
    return with_parameters(
        replace(one, samples=tuple(replace(sample, zeros=1.0) for sample in one.samples)), parameter("second.weight")
    )


LAGGING = replace(FIRST, type="BatchNorm1d", calls=70, training=64, lag=0.9)
ADVISES = call(16, "model(held_out)", grad=0, in_graph=0, looked=7)
TEACHER = Module("Teacher", "Teacher", at(8), True, 32, 0, ("Dropout",), 64, 64, 0, (ADVISES,))
OF_TEACHER = parameter("Teacher.weight", optimizer=None, changed=False, reached=0, with_gradient=0)
AVERAGE = replace(
    TEACHER, type="Net", elements=64, modes=("BatchNorm1d",), training=0, lag=1.0, sites=(replace(ADVISES, training=0),)
)
ONE_SAMPLE = batches("first", 12, shape=(16, 4), rows_equal=True)
TARGETS = batches("target", 12, "mse")


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        (slow_schedule(4), [("TS536", 14)]),
        (two_optimizers(0.01, 1e-8), [("TS928", 10)]),
        (two_optimizers(0.01, 1e-4), []),
        (two_optimizers(1e-8, 1e-8), []),
        (of_a_guess(0.72, 0.69), [("TS921", 13)]),
        (of_a_guess(0.72, 0.69, scaled=True), []),
        (of_a_guess(3.0, 0.75), []),
        (of_a_guess(2.0, 1.9), []),
        (zeros(), [("TS534", 3)]),
        (zeros(optimizer=None), []),
        (zeros(shape=(8,)), []),
        (replace(SOUND, modules=(MODEL, LAGGING)), [("TS573", 3)]),
        (replace(SOUND, modules=(MODEL, replace(LAGGING, lag=0.1))), []),
        (replace(SOUND, modules=(MODEL, replace(LAGGING, calls=64))), []),
        (with_batches(ONE_SAMPLE, TARGETS), [("TS931", 12)]),
        (with_batches(ONE_SAMPLE, batches("target", 12, "mse", std=0.0)), []),
        (with_parameters(parameter("first.weight", update=300.0)), [("TS927", 9)]),
        (loss(values=falling(128, 4.0, -400.0)), [("TS945", 13)]),
        (loss(values=series(*(4.0 - 40 * (1 - 0.9**index) for index in range(128)))), []),
        (event("keys-apart", 8, missing=2, unexpected=2, has="module.a", wants="a"), [("TS530", 8)]),
        (event("keys-apart", 8, missing=2, unexpected=1, has="head.a", wants="a"), []),
        (event("keys-apart", 8, missing=2, unexpected=2, has="old.a", wants="new.b"), []),
        (event("out-of-reach", 12, function="relu", share=0.4, low=-2.0, high=2.0), [("TS951", 12)]),
        (event("out-of-reach", 12, function="relu", share=0.01, low=-0.1, high=2.0), []),
        (event("terms-apart", 12, value=8e5, small=0.7, size=900.0, other="nll", looked=8), [("TS951", 12)]),
        (event("terms-apart", 12, value=8e5, small=0.7, size=900.0, other="nll", looked=20), []),
        (event("frames-too-few", 12, short=3, count=16, frames=9, labels=10), []),
        (loss(values=series(*[0.0] * 64)), [("TS921", 13)]),
        (loss(values=series(*[0.0] * 63, 0.1)), []),
        (
            replace(SOUND, modules=(MODEL, TEACHER), parameters=(parameter("first.weight", module=0), OF_TEACHER)),
            [("TS505", 16)],
        ),
        (replace(SOUND, modules=(MODEL, TEACHER), parameters=(replace(OF_TEACHER, changed=True),)), []),
    ],
)
def test_faults_that_one_signal_shows(training: Training, expected: list[tuple[str, int]]) -> None:
    assert [(found.code, found.start.line) for found in said(training)] == expected


def test_gradients_of_zero_that_the_script_asks_for() -> None:
    assert not said(zeros(), TEXT.replace("loss_fn(model(x), y)", "loss_fn(model(x), y) + 0.0 * model.first.sum()"))


BORN = """\
for x, y in loader:
    scale = x.std()
    inputs = x / scale
    ratio = inputs * 2
    loss = loss_fn(model(ratio), y)
    loss.backward()
"""


@pytest.mark.parametrize(
    ("tensors", "line", "word"),
    [
        ({"x": Range(1, 0, 3.0, 3.0), "scale": Range(1, 1), "inputs": Range(1, 1)}, 2, "single number in x"),
        ({"x": Range(8, 0, 3.0, 3.0), "scale": Range(1, 0, 0.0, 0.0), "inputs": Range(8, 8)}, 3, "scale has zeros"),
        ({"x": Range(8, 0, 3.0, 3.0), "scale": Range(1, 0, 1.0, 1.0), "inputs": Range(8, 8)}, 3, "inputs is made here"),
        ({"x": Range(8, 8), "inputs": Range(8, 8), "ratio": Range(8, 8)}, 5, "comes in here"),
    ],
)
def test_where_a_number_that_is_none_was_made(tensors: dict[str, Range], line: int, word: str) -> None:
    place = Place("train.py", 5, (5, 11, 5, 35))
    bad = Bad(3, "input", "self", place, "AddmmBackward0", near=(Variables("train.py", 6, tensors),))
    (found,) = said(replace(SOUND, bad=bad), BORN)
    assert (found.code, found.start.line) == ("TS920", line) and word in found.message


def test_the_record_tells_of_how_many_elements_its_norms_are() -> None:
    assert PART == SLICE


def test_every_fault_that_only_a_training_shows_has_a_record_here() -> None:
    assert {code for code in FAULTS if "TS920" <= code} <= FAULTY.keys()


def test_nothing_is_said_of_a_sound_training() -> None:
    assert not said(SOUND)


ACCEPTED: dict[str, Callable[[], Training]] = {
    "a scaler that skips its first steps": lambda: replace(SOUND, scale=series(65536, 32768, 16384, *[16384] * 40)),
    "accumulation, divided": lambda: loss(per_step=(4, 4), mean=True, scaled=True),
    "two losses before a step": lambda: replace(loss(per_step=(1, 1)), backwards=128),
    "a step that goes up first, and comes down": lambda: optimizer(slopes=(0.3, -0.2, -0.4)),
    "steps that go up on purpose": lambda: replace(
        loss(values=falling(64, -0.1, -2.0)), optimizers=(replace(SOUND.optimizers[0], slopes=(0.9, 0.9, 0.9)),)
    ),
    "clipping to a tenth": lambda: replace(
        SOUND, gradient_norm=series(*[0.7] * 64), events=(Event("clip", at(14), 64, 1),)
    ),
    "a closure": lambda: optimizer(closure=True, uncleared=63),
    "units that are off for some samples": lambda: replace(SOUND, activations=activation("relu", dead=0.4)),
    "a target network that is called in each step": lambda: evaluated(calls=64, training=64, streak=1),
    "dropout to see how sure the network is": lambda: evaluated(calls=64, training=64, streak=20, same_input=60),
    "evaluation of the samples trained on": lambda: replace(
        SOUND, overlaps=(Overlap(at(12), at(12, "model(x)"), 100, 400, 100, True),)
    ),
    "a rate that ends at nothing": lambda: replace(
        optimizer(groups=(Group(2, 64, falling(64, 0.1, 1e-6)),)),
        schedulers=(Scheduler("OneCycleLR", 0, None, at(14), 64),),
    ),
    "a schedule that has gone on in half of its steps": lambda: slow_schedule(32),
    "a schedule of another length, for epochs": lambda: slow_schedule(4, 5),
    "a schedule of a longer training": lambda: slow_schedule(4, 640),
    "a part that is frozen": lambda: with_parameters(
        parameter("first.weight"), replace(parameter("b", reached=0, with_gradient=0, optimizer=None), trainable=False)
    ),
    "an early look at a hard task": lambda: replace(
        loss(values=series(*[0.7] * 20)), steps=20, relation=Relation(400, 0.5, 0.5, 2.0, 8)
    ),
    "a loss that is weighted, and higher than that of a guess": lambda: replace(
        loss(values=series(*[1.4] * 64)), relation=Relation(400, 0.5, 0.5, 2.0, 8)
    ),
    "a value for all of a batch, in the line of a target": lambda: replace(
        SOUND, overlaps=(Overlap(at(12), at(14), 100, 400, 100),)
    ),
    "an optimizer for each of several rates": lambda: replace(
        SOUND,
        optimizers=tuple(
            replace(SOUND.optimizers[0], steps=20, again=number, groups=(Group(2, 64, series(0.1**number)),))
            for number in range(8)
        ),
    ),
    "a schedule that a library steps": lambda: replace(
        optimizer(groups=(Group(2, 64, falling(64, 0.1, 0.01)),)), schedulers=(Scheduler("StepLR", 0, None),)
    ),
    "a step of a recurrence": lambda: with_batches(
        replace(batches("input", 12, shape=(16, 4)), place=at(12, "model(x)")),
        modules=(replace(MODEL, sites=(call(12, "model(x)", calls=1024, grad=1024, streak=16),)), FIRST),
    ),
    "acting in an environment, most of the time": lambda: replace(
        evaluated(calls=320, training=0, streak=320, same_input=0),
        phases={"evaluation": 6.0, "forward": 1.0, "backward": 0.5, "optimizer": 0.2},
    ),
    "a machine that does something else": lambda: replace(
        FAULTY["TS935"][0],
        loaders=tuple(replace(one, busy=0.4, between=60.0, busy_between=4.0) for one in FAULTY["TS935"][0].loaders),
    ),
    "one long wait": lambda: replace(FAULTY["TS935"][0], phase_series={"data": series(*[0.0001] * 60, 6.0)}),
    "one batch only": lambda: with_batches(batches("input", 12, same=True)),
    "queries of an attention that looks everywhere alike": lambda: with_parameters(
        parameter("values"), *(parameter(str(number), gradient=1e-9 if number < 3 else 0.1) for number in range(7))
    ),
    "steps in time, of which each needs the one before": lambda: replace(
        FAULTY["TS953"][0], events=(replace(FAULTY["TS953"][0].events[0], place=at(5, "self.first(x)")),)
    ),
    "an evaluation on about the same numbers": lambda: with_batches(
        batches("input", 12, shape=(16, 4)), batches("evaluated", 16, shape=(16, 4), mean=0.4, std=0.7)
    ),
    "the losses of a library, of which one is about background": lambda: with_batches(
        batches("target", 12, "cross_entropy", labels={"0": 15, "1": 1}),
        batches("prediction", 12, "cross_entropy", shape=(16, 2), labels={"0": 16}),
        batches("prediction", 12, "smooth_l1", shape=(16, 4)),
    ),
    "weights that began at zero, in the last layer": lambda: with_parameters(parameter("head.weight", update=0.5)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_meant_is_left_alone(name: str) -> None:
    assert not said(ACCEPTED[name]())


def test_a_target_network_that_is_the_one_that_learns() -> None:
    text = TEXT.replace("val_loader = DataLoader(held_out)", "teacher(x)")
    assert [(one.code, one.start.line) for one in said(taught(64), text)] == [("TS540", 17)]
    assert not said(taught(32), text)


def test_a_head_that_is_optimized_by_name_is_meant() -> None:
    head = replace(FIRST, name="head")
    training = with_parameters(
        parameter("head.weight"),
        parameter("body.weight", optimizer=None, module=0, changed=False),
        modules=(MODEL, head),
    )
    assert [one.code for one in said(training)] == ["TS512"]
    assert not said(training, TEXT.replace("model.parameters()", "model.head.parameters()"))


def test_a_number_that_is_told_does_not_cut_the_graph() -> None:
    training = FAULTY["TS534"][0]
    found = said(training, TEXT.replace("x = x.detach()", "print(x.detach().item())"))
    assert [(one.code, one.start.line) for one in found] == [("TS534", 5)]
    assert "cut" not in found[0].message


def test_a_loss_that_does_not_go_backward_is_told_from_a_graph_that_is_cut() -> None:
    training = replace(FAULTY["TS534"][0], modules=(MODEL, replace(FIRST, parent=0)))
    text = TEXT.replace("x = x.detach()", "x = x.relu()").replace("    loss = ", "    a,loss=")
    text = text.replace("loss.backward()", "a.backward()")
    found = said(training, text)
    assert [(one.code, one.start.line) for one in found] == [("TS534", 12)]
    assert found[0].message.endswith("does not go backward")
    added = said(training, text.replace("a.backward()", "(a + loss).backward()"))
    assert not any(one.message.endswith("does not go backward") for one in added)


def test_embeddings_that_come_together_are_told_at_their_call() -> None:
    together = batches("output", 12, shape=(16, 8))
    falls = tuple(replace(one, distance=0.6**number) for number, one in enumerate(together.samples))
    training = replace(
        with_batches(replace(together, samples=falls)),
        losses=(replace(SOUND.losses[0], values=series(*(2 * 0.8**step for step in range(64))), kind=None),),
    )
    assert [(one.code, one.start.line) for one in said(training)] == [("TS922", 12)]
    supervised = replace(training, losses=(replace(training.losses[0], kind="mse"),))
    assert not said(supervised)
    apart = replace(together, samples=tuple(replace(one, distance=0.9) for one in together.samples))
    assert not said(replace(training, batches=(*SOUND.batches, apart)))


def test_an_average_that_is_judged_with_the_statistics_of_its_birth() -> None:
    text = TEXT.replace("        return F.dropout(x, 0.5)\n", "        return x\n")
    for lag, expected in ((1.0, [("TS574", 16)]), (0.4, [])):
        training = replace(SOUND, modules=(MODEL, replace(AVERAGE, lag=lag)))
        assert [(found.code, found.start.line) for found in said(training, text)] == expected


def test_one_loop_over_two_loaders_is_told_by_the_loader() -> None:
    place = at(12, "model(x)")
    overlap = Overlap(place, place, 100, 400, 100, train_loader=at(8), evaluation_loader=at(17))
    assert [(one.code, one.start.line) for one in said(replace(SOUND, overlaps=(overlap,)))] == [("TS934", 17)]
    assert not said(replace(SOUND, overlaps=(replace(overlap, evaluation_loader=at(8)),)))


def test_labels_that_are_written_down_are_meant() -> None:
    training = FAULTY["TS932"][0]
    assert not said(training, TEXT.replace("for x, y in loader:", "y = torch.zeros(16)\nfor x, in loader:", 1))
    contrast = "def contrast(x):\n    first = torch.zeros(len(x)).long()\n    return x @ x.T, first\n"
    assert not said(training, TEXT + contrast)
    assert said(training, TEXT + contrast.replace(", first", ""))


def test_a_signal_that_fades_from_layer_to_layer_is_told_where_it_begins_to() -> None:
    def layers(shrinks: float) -> tuple[Activation, ...]:
        found = (activation("tanh", std=shrinks**number)[0] for number in range(8))
        return tuple(replace(one, order=number, place=at(5 + number)) for number, one in enumerate(found))

    flat = replace(loss(values=series(*[1.4] * 64)), activations=layers(0.1))
    found = said(flat)
    assert [(one.code, one.start.line) for one in found] == [("TS924", 7)] and "vary by 1 " in found[0].message
    assert not said(replace(flat, activations=layers(0.5)))
    assert not said(replace(SOUND, activations=layers(0.1))), "it learns"


def test_a_parameter_is_told_where_its_class_begins_it() -> None:
    text = TEXT + "class Linear(nn.Module):\n    def reset(self):\n        nn.init.ones_(self.weight)\n"
    found = said(FAULTY["TS943"][0], text + "nn.init.ones_(other.weight)\n")
    assert [(one.code, one.start.line) for one in found] == [("TS943", 20)]


def test_a_list_of_batches_that_are_one_memory_is_told_where_it_is_filled() -> None:
    found = said(event("one-memory", 12, name="history", items=30))
    assert [(one.code, one.start.line) for one in found] == [("TS931", 15)] and "all 30 items" in found[0].message


def test_places_of_a_picture_that_are_all_background() -> None:
    target = batches("target", 12, "cross_entropy", labels={"0": 993, "1": 7})
    for others, expected in ((0, ["TS941"]), (4, [])):
        labels = {"0": 1000 - others, "1": others} if others else {"0": 1000}
        training = with_batches(target, batches("prediction", 12, "cross_entropy", shape=(4, 2, 250), labels=labels))
        assert [one.code for one in said(training)] == expected


def test_words_whose_order_may_count_are_given_time() -> None:
    training, line = FAULTY["TS933"]
    assert training.relation is not None
    words = replace(training, relation=replace(training.relation, words=True))
    assert not said(words)
    long = replace(words, losses=(replace(words.losses[0], values=series(*[0.69] * 120), kind="bce_with_logits"),))
    assert [(one.code, one.start.line) for one in said(long)] == [("TS933", line)]


def test_one_cause_is_named_for_what_follows_from_it() -> None:
    cause, mild = Finding("TS501", None, ""), Finding("TS938", None, "", mild=True)
    dead, rising = Finding("TS925", None, "", 24), Finding("TS921", None, "", 40)
    assert chosen([[rising, dead, mild]]) == [[dead, mild]]
    assert chosen([[rising, mild, cause, dead]]) == [[cause, mild]]
    assert chosen([[rising, mild], [dead]]) == [[mild], [dead]], "of two ranks"
    assert chosen([[rising], [cause]]) == [[], [cause]]


def test_infinite_losses_of_a_rate_that_is_too_large_are_that() -> None:
    training = replace(FAULTY["TS927"][0], bad=Bad(3, "unknown"))
    assert [one.code for one in said(training)] == ["TS927"]


def test_a_record_comes_through_json() -> None:
    for training, _ in FAULTY.values():
        assert Training.of_json(training.to_json()) == training


WHOLE = """\
def level(t):
    t = t // 100
    return t.float()
shown = net(level(t)).chunk(2)
"""


def test_the_line_that_makes_all_samples_of_a_batch_alike() -> None:
    place = Place("train.py", 4, (4, 8, 4, 21))
    training = with_batches(replace(ONE_SAMPLE, place=place), replace(TARGETS, place=place))
    assert [(one.code, one.start.line) for one in said(training, WHOLE)] == [("TS931", 2)]
    assert [(one.code, one.start.line) for one in said(training, WHOLE.replace("//", "/"))] == [("TS931", 4)]


def test_inputs_that_are_next_to_constant_are_told_where_they_are_made() -> None:
    place = Place("train.py", 4, (4, 8, 4, 21))
    flat = replace(loss(values=series(*[1.4] * 128)), steps=128)
    tiny = replace(batches("first", 12, std=1e-5, mean=1e-5), place=place)
    training = replace(flat, batches=(*(one for one in SOUND.batches if one.role == "target"), tiny))
    assert [(one.code, one.start.line) for one in said(training, WHOLE)] == [("TS930", 3)]
    assert not said(replace(training, losses=(replace(SOUND.losses[0], values=falling(128)),)), WHOLE), "it learns"


def test_an_evaluation_in_an_order_is_prepared_as_the_training_was() -> None:
    apart = tuple(BatchSample(step, (16, 4), "float32", -2.0 + number * 0.66, 0.3) for number, step in enumerate(STEPS))
    evaluated = replace(batches("evaluated", 16, shape=(16, 4)), samples=apart)
    training = with_batches(batches("input", 12, shape=(16, 4), std=1.3), evaluated)
    assert not said(training), "each batch is of one kind, all of them are as wide as those of the training"


def test_large_inputs_that_a_batch_normalisation_takes_are_no_fault() -> None:
    large = batches("first", 12, mean=120.0, std=70.0, low=0.0, high=255.0)
    assert not said(with_batches(replace(large, normalised=True)))


def test_targets_that_have_a_time_may_have_it_first() -> None:
    network = (MODEL, replace(FIRST, type="LSTM", shapes=((16, 9, 4),) * 4))
    training = with_batches(batches("target", 12, "mse", shape=(16, 9)), modules=network)
    assert not said(training)
    loader = Loader(at(11), "Dataset", 64, 16, 0, False, True, training=9, batches=9, rounds=1)
    assert [one.code for one in said(replace(training, loaders=(loader,)))] == ["TS119"]


DECAY = """\
CONFIG = {"lr": 0.01, "weight_decay": 0.4}
optimizer = torch.optim.Adam(model.parameters(), **CONFIG)
"""


def test_a_decay_that_outweighs_the_loss_is_told_where_it_is_set() -> None:
    norms = (5.0, 4.0, 3.0, 2.5, 2.5, 2.5, 2.5)
    one = parameter("first.weight")
    one = replace(one, samples=tuple(replace(sample, norm=norm) for sample, norm in zip(one.samples, norms)))
    group = Group(1, 32, series(0.01, 0.01), weight_decay=0.4)
    made = replace(SOUND.optimizers[0], groups=(group,), place=Place("train.py", 2))
    stays = Loss(at(13), series(*[2.0] * 20, *[1.0] * 44), "mse", looked=7)
    training = replace(SOUND, parameters=(one,), optimizers=(made,), losses=(stays,), batches=())
    assert [(one.code, one.start.line) for one in said(training, DECAY)] == [("TS944", 1)]
    adamw = replace(training, optimizers=(replace(made, type="AdamW"),))
    assert not said(adamw, DECAY), "its decay is no part of the gradient"


def changed(training: Training, code: str, text: str = TEXT) -> str:
    """The text with the fix of the finding."""
    fixes = next(found.fixes for found in said(training, text) if found.code == code)
    return SourceText("train.py", text).apply(fixes[0].edits) if fixes else text


def test_what_a_run_has_shown_is_repaired_where_the_repair_is_known() -> None:
    assert "    optimizer.zero_grad()\n    loss.backward()" in changed(optimizer(uncleared=63), "TS501")
    two = TEXT.replace("    optimizer.step()\n", "    optimizer.step(closure)\n")
    assert changed(optimizer(uncleared=63), "TS501", two) == two
    switched = TEXT.replace("    loss.backward()", "    torch.autograd.set_detect_anomaly(True)")
    assert "set_detect_anomaly(False)" in changed(event("anomaly-detection", 13), "TS958", switched)
    parts = TEXT.replace("model = Net()", "train.dataset.transform = noisy")
    redrawn = replace(SOUND, redrawn=(Redrawn(at(16), at(17), 0.4),))
    assert "train.dataset = copy.copy(train.dataset)\ntrain.dataset.transform" in changed(redrawn, "TS952", parts)


def test_the_momentum_of_batch_normalisation_is_shown_where_it_is_chosen() -> None:
    text = TEXT.replace("[nn.Linear(4, 4)]", "[nn.BatchNorm1d(4, momentum=args.bn_momentum)]")
    text += 'parser.add_argument("--bn-momentum", type=float, default=0.001)\n'
    training = replace(SOUND, modules=(MODEL, LAGGING))
    (found,) = said(training, text)
    assert {place.start.line for place in found.related} == {3, text.count("\n")}
    assert "nn.BatchNorm1d(4)" in changed(training, "TS573", text)


def test_a_schedule_of_epochs_is_stepped_behind_the_loop_over_batches() -> None:
    inner = TEXT.replace("for x, y in loader:\n", "for epoch in range(4):\n  for x, y in loader:\n")
    inner = inner.replace("    history.append(loss)", "    scheduler.step()")
    rates = series(*[0.1] * 8, *[1e-6] * 56)
    made = Scheduler("LambdaLR", 0, at(10), replace(at(15), line=16), 64, counted=64)
    training = replace(optimizer(groups=(Group(2, 64, rates),)), schedulers=(made,))
    assert "    optimizer.step()\n  scheduler.step()" in changed(training, "TS536", inner)
