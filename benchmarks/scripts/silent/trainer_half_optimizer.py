"""A Trainer class whose optimizer is made for the decoder alone."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, width=32, code=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, 24), nn.Tanh(), nn.Linear(24, code))
        self.decoder = nn.Sequential(nn.Linear(code, 24), nn.Tanh(), nn.Linear(24, width))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model, data, epochs=4):
        self.model = model
        self.loader = DataLoader(data, batch_size=32, shuffle=True)
        self.epochs = epochs
        self.criterion = nn.MSELoss()
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.Adam(self.model.decoder.parameters(), lr=3e-3)  # fault: TS512 | fixed: return torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def train_one(self, x):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), x)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        for epoch in range(self.epochs):
            total = sum(self.train_one(x) for (x,) in self.loader)
            print(f"epoch {epoch} loss {total / len(self.loader):.4f}")


torch.manual_seed(0)
basis = torch.randn(6, 32)
Trainer(AutoEncoder(), TensorDataset(torch.randn(2000, 6) @ basis / 2.5)).fit()
