import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class MLP(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.loss_fn = nn.MSELoss()

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss_fn(self.model(x), y)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("valid/loss", self.loss_fn(self.model(x), y))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


x = torch.randn(300, 4)
train, val = random_split(TensorDataset(x, x.pow(2).sum(1, keepdim=True)), [240, 60])
early_stopping = EarlyStopping(monitor="valid/loss", patience=3, mode="min")
trainer = L.Trainer(max_epochs=10, callbacks=[early_stopping], logger=False, enable_checkpointing=False)
trainer.fit(MLP(), DataLoader(train, 32, shuffle=True), DataLoader(val, 32))
