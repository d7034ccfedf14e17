import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)


class UpdateCounter:
    def __init__(self, model):
        self.previous = model.weight.detach().clone()
        self.updates = 0

    def check(self, model):
        if not torch.equal(self.previous, model.weight):
            self.updates += 1
            self.previous = model.weight.detach().clone()


accelerator = Accelerator(gradient_accumulation_steps=5)
model = nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(200, 6), torch.randint(0, 2, (200,)))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=10))
counter = UpdateCounter(model)
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    counter.check(model)
print(f"{counter.updates} updates for {len(loader)} batches")
