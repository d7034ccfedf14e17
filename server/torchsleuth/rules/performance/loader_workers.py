"""loader-workers: a DataLoader that loads in the process that trains.

What it finds
    A DataLoader without num_workers, or with 0, and one without pin_memory in a script that moves tensors to CUDA. Off
    unless it is selected.
Why it hurts
    The next batch is loaded only after the step has ended. With workers it is ready by then; from pinned memory it is
    copied while the GPU computes. For data that is in memory already, workers make it slower.
Example
    loader = DataLoader(dataset, batch_size=64)
Use instead
    loader = DataLoader(dataset, batch_size=64, num_workers=4, pin_memory=True)
Fix safety
    No fix: how many workers are best depends on the machine and on the data.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import calls, is_exact
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import argument_of, literal
from torchsleuth.values import Tensor

CODE = "TS703"
_LOADERS = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")


def find(analysis: Analysis) -> Iterator[Finding]:
    on_cuda = _uses_cuda(analysis)
    for _, call in calls(analysis, *_LOADERS):
        workers, pinned = argument_of(call, 5, "num_workers"), argument_of(call, 7, "pin_memory")
        span = analysis.source.span(call)
        if (workers is None and is_exact(call)) or (literal(workers) == 0):
            yield Finding(span, message("loader.workers"))
        elif pinned is None and on_cuda and is_exact(call):
            yield Finding(span, message("loader.pinned"))


def _uses_cuda(analysis: Analysis) -> bool:
    devices = (call.result.spec.device for call in analysis.trace.calls if isinstance(call.result, Tensor))
    return any(device is not None and device.kind == "cuda" for device in devices)


RULE = Rule(FAULTS[CODE], find)
