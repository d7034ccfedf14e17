"""An augmentation that changes what the data set stores."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, n=256):
        g = torch.Generator().manual_seed(1)
        self.label = torch.randint(0, 2, (n,), generator=g)
        t = torch.linspace(0, 6, 64)
        self.signal = torch.sin(t[None] * (1 + self.label[:, None].float()))

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        s = self.signal[i]
        s += 0.5 * torch.randn(64)  # fault: TS624 | fixed: s = s + 0.5 * torch.randn(64)
        return s, self.label[i]


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
data = DataLoader(Signals(), batch_size=32, shuffle=True)
for epoch in range(8):
    for s, l in data:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(s), l)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
