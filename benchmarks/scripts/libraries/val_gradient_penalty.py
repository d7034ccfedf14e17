import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class EnergyNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 32), nn.Softplus(), nn.Linear(32, 1))

    def score(self, x):
        x = x.clone().requires_grad_(True)
        e = self.energy(x).sum()
        return torch.autograd.grad(e, x, create_graph=True)[0]

    def training_step(self, x, batch_idx):
        noise = torch.randn_like(x) * 0.1
        return ((self.score(x + noise) * 0.01 + noise) ** 2).mean()

    def validation_step(self, x, batch_idx):
        noise = torch.randn_like(x) * 0.1
        self.log("val_loss", ((self.score(x + noise) * 0.01 + noise) ** 2).mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


data = torch.randn(128, 3)
trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(EnergyNet(), DataLoader(data, 32), DataLoader(data, 32))
