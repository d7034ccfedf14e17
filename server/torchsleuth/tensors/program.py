"""A training step as data: the operations that an execution of a script has recorded, with tensors by their identity.

The interpreter records it (`interp/tape.py`), and the oracle executes it with tensors that have no content (`oracle/replay.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torchsleuth.tensors.spec import TensorSpec

Place = tuple[str, int]
"""Path and line."""
Casts = tuple[tuple[str, tuple[str | None, ...]], ...]
"""The autocast regions in effect: for each kind of device the dtypes that may be in effect."""


@dataclass(frozen=True)
class Held:
    """A tensor, by its identity. `member`: it is the parameter or buffer of this name of the layer with that identity."""

    identity: int
    member: str = ""


@dataclass(frozen=True)
class Layer:
    """The state of a layer at a call. `ties`: tensors that stand in the place of its own parameters.

    Of a model that a package has built, `part` is what is called, by its `method`; `states` are mode and requires_grad of those of its
    parts that do not learn or not train; `replaced`: what stands in the place of parts, one layer or those of a Sequential.
    """

    identity: int
    training: bool = True
    requires_grad: bool = True
    dtype: str | None = None
    ties: tuple[tuple[str, Held], ...] = ()
    part: str = ""
    method: str = "forward"
    states: tuple[tuple[str, bool, bool], ...] = ()
    replaced: tuple[tuple[str, Layer | tuple[Layer, ...]], ...] = ()


@dataclass(frozen=True)
class Owned:
    """All parameters of a layer, or the own ones of a part of a model."""

    identity: int
    part: str | None = None


@dataclass
class Step:
    """One thing that is done.

    kind: leaf (a tensor that is there: `target` is its spec, `args` says whether it is a parameter), alias (a tensor that is
    another one, perhaps with another dtype or on another device: `target` is its spec), make (a layer by its recipe), call (of the
    `Layer` in `target`), operator (by its path), optimizer (made: `args` are what it trains), backward, step, zero_grad, freeze,
    checkpoint (`steps` are done, and done again in the backward pass), and enter and leave (a module of the user's, of the class
    in `target`). `results`: what comes of it, a tree with `Held` in it. `holds`: the tensors that variables still held when it
    was done. `device`: where its results are. `last`: the tensors that nothing needs behind it.
    """

    kind: str
    place: Place
    target: Any = None
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    results: Any = None
    grad: bool = True
    casts: Casts = ()
    device: str = ""
    holds: frozenset[int] = frozenset()
    steps: list[Step] = field(default_factory=list)
    last: tuple[int, ...] = ()

    def used(self) -> Iterator[int]:
        """The identities of the tensors in its operands and results, and in those of its steps."""
        for tree in (self.args, self.kwargs, self.results):
            yield from identities(tree)
        for step in self.steps:
            yield from step.used()


@dataclass(frozen=True)
class Gap:
    """Something that is not known. `reason`: the end of the identifier of a message; `name`: what it is about."""

    reason: str
    place: Place
    name: str = ""


@dataclass
class Program:
    """The steps of a script up to the second step of its optimizers. `device`: the kind that the model is on. `gap`: why they
    are not all known; None where they are. `backward`: the place of the first ``backward()``. `batch`: the first size of what the first
    module is given that is called in a training."""

    steps: list[Step] = field(default_factory=list)
    device: str = "cpu"
    gap: Gap | None = None
    backward: Place | None = None
    batch: int | None = None


@dataclass(frozen=True)
class Changes:
    """A variant of a program. `foreach`: the option of the optimizers. `cast`: an autocast over the forward pass. `small_state`:
    the state of the optimizers is kept in eight bits. `trained`: the only layer that is trained. `device`: the kind that is counted
    on."""

    foreach: bool | None = None
    cast: str | None = None
    small_state: bool = False
    trained: int | None = None
    device: str | None = None


@dataclass(frozen=True)
class Block:
    """Memory at the peak. kind: parameter, buffer, gradient, optimizer, data, activation, temporary."""

    kind: str
    place: Place
    size: int


@dataclass(frozen=True)
class Peak:
    """The peak of an execution: bytes, the phase it is in (forward, backward, step), and what they are."""

    size: int
    phase: str
    place: Place
    blocks: tuple[Block, ...]


def checkpointed(program: Program, name: str) -> Program:
    """The program with the calls of modules of a class done again in the backward pass."""
    steps: list[Step] = []
    inner: list[Step] | None = None
    depth, began = 0, None
    for step in program.steps:
        mine = step.kind in ("enter", "leave") and step.target == name
        if mine and step.kind == "enter":
            depth += 1
            if depth == 1 and step.grad:
                inner, began = [], step
        elif mine:
            depth -= 1
            if depth == 0 and inner is not None and began is not None:
                steps.append(Step("checkpoint", began.place, False, steps=inner, casts=began.casts))
                inner = None
        elif inner is not None and step.kind not in ("make", "leaf", "optimizer"):
            inner.append(replace(step, last=()))
        else:
            steps.append(replace(step, last=()))
    for number, step in enumerate(steps):
        if step.kind == "checkpoint" and step.results is None:
            made = {one for part in step.steps for one in identities(part.results)}
            later = {one for other in steps[number + 1 :] for one in (*other.used(), *other.holds)}
            given = {one for part in step.steps for one in part.used()} - made
            known = {one for other in steps[:number] for one in other.used()}
            step.args = tuple(Held(one) for one in sorted(given & known) if one not in _members(step))
            step.results = tuple(Held(one) for one in sorted(made & later))
    note_last(steps)
    return replace(program, steps=steps)


def _members(step: Step) -> set[int]:
    """The identities in a step that are of layers."""
    return {part.target.identity for part in step.steps if isinstance(part.target, Layer)}


def identities(tree: Any) -> Iterator[int]:
    """The identities of the tensors in a tree of arguments."""
    if isinstance(tree, Held):
        yield tree.identity
        return
    items = tree if isinstance(tree, tuple | list) else getattr(tree, "items", ())
    if isinstance(items, tuple | list):
        for item in items:
            yield from identities(item)


def note_last(steps: list[Step]) -> None:
    """Note at each step the tensors that nothing needs behind it."""
    final: dict[int, int] = {}
    for number, step in enumerate(steps):
        for identity in (*step.used(), *step.holds):
            final[identity] = number
        if step.steps:
            outer = {one for part in (step.args, step.results) for one in identities(part)}
            note_last(step.steps)
            for inner in step.steps:
                inner.last = tuple(one for one in inner.last if one not in outer)
    ends: dict[int, list[int]] = {}
    for identity, number in final.items():
        ends.setdefault(number, []).append(identity)
    for number, step in enumerate(steps):
        step.last = tuple(ends.get(number, ()))


__all__ = [
    "Block",
    "Casts",
    "Changes",
    "Gap",
    "Held",
    "Layer",
    "Owned",
    "Peak",
    "Place",
    "Program",
    "Step",
    "TensorSpec",
    "checkpointed",
    "identities",
    "note_last",
]
