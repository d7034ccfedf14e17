import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.utils.data import DataLoader, TensorDataset

config = ProjectConfiguration(project_dir="out", automatic_checkpoint_naming=True)
accelerator = Accelerator(project_config=config)
model = torch.nn.Linear(6, 6)
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(TensorDataset(torch.randn(60, 6)), batch_size=20)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for epoch in range(2):
    for (x,) in loader:
        loss = (model(x) - x).abs().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.save_state()
print("saved")
