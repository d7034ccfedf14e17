import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(200, 4)
dataset = TensorDataset(x, x.sum(1, keepdim=True))


def setup():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    return model, optimizer, DataLoader(dataset, batch_size=20, shuffle=True)


accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(*setup())
for epoch in range(10):
    for inputs, target in loader:
        accelerator.backward(nn.functional.mse_loss(model(inputs), target))
        optimizer.step()
        optimizer.zero_grad()
accelerator.save_state("run1")

accelerator = Accelerator()
model, optimizer, loader = setup()
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
accelerator.load_state("run1")
print("mse after resume:", nn.functional.mse_loss(model(x), dataset.tensors[1]).item())
