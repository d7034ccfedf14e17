import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split


class TableDataModule(L.LightningDataModule):
    def __init__(self, batch_size=32):
        super().__init__()
        x = torch.randn(500, 10)
        self.data = TensorDataset(torch.arange(500), x, x[:, 0:1])
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train_set, self.test_set = random_split(self.data, [400, 100])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def test_dataloader(self):
        return DataLoader(self.test_set, batch_size=self.batch_size)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(10, 1)

    def training_step(self, batch, batch_idx):
        _, x, y = batch
        return torch.nn.functional.mse_loss(self.fc(x), y)

    def test_step(self, batch, batch_idx):
        _, x, y = batch
        self.log("test_mse", torch.nn.functional.mse_loss(self.fc(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


dm, model = TableDataModule(), Net()
trainer = L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, datamodule=dm)
trainer.test(model, datamodule=dm)
