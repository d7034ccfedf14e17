import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(mixed_precision="bfloat16")
model = torch.nn.Conv1d(2, 4, kernel_size=3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(32, 2, 20)), batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for (signal,) in loader:
    loss = model(signal).float().pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
print("done", loss.item())
