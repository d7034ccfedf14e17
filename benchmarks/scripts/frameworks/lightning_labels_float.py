"""A Lightning module gets labels as floating point numbers from a data module."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Data(L.LightningDataModule):
    def setup(self, stage):
        x, y = torch.randn(64, 8), torch.randint(0, 3, (64,)).float()  # cause
        self.train = TensorDataset(x, y)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=16)

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)  # raises TS302 at nn.functional.cross_entropy(self.net(x), y), cause
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

trainer = L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu")
trainer.fit(Model(), datamodule=Data())
