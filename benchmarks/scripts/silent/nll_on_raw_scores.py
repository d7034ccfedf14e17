"""NLLLoss on what is no log-probability."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def batches(count):
    for _ in range(count):
        y = torch.randint(0, 3, (24,))
        x = torch.randn(24, 4, 4) + y[:, None, None]
        yield x, y


for x, y in batches(60):
    optimizer.zero_grad()
    scores = model(x)  # fixed: scores = model(x).log_softmax(1)
    loss = criterion(scores, y)  # fault: TS305
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
