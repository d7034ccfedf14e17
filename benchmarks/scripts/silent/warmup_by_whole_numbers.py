"""A warm-up whose factor is nought until it is one."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 10)
y = (x[:, :3].sum(1) > 0).long()
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
warmup = 200
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s // warmup))  # fault: TS544 | fixed: schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / warmup))
for step in range(120):
    batch = torch.randint(0, 400, (32,))
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
    if step % 40 == 0:
        print(step, loss.item(), schedule.get_last_lr())
