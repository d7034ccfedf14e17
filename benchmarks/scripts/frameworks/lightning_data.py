"""Lightning: a DataModule with workers gives features in double precision."""

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, count):
        self.x = np.random.default_rng(0).normal(size=(count, 6))
        self.y = self.x.sum(1, keepdims=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return torch.from_numpy(self.x[index]), torch.from_numpy(self.y[index])  # cause


class Data(L.LightningDataModule):
    def setup(self, stage):
        self.train = Rows(32)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=8, num_workers=2)


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)  # raises TS301 at self.net(x)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


if __name__ == "__main__":
    trainer = L.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(Regression(), datamodule=Data())
