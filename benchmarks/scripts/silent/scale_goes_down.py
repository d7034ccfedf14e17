"""A loss that is infinite in half precision: the scaler skips every step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
x = torch.randn(800, 20)
y = x[:, :1] * 3 + 400  # fixed: y = x[:, :1] * 3
for epoch in range(4):
    for i in range(0, 800, 40):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x[i : i + 40])
            loss = (out - y[i : i + 40].half()).pow(2).mean()  # fault: TS920/TS937 | fixed: loss = (out.float() - y[i : i + 40]).pow(2).mean()
        scaler.scale(loss).backward()  # fault: TS937/TS920
        scaler.step(optimizer)  # fault: TS937/TS920
        scaler.update()  # fault: TS937
    print(epoch, loss.item(), scaler.get_scale())
