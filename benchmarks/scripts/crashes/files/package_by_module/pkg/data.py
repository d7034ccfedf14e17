import torch


def batches(n):
    for _ in range(n):
        ids = torch.randint(1, 40, (4, 9))
        mask = (ids == 0).t()  # cause
        yield ids, mask, torch.randint(0, 2, (4,))
