import torch
from accelerate import Accelerator
from torch import nn
from torch.optim.lr_scheduler import LinearLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, ACCUM = 3, 4
accelerator = Accelerator(gradient_accumulation_steps=ACCUM)
x = torch.randn(640, 7)
loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=16, shuffle=True)
model = nn.Linear(7, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
num_training_steps = EPOCHS * len(loader) // ACCUM
scheduler = LinearLR(optimizer, start_factor=1.0, end_factor=0.0, total_iters=num_training_steps)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)

for epoch in range(EPOCHS):
    for inputs, target in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(inputs), target)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.6f}")
