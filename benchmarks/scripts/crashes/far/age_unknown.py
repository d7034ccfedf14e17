"""Patients of whom some have no label yet; a collate function makes the batches."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patients(Dataset):
    def __init__(self, n=24):
        self.rows = torch.randn(n, 5)
        self.known = {number: number % 3 for number in range(0, n, 2)}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        stage = self.known[number] if number in self.known else None  # cause
        return {"row": self.rows[number], "stage": stage}


def together(people):
    stages = torch.tensor([person["stage"] for person in people])  # raises TS199/TS301/TS918 at torch.tensor([person["stage"] for person in people])
    return torch.stack([person["row"] for person in people]), stages


def main():
    torch.manual_seed(0)
    net = nn.Linear(5, 3)
    judge = nn.CrossEntropyLoss(ignore_index=-1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for rows, stages in DataLoader(Patients(), 8, collate_fn=together):
        loss = judge(net(rows), stages)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
