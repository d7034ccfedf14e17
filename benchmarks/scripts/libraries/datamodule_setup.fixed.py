import torch
import lightning as L
from torch.utils.data import DataLoader, TensorDataset, random_split


class HousingData(L.LightningDataModule):
    def __init__(self, batch_size=32):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        x = torch.rand(400, 5)
        full = TensorDataset(x, x.mean(dim=1, keepdim=True))
        self.train_set, self.val_set = random_split(full, [320, 80])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(5, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.fc(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(Model(), datamodule=HousingData())
