"""Lightning: the error of each output is logged."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        errors = (self.net(x) - y).abs().mean(0)  # cause
        self.log("errors", errors)  # raises TS406/TS815/TS199/TS823 at self.log("errors", errors), cause
        return errors.mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


data = TensorDataset(torch.randn(64, 10), torch.randn(64, 3))
trainer = L.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
)
trainer.fit(Regressor(), DataLoader(data, batch_size=16))
