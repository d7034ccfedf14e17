# Programs about Python around PyTorch: modules, registries, configurations, loaders, shapes.

# == a static forward
import torch
from torch import nn
class Swish(nn.Module):
    @staticmethod
    def forward(x):
        return x * torch.sigmoid(x)
y = Swish()(torch.zeros(2, 3))
model = nn.Sequential(nn.Linear(3, 4), Swish())
z = model(torch.zeros(5, 3))

# == modules in a loop
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)
net = Net([4, 8, 2])
n = len(net.layers)
y = net(torch.zeros(3, 4))

# == a registry of models
import torch
from torch import nn
MODELS = {}
def register(cls):
    MODELS[cls.__name__.lower()] = cls
    return cls
@register
class Small(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.fc = nn.Linear(d, 1)
    def forward(self, x):
        return self.fc(x)
names = list(MODELS)
y = MODELS["small"](d=6)(torch.zeros(2, 6))

# == attributes computed from the configuration
import torch
from torch import nn
from dataclasses import dataclass
@dataclass
class Config:
    dim: int = 16
    heads: int = 4
class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h = cfg.heads
        self.d = cfg.dim // cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return q.view(b, t, self.h, self.d).transpose(1, 2)
y = Attention(Config())(torch.zeros(2, 5, 16))

# == parameters counted
import torch
from torch import nn
m = nn.Linear(3, 2)
n = sum(p.numel() for p in m.parameters())
names = [k for k, _ in m.named_parameters()]
shapes = [tuple(p.shape) for p in m.parameters()]

# == shapes as tuples
import torch
x = torch.zeros(2, 3, 4)
s = tuple(x.shape)
b, *rest = x.shape
n = x.shape[-1]
numel = x.numel()
k = x.dim()
l = len(x)
prod = x.size(0) * x.size(1)

# == slices of tensors with slice objects
import torch
x = torch.zeros(6, 4)
s = slice(1, 4)
a = x[s]
b = x[:, slice(None, 2)]
idx = (slice(None), 0)
c = x[idx]
d = x[..., None]

# == a cached loss history
import torch
history = {"loss": [], "acc": []}
for epoch in range(3):
    history["loss"].append(1.0 / (epoch + 1))
    history["acc"].append(epoch * 0.25)
n = len(history["loss"])
best = max(history["acc"])
last = history["loss"][-1]

# == a dataset class
import torch
from torch.utils.data import Dataset
class Pairs(Dataset):
    def __init__(self, n):
        self.x = [torch.full((3,), float(i)) for i in range(n)]
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], i % 2
d = Pairs(4)
n = len(d)
x, y = d[1]

# == batches by hand
import torch
data = torch.zeros(10, 3)
batches = [data[i:i + 4] for i in range(0, len(data), 4)]
n = len(batches)
sizes = [len(b) for b in batches]
last = batches[-1]

# == getattr of torch names
import torch
from torch import nn
act = getattr(nn, "ReLU")()
y = act(torch.zeros(2))
name = type(act).__name__
f = getattr(torch, "tanh")
z = f(torch.zeros(3))

# == a module dictionary
import torch
from torch import nn
heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 3)})
x = torch.zeros(5, 4)
out = {k: h(x) for k, h in heads.items()}
shape = tuple(out["b"].shape)
keys = list(heads.keys())

# == isinstance over modules
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
linears = [m for m in net if isinstance(m, nn.Linear)]
n = len(linears)
outs = [m.out_features for m in linears]
kinds = [type(m).__name__ for m in net]

# == property of a module
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    @property
    def width(self):
        return self.fc.out_features
    def forward(self, x):
        return self.fc(x) * self.width
net = Net()
w = net.width
y = net(torch.zeros(1, 2))

# == partial layers
import torch
from torch import nn
from functools import partial
conv = partial(nn.Conv2d, kernel_size=3, padding=1)
net = nn.Sequential(conv(3, 8), nn.ReLU(), conv(8, 16, stride=2))
y = net(torch.zeros(1, 3, 8, 8))

# == a base class with a template method
import torch
from torch import nn
class Base(nn.Module):
    def forward(self, x):
        return self.head(self.body(x))
class Net(Base):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 5)
        self.head = nn.Linear(5, 2)
y = Net()(torch.zeros(4, 3))

# == dtype and device
import torch
a = torch.zeros(2, dtype=torch.int64)
b = a.float()
c = a.dtype == torch.int64
d = str(b.dtype)
e = a.device.type

# == named sizes in a dictionary
import torch
sizes = dict(b=2, c=3)
x = torch.zeros(*sizes.values())
y = torch.zeros([sizes[k] for k in ("c", "b")])
z = torch.zeros(tuple(v * 2 for v in sizes.values()))

# == list of tensors stacked
import torch
xs = []
for i in range(3):
    xs.append(torch.zeros(4))
y = torch.stack(xs)
z = torch.cat(xs)
w = torch.stack([x for x in xs if x.sum() == 0] or xs)

# == an average meter
class AverageMeter:
    def __init__(self):
        self.reset()
    def reset(self):
        self.sum = self.count = 0
    def update(self, v, n=1):
        self.sum += v * n
        self.count += n
    @property
    def avg(self):
        return self.sum / max(self.count, 1)
m = AverageMeter()
m.update(2.0, 4)
m.update(5.0, 2)
a = m.avg
m.reset()
b = m.avg

# == a vocabulary
class Vocab:
    def __init__(self, words, specials=("<pad>", "<unk>")):
        self.itos = [*specials, *sorted(set(words))]
        self.stoi = {w: i for i, w in enumerate(self.itos)}
    def __len__(self):
        return len(self.itos)
    def __getitem__(self, w):
        return self.stoi.get(w, self.stoi["<unk>"])
    def encode(self, text):
        return [self[w] for w in text.split()]
v = Vocab("b a c a".split())
n = len(v)
ids = v.encode("a zz c")

# == padding lists
seqs = [[1, 2, 3], [4], [5, 6]]
longest = max(len(s) for s in seqs)
padded = [s + [0] * (longest - len(s)) for s in seqs]
mask = [[int(i < len(s)) for i in range(longest)] for s in seqs]
lengths = [len(s) for s in seqs]

# == buffers of experience
from collections import deque
memory = deque(maxlen=2)
for t in range(4):
    memory.append((t, t + 1))
first = memory[0]
n = len(memory)
states = [s for s, _ in memory]

# == parameter groups
from torch import nn
m = nn.Linear(2, 2)
groups = [{"params": [m.weight], "lr": 0.1}, {"params": [m.bias]}]
n = len(groups)
lrs = [g.get("lr", 0.5) for g in groups]

# == the shape of a tensor is a type of its own
import torch
x = torch.zeros(2, 3, 4)
kinds = (type(x.shape).__name__, type(x.shape[1:]).__name__, type(tuple(x.shape)).__name__, isinstance(x.shape, tuple))
texts = (str(x.shape), f"{x.size()}", str(tuple(x.shape)))
same = x.shape == (2, 3, 4)
