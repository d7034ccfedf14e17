"""A stream that each worker gives whole."""
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __iter__(self):
        # fixed: info = get_worker_info()
        for i in range(len(self.x)):  # fixed: for i in range(info.id if info else 0, len(self.x), info.num_workers if info else 1):
            yield self.x[i], self.y[i]


def main():
    torch.manual_seed(0)
    x = torch.randn(256, 6)
    y = (x.sum(1) > 0).float()
    loader = DataLoader(Stream(x, y), batch_size=16, num_workers=2)  # fault: TS621
    model = nn.Linear(6, 1)
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(4):
        total = 0.0
        for a, b in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(a).squeeze(1), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(epoch, total)


if __name__ == "__main__":
    main()
