"""Labels from a NumPy archive of 32-bit integers."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __init__(self, X, y):
        self.X = torch.from_numpy(X)
        self.y = torch.from_numpy(y)  # cause

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        return self.X[index], self.y[index]


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 24)).astype(np.float32)
y = rng.integers(0, 5, size=60).astype(np.int32)  # cause


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 5, padding=2)
        self.fc = nn.Linear(4 * 24, 5)

    def forward(self, x):
        x = torch.relu(self.conv(x.unsqueeze(1)))
        return self.fc(x.flatten(1))


model = Classifier()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for data, target in DataLoader(Spectra(X, y), batch_size=20):
        opt.zero_grad()
        out = model(data)
        loss = criterion(out, target)  # raises TS302 at criterion(out, target), cause
        loss.backward()
        opt.step()
