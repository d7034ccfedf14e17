"""A batch of a loader is taken for a tensor."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 4)
        self.fc2 = nn.Linear(4, 10)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


device = torch.device("cpu")
loader = DataLoader(TensorDataset(torch.randn(40, 10)), batch_size=8)
model = Encoder().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in loader:  # cause
        batch = batch.to(device)  # raises TS618/TS813 at batch.to, cause
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
