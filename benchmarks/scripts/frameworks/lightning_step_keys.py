"""Lightning: the training step gives a dictionary in which the loss has another name."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Salinity(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def measured(self, batch):
        seen, wanted = batch
        error = (self.net(seen) - wanted).square().mean()
        size = self.net.weight.abs().sum()
        return {"objective": error + 0.01 * size, "size": size.detach()}  # cause

    def training_step(self, batch, number):
        found = self.measured(batch)
        self.log("objective", found["objective"])
        return found

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


if __name__ == "__main__":
    torch.manual_seed(0)
    rows = torch.randn(32, 4)
    trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Salinity(), DataLoader(TensorDataset(rows, rows[:, :1]), 8))  # raises TS918 at trainer.fit(Salinity(), DataLoader(TensorDataset(rows, rows[:, :1]), 8))
