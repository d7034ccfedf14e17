"""Accelerate: predictions of the last, smaller batch are stacked."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters())
data = TensorDataset(torch.randn(30, 6), torch.randint(0, 2, (30,)))
model, optimizer, train, valid = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=8), DataLoader(data, batch_size=8))
for epoch in range(2):
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        optimizer.step(); optimizer.zero_grad()
    predictions = []
    model.eval()
    with torch.no_grad():
        for x, y in valid:
            predictions.append(accelerator.gather_for_metrics(model(x).argmax(-1)))
    print(torch.stack(predictions).float().mean())  # raises TS106 at torch.stack(predictions), cause
