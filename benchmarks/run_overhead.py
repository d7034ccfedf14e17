"""Time of the processor for a training step under `torchsleuth run` ÷ without, in alternation; and the start and memory of whole runs.

    python benchmarks/run_overhead.py [--pairs 5] [--rounds 4] [--steps 60] [--only NAME]

Each model's training step is one script in two processes: under plain Python, and under `torchsleuth run`. What is counted is the
time that the processor spent on each process, all its threads together: another program on the machine does not add to it, as it does
to what a clock shows. Rounds of both alternate, so that the machine's drift hits both alike; only one works at a time, and PyTorch uses
one thread. A round's ratio is that to the mean of the plain rounds before and behind it. Where a process has its memory makes up to a
sixth of a step, so there are several pairs: printed are the median of their ratios, and between which two the middle half of them
lies. The plain ones have no tensors, or make them of samples in plain Python.

Of whole runs, the seconds of the processor are those of all processes together, and the seconds that pass are the least of all rounds,
which is what the machine takes when it does nothing else.
"""

from __future__ import annotations

import argparse
import operator
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

import torch

from torchsleuth.runtime.session import Run

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
    "GPT": """
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


PLAIN = {
    "plain loop": """
def steps(count):
    total = 0
    for step in range(count):
        words = {}
        for number in range(20_000):
            key = number % 97
            words[key] = words.get(key, 0) + number * 3
            if words[key] > 1000:
                total += abs(words[key]) - max(key, 5)
    return total
""",
    "plain functions": """
def norm(values):
    return sum(value * value for value in values) ** 0.5

def scaled(values, factor):
    size = norm(values) + 1e-6
    return [factor * value / size for value in values]

def steps(count):
    total = 0.0
    for step in range(count):
        for number in range(1500):
            total += scaled([float(number), 2.0, 3.0], 0.5)[1]
    return total
""",
    "plain data": """
import random
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, size):
        self.rows = [" ".join(str((i * 7 + j) % 50) for j in range(64)) for i in range(size)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        counts = [0.0] * 50
        for word in self.rows[index].split():
            number = int(word)
            counts[number] += 1.0 / (1 + number % 3)
        scale = max(counts) or 1.0
        features = [value / scale for value in counts]
        label = sum(1 for value in features if value > 0.5) % 10
        return torch.tensor(features), torch.tensor(label)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(50, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = Rows(64)

def steps(count):
    total = 0.0
    for step in range(count):
        for x, y in DataLoader(data, batch_size=32):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total
""",
}


AT_END = """
if "model" in globals():
    steps(20)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
"""Prints the peak of the process's own memory: ``ru_maxrss`` would be that of the process which started it, where that is more."""


SERVE = """
if __name__ == "__main__":
    import sys as _sys
    import time as _time

    steps(30)
    print(ANSWER, flush=True)
    for _line in _sys.stdin:
        _count = int(_line)
        _began = _time.process_time()
        steps(_count)
        print(ANSWER, (_time.process_time() - _began) / _count, flush=True)
"""
"""At the end of a script: for each number on standard input that many steps, and the processor's seconds for each."""
ANSWER = "seconds:"


class Side:
    """A process that makes steps of a script when it is asked to."""

    def __init__(self, command: list[str]) -> None:
        pipe, alone = subprocess.PIPE, {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=alone
        )
        self._answer()

    def seconds(self, steps: int) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return float(self._answer())

    def end(self) -> None:
        self._process.communicate()

    def _answer(self) -> str:
        for line in self._process.stdout or ():
            if line.startswith(ANSWER):
                return line.removeprefix(ANSWER)
        raise RuntimeError("the script ended")


def measure(name: str, pairs: int, rounds: int, steps: int, folder: Path) -> None:
    script = folder / "benchmark.py"
    text = PLAIN.get(name) or COMMON.format(model=MODELS[name])
    script.write_text(text + SERVE.replace("ANSWER", repr(ANSWER)))
    ratios, times = [], []
    for _ in range(pairs):
        plain = Side([sys.executable, str(script)])
        recorded = Side([sys.executable, "-m", "torchsleuth", "run", str(script)])
        before, of_pair = plain.seconds(steps), []
        for _ in range(rounds):
            seconds = recorded.seconds(steps)
            behind = plain.seconds(steps)
            of_pair.append(2 * seconds / (before + behind))
            before = behind
            times.append(behind)
        ratios.append(statistics.median(of_pair))
        for side in (plain, recorded):
            side.end()
    low, high = middle_half(ratios)
    step = statistics.median(times) * 1000
    print(f"{name:15} step {step:7.2f} ms   ratio {statistics.median(ratios):.3f} ({low:.3f}–{high:.3f})", flush=True)


def middle_half(numbers: list[float]) -> tuple[float, float]:
    """Between which two the middle half of some numbers lies; of fewer than four, the least and the largest."""
    found = sorted(numbers)
    cut = len(found) // 4
    return found[cut], found[-1 - cut]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--only", action="append", choices=[*MODELS, *PLAIN])
    options = parser.parse_args()
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or [*MODELS, *PLAIN]:
            measure(name, options.pairs, options.rounds, options.steps, Path(folder))
    if not options.only:
        whole_runs(2 * options.pairs)


def whole_runs(rounds: int) -> None:
    """Time and memory of a script that trains a little, plain and as a run; the run's are those of its script."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script.py")
        Path(script).write_text(COMMON.format(model=MODELS["MLP"]) + AT_END)
        for name, text in {
            "empty": AT_END,
            "import torch": f"import torch\n{AT_END}",
            "MLP": Path(script).read_text(),
        }.items():
            Path(script).write_text(text)
            seconds: dict[bool, list[float]] = {False: [], True: []}
            worked: dict[bool, list[float]] = {False: [], True: []}
            memory: dict[bool, list[int]] = {False: [], True: []}
            for number in range(rounds):
                for instrumented in (False, True) if number % 2 else (True, False):
                    began, spent = time.perf_counter(), spent_by_all()
                    if instrumented:
                        output: list[str] = []
                        Run(script, (), sys.executable, on_output=output.append).execute()
                        said = "".join(output)
                    else:
                        said = subprocess.run([sys.executable, script], capture_output=True, text=True).stdout
                    seconds[instrumented].append(time.perf_counter() - began)
                    worked[instrumented].append(spent_by_all() - spent)
                    memory[instrumented].append(int(said.split()[-1]))
            extra = min(seconds[True]) - min(seconds[False])
            work = statistics.median(map(operator.sub, worked[True], worked[False]))
            ratio = statistics.median(memory[True]) / statistics.median(memory[False])
            print(
                f"{name:15} start and end {extra:+.3f} s of {min(seconds[False]):.3f} s   processor {work:+.3f} s   memory {ratio:.3f}"
            )


def spent_by_all() -> float:
    """The processor's seconds of this process and of those that it started and that have ended."""
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system


if __name__ == "__main__":
    main()
