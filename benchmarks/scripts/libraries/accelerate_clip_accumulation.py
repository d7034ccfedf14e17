import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(gradient_accumulation_steps=4)
x = torch.randn(64, 3)
loader = DataLoader(TensorDataset(x, 20 * x.sum(1, keepdim=True)), batch_size=4)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

clip_calls = 0
for inputs, target in loader:
    with accelerator.accumulate(model):
        loss = nn.functional.mse_loss(model(inputs), target)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), max_norm=1.0)
        clip_calls += 1
        optimizer.step()
        optimizer.zero_grad()
print(clip_calls, "clippings;", "weights", model.weight.detach())
