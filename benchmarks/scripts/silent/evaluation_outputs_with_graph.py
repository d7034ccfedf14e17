"""Predictions of the validation set are kept over the epochs, with their graphs."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train = TensorDataset(torch.randn(200, 5), torch.randn(200, 1))
held_out = TensorDataset(torch.randn(60, 5), torch.randn(60, 1))
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
history = []
for epoch in range(8):
    model.train()
    for x, y in DataLoader(train, batch_size=20, shuffle=True):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    # fixed: torch.set_grad_enabled(False)
    for x, y in DataLoader(held_out, batch_size=20):
        guess = model(x)  # fault: TS506/TS701
        history.append(guess)  # fault: TS701
    # fixed: torch.set_grad_enabled(True)
print(len(history))
