import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
accelerator = Accelerator(gradient_accumulation_steps=3)
model = nn.GRU(4, 8, batch_first=True)
head = nn.Linear(8, 1)
params = list(model.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(params, lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
x = torch.randn(180, 6, 4)
loader = DataLoader(TensorDataset(x, x.mean((1, 2)).unsqueeze(1)), batch_size=6)

accelerator.prepare(model, head, optimizer, loader, scheduler)

for sequence, target in loader:
    with accelerator.accumulate(model, head):
        output, _ = model(sequence)
        loss = nn.functional.mse_loss(head(output[:, -1]), target)
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
print("lr after one epoch:", scheduler.get_last_lr())
