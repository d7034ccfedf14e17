"""Fine-tuning: the head is exchanged after the optimizer was built."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.body(x))


def build(classes):
    model = Net(1000)
    # fixed: model.fc = nn.Linear(32, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)  # fault: TS512
    model.fc = nn.Linear(32, classes)  # fault: TS512 | fixed: pass
    return model, optimizer


torch.manual_seed(0)
model, optimizer = build(3)
freq = torch.tensor([1.0, 3.0, 6.0])
t = torch.linspace(0, 6.28, 50)
for step in range(80):
    y = torch.randint(0, 3, (32,))
    x = torch.sin(freq[y][:, None] * t)[:, None, :] + 0.1 * torch.randn(32, 1, 50)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
