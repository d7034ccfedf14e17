"""Conditions that are tested again: what was bound under one is known where it holds, and ruled out where it does not."""

from __future__ import annotations

import pytest

from benchmarks.differential import PROGRAMS, programs
from tests.check import analyze, check

SILENT = {
    "a flag of the environment decides the device": """
        import os
        import torch

        flag = os.environ.get("GPU") == "1"
        device = "cuda" if flag else "cpu"
        x = torch.randn(3, device=device)
        y = x + torch.randn(3, device="cuda") if flag else x + torch.randn(3)
    """,
    "the kind of a number": """
        import os
        import torch

        flag = os.environ.get("GPU") == "1"
        size = 0.1 if flag else 100
        if not flag:
            torch.zeros(size, 4)
    """,
    "an integer or a truth value is an index": """
        import torch

        def f():
            return bool(torch.rand(()) > 0.5)

        depth = 3 if f() else True
        layers = [1, 2, 3, 4]
        print(layers[depth], range(depth), torch.zeros(5)[depth])
    """,
    "a list and a dict that are one of two, which have changed since": """
        import os
        import torch
        from torch import nn

        first, second, sizes, others = [1, 2], [3, 4], {"width": 2}, {"width": 2}
        flag = os.environ.get("GPU") == "1"
        chosen, size = (first, sizes) if flag else (second, others)
        for one in (first, second):
            one.append(5)
        sizes["width"] = others["width"] = 8
        nn.Linear(3, 1)(torch.tensor(chosen).float())
        nn.Linear(8, 1)(torch.zeros(size["width"]))
    """,
    "the first batch is a full one": """
        import argparse
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        parser = argparse.ArgumentParser()
        parser.add_argument("--batch-size", type=int, default=64)
        args = parser.parse_args()
        data = TensorDataset(torch.randn(1000, 1, 28, 28), torch.zeros(1000, dtype=torch.long))
        loader = DataLoader(data, batch_size=args.batch_size)
        model = nn.Sequential(nn.Flatten(), nn.Linear(784, 784))
        for i, (x, _) in enumerate(loader):
            if i == 0:
                first = model(x).view(args.batch_size, 1, 28, 28)
    """,
    "a default that a caller replaces": """
        import torch
        from torch import nn

        class Imputer(nn.Module):
            def __init__(self, task):
                super().__init__()
                self.task = task

            def impute(self, x, mask):
                return x / torch.sum(mask == 1, dim=1)

            def forward(self, x, mask=None):
                if self.task == "imputation":
                    return self.impute(x, mask)
                return x / torch.sum(mask == 1, dim=1)
    """,
    "a loss of which a part is not known": """
        import torch
        from setup import parse, policy, buffer

        def main():
            args = parse()
            target = -2.0
            if args.autotune:
                log_alpha = torch.zeros(1, requires_grad=True)
                alpha = log_alpha.exp().item()
                a_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
            else:
                alpha = args.alpha
            for step in range(args.steps):
                if args.autotune:
                    with torch.no_grad():
                        _, log_pi, _ = policy.get_action(buffer.sample())
                    alpha_loss = (-log_alpha.exp() * (log_pi + target)).mean()
                    a_optimizer.zero_grad(); alpha_loss.backward(); a_optimizer.step()
                    alpha = log_alpha.exp().item()

        main()
    """,
    "a flag is handed on, and functions return early": """
        import os
        import torch

        def pick(use_gpu):
            if use_gpu:
                return torch.device("cuda")
            return torch.device("cpu")

        def combine(x, use_gpu):
            if use_gpu:
                return x + torch.randn(3, device="cuda")
            return x + torch.randn(3)

        flag = os.environ.get("GPU") == "1"
        print(combine(torch.randn(3, device=pick(flag)), flag))
    """,
    "an option is tested again": """
        import torch
        from options import get_args

        args = get_args()
        size = 4 if args.wide else 3
        x = torch.ones(size)
        print("shape", x.shape)
        if args.wide:
            print(x + torch.ones(4))
        if not args.wide:
            print(x + torch.ones(3))
    """,
    "a condition has a name, and is a part of another": """
        import torch
        from options import get_args

        args = get_args()
        use = not args.cpu and args.gpus > 0
        x = torch.ones(4 if use else 3)
        if use:
            print(x + torch.ones(4))
        if args.cpu or not args.gpus > 0:
            pass
        elif use:
            print(x + torch.ones(4))
    """,
    "None or not, by its kind, by its length, by its value": """
        import torch
        from options import get_x

        x = get_x()
        a = torch.ones(3) if x is None else torch.ones(4)
        if x is not None:
            print(a + torch.ones(4))
        b = torch.ones(3) if isinstance(x, list) else torch.ones(4)
        if isinstance(x, list):
            print(b + torch.ones(3))
        c = torch.ones(3) if len(x) > 3 else torch.ones(4)
        if len(x) <= 3:
            print(c + torch.ones(4))
        if x.mode == "a":
            d = torch.ones(3)
        elif x.mode == "b":
            d = torch.ones(4)
        else:
            d = torch.ones(5)
        if x.mode == "b":
            print(d + torch.ones(4))
        elif x.mode == "a":
            print(d + torch.ones(3))
        else:
            print(d + torch.ones(5))
    """,
    "an assertion and an early return": """
        import torch
        from options import get_args

        def main(args):
            x = torch.ones(4 if args.wide else 3)
            if args.wide:
                return x + torch.ones(4)
            return x + torch.ones(3)

        def other(args):
            x = torch.ones(4 if args.wide else 3)
            assert args.wide
            return x + torch.ones(4)

        main(get_args())
        other(get_args())
    """,
    "modes of a module": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, wide):
                super().__init__()
                self.wide = wide
                self.first = nn.Linear(8, 4)
                if wide:
                    self.extra = nn.Linear(4, 6)
                self.last = nn.Linear(6 if self.wide else 4, 2)

            def forward(self, x: torch.Tensor):
                x = self.first(x)
                noise = torch.zeros(4) if self.training else None
                if self.training:
                    x = x + noise
                if self.wide:
                    x = self.extra(x)
                return self.last(x)
    """,
    "another value under the same name": """
        import torch
        from data import stream

        last = None
        for flag, x in stream():
            w = torch.ones(3) if flag else torch.ones(4)
            if last is not None and flag:
                print(last + torch.ones(3))
            last = w
    """,
    "a joined tensor and list that were changed since": """
        import torch
        from options import get_args

        args = get_args()
        x = torch.zeros(3) if args.a else torch.zeros(3, 1)
        x.requires_grad_()
        if args.a:
            x.sum().backward()
        items = [] if args.a else [7]
        items.append(2)
        if args.a:
            print(torch.zeros(3)[items[0]])
    """,
    "an option that is set in between": """
        import torch
        from options import get_args

        args = get_args()
        x = torch.ones(4) if args.wide else torch.ones(3)
        args.wide = False
        if args.wide:
            print(x + torch.ones(4))
        args.update()
        if not args.wide:
            print(x + torch.ones(4))
    """,
    "a write through a view of a view": """
        import torch

        w = torch.ones(2, 2, requires_grad=True)
        z = torch.zeros(4, 4)
        z[0][1] = w[0, 0] * 2
        z.sum().backward()
        c = torch.zeros(4, 4)
        cells = c[0][1:3]
        cells += w[0]
        c.sum().backward()
        e = torch.zeros(4, 4)
        e.t()[0].add_(w.sum())
        e.mean().backward()
        b = torch.zeros(4, 4)
        first, second = b[0], b[1]
        first[0] = w[0, 0]
        second.sum().backward()
    """,
    "a write of something unknown": """
        import torch
        from other import thing

        a = torch.zeros(4, 4)
        a[0] = thing()
        a.sum().backward()
    """,
}


SILENT |= {one.name: one.text for one in programs(PROGRAMS.parent / "silent")}


@pytest.mark.parametrize("name", SILENT)
def test_a_working_program_is_silent(name: str) -> None:
    assert not check(SILENT[name])


def found(text: str) -> list[tuple[int, str]]:
    return [(item.start.line, item.code) for item in analyze(text).diagnostics]


PREAMBLE = (
    "import os\nimport torch\nfrom options import get_args\nargs = get_args()\nflag = os.environ.get('GPU') == '1'\n"
)


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("x = torch.randn(3, device='cuda' if flag else 'cpu')\ny = x + torch.randn(3)\n", 7, "TS201"),
        (
            "x = torch.randn(3, device='cuda' if flag else 'cpu')\nif flag:\n    y = x + torch.randn(3)\n",
            8,
            "TS201",
        ),
        ("size = 0.1 if flag else 100\nif flag:\n    torch.zeros(size, 4)\n", 8, "TS312"),
        ("x = torch.ones(4 if args.a else 3)\nif not args.a:\n    print(x + torch.ones(4))\n", 8, "TS103"),
        ("x = torch.ones(4) if args is None else torch.ones(3)\nif args is None:\n    x + torch.ones(3)\n", 8, "TS103"),
        (
            "x = torch.ones(4) if len(args) > 2 else torch.ones(3)\nif 2 >= len(args):\n    x + torch.ones(4)\n",
            8,
            "TS103",
        ),
        (
            "x = torch.ones(4) if isinstance(args, int) else torch.ones(3)\n"
            "def f(y):\n    assert isinstance(args, int)\n    return y + torch.ones(3)\nf(x)\n",
            9,
            "TS103",
        ),
        (
            "w = torch.ones(1, requires_grad=True)\nz = torch.zeros(4)\nz.clone()[0] = w[0]\nz.sum().backward()\n",
            9,
            "TS401",
        ),
        (
            "w = torch.ones(1, requires_grad=True)\nz = torch.zeros(4)\nz.detach()[0] = w[0]\nz.sum().backward()\n",
            9,
            "TS401",
        ),
    ],
)
def test_a_fault_under_a_condition_is_found(text: str, line: int, code: str) -> None:
    assert (line, code) in found(PREAMBLE + text)
