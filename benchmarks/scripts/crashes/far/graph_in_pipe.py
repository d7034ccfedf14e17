"""A process that codes weather maps for another one which trains on the codes."""
import torch
import torch.multiprocessing as mp
from torch import nn


class Coder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, width), nn.ReLU(), nn.Linear(width, 6))

    def forward(self, maps):
        return self.net(maps)


def coded(coder, rows):
    maps = torch.randn(rows, 30)
    codes = coder(maps)  # cause
    return torch.cat([codes, maps.mean(1, keepdim=True)], 1)


def work(queue, coder, rounds):
    torch.set_num_threads(1)
    for _ in range(rounds):
        block = coded(coder, 8)
        queue.send(block)  # raises TS199 at queue.send(block)
    queue.recv()


def main():
    torch.manual_seed(0)
    coder, judge = Coder(), nn.Linear(7, 1)
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    here, there = mp.Pipe()
    worker = mp.Process(target=work, args=(there, coder, 3), daemon=True)
    worker.start()
    there.close()
    for _ in range(3):
        block = here.recv()
        loss = (judge(block[:, :7]).squeeze(1) - block[:, 6]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    here.send(None)
    worker.join()
    print(loss.item())


if __name__ == "__main__":
    main()
