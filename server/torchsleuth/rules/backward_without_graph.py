"""backward-without-graph: backward() on a value with no path to a parameter.

What it finds
    backward() on a tensor, or a number, that was cut off from the model on its way: by item(), float(), detach(), .data,
    numpy(), torch.no_grad(), argmax or a comparison; parameters that are all frozen; a second differentiation of a
    gradient that was computed without create_graph. Also the quiet form, where requires_grad is switched on again
    after the cut: that runs, and trains nothing.
Why it hurts
    PyTorch raises "element 0 of tensors does not require grad and does not have a grad_fn", far from the cause.
Example
    total = 0.0
    for name in tasks:
        total += criterion(out[name], y[name]).item()
    total.backward()
Use instead
    total = 0.0
    for name in tasks:
        total += criterion(out[name], y[name])
    total.backward()
Fix safety
    Removing item() or detach() is safe: backward() was meant to go through. Dissolving a no_grad block, unfreezing
    parameters and leaving out a comparison are offered as unsafe, for they change more than that.
References
    torch.Tensor.backward, torch.Tensor.detach, torch.no_grad
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from torchsleuth.messages import message
from torchsleuth.rules.graphs import cut_places, cut_text, faults, gradient_is_used, name_of, uncut
from torchsleuth.rules.rewrites import as_loss, as_tensors
from torchsleuth.rules.rule import Analysis, Example, Finding, Rule

CODE = "TS401"
_KEYS = {"frozen": "grad.frozen", "first_order": "grad.first_order"}


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "no_graph", "severed"):
        cut = fault.cut
        severed = fault.kind == "severed"
        if cut is not None and (cut.kind == "rewrapped" or (cut.kind == "integers" and severed)):
            continue
        if severed and gradient_is_used(analysis, fault):
            continue
        tensor = name_of(analysis, fault)
        if cut is None:
            yield Finding(fault.at.span, message("grad.no_graph.plain", tensor=tensor))
            continue
        key = "grad.severed" if severed else _KEYS.get(cut.kind, "grad.no_graph")
        text = message(key, tensor=tensor, cut=cut_text(analysis, cut))
        repairs = chain(as_loss(analysis, fault), uncut(analysis, cut), as_tensors(analysis, fault))
        yield Finding(fault.at.span, text, cut_places(analysis, cut), repairs)


RULE = Rule(
    CODE,
    "backward-without-graph",
    "error",
    "autograd",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))]:
    loss = nn.functional.mse_loss(model(x), y).item()
    optimizer.zero_grad()
    loss.backward()
#   ^^^^^^^^^^^^^^^ TS401: `loss` has no gradient: the graph ends at `.item()`
    optimizer.step()
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))]:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))]:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
""",
        ),
    ),
)
