"""The record of a training run: what the recorder saw of it, as data, bounded in size.

The process of the script sends it as JSON of the same form (`runtime/training.py`); verdicts, reports and comparisons of runs
read it. Steps are counted from 1 over all optimizers. A number is None where it was not finite, or not looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from torchsleuth.schema import Json


@dataclass(frozen=True)
class Place:
    """A call in the user's code. `span`: line, column, end line, end column as `ast` counts them, None before Python 3.11."""

    path: str
    line: int
    span: tuple[int, ...] | None = None
    function: str = ""


@dataclass(frozen=True)
class Series:
    """A number over time. `points` are (step, value), at most some hundred: the mean of each stretch of `stride` values.

    `low` and `high` are of all finite values, with the steps at which they were; `bad` counts the others, `first_bad` is the
    step of the first one."""

    count: int = 0
    stride: int = 1
    points: tuple[tuple[int, float | None], ...] = ()
    first: float | None = None
    last: float | None = None
    low: float | None = None
    high: float | None = None
    low_step: int | None = None
    high_step: int | None = None
    bad: int = 0
    first_bad: int | None = None

    @property
    def values(self) -> tuple[float, ...]:
        """The finite values of the points."""
        return tuple(value for _, value in self.points if value is not None)


@dataclass(frozen=True)
class Loss:
    """The losses that one ``backward()`` was called on. `kind`: the function that made it (``cross_entropy``, ``mse``, …), as far
    as the autograd graph tells."""

    place: Place | None
    values: Series
    kind: str | None = None
    module: str | None = None
    retained: int = 0
    """Times that its graph reached back behind the backward() before the last one at this place."""
    looked: int = 0
    """Times that its graph was looked at."""
    nodes: Series = Series()
    """Functions in its graph."""
    leaf: int = 0
    """Times that it had no graph."""
    mean: bool = False
    scaled: bool = False
    """Whether it is multiplied or divided before backward()."""
    per_step: tuple[int, int] | None = None
    """The fewest and the most batches that it was called for before one step."""


@dataclass(frozen=True)
class Group:
    """A parameter group of an optimizer: the number of its parameters and elements, and its learning rates."""

    parameters: int
    elements: int
    rates: Series
    weight_decay: float | None = None
    momentum: float | None = None


@dataclass(frozen=True)
class Optimizer:
    """An optimizer. `place`: where it was made. The counts are of its steps: `uncleared` after the first one, between which
    and the one before nothing cleared the gradients; `without_gradients` in which no parameter had one; `zero_gradients` in
    which all that were looked at were zero; `backwards` calls of backward() before them."""

    type: str
    place: Place | None
    step_place: Place | None
    groups: tuple[Group, ...]
    steps: int = 0
    uncleared: int = 0
    without_gradients: int = 0
    cleared_after_backward: int = 0
    discarded: int = 0
    """Steps before which gradients were cleared that no step had used, and others came behind them."""
    backwards: int = 0
    skipped: int = 0
    clear_place: Place | None = None
    backward_place: Place | None = None
    defaults: Json = dataclasses.field(default_factory=dict)
    closure: bool = False
    again: int = 0
    """Optimizers that were made at this place before, of the same parameters."""
    slopes: tuple[float, ...] = ()
    """The cosine between all updates of a step and the gradients, in the first steps looked at: below 0 where it goes down."""


@dataclass(frozen=True)
class Scheduler:
    """A learning-rate scheduler. `optimizer` is its number. `counted`: the steps of all optimizers when its own were counted last."""

    type: str
    optimizer: int | None
    place: Place | None
    step_place: Place | None = None
    steps: int = 0
    settings: Json = dataclasses.field(default_factory=dict)
    before_first_step: int = 0
    counted: int = 0


PART = 4096
"""Elements of a parameter, spread over it, of which the norms in a sample are, where it has more."""


@dataclass(frozen=True)
class ParameterSample:
    """A parameter in one step: norm of the gradient, share of its elements that are zero, whether all are finite; norm of the
    parameter, and the norm of its update divided by that."""

    step: int
    gradient: float | None = None
    zeros: float | None = None
    finite: bool = True
    moved: bool | None = None
    norm: float | None = None
    update: float | None = None
    lost: float | None = None
    """Of numbers of 16 bits: the share of those with a gradient that the step has not changed."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a module. `optimizer`: the number of the one that has it, or None. `reached`: of the `looked` graphs of
    losses that reached the module's root, those that reached it."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    optimizer: int | None
    module: int | None = None
    reached: int = 0
    looked: int = 0
    with_gradient: int = 0
    """Steps that were looked at in which it had a gradient."""
    seen: int = 0
    """Steps that were looked at."""
    changed: bool | None = None
    """Whether it is not what it was at the first step; None where that is not known."""
    samples: tuple[ParameterSample, ...] = ()
    holder: Json | None = None
    """The plain attribute of a module that it stands in: {type, attribute, tensor}."""
    rows_equal: bool = False
    """Whether all rows of it are equal at the end."""


@dataclass(frozen=True)
class ModuleSample:
    """The output of an activation, or the values of a layer, in one step. `zeros`: share of the elements; `dead`: share of units
    that are zero for the whole batch; `saturated`: share of elements at the bound of a sigmoid or tanh."""

    step: int
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    zeros: float | None = None
    dead: float | None = None
    saturated: float | None = None
    bad: int = 0


@dataclass(frozen=True)
class Activation:
    """An activation function in the graph of a loss. `after`: the name of the layer before it; `place`: the expression."""

    function: str
    after: str | None
    place: Place | None
    order: int
    samples: tuple[ModuleSample, ...] = ()


@dataclass(frozen=True)
class Call:
    """The calls of a module from one place of the user's code. `training`: in training mode; `grad`: with autograd recording;
    `looked` of them were looked for in the graph of the next loss, `in_graph` found there; `streak`: the most without a
    backward() in between."""

    place: Place
    calls: int = 0
    training: int = 0
    grad: int = 0
    looked: int = 0
    in_graph: int = 0
    streak: int = 0
    same_input: int = 0
    last_step: int = 0
    inputs: tuple[str, ...] = ()
    input_grad: int = 0
    """Calls in evaluation mode with an input that requires a gradient."""
    through: int = 0
    """Calls in training mode with such an input."""


@dataclass(frozen=True)
class Module:
    """A module. `root`: it is part of no other one; `modes`: types of its parts that behave otherwise in evaluation."""

    name: str
    type: str
    place: Place | None
    root: bool
    elements: int = 0
    trainable: int = 0
    modes: tuple[str, ...] = ()
    calls: int = 0
    training: int = 0
    grad: int = 0
    sites: tuple[Call, ...] = ()
    optimized: bool = False
    parent: int | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of the first inputs, for layers that take dimension 0 for time."""
    lag: float | None = None
    """Of a batch normalisation: the part of its first statistics, mean 0 and variance 1, that is still in those of now."""
    flops: int = 0
    """Floating-point operations in the forward pass of the first batch, of itself without its parts."""


@dataclass(frozen=True)
class BatchSample:
    """A tensor of a batch in one step. `labels`: how often each class occurs, for integers; `same`: it is equal to that of the
    last step that was looked at; `rows_equal`: all its samples are."""

    step: int
    shape: tuple[int, ...]
    dtype: str
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    bad: int = 0
    labels: Json | None = None
    same: bool = False
    rows_equal: bool = False
    spread: float | None = None
    """Of an output: how far the samples of the batch are apart, relative to their size."""
    distance: float | None = None
    """Of an output: how far they are from their mean on the average, relative to their size."""
    right: float | None = None
    """Of a prediction: the share of samples for which the class with the largest score is the right one; `labels` are these
    classes then."""


@dataclass(frozen=True)
class Batches:
    """A tensor that goes into training: `role` is ``input``, ``evaluated`` (an input without a gradient), ``first`` (what enters the first layer that has weights), ``output`` (of a
    module that the script calls), ``target`` or ``prediction``; `place`: the call that gets it; `loss`: the kind of the loss that a target or prediction is for."""

    role: str
    place: Place | None
    samples: tuple[BatchSample, ...] = ()
    loss: str | None = None
    normalised: bool = False
    """Of what enters the first layer: whether a batch normalisation takes what that makes."""


@dataclass(frozen=True)
class Relation:
    """How inputs and labels belong together, in `samples` different samples. `neighbours`: the share of them whose nearest
    neighbour has the same label, `chance`: that share if labels were dealt out by lot; `spread`: the variance of the means of
    the classes divided by what it would be then, of the best feature; `features`: how many there are."""

    samples: int
    neighbours: float
    chance: float
    spread: float
    features: int
    words: bool = False
    """Whether the features are how often which words occur, in whatever order."""


@dataclass(frozen=True)
class Metric:
    """A number that was computed without recording for autograd. Steps are those made before."""

    place: Place
    values: Series


@dataclass(frozen=True)
class Loader:
    """A DataLoader that was iterated over. `seconds`: spent waiting for its `batches`, `between`: from one to the next wait, and
    how much of both the thread was executed; `training`: batches after which a step came before the next one."""

    place: Place | None
    dataset: str
    size: int | None
    batch_size: int | None
    workers: int
    pinned: bool
    shuffled: bool | None
    rounds: int = 0
    batches: int = 0
    training: int = 0
    seconds: float = 0.0
    busy: float = 0.0
    between: float = 0.0
    busy_between: float = 0.0


@dataclass(frozen=True)
class Kept:
    """Tensors with a graph that are still alive in later steps. `holder`: the variable that keeps them, as far as it is known.
    `grows`: not the tensors themselves, but the graph of this one reaches back into more and more steps."""

    place: Place
    alive: int
    steps: int
    holder: str | None = None
    grows: bool = False


@dataclass(frozen=True)
class Overlap:
    """Samples seen in training that are evaluated too. `evaluated` and `shared` are numbers of different samples."""

    train: Place | None
    evaluation: Place | None
    evaluated: int
    trained: int
    shared: int
    same_dataset: bool = False
    train_loader: Place | None = None
    evaluation_loader: Place | None = None


@dataclass(frozen=True)
class Redrawn:
    """A loader that gives an evaluation other samples in each round, in an order that stays. `apart`: how far a sample is from
    what it was in the round before, relative to how far it is from another one."""

    evaluation: Place | None
    loader: Place | None
    apart: float


@dataclass(frozen=True)
class Renumbered:
    """A class, or another name, that the datasets of a training and of an evaluation number differently, in the same attribute.
    `conflicts`: how many are."""

    loader: Place | None
    dataset: str
    attribute: str
    name: str
    trained: int
    evaluated: int
    conflicts: int


@dataclass(frozen=True)
class Range:
    """The numbers of a tensor: the range of the finite ones, and how many are not finite."""

    elements: int
    bad: int = 0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Variables:
    """The tensors of floats that the names of a frame of the user's stand for. `line`: which it executes."""

    path: str
    line: int
    tensors: dict[str, Range] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Bad:
    """The first loss that was not finite. `where`: ``parameter``, ``input``, ``target``, ``operation`` or ``unknown``; `name`: of
    the parameter or of the autograd function; `place`: the expression."""

    step: int
    where: str
    name: str | None = None
    place: Place | None = None
    function: str | None = None
    operands: tuple[str, ...] = ()
    loss_place: Place | None = None
    value: str = "nan"
    near: tuple[Variables, ...] = ()
    """Of the frames around the backward(), the innermost first; where no function in the graph made it."""


@dataclass(frozen=True)
class Event:
    """Something that happened `count` times at a place, for the first time in `step`. The kinds: ``clip-without-gradients``,
    ``clip-after-step``, ``clip-scaled``, ``softmax-before-cross-entropy``, …"""

    kind: str
    place: Place | None
    count: int
    step: int
    details: Json = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Training:
    """The record of the training in one process. `phases`: seconds by phase (``data``, ``forward``, ``backward``,
    ``optimizer``, ``evaluation``, ``other``)."""

    steps: int = 0
    backwards: int = 0
    seconds: float = 0.0
    rounds: tuple[int, ...] = ()
    losses: tuple[Loss, ...] = ()
    optimizers: tuple[Optimizer, ...] = ()
    schedulers: tuple[Scheduler, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    modules: tuple[Module, ...] = ()
    activations: tuple[Activation, ...] = ()
    batches: tuple[Batches, ...] = ()
    loaders: tuple[Loader, ...] = ()
    gradient_norm: Series = Series()
    scale: Series = Series()
    step_seconds: Series = Series()
    phases: dict[str, float] = dataclasses.field(default_factory=dict)
    phase_series: dict[str, Series] = dataclasses.field(default_factory=dict)
    memory: Series = Series()
    """Bytes that the process has in memory."""
    device_memory: Series = Series()
    device_peak: int | None = None
    kept: tuple[Kept, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    redrawn: tuple[Redrawn, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    events: tuple[Event, ...] = ()
    bad: Bad | None = None
    left: Bad | None = None
    """The first number with a graph that was not finite, of a loss that the script looks at before it calls backward()."""
    metrics: tuple[Metric, ...] = ()
    relation: Relation | None = None
    scaler_place: Place | None = None
    seeded: bool | None = None
    device: str = "cpu"
    interrupted: bool = False
    """Whether a part of it went on unseen, under a debugger."""
    cost: float = 0.0
    """Seconds that recording has taken, as far as it is measured."""

    def to_json(self) -> Json:
        return dataclasses.asdict(self)

    @staticmethod
    def of_json(found: Json) -> Training:
        """Raises TypeError or ValueError for what is no record."""
        made = _decoder(Training)(found)
        assert isinstance(made, Training)
        return made


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """The function that makes a value of a type out of JSON; unknown fields are left out."""
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        fields = {field.name: _decoder(hints[field.name]) for field in dataclasses.fields(kind)}
        return lambda found: kind(  # type: ignore[operator]
            **{name: fields[name](value) for name, value in _of(found, dict).items() if name in fields}
        )
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        inner = next(_decoder(part) for part in arguments if part is not type(None))
        return lambda found: None if found is None else inner(found)
    if origin is tuple and arguments[-1] is Ellipsis:
        item = _decoder(arguments[0])
        return lambda found: tuple(item(part) for part in _of(found, list, tuple))
    if origin is tuple:
        items = [_decoder(part) for part in arguments]
        return lambda found: tuple(decode(part) for decode, part in zip(items, _of(found, list, tuple), strict=True))
    if origin is dict:
        value = _decoder(arguments[1])
        return lambda found: {name: value(part) for name, part in _of(found, dict).items()}
    taken = _TAKEN.get(kind)
    return (lambda found: found) if taken is None else lambda found: _of(found, *taken)


_TAKEN: dict[Any, tuple[type, ...]] = {int: (int,), float: (int, float), bool: (int,), str: (str,)}
"""The types in JSON of what a plain field may hold."""
_MAX_NUMBER = 1 << 63


def _of(found: Any, *kinds: type) -> Any:
    """A value that is of one of some types. Raises TypeError, and ValueError for an integer that nothing counts."""
    if not isinstance(found, kinds):
        raise TypeError(f"{type(found).__name__} for {kinds[0].__name__}")
    if isinstance(found, int) and abs(found) >= _MAX_NUMBER:
        raise ValueError("a number out of range")
    return found
