"""A network without classes: parameters in a list, forward as a function, SGD by hand."""
import math

import torch
from torch import randn, tensor
import torch.nn.functional as F


def init_layer(n_in, n_out):
    w = randn(n_in, n_out) * math.sqrt(2.0 / n_in)
    b = torch.zeros(n_out)
    return w.requires_grad_(), b.requires_grad_()


def init_params(sizes):
    return [init_layer(a, b) for a, b in zip(sizes, sizes[1:])]


def predict(params, x):
    for w, b in params[:-1]:
        x = F.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def nll(logits, target):
    logp = logits - logits.logsumexp(dim=1, keepdim=True)
    return -logp[range(len(target)), target].mean()


def sgd(params, lr):
    with torch.no_grad():
        for w, b in params:
            w -= lr * w.grad
            b -= lr * b.grad
            w.grad.zero_()
            b.grad.zero_()


def spiral(n_per_class, classes=3):
    xs, ys = [], []
    for c in range(classes):
        r = torch.linspace(0.1, 1.0, n_per_class)
        t = torch.linspace(c * 4.0, (c + 1) * 4.0, n_per_class) + randn(n_per_class) * 0.2
        xs.append(torch.stack((r * t.sin(), r * t.cos()), 1))
        ys.append(torch.full((n_per_class,), c))
    return torch.cat(xs), torch.cat(ys)


torch.manual_seed(0)
X, Y = spiral(40)
params = init_params([2, 32, 32, 3])
batch_size = 30
for epoch in range(3):
    perm = torch.randperm(len(X))
    for i in range(0, len(X), batch_size):
        idx = perm[i:i + batch_size]
        xb, yb = X[idx], Y[idx]
        loss = nll(predict(params, xb), yb)
        loss.backward()
        sgd(params, lr=0.1)
    with torch.no_grad():
        acc = (predict(params, X).argmax(1) == Y).float().mean()
    print(epoch, loss.item(), acc.item())
print(predict(params, tensor([[0.1, 0.2]])).softmax(-1))
