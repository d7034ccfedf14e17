"""Mixed precision on the CPU: gradients are clipped while they are still scaled."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cpu"
templates = torch.rand(10, 1, 14, 14)
target = torch.randint(0, 10, (1500,))
images = (templates[target] + 0.3 * torch.randn(1500, 1, 14, 14) - 0.5) / 0.4
train_loader = DataLoader(TensorDataset(images, target), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 144, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, init_scale=2.0**12)


def train(epoch):
    for data, label in train_loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(data), label)
        scaler.scale(loss).backward()
        # fixed: scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # fault: TS509/TS515
        scaler.step(optimizer)
        scaler.update()
    print(epoch, float(loss.detach()))


for epoch in range(3):
    train(epoch)
