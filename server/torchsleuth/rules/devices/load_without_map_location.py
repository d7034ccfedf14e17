"""load-without-map-location: a checkpoint that comes back on the device it was saved from.

What it finds
    `torch.load` of a file without `map_location`, in a script that works on an accelerator when there is one.
Why it hurts
    Tensors that were saved on an accelerator are restored there: on a machine without one, loading stops with "Attempting to
    deserialize object on a CUDA device", and on one with several, everything lands on the first.
Example
    state = torch.load("best.pt")
Use instead
    state = torch.load("best.pt", map_location="cpu")
Fix safety
    Safe: load_state_dict copies into the model wherever that is.
References
    torch.load
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import calls
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.schema import Span
from torchsleuth.tensors.device import Device
from torchsleuth.values.frames import Scene

CODE = "TS206"


_ACCELERATED = ("torch.device", "torch.cuda.", "Tensor.cuda", "torch.nn.Module.cuda", "torch.accelerator.")


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(path.startswith(_ACCELERATED) for path in analysis.calls):
        return
    seen: set[Span] = set()
    for span, node, frame in _loads(analysis):
        exact = all(keyword.arg for keyword in node.keywords)
        given = {keyword.arg for keyword in node.keywords}
        if not exact or len(node.args) > 1 or given & {"map_location", "mmap"} or span in seen:
            continue
        seen.add(span)
        text = f"map_location={_device_name(frame)}"
        fix = added_argument(analysis.source_of(span.path), node, text)
        yield Finding(span, message("device.load"), (), (fix,))


def _loads(analysis: Analysis) -> Iterator[tuple[Span, ast.Call, Scene | None]]:
    """The calls that the analysis saw, and those of the document that it did not reach."""
    for call in analysis.calls.get("torch.load", ()):
        if call.site.call is not None and call.given(1, "map_location") is None:
            yield call.site.span, call.site.call, call.site.scene
    for _, node in calls(analysis, "torch.load"):
        yield analysis.source.span(node), node, None


def _device_name(frame: Scene | None) -> str:
    scopes = (frame.names, *frame.closure, frame.globals) if frame is not None else ()
    return next((str(name) for names in scopes for name, value in names.items() if isinstance(value, Device)), '"cpu"')


RULE = Rule(FAULTS[CODE], find)
