"""What the catalogue holds of one runtime error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from torchsleuth.errors.case import Case
from torchsleuth.errors.fixes import FixBuilder, no_fix

NAMES = {
    "TS101": "matmul-shape-mismatch",
    "TS102": "conv-channel-mismatch",
    "TS103": "broadcast-mismatch",
    "TS104": "reshape-size-mismatch",
    "TS105": "view-not-contiguous",
    "TS106": "cat-mismatch",
    "TS107": "dim-out-of-range",
    "TS108": "rank-mismatch",
    "TS109": "norm-features-mismatch",
    "TS110": "rnn-size-mismatch",
    "TS111": "attention-size-mismatch",
    "TS112": "output-too-small",
    "TS113": "loss-shape-mismatch",
    "TS115": "unpack-mismatch",
    "TS199": "operator-error",
    "TS201": "device-mismatch",
    "TS205": "numpy-on-accelerator",
    "TS206": "load-without-map-location",
    "TS207": "hard-coded-cuda",
    "TS301": "dtype-mismatch",
    "TS302": "class-target-dtype",
    "TS306": "bce-on-logits",
    "TS307": "binary-target-dtype",
    "TS309": "index-dtype",
    "TS310": "index-out-of-range",
    "TS312": "float-size",
    "TS401": "backward-without-graph",
    "TS402": "rewrapped-loss",
    "TS403": "inplace-on-saved",
    "TS404": "inplace-on-leaf",
    "TS405": "backward-twice",
    "TS406": "backward-on-non-scalar",
    "TS409": "numpy-on-grad",
    "TS511": "modules-in-plain-container",
    "TS512": "optimizer-misses-parameters",
    "TS515": "grad-scaler-order",
    "TS518": "missing-super-init",
    "TS519": "plain-tensor-parameter",
    "TS601": "ragged-batch",
    "TS602": "sample-type",
    "TS603": "missing-len",
    "TS605": "shuffle-with-sampler",
    "TS609": "batch-of-one",
    "TS803": "load-without-weights-only",
    "TS914": "out-of-memory",
    "TS918": "script-error",
}
"""Names of the codes that a run may report, as in the rule catalogue."""


@dataclass(frozen=True)
class ErrorEntry:
    """`expression`: what a message has to match. `text` is the id of the message or chooses one; `applies` tells whether a message that matches means this.

    `example` is a script that raises the error on the installed torch (None where that takes an accelerator); the
    tests run it.
    """

    code: str
    expression: str
    text: str | Callable[[Case], str]
    fixes: FixBuilder = no_fix
    applies: Callable[[Case], bool] = lambda case: True
    example: str | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first asked for: there are hundreds, and most processes need none."""
        return re.compile(self.expression, re.DOTALL)

    @property
    def name(self) -> str:
        return NAMES[self.code]


def entry(
    code: str,
    pattern: str,
    text: str | Callable[[Case], str],
    fixes: FixBuilder = no_fix,
    *,
    applies: Callable[[Case], bool] = lambda case: True,
    example: str | None = None,
) -> ErrorEntry:
    return ErrorEntry(code, pattern, text, fixes, applies, example)
