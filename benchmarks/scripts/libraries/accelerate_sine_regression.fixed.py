import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator()
max_grad_norm = 1.0
t = torch.linspace(0, 20, 800).unsqueeze(1)
loader = DataLoader(TensorDataset(t, 100 * torch.sin(t)), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

largest_move = 0.0
for batch, target in loader:
    before = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    loss = nn.functional.mse_loss(model(batch), target)
    accelerator.backward(loss)
    accelerator.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    optimizer.zero_grad()
    after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    largest_move = max(largest_move, (after - before).norm().item())
print("largest parameter change in one step:", largest_move)
