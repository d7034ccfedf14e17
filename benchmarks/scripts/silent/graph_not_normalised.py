"""Graph convolutions whose sums over neighbours explode."""
import torch
from torch import nn

torch.manual_seed(0)
n = 100
adj = (torch.rand(n, n) < 0.4).float()
adj = ((adj + adj.T) > 0).float() + torch.eye(n)
# fixed: adj = adj / adj.sum(1, keepdim=True)
feat = torch.randn(n, 16)
lab = torch.randint(0, 3, (n,))


class GCN(nn.Module):
    def __init__(self, depth=8):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(depth))
        self.out = nn.Linear(16, 3)

    def forward(self, h):
        for layer in self.layers:
            h = torch.relu(layer(adj @ h))
        return self.out(h)


model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    loss = nn.functional.cross_entropy(model(feat), lab)
    opt.zero_grad()
    loss.backward()  # fault: TS923
    opt.step()
    if step % 20 == 0:
        print(step, loss.item())
