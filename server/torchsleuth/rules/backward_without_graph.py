"""backward-without-graph: backward() on a value with no path to a parameter.

What it finds
    backward() on a tensor, or a number, that was cut off from the model on its way: by item(), detach(), .data,
    numpy(), torch.no_grad(), argmax or a comparison. Also the quiet form, where requires_grad is switched on again
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
    Removing item() or detach() is safe: backward() was meant to go through. Dissolving a no_grad block is offered as
    unsafe, for it may hold more than the loss.
References
    torch.Tensor.backward, torch.Tensor.detach, torch.no_grad
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.graphs import cut_places, cut_text, faults, name_of, uncut
from torchsleuth.rules.rule import Analysis, Example, Finding, Rule

CODE = "TS401"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "no_graph", "severed"):
        cut = fault.cut
        if cut is not None and (cut.kind == "rewrapped" or (cut.kind == "integers" and fault.kind == "severed")):
            continue
        tensor = name_of(analysis, fault)
        if cut is None:
            yield Finding(fault.at.span, message("grad.no_graph.plain", tensor=tensor))
            continue
        key = "grad.no_graph" if fault.kind == "no_graph" else "grad.severed"
        text = message(key, tensor=tensor, cut=cut_text(analysis, cut))
        yield Finding(fault.at.span, text, cut_places(analysis, cut), tuple(uncut(analysis, cut)))


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
