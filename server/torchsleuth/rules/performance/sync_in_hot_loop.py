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

from torchsleuth.messages import message
from torchsleuth.rules.evidence.iterations import in_every_step
from torchsleuth.rules.rule import Analysis, Example, Finding, Rule
from torchsleuth.values import Tensor

CODE = "TS702"
_WAITS = tuple(f"Tensor.{name}" for name in ("item", "cpu", "numpy", "tolist"))


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in in_every_step(analysis, _WAITS, ("step",)):
        device = call.receiver.spec.device if isinstance(call.receiver, Tensor) else None
        if device is not None and device.kind not in ("cpu", "meta"):
            name = call.path.rpartition(".")[2]
            yield Finding(call.site.span, message("sync.loop", method=name, device=device.described))


RULE = Rule(
    CODE,
    "sync-in-hot-loop",
    "hint",
    "memory and performance",
    __doc__,
    find,
    (
        Example(
            bad="""
            import torch
            from torch import nn

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = nn.Linear(4, 1).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            x, y = torch.randn(8, 4, device=device), torch.randn(8, 1, device=device)
            for step in range(1000):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                print(loss.item())
            #         ^^^^^^^^^^^ TS702: waits for cuda
            """,
            good="""
            import torch
            from torch import nn

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = nn.Linear(4, 1).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            x, y = torch.randn(8, 4, device=device), torch.randn(8, 1, device=device)
            for step in range(1000):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                if step % 100 == 0:
                    print(loss.item())
            """,
        ),
    ),
    default=False,
)
