import os
import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.utils.data import DataLoader, TensorDataset

config = ProjectConfiguration(project_dir="project", automatic_checkpoint_naming=False, total_limit=2)
accelerator = Accelerator(project_config=config)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(40, 3)
loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=10)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for epoch in range(6):
    for inputs, target in loader:
        accelerator.backward((model(inputs) - target).pow(2).mean())
        optimizer.step()
        optimizer.zero_grad()
    accelerator.save_state(os.path.join("project", "checkpoints", f"epoch_{epoch}"))
print(sorted(os.listdir("project/checkpoints")))
