"""Reading a sample takes longer than training on it."""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.01)  # fixed: pass
        g = torch.Generator().manual_seed(index)
        x = torch.randn(16, generator=g)
        return x, (x[0] > 0).long()


torch.manual_seed(0)
loader = DataLoader(Files(), batch_size=8, shuffle=True)  # fault: TS935/TS703
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:  # fault: TS935/TS703
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
