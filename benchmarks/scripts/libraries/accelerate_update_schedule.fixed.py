import torch
from torch import nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ACCUM = 4
accelerator = Accelerator(gradient_accumulation_steps=ACCUM)
x = torch.randn(320, 5)
dataset = TensorDataset(x, (x.sum(1) > 0).long())
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(dataset, batch_size=16))

for epoch in range(5):
    for step, (inputs, labels) in enumerate(loader):
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

accuracy = (model(x).argmax(1) == dataset.tensors[1]).float().mean()
print(f"train accuracy {accuracy:.3f}")
