"""Which steps of a training are looked at closely.

At first that is each step; later, where steps are short, as many as cost no more than one part in `SHARE` of the time. Of the others only
the loss is read, and they count as what the last one was that was looked at. Something new, such as a pass over another loader,
is looked at in any step, and so is an evaluation, unless there are many in short steps. Where several optimizers take turns, a step is one of the optimizer that leads, with all that the others do before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 80
FREE = 64
"""Steps that are looked at whatever that costs."""


class Attention:
    """`closely`: what happens now is looked at. `whole`: it has been since the step began, so that the order of things in it is
    known. `weight`: the steps that this one stands for. `gap`: the last step that was not looked at from its beginning to its end."""

    def __init__(self) -> None:
        self.closely = self.whole = True
        self.weight = 1
        self.gap = 0
        self.due = 0.0
        """When the next step is to be looked at."""
        self.on_wake: Callable[[], None] = lambda: None
        self.on_whole: Callable[[bool], None] = lambda whole: None
        """Called with the new `whole` when it changes."""
        self._free = FREE
        self._passed = 1
        self._cost = 0.0
        self._in_pair = False

    def spent(self, seconds: float) -> None:
        self._cost += seconds

    def begin_step(self, step: int, now: float, *, certainly: bool = False, pairs: bool = False) -> None:
        """The step after `step` begins. `certainly`: it has to be looked at. `pairs`: two are looked at in a row, since some optimizers'
        own steps begin in the one before."""
        before = self.whole
        if not before:
            self.gap = step
        self._in_pair = pairs and before and not self._in_pair
        if self.closely:
            self._passed = 0
            if not self._in_pair:
                self.due = now + SHARE * self._cost
                self._cost = 0.0
        self._passed += 1
        self.closely = self.whole = certainly or self._in_pair or step < FREE or now >= self.due
        if self.closely:
            self.weight = self._passed
        if self.whole is not before:
            self.on_whole(self.whole)

    def pass_step(self) -> None:
        """A step has ended that was not looked at, and the next one is not, either."""
        self._passed += 1

    def lose_order(self) -> None:
        """Something of this step was not seen."""
        if self.whole:
            self.whole = False
            self.on_whole(False)

    def admits(self) -> bool:
        """Whether this step is looked at for a call without a gradient: where each step has some, not for all of them."""
        return self.closely or self._free > 0 or time.perf_counter() >= self.due

    def wake(self) -> None:
        """Something happens that is looked at in any step."""
        if not self.closely:
            self._free -= 1
            self.closely = True
            self.weight = self._passed
            self.on_wake()
