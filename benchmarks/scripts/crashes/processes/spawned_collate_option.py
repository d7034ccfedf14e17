"""Workers that are started afresh cannot be sent a lambda that takes an option of the function around it."""
import torch
from torch import nn
from torch.utils.data import DataLoader


def padded(rows, value):
    longest = max(len(row) for row in rows)
    return torch.stack([nn.functional.pad(row, (0, longest - len(row)), value=value) for row in rows])


def batches(rows, value):
    joined = lambda part: padded(part, value)  # cause
    return DataLoader(rows, 2, num_workers=1, multiprocessing_context="spawn", collate_fn=joined)


def main():
    torch.manual_seed(0)
    rows = [torch.ones(1 + i % 3) for i in range(6)]
    scale = nn.Parameter(torch.ones(()))
    opt = torch.optim.SGD([scale], lr=0.1)
    for batch in batches(rows, 0.5):  # raises TS199 at batches(rows, 0.5)
        loss = (batch * scale).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
