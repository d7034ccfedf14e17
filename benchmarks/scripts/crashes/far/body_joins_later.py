"""A scale for ripe fruit: the head learns first, and the body joins while a one-cycle schedule runs."""
import torch
from torch import nn

OPTIONS = {"rate": 0.02, "steps": 12, "joins": 5}


class Fruit(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(9, 12), nn.Linear(12, 1)

    def forward(self, x):
        return self.head(self.body(x).relu())


class Plan:
    def __init__(self, net, options):
        self.net, self.options = net, options
        net.body.requires_grad_(False)
        self.opt = torch.optim.SGD(net.head.parameters(), lr=options["rate"], momentum=0.9)
        self.rule = torch.optim.lr_scheduler.OneCycleLR(self.opt, options["rate"], total_steps=options["steps"])

    def join(self):
        self.net.body.requires_grad_(True)
        group = {"params": self.net.body.parameters(), "lr": 0.001}  # cause
        self.opt.add_param_group(group)

    def step(self, x):
        loss = (self.net(x) - x.mean(1, keepdim=True)).square().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.rule.step()  # raises TS199 at self.rule.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    plan = Plan(Fruit(), OPTIONS)
    for number in range(OPTIONS["steps"]):
        if number == OPTIONS["joins"]:
            plan.join()
        print(plan.step(torch.rand(16, 9)))


main()
