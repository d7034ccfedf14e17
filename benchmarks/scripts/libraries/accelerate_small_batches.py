import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
accelerator = Accelerator(gradient_accumulation_steps=8)
x = torch.randn(512, 10)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model = nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.15)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
loss_fn = nn.MSELoss()

for epoch in range(3):
    total = 0.0
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = loss_fn(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    accelerator.print(f"epoch {epoch}: {total / len(loader):.4f}")
