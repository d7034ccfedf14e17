import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator()
x = torch.randn(130, 8)
y = torch.cat([torch.zeros(128), torch.full((2,), 10.0)]).unsqueeze(1)
eval_dataloader = DataLoader(TensorDataset(x, y), batch_size=32)
model, eval_dataloader = accelerator.prepare(nn.Linear(8, 1), eval_dataloader)

model.eval()
losses = []
for inputs, targets in eval_dataloader:
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(inputs), targets)
    losses.append(accelerator.gather_for_metrics(loss).reshape(1))
eval_loss = torch.cat(losses).mean()
accelerator.print(f"eval loss over {len(eval_dataloader.dataset)} samples: {eval_loss:.4f}")
