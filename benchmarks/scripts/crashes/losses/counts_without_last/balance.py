import torch
def inverse(y):
    counts = torch.bincount(y)  # cause
    return counts.sum() / counts.clamp(min=1)  # cause
