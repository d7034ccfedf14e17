"""A rain nowcast with a one-cycle plan."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PLAN = {"epochs": 3, "batch": 16, "rate": 1e-2}


def data(n=100):
    x = torch.randn(n, 6)
    return TensorDataset(x, x.mean(1, keepdim=True))


def schedule(opt, plan, rows):
    total = plan["epochs"] * (rows // plan["batch"])  # cause
    return torch.optim.lr_scheduler.OneCycleLR(opt, plan["rate"], total_steps=total)


class Trainer:
    def __init__(self, plan):
        torch.manual_seed(0)
        self.plan, self.rows = plan, data()
        self.loader = DataLoader(self.rows, plan["batch"], shuffle=True)
        self.net = nn.Linear(6, 1)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=plan["rate"])
        self.rule = schedule(self.opt, plan, len(self.rows))

    def epoch(self):
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.rule.step()  # raises TS527 at self.rule.step()
        return loss.item()


trainer = Trainer(PLAN)
for _ in range(PLAN["epochs"]):
    print(trainer.epoch())
