"""Step time of a training script under `torchsleuth run` ÷ without, in alternation inside one process.

    python benchmarks/run_overhead.py [--rounds 7] [--steps 30]

Each model's training step is one source text, compiled twice: plain, and rewritten with the recorder on. Rounds of both
alternate, so that the machine's drift hits both alike; printed is the median of the rounds' ratios and their spread.
"""

from __future__ import annotations

import argparse
import builtins
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

import torch

from torchsleuth.runtime.events import EventStream
from torchsleuth.runtime.recorder import Recorder
from torchsleuth.runtime.registry import ConstructorRegistry
from torchsleuth.runtime.rewrite import LOSS, RECORDER, Site, rewrite
from torchsleuth.runtime.watch import TrainingWatch

COMMON = """
import torch
from torch import nn
from torch.nn import functional as F

{model}

torch.manual_seed(0)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

def steps(count):
    total = 0.0
    for step in range(count):
        x, y = batch()
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / count
"""
MODELS = {
    "MLP": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(256, 512), nn.Linear(512, 512), nn.Linear(512, 10)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = x + torch.relu(self.second(x))
        return self.last(x)

def batch():
    return torch.randn(128, 256), torch.randint(0, 10, (128,))
""",
    "CNN": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(32), nn.BatchNorm2d(64)
        self.head = nn.Linear(64 * 8 * 8, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(torch.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))

def batch():
    return torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
""",
    "transformer": """
class Block(nn.Module):
    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) / (C // self.heads) ** 0.5
        mixed = scores.softmax(dim=-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(B, T, C))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 128)
        self.blocks = nn.Sequential(*[Block() for _ in range(3)])
        self.head = nn.Linear(128, 10)

    def forward(self, ids):
        return self.head(self.blocks(self.table(ids)).mean(dim=1))

def batch():
    return torch.randint(0, 100, (16, 64)), torch.randint(0, 10, (16,))
""",
}


def compiled(text: str, recorder: Recorder | None, sites: list[Site]) -> Callable[[int], float]:
    path = "benchmark.py"
    code = compile(text, path, "exec") if recorder is None else rewrite(text, path, sites)
    namespace: dict[str, object] = {"__name__": "benchmark"}
    exec(code, namespace)
    return namespace["steps"]  # type: ignore[return-value]


def measure(name: str, rounds: int, steps: int) -> None:
    text = COMMON.format(model=MODELS[name])
    sites: list[Site] = []
    recorder = Recorder(sites, EventStream(os.open(os.devnull, os.O_WRONLY)))
    watch = TrainingWatch()
    watch.install(torch, sys.modules["torch.optim.optimizer"])
    setattr(builtins, RECORDER, recorder.make_record(torch))
    setattr(builtins, LOSS, watch.see_loss)
    plain, recorded = compiled(text, None, sites), compiled(text, recorder, sites)
    for warm_up in (plain, recorded):
        warm_up(3)
    ratios, times = [], []
    for number in range(rounds):
        seconds = {}
        order = (plain, recorded) if number % 2 == 0 else (recorded, plain)
        for run in order:
            began = time.perf_counter()
            run(steps)
            seconds[run] = (time.perf_counter() - began) / steps
        ratios.append(seconds[recorded] / seconds[plain])
        times.append(seconds[plain])
    spread = f"{min(ratios):.3f}–{max(ratios):.3f}"
    step = statistics.median(times) * 1000
    print(f"{name:12} step {step:7.2f} ms   ratio {statistics.median(ratios):.3f} ({spread})   {len(sites)} sites")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    ConstructorRegistry(lambda path: path == "benchmark.py").install(torch)
    print(
        f"torch {torch.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, {torch.get_num_threads()} threads"
    )
    for name in MODELS:
        measure(name, options.rounds, options.steps)


if __name__ == "__main__":
    main()
