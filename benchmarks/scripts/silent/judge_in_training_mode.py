"""Pictures are cleaned so that a frozen network sees the same in them; train() of the whole wakes its dropout."""
import torch
from torch import nn


class Alike(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body.requires_grad_(False)

    def forward(self, made, wanted):
        return nn.functional.mse_loss(self.body(made), self.body(wanted))


class Cleaning(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
        self.alike = Alike(body)


torch.manual_seed(0)
body = nn.Sequential(nn.Linear(16, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 8)).eval()
whole = Cleaning(body)
optimizer = torch.optim.Adam(whole.net.parameters(), lr=1e-3)
clean = torch.randn(512, 4) @ torch.randn(4, 16)
for step in range(80):
    whole.train()  # fault: TS505 | fixed: whole.net.train()
    x = clean[torch.randint(0, 512, (32,))]
    made = whole.net(x + torch.randn_like(x))
    loss = whole.alike(made, x) + 0.1 * (made - x).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
