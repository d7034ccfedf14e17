"""Budgets of a city: shares are drawn from a Dirichlet, spent as money, and judged again by the money."""
import torch
from torch import nn
from torch.distributions import Dirichlet

BUDGET = 250.0


class Council(nn.Module):
    def __init__(self, needs=5, posts=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(needs, 16), nn.Tanh(), nn.Linear(16, posts))

    def forward(self, needs):
        return Dirichlet(nn.functional.softplus(self.body(needs)) + 0.5)


def spend(council, years=12):
    needs = torch.rand(years, 5)
    with torch.no_grad():
        plan = council(needs)
        share = plan.sample()
        money = BUDGET * share
    gain = -(share - needs[:, :4]).square().sum(1)
    return {"needs": needs, "spent": money, "gain": gain}  # cause


def learn(council, opt, record):
    plan = council(record["needs"])
    chance = plan.log_prob(record["spent"])  # raises TS199 at plan.log_prob(record["spent"])
    loss = -(chance * (record["gain"] - record["gain"].mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    council = Council()
    opt = torch.optim.Adam(council.parameters(), lr=1e-2)
    for _ in range(3):
        print(learn(council, opt, spend(council)))
