"""load-without-map-location: a checkpoint that comes back on the device it was saved from.

What it finds
    `torch.load` of a file without `map_location`.
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

from torchsleuth.messages import message
from torchsleuth.rules.operands import source_at
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.tensors.device import Device

CODE = "TS206"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int]] = set()
    for call in analysis.trace.calls:
        node = call.site.node
        key = (call.site.span.path, call.site.span.start.line)
        if call.path != "torch.load" or not isinstance(node, ast.Call) or key in seen:
            continue
        exact = all(keyword.arg for keyword in node.keywords)
        if not exact or len(node.args) > 1 or "map_location" in call.kwargs or "mmap" in call.kwargs:
            continue
        seen.add(key)
        scopes = (call.site.frame.names, *call.site.frame.closure, call.site.frame.globals)
        named = next(
            (name for names in scopes for name, value in names.items() if isinstance(value, Device) and str(name)), None
        )
        candidates: list[Candidate] = []
        for place in (str(named),) if named is not None else ('"cpu"',):
            text = f"map_location={place}"
            edit = edits.add_argument(source_at(analysis, call.site), node, text)
            candidates.append(Candidate(message("fix.add_argument", argument=text), (edit,)))
        yield Finding(call.site.span, message("device.load"), (), tuple(candidates))


RULE = Rule(
    CODE,
    "load-without-map-location",
    "hint",
    "device",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

model = nn.Linear(8, 3)
model.load_state_dict(torch.load("best.pt", weights_only=True))
#                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS206: the checkpoint comes back on the device it was saved from
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(8, 3)
model.load_state_dict(torch.load("best.pt", weights_only=True, map_location="cpu"))
""",
            good="""
import torch
from torch import nn

model = nn.Linear(8, 3)
model.load_state_dict(torch.load("best.pt", "cpu", weights_only=True))
""",
        ),
    ),
)
