"""sync-in-hot-loop: the accelerator is waited for in every training step.

What it finds
    item(), cpu(), numpy() or tolist() of a tensor on an accelerator, unconditionally in each iteration of a training loop.
    Off unless it is selected.
Why it hurts
    The call waits until everything before it is computed, so that the accelerator idles while Python prepares the next
    step. Once in many steps it does not matter.
Example
    for x, y in loader:
        loss = train_step(x.cuda(), y.cuda())
        print(loss.item())
Use instead
    for step, (x, y) in enumerate(loader):
        loss = train_step(x.cuda(), y.cuda())
        if step % 100 == 0:
            print(loss.item())
Fix safety
    No fix: what is to be seen how often is the author's choice.
References
    PyTorch performance tuning guide, "avoid unnecessary CPU-GPU synchronization"
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.iterations import in_every_step
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.values import Tensor

CODE = "TS702"
_WAITS = tuple(f"Tensor.{name}" for name in ("item", "cpu", "numpy", "tolist"))


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in in_every_step(analysis, _WAITS, ("step",)):
        device = call.receiver.spec.device if isinstance(call.receiver, Tensor) else None
        if device is not None and device.kind not in ("cpu", "meta"):
            name = call.name
            yield Finding(call.site.span, message("sync.loop", method=name, device=device.described))


RULE = Rule(FAULTS[CODE], find)
