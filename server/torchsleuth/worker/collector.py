"""The garbage collector of a process that remembers much: what stays is never looked at again, the rest between requests.

An analysis makes a hundred thousand objects, all of them garbage at its end, while the memo and torch's own objects stay.
With Python's defaults the collector goes through all of them several times in each analysis.
"""

from __future__ import annotations

import gc

THRESHOLDS = (500_000, 50, 1000)

REQUESTS = 500
"""Requests after which what was left alone is looked at, too."""


def quiet() -> None:
    """Collect rarely by itself."""
    gc.set_threshold(*THRESHOLDS)


def tidy(passing: bool = False, thorough: bool = False) -> None:
    """Collect what the last request left, and leave alone from now on what is still there. `passing`: some of that will be
    garbage soon; what is left alone is not collected before somebody is `thorough`, which takes a second."""
    if thorough:
        gc.unfreeze()
    gc.collect()
    if not passing:
        gc.freeze()
