import torch

ALPHA = 0.4


def apply(x, y):
    share = torch.distributions.Beta(ALPHA, ALPHA).sample((len(x),))  # cause
    order = torch.randperm(len(x))
    mixed = x * share[:, None] + x[order] * (1 - share[:, None])
    return mixed, y * share + y[order] * (1 - share)  # raises TS103 at y * share, cause
