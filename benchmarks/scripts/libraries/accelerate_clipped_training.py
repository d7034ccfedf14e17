import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
device = accelerator.device
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
dataset = TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
train_loader, model, optimizer = accelerator.prepare(DataLoader(dataset, batch_size=8), model, optimizer)

accelerator.print("batch size:", train_loader.batch_size)
for x, y in train_loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    accelerator.backward(loss)
    if accelerator.sync_gradients:
        optimizer.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
accelerator.print(loss.item())
