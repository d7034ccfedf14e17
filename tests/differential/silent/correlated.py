# Working programs in which one condition decides several things. Nothing is to be said of them.

# == keyword arguments filtered by a signature
import inspect
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))
    def forward(self, x):
        return self.layers(x)

config = {"width": 8, "depth": 3, "lr": 0.1}
names = inspect.signature(Net.__init__).parameters
net = Net(**{k: v for k, v in config.items() if k in names})
net(torch.randn(2, 8))

# == kwargs set under a condition
import torch
use_cuda = torch.cuda.is_available()
def make(size, pin=False, workers=0):
    return torch.zeros(size)
kwargs = {}
if use_cuda:
    kwargs.update({"pin": True, "workers": 2})
make(3, **kwargs)

# == a mask that is None or has a shape
import torch
def attend(q, k, mask=None):
    scores = q @ k.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(mask[:, None, :] == 0, -1e9)
    return scores.softmax(-1)
attend(torch.randn(2, 3, 4), torch.randn(2, 3, 4))
attend(torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.ones(2, 3))

# == an early return for one rank
import torch
def flat(x):
    if x.dim() == 2:
        return x
    n, c, h, w = x.shape
    return x.reshape(n, c * h * w)
flat(torch.zeros(2, 3))
flat(torch.zeros(2, 3, 4, 4))

# == a flag decides both the size and the layer
import sys
import torch
from torch import nn
big = len(sys.argv) > 1
width = 64 if big else 32
layer = nn.Linear(64, 10) if big else nn.Linear(32, 10)
layer(torch.zeros(5, width))

# == a flag is kept as an attribute
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, bidirectional=False):
        super().__init__()
        self.bidirectional = bidirectional
        self.rnn = nn.LSTM(8, 16, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(32 if bidirectional else 16, 2)
    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])
for flag in (True, False):
    Net(flag)(torch.zeros(4, 5, 8))

# == assert tells the size
import torch
def head(x, w=None):
    assert w is None or w.shape[0] == x.shape[1]
    return x if w is None else x @ w
def run(x, w):
    return head(x, w)
head(torch.zeros(2, 3), torch.zeros(3, 4))

# == the default of a parameter would fail, but no call leaves it out
import torch
def scale(x, factor=None):
    return x * factor.view(-1, 1)
scale(torch.zeros(2, 3), torch.ones(2))

# == a value set in the first iteration only
import torch
total = None
for step in range(4):
    batch = torch.ones(2, 3)
    if total is None:
        total = batch.clone()
    else:
        total = total + batch
total.sum()

# == a list that is filled under a condition and stacked under the same
import random
import torch
keep = random.random() < 0.5
kept = []
for step in range(3):
    if keep:
        kept.append(torch.zeros(4))
if keep:
    torch.stack(kept).view(3, 4)

# == the last batch is smaller
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(10, 3), torch.zeros(10)), batch_size=4)
hidden = torch.zeros(4, 3)
for x, y in loader:
    if x.size(0) != hidden.size(0):
        continue
    out = x + hidden

# == a state that is detached when there is one
import torch
from torch import nn
rnn = nn.GRU(3, 5)
state = None
for step in range(3):
    if state is not None:
        state = state.detach()
    out, state = rnn(torch.zeros(2, 4, 3), state)
    out.sum().backward()

# == isinstance decides
import torch
def to_tensor(x):
    if isinstance(x, (list, tuple)):
        x = torch.tensor(x)
    elif not isinstance(x, torch.Tensor):
        x = torch.full((1,), float(x))
    return x.float().view(-1)
to_tensor([1, 2]), to_tensor(3), to_tensor(torch.zeros(2, 2))

# == two flags from one
import os
import torch
debug = "DEBUG" in os.environ
quick = debug
size = 2 if quick else 8
if debug:
    torch.zeros(size).view(2, 1)
else:
    torch.zeros(size).view(2, 4)

# == not and else
import os
import torch
plain = os.environ.get("PLAIN") is None
x = torch.zeros(3, 4) if not plain else torch.zeros(4, 3)
y = x @ torch.zeros(3, 2) if plain else x @ torch.zeros(4, 2)

# == a string option with several values
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--pool", choices=["mean", "max", "none"], default="mean")
args = parser.parse_args()
x = torch.zeros(2, 5, 8)
if args.pool == "mean":
    x = x.mean(1)
elif args.pool == "max":
    x = x.max(1).values
if args.pool == "none":
    x.view(2, 40)
else:
    x.view(2, 8)

# == try a fast path and fall back
import torch
def product(a, b):
    try:
        return a @ b
    except RuntimeError:
        return a @ b.t()
product(torch.zeros(2, 3), torch.zeros(4, 3))

# == an optional second input
import torch
from torch import nn
class Decoder(nn.Module):
    def __init__(self, skip=0):
        super().__init__()
        self.conv = nn.Conv2d(8 + skip, 4, 3, padding=1)
    def forward(self, x, skip=None):
        if skip is not None:
            x = torch.cat([x, skip], 1)
        return self.conv(x)
Decoder()(torch.zeros(1, 8, 4, 4))
Decoder(3)(torch.zeros(1, 8, 4, 4), torch.zeros(1, 3, 4, 4))

# == len decides
import torch
def combine(parts):
    if len(parts) == 1:
        return parts[0]
    if len(parts) > 2:
        parts = [torch.cat(parts, 1)]
        return parts[0]
    return parts[0] + parts[1]
combine([torch.zeros(2, 3)])
combine([torch.zeros(2, 3), torch.zeros(2, 3)])
combine([torch.zeros(2, 1), torch.zeros(2, 2), torch.zeros(2, 3)])

# == training and evaluation take different shapes
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        if self.training:
            return self.fc(x), x.mean(1)
        return self.fc(x)
net = Net()
out, extra = net(torch.zeros(3, 4))
net.eval()
net(torch.zeros(3, 4)).view(3, 2)

# == a dictionary that lacks a key under a condition
import os
import torch
batch = {"ids": torch.zeros(2, 3)}
if os.environ.get("TYPES"):
    batch["types"] = torch.zeros(2, 3)
if "types" in batch:
    batch["ids"] + batch["types"]
batch.get("types", batch["ids"]).view(6)

# == a device that is asked for or chosen
import torch
def main(device=None):
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.zeros(3, device=device)
    return x + torch.ones(3, device=device)
main()
main("cpu")

# == the norm is the identity unless wanted
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self, dim, norm=None):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.norm = nn.Identity() if norm is None else norm(dim)
    def forward(self, x):
        return self.norm(self.fc(x))
Block(4)(torch.zeros(2, 4)), Block(6, nn.LayerNorm)(torch.zeros(2, 3, 6))

# == a counter that is positive after the loop
import torch
count, total = 0, torch.zeros(3)
for value in [torch.ones(3), None, torch.ones(3)]:
    if value is None:
        continue
    total += value
    count += 1
average = total / count if count else None
if average is not None:
    average.view(3)

# == labels are None at inference
import torch
from torch import nn
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x, labels=None):
        logits = self.fc(x)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return {"logits": logits, "loss": loss}
out = Classifier()(torch.zeros(2, 4), torch.zeros(2, dtype=torch.long))
out["loss"].backward()
Classifier()(torch.zeros(2, 4))["logits"].argmax(1)

# == a value that a nested function sets
import torch
found = {}
def hook(module, args, output):
    found["x"] = output
layer = torch.nn.Linear(2, 3)
handle = layer.register_forward_hook(hook)
layer(torch.zeros(4, 2))
handle.remove()
found["x"].view(12)

# == a loss that is skipped when it is not finite
import math
import torch
w = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = ((w - step) ** 2).sum()
    if not math.isfinite(loss.item()):
        continue
    loss.backward()
    optimizer.step()

# == gradients are accumulated and applied every few steps
import torch
w = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([w], lr=0.1)
every = 2
for step in range(6):
    loss = ((w - step) ** 2).mean() / every
    loss.backward()
    if (step + 1) % every == 0 or step == 5:
        optimizer.step()
        optimizer.zero_grad()

# == both ends of a condition on the rank
import torch
def normalise(image):
    batched = image.ndim == 4
    if not batched:
        image = image.unsqueeze(0)
    image = (image - image.mean((2, 3), keepdim=True)) / 2
    return image if batched else image.squeeze(0)
normalise(torch.zeros(3, 4, 4)).view(3, 16)
normalise(torch.zeros(2, 3, 4, 4)).view(2, 48)

# == or gives a default
import torch
def resize(x, size=None):
    height, width = size or x.shape[-2:]
    return torch.nn.functional.interpolate(x, (height, width))
resize(torch.zeros(1, 3, 4, 5)).view(60)
resize(torch.zeros(1, 3, 4, 5), (2, 2)).view(12)

# == layers without weights are skipped by the error that they raise
import torch
from torch import nn
def copy(source, target):
    for name, one in source.named_children():
        try:
            other = getattr(target, name)
            other.weight
        except Exception:
            continue
        assert one.weight.size() == other.weight.size()
        other.bias.data.copy_(one.bias.data)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.relu = nn.Conv2d(3, 4, 3), nn.ReLU()
copy(Net(), Net())

# == every second step of a sequence, in halves that fit
import torch
def halve(x):
    batch, steps, width = x.shape
    return torch.cat([x[:, ::2], x[:, 1::2]], -1)
def halve_all(x, times):
    for _ in range(times):
        x = halve(x)
    return x
halve_all(torch.zeros(2, 8, 3), 3).view(2, 24)

# == a mask of minus infinities that is converted
import torch
from torch import nn
def future(x):
    mask = torch.ones(x.size(0), x.size(0)).float().fill_(float("-inf")).type_as(x)
    return torch.triu(mask, 1)
x = torch.randn(5, 2, 8)
nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=future(x))

# == a part is there in one of the modes that are not refused
import torch
from torch import nn

class Decoder(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        x = self.layer(x)
        if self.kind == "plain":
            return x, [x]
        elif self.kind == "normal":
            return x, [x, x.exp()]
        else:
            raise NotImplementedError(self.kind)

def weigh(decoder, x, kind):
    for _ in range(3):
        if kind == "plain":
            y = decoder(x)[0]
        elif kind == "normal":
            _, parts = decoder(x)
            mean, variance = parts
            y = mean * variance
        else:
            raise ValueError(kind)
    return y

def run(options, x, kind):
    weigh(Decoder(**options), x, kind)
