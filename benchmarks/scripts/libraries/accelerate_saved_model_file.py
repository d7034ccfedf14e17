import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(5):
    loss = model(torch.randn(4, 8)).pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()

accelerator.wait_for_everyone()
accelerator.save_model(model, "export")

restored = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
restored.load_state_dict(torch.load("export/pytorch_model.bin"))
print(restored(torch.zeros(1, 8)))
