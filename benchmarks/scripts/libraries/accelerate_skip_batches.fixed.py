import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
samples = torch.arange(40).float().unsqueeze(1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(TensorDataset(samples), batch_size=4))

resume_step = 6
remaining = accelerator.skip_first_batches(loader, resume_step)
seen = []
for step, (batch,) in enumerate(remaining, start=resume_step):
    loss = (model(batch) - 2 * batch).pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    seen += batch.flatten().int().tolist()
print("resumed at step", resume_step, "first sample", seen[0], "count", len(seen))
