"""The usual check of a new model: does it learn one batch by heart?"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(200, 1, 10, 10), torch.randint(0, 4, (200,))), batch_size=20)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
images, labels = next(iter(loader))
for step in range(60):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.item() < 0.2
print(loss.item())
