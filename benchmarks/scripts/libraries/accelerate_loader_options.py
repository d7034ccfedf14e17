import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(split_batches=True, even_batches=False)
model = torch.nn.Embedding(50, 4)
optimizer = torch.optim.SparseAdam(list(model.parameters())) if model.sparse else torch.optim.Adam(model.parameters())
ids = TensorDataset(torch.randint(0, 50, (90, 3)))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(ids, batch_size=30))
for (batch,) in loader:
    loss = model(batch).norm(dim=-1).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
accelerator.print(loss.item())
