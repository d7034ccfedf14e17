# A batch norm takes over a thousandth of each batch: after forty steps, evaluation still reads its initial statistics.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = 5 + 3 * torch.randn(1000, 20)
y = ((x - 5)[:, :10].sum(1) > 0).long()
train, test = random_split(TensorDataset(x, y), [800, 200])
loader = DataLoader(train, 40, shuffle=True)
test_loader = DataLoader(test, 100)
model = nn.Sequential(
    nn.BatchNorm1d(20, momentum=0.001),  # fault: TS573 | fixed: nn.BatchNorm1d(20),
    nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def evaluate():
    model.eval()
    total = hits = 0
    with torch.inference_mode():
        for inputs, labels in test_loader:
            output = model(inputs)
            total += criterion(output, labels).item()
            hits += (output.argmax(1) == labels).sum().item()
    model.train()
    return total / len(test_loader), hits / len(test)


for epoch in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), *evaluate())
