"""A LightningModule with a logarithm of zero."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Rates(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1), nn.ReLU())

    def training_step(self, batch, index):
        x, count = batch
        rate = self.net(x)
        loss = (rate - count * torch.log(rate)).mean()  # fault: TS920 | fixed: loss = (rate - count * torch.log(rate + 1e-4)).mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


L.seed_everything(1)
x = torch.randn(600, 10)
count = torch.poisson((x[:, :1] * 0.5).exp())
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Rates(), DataLoader(TensorDataset(x, count), 30, shuffle=True))
