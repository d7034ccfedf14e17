"""A functional style: closures that make training steps, learning-rate functions, metrics; reduce and partial."""
from functools import partial, reduce, wraps

import torch
import torch.nn as nn
import torch.nn.functional as F


def timed(fn):
    calls = {"n": 0}

    @wraps(fn)
    def wrapper(*args, **kwargs):
        calls["n"] += 1
        return fn(*args, **kwargs)

    wrapper.calls = calls
    return wrapper


def compose(*fns):
    return reduce(lambda f, g: lambda x: g(f(x)), fns)


def make_train_step(model, loss_fn, optimizer):
    @timed
    def train_step(x, y):
        model.train()
        yhat = model(x)
        loss = loss_fn(yhat, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return train_step


def make_eval_step(model, metrics):
    def eval_step(x, y):
        model.eval()
        with torch.no_grad():
            yhat = model(x)
            return {name: metric(yhat, y).item() for name, metric in metrics.items()}

    return eval_step


def warmup(base, steps):
    def schedule(step):
        return base * min(1.0, (step + 1) / steps)

    return schedule


def counter():
    count = 0

    def increment():
        nonlocal count
        count += 1
        return count

    return increment


def residual(block):
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = block

        def forward(self, x):
            return x + self.block(x)

    return Residual()


torch.manual_seed(10)
normalize = compose(lambda x: x - x.mean(0), lambda x: x / (x.std(0) + 1e-6))
Dense = partial(nn.Linear, bias=True)
model = nn.Sequential(Dense(6, 16), nn.ReLU(), residual(nn.Sequential(Dense(16, 16), nn.Tanh())), Dense(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
lr_at = warmup(0.05, 4)
step = make_train_step(model, partial(F.huber_loss, delta=0.5), optimizer)
evaluate = make_eval_step(model, {"mse": F.mse_loss, "mae": F.l1_loss, "max": lambda a, b: (a - b).abs().max()})
tick = counter()

x = normalize(torch.randn(60, 6))
y = (x[:, :2].sum(dim=1, keepdim=True) > 0).float()
while tick() <= 6:
    for group in optimizer.param_groups:
        group["lr"] = lr_at(step.calls["n"])
    loss = step(x, y)
    print(f"{step.calls['n']}: {loss:.4f}")
print({k: round(v, 3) for k, v in evaluate(x, y).items()})
