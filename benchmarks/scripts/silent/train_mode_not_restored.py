"""eval() once, train() never again."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x, xv = torch.randn(256, 6), torch.randn(64, 6)
label = lambda a: a[:, :3].argmax(1)
for epoch in range(8):
    # fixed: model.train()
    for rows in torch.randperm(256).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), label(x[rows]))  # fault: TS507
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()  # fault: TS507
    with torch.inference_mode():
        print(epoch, (model(xv).argmax(1) == label(xv)).float().mean().item())
