import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
model = torch.nn.Linear(6, 6)
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(TensorDataset(torch.randn(60, 6)), batch_size=20)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for epoch in range(2):
    for (x,) in loader:
        loss = (model(x) - x).abs().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.save_state()
print("saved")
