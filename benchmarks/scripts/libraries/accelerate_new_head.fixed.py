import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x))


accelerator = Accelerator()
model = Classifier(6, classes=1000)
model.head = nn.Linear(16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(120, 6)
dataset = TensorDataset(x, x[:, :3].argmax(1))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(dataset, batch_size=20))

start = model.head.weight.detach().clone()
for epoch in range(5):
    for inputs, labels in loader:
        accelerator.backward(nn.functional.cross_entropy(model(inputs), labels))
        optimizer.step()
        optimizer.zero_grad()
print("head moved by", (model.head.weight - start).abs().max().item())
