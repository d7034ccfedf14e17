"""Explicit limits of one analysis."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Running out of one of these means unknown."""

    seconds: float = 8.0
    """Time of the processor for one document. It counts everything in what it costs, where the others count nodes, so that
    one and the same text gives the same on any machine."""
    steps: int = 400_000
    """Nodes evaluated for one document."""
    work: int | None = None
    """Nodes, and what else was done counted in them, where the same text has to give the same however busy the machine is."""
    entry_steps: int = 60_000
    """Nodes evaluated for one class or function that nothing calls."""
    import_steps: int = 40_000
    """Nodes evaluated in the bodies of imported modules; after that, only what is needed of them is executed."""
    module_steps: int = 3_000
    """Nodes evaluated in the body of a module of which a name is needed, before only what the name needs is executed."""
    decoration_steps: int = 1_000
    """Nodes evaluated in a function that hands back the function or class that it is given."""
    depth: int = 60
    """Nested calls."""
    supposed_questions: int = 80
    """New questions to the oracle that are asked only to know more of what nothing calls; the next analysis goes on."""
    unroll: int = 64
    """Iterations of a loop with known bounds that are executed one by one."""
    loop_steps: int = 20_000
    """Nodes one loop may take to be unrolled."""
    open_loop_steps: int = 4_000
    """Nodes that a loop may take to be unrolled, of which it is known only that it goes on."""
    long_loop_steps: int = 10_000
    """Nodes that a loop of more iterations than `unroll` may take to be unrolled all the same."""


LOOK_EVERY = 500
"""Nodes evaluated, or slots of the heap changed, joined and undone, from one look at the clock to the next."""
SLOTS_A_NODE = 4
"""Slots of the heap that take as long as a node."""


class OutOfBudget(Exception):
    """The analysis of this entry point ends here."""


class Withdrawn(BaseException):
    """Nobody waits any longer for what is being computed."""


class OutOfTime(BaseException):
    """Something under a limit has taken too long, and was interrupted (`worker/bounded.py`). No `Exception`: nothing on the way may
    take it for a fault of its own."""
