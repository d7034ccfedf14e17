# Programs about the standard library and PyTorch.

# == counting bigrams
from collections import Counter, defaultdict
text = "abracadabra"
pairs = Counter(zip(text, text[1:]))
best, n = pairs.most_common(1)[0]
after = defaultdict(set)
for a, b in pairs:
    after[a].add(b)
k = len(after["a"])

# == a sliding window with deque
from collections import deque
def windows(xs, n):
    w = deque(maxlen=n)
    for x in xs:
        w.append(x)
        if len(w) == n:
            yield tuple(w)
out = list(windows([1, 2, 3, 4], 3))

# == topological order
graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
seen, order = set(), []
def visit(n):
    if n in seen:
        return
    seen.add(n)
    for m in graph[n]:
        visit(m)
    order.append(n)
for n in graph:
    visit(n)
order.reverse()

# == shortest path with a heap
import heapq
g = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 6}, "c": {"d": 3}, "d": {}}
dist = {"a": 0}
heap = [(0, "a")]
while heap:
    d, u = heapq.heappop(heap)
    if d > dist.get(u, float("inf")):
        continue
    for v, w in g[u].items():
        if d + w < dist.get(v, float("inf")):
            dist[v] = d + w
            heapq.heappush(heap, (dist[v], v))

# == configuration from a dataclass and overrides
from dataclasses import dataclass, field, asdict, replace
@dataclass
class Cfg:
    lr: float = 0.1
    sizes: list = field(default_factory=lambda: [64, 32])
    name: str = "run"
    def tag(self):
        return f"{self.name}-{'x'.join(map(str, self.sizes))}"
c = Cfg()
d = replace(c, lr=0.5, name="big")
a = d.tag()
b = asdict(c)["sizes"]
shared = d.sizes is c.sizes

# == enum driven dispatch
from enum import Enum
class Norm(Enum):
    BATCH = "bn"
    LAYER = "ln"
    @classmethod
    def parse(cls, s):
        for m in cls:
            if s in (m.value, m.name.lower()):
                return m
        raise ValueError(s)
a = Norm.parse("batch").value
b = Norm.parse("ln").name
try:
    Norm.parse("x")
    c = 0
except ValueError as e:
    c = str(e)

# == lru cache with methods and info
from functools import lru_cache
calls = []
@lru_cache(maxsize=32)
def slow(a, b=1):
    calls.append((a, b))
    return a * b
x = slow(3) + slow(3) + slow(3, b=2)
n = len(calls)

# == partial and reduce pipeline
from functools import partial, reduce
def scale(k, x): return k * x
def shift(k, x): return x + k
steps = [partial(scale, 2), partial(shift, 3), partial(scale, 10)]
a = reduce(lambda v, f: f(v), steps, 1)
b = [f(1) for f in steps]

# == itertools grid search
from itertools import product, islice, chain
space = {"lr": [0.1, 0.01], "bs": [8, 16]}
runs = [dict(zip(space, v)) for v in product(*space.values())]
n = len(runs)
last = runs[-1]["bs"]
first = list(islice(chain([0], range(5, 9)), 3))

# == running statistics
import statistics, math
xs = [2, 4, 4, 4, 5, 5, 7, 9]
m = statistics.mean(xs)
sd = statistics.pstdev(xs)
med = statistics.median(xs)
rms = round(math.sqrt(sum(x * x for x in xs) / len(xs)), 3)

# == parsing log lines
import re
lines = ["epoch 1 loss=0.50 acc=0.7", "epoch 2 loss=0.25 acc=0.9", "done"]
rows = []
for line in lines:
    m = re.match(r"epoch (\d+) loss=([\d.]+) acc=([\d.]+)", line)
    if m:
        rows.append((int(m.group(1)), float(m.group(2)), float(m[3])))
best = min(rows, key=lambda r: r[1])[0]

# == json of nested results
import json
results = {"runs": [{"id": i, "ok": i % 2 == 0} for i in range(2)], "best": None}
text = json.dumps(results)
back = json.loads(text)
same = back == results
ids = [r["id"] for r in back["runs"]]

# == checkpoint file names
import os
names = ["model_10.pt", "model_9.pt", "best.pt"]
steps = sorted(int(os.path.splitext(n)[0].split("_")[1]) for n in names if "_" in n)
latest = os.path.join("runs", f"model_{steps[-1]}.pt")
stem = os.path.basename(latest)

# == paths with pathlib
from pathlib import Path
root = Path("exp") / "run1"
ckpt = root / f"epoch_{3:03d}.pt"
a = ckpt.name
b = ckpt.with_suffix(".json").name
c = ckpt.parent.name
d = str(root)
e = ckpt.suffix == ".pt"

# == named tuple transitions
from typing import NamedTuple
class Step(NamedTuple):
    s: int
    r: float = 0.0
    done: bool = False
ep = [Step(0, 1.0), Step(1, 0.5), Step(2, done=True)]
ret = sum(x.r for x in ep)
ends = [x.s for x in ep if x.done]
first = ep[0]._replace(r=9.0).r

# == discounted returns
rewards = [1.0, 0.0, 2.0]
g, out = 0.0, []
for r in reversed(rewards):
    g = r + 0.5 * g
    out.insert(0, g)

# == exponential moving average class
class EMA:
    def __init__(self, beta=0.5):
        self.beta, self.value = beta, None
    def __call__(self, x):
        self.value = x if self.value is None else self.beta * self.value + (1 - self.beta) * x
        return self.value
e = EMA()
hist = [e(x) for x in (4.0, 2.0, 0.0)]

# == early stopping object
class Stopper:
    def __init__(self, patience): self.patience, self.best, self.bad = patience, None, 0
    def step(self, loss):
        if self.best is None or loss < self.best:
            self.best, self.bad = loss, 0
            return False
        self.bad += 1
        return self.bad >= self.patience
s = Stopper(2)
flags = [s.step(l) for l in (1.0, 0.5, 0.6, 0.7, 0.1)]
best = s.best

# == text tokens to ids with padding
vocab = {"<pad>": 0, "<unk>": 1}
for w in "the cat sat the".split():
    vocab.setdefault(w, len(vocab))
def enc(s, n=5):
    ids = [vocab.get(w, 1) for w in s.split()][:n]
    return ids + [0] * (n - len(ids))
a = enc("the dog sat")
inv = {i: w for w, i in vocab.items()}
b = " ".join(inv[i] for i in a if i)

# == learning rate warmup
import math
def lr(step, warm=4, total=12, base=1.0):
    if step < warm:
        return base * (step + 1) / warm
    t = (step - warm) / (total - warm)
    return round(base * 0.5 * (1 + math.cos(math.pi * t)), 3)
sched = [lr(s) for s in (0, 3, 4, 8, 12)]

# == train and validation split of indices
n, frac = 10, 0.3
idx = list(range(n))
cut = int(n * (1 - frac))
train, val = idx[:cut], idx[cut:]
folds = [idx[i::3] for i in range(3)]

# == argparse with a list of arguments
import argparse
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=3)
p.add_argument("--sizes", type=int, nargs="*", default=[8])
p.add_argument("--no-cuda", action="store_true")
a = p.parse_args(["--epochs", "7", "--sizes", "1", "2"])
e, s, c = a.epochs, a.sizes, a.no_cuda
d = vars(a)["epochs"]

# == exit stack and suppressed errors
from contextlib import suppress, ExitStack
out = []
for v in ("1", "x", "3"):
    with suppress(ValueError):
        out.append(int(v))
with ExitStack() as st:
    st.callback(out.append, "end")
    out.append("mid")

# == context manager restoring attributes
from contextlib import contextmanager
class Model:
    training = True
@contextmanager
def evaluating(m):
    was = m.training
    m.training = False
    try:
        yield m
    finally:
        m.training = was
m = Model()
with evaluating(m) as x:
    during = x.training
after = m.training

# == operator module and sorting keys
from operator import itemgetter, attrgetter, mul
rows = [{"n": "b", "v": 2}, {"n": "a", "v": 2}, {"n": "c", "v": 1}]
names = [r["n"] for r in sorted(rows, key=itemgetter("v", "n"))]
prod = 1
for x in (2, 3, 4):
    prod = mul(prod, x)

# == ordered dict as a cache
from collections import OrderedDict
class LRU:
    def __init__(self, n): self.n, self.d = n, OrderedDict()
    def get(self, k):
        if k not in self.d:
            return None
        self.d.move_to_end(k)
        return self.d[k]
    def put(self, k, v):
        self.d[k] = v
        self.d.move_to_end(k)
        if len(self.d) > self.n:
            self.d.popitem(last=False)
c = LRU(2)
c.put("a", 1); c.put("b", 2)
c.get("a")
c.put("c", 3)
keys = list(c.d)
x = c.get("b")

# == batching any iterable
from itertools import islice
def batched(xs, n):
    it = iter(xs)
    while chunk := list(islice(it, n)):
        yield chunk
out = list(batched(range(7), 3))
sizes = [len(b) for b in out]

# == tensors in dictionaries of shapes
import torch
batch = {"x": torch.zeros(4, 3), "y": torch.zeros(4, dtype=torch.long)}
shapes = {k: tuple(v.shape) for k, v in batch.items()}
total = sum(v.numel() for v in batch.values())
moved = {k: v.unsqueeze(0) for k, v in batch.items()}
x = moved["x"]

# == a network from a specification
import torch
from torch import nn
spec = [("linear", 8, 16), ("relu",), ("linear", 16, 2)]
makers = {"linear": nn.Linear, "relu": nn.ReLU}
layers = [makers[kind](*args) for kind, *args in spec]
net = nn.Sequential(*layers)
y = net(torch.zeros(5, 8))
n = len(net)

# == residual blocks repeated
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self, d, k=2):
        super().__init__()
        self.fc = nn.ModuleList([nn.Linear(d, d) for _ in range(k)])
        self.act = nn.ReLU()
    def forward(self, x):
        h = x
        for f in self.fc:
            h = self.act(f(h))
        return x + h
net = nn.Sequential(*[Block(6, i + 1) for i in range(2)])
y = net(torch.zeros(3, 6))
widths = [len(b.fc) for b in net]

# == collate by hand
import torch
samples = [(torch.zeros(2), 1), (torch.zeros(2), 0), (torch.zeros(2), 1)]
xs, ys = zip(*samples)
x = torch.stack(xs)
y = torch.tensor(ys)
pos = sum(ys)

# == padding and masks of tensors
import torch
seqs = [torch.arange(3), torch.arange(5)]
n = max(len(s) for s in seqs)
padded = torch.zeros(len(seqs), n, dtype=torch.long)
for i, s in enumerate(seqs):
    padded[i, : len(s)] = s
lengths = [len(s) for s in seqs]
mask = torch.arange(n)[None, :] < torch.tensor(lengths)[:, None]

# == numpy images to a batch
import numpy as np
imgs = [np.zeros((8, 6, 3), dtype=np.uint8) for _ in range(4)]
batch = np.stack(imgs).transpose(0, 3, 1, 2).astype(np.float32) / 255
s = batch.shape
k = batch.dtype == np.float32
crop = batch[:, :, 2:6, ::2]
one = batch[0].reshape(-1)

# == numpy one hot and argmax
import numpy as np
labels = np.array([0, 2, 1])
hot = np.eye(3)[labels]
back = hot.argmax(axis=1)
counts = np.bincount(labels)
order = np.argsort(-labels)
m = np.mean(hot, axis=0)

# == typing helpers at run time
from typing import Optional, Union, Callable, Iterable, Literal, Final
Size = Union[int, tuple]
LIMIT: Final = 5
def pair(x: Size) -> tuple:
    return x if isinstance(x, tuple) else (x, x)
def apply(f: Optional[Callable[[int], int]], xs: Iterable[int]) -> list:
    return [f(x) if f else x for x in xs]
a = pair(3)
b = pair((1, 2))
c = apply(None, range(LIMIT - 2))
d = apply(lambda v: v * v, [2, 3])

# == abstract base with a property
from abc import ABC, abstractmethod
class Metric(ABC):
    @property
    @abstractmethod
    def name(self): ...
    @abstractmethod
    def compute(self, xs): ...
    def report(self, xs):
        return f"{self.name}: {self.compute(xs):.2f}"
class Mean(Metric):
    name = "mean"
    def compute(self, xs): return sum(xs) / len(xs)
a = Mean().report([1, 2, 4])
try:
    Metric()
    b = True
except TypeError:
    b = False

# == simple namespaces as configuration
from types import SimpleNamespace
cfg = SimpleNamespace(model=SimpleNamespace(dim=8, heads=2), lr=0.1)
cfg.model.depth = cfg.model.dim // cfg.model.heads
a = cfg.model.depth
b = hasattr(cfg, "wd")
c = getattr(cfg, "wd", 0)
for k, v in {"lr": 0.2, "wd": 1}.items():
    setattr(cfg, k, v)
d = (cfg.lr, cfg.wd)

# == bisect for bucketing
import bisect
edges = [10, 20, 30]
def bucket(x):
    return bisect.bisect_right(edges, x)
a = [bucket(x) for x in (5, 10, 25, 99)]
names = ["xs", "s", "m", "l"]
b = [names[i] for i in a]

# == copies of nested configuration
import copy
base = {"opt": {"lr": 0.1}, "tags": ["a"]}
one = copy.deepcopy(base)
two = dict(base)
one["opt"]["lr"] = 1
two["opt"]["lr"] = 2
two["tags"] = two["tags"] + ["b"]
a = base["opt"]["lr"]
b = one["opt"]["lr"]
c = base["tags"]

# == text wrapping and tables
import textwrap
t = textwrap.fill("one two three four", width=9)
lines = t.splitlines()
ind = textwrap.indent("a\nb", "> ")
head = " | ".join(f"{h:^5}" for h in ("x", "yy"))

# == datetime arithmetic
from datetime import datetime, timedelta, date
start = datetime(2024, 2, 28, 12)
end = start + timedelta(days=2, hours=1)
a = end.strftime("%d.%m %H")
b = (end - start).total_seconds()
c = date(2024, 3, 1).isoformat()

# == fractions of a dataset
from fractions import Fraction
parts = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
whole = sum(parts) == 1
sizes = [int(12 * p) for p in parts]

# == random choice is some element
import random
r = random.Random(0)
xs = ["a", "b"]
ok = r.choice(xs) in xs
n = len(random.choices([1, 2], k=4))

# == string templates
from string import Template, ascii_uppercase
t = Template("$name has $n").substitute(name="net", n=3)
a = ascii_uppercase[:4]

# == generic containers by subclassing
class History(list):
    def best(self, key=min):
        return key(self)
    def __getattr__(self, name):
        raise AttributeError(name)
h = History([3, 1, 2])
h.append(0.5)
a = h.best()
b = h.best(max)
n = len(h)
c = h[1:]

# == dictionary subclass with attributes
class Dot(dict):
    __getattr__ = dict.get
    def __setattr__(self, k, v):
        self[k] = v
d = Dot(a=1)
d.b = {"c": 2}
x = d.a
y = d.b["c"]
z = d.zzz
n = len(d)
