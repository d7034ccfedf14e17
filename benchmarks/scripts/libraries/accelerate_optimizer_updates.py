import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def train(steps_per_update):
    accelerator = Accelerator(gradient_accumulation_steps=steps_per_update)
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x = torch.randn(320, 12)
    loader = DataLoader(TensorDataset(x, x.mean(1, keepdim=True)), batch_size=16)
    model, loader = accelerator.prepare(model, loader)
    for inputs, target in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(inputs), target)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    return optimizer


optimizer = train(steps_per_update=4)
state = next(iter(optimizer.state.values()))
print("optimizer updates:", int(state["step"]))
