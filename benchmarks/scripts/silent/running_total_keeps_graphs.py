"""The epoch's total keeps every graph."""
import torch
from torch import nn


def epoch(model, optimizer, data):
    epoch_loss = 0.0
    for x, y in data:
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss  # fault: TS701 | fixed: epoch_loss += loss.item()
    return epoch_loss / len(data)


torch.manual_seed(0)
data = [(torch.randn(16, 7), torch.randint(0, 2, (16, 1)).float()) for _ in range(48)]
model = nn.Sequential(nn.Linear(7, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(3):
    print(number, float(epoch(model, optimizer, data)))
