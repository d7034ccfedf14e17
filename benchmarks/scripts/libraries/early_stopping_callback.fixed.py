import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


class NoiseModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def noise_loader(n):
    return DataLoader(TensorDataset(torch.randn(n, 30), torch.randn(n, 1)), batch_size=25)


early_stop = EarlyStopping(monitor="val_loss", patience=3)
checkpoint = ModelCheckpoint(dirpath="ckpt", monitor="val_loss")
trainer = L.Trainer(max_epochs=40, callbacks=[checkpoint, early_stop], logger=False, enable_progress_bar=False)
trainer.fit(NoiseModel(), noise_loader(100), noise_loader(50))
print("stopped at epoch", trainer.current_epoch)
