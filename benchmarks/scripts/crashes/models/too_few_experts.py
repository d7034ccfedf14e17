"""More experts are asked for than the layer has."""
import argparse
import torch
from torch import nn

class MoE(nn.Module):
    def __init__(self, dim, experts, top):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))
        self.top = top

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(self.top, dim=-1)  # raises TS199 at self.gate(x).softmax(-1).topk(self.top, dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, slot = (chosen == i).nonzero(as_tuple=True)
            out[rows] += weights[rows, slot, None] * expert(x[rows])
        return out

parser = argparse.ArgumentParser()
parser.add_argument("--experts", type=int, default=2)
parser.add_argument("--top", type=int, default=4)  # cause
args = parser.parse_args()
model = nn.Sequential(nn.Linear(10, 16), MoE(16, args.experts, args.top), nn.Linear(16, 3))  # cause
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(6, 10)), torch.randint(0, 3, (6,)))
    opt.zero_grad(); loss.backward(); opt.step()
