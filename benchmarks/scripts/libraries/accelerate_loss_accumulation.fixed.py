import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
gradient_accumulation_steps = 4
accelerator = Accelerator(gradient_accumulation_steps=gradient_accumulation_steps)

x = torch.randn(256, 20)
y = (x @ torch.randn(20, 1)).squeeze(1)
train_dataloader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = torch.nn.Linear(20, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)

for epoch in range(8):
    for features, target in train_dataloader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(features).squeeze(1), target)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

print("final mse", F.mse_loss(model(x).squeeze(1), y).item())
