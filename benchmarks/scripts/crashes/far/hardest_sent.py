"""The hardest batches of a training are kept, and looked at in another process."""
import torch
import torch.multiprocessing as mp
from torch import nn


class Hardest:
    def __init__(self, most=3):
        self.most, self.kept = most, []

    def offer(self, loss, codes, y):
        self.kept.append((loss.item(), codes, y))  # cause
        self.kept.sort(key=lambda row: -row[0])
        del self.kept[self.most:]


def look(kept, found):
    found.put([codes.std().item() for _, codes, _ in kept])


def main():
    torch.manual_seed(0)
    body, head, hardest = nn.Linear(6, 4), nn.Linear(4, 2), Hardest()
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()])
    for step in range(20):
        x = torch.randn(16, 6)
        y = (x[:, 0] > 0).long()
        codes = body(x)
        loss = nn.functional.cross_entropy(head(codes.relu()), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hardest.offer(loss, codes, y)
    context = mp.get_context("spawn")
    found = context.Queue()
    process = context.Process(target=look, args=(hardest.kept, found))
    process.start()  # raises TS199 at process.start()
    print(found.get(timeout=60))
    process.join()


if __name__ == "__main__":
    main()
