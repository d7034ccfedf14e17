import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(4)


class OverfitNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


x = torch.randn(140, 20)
y = x[:, :1] + torch.randn(140, 1)
train = DataLoader(TensorDataset(x[:40], y[:40]), 20, shuffle=True)
val = DataLoader(TensorDataset(x[40:], y[40:]), 100)
checkpoint_cb = ModelCheckpoint(dirpath="checkpoints", filename="best", monitor="val_loss", mode="min", save_top_k=1)
trainer = L.Trainer(max_epochs=25, callbacks=[checkpoint_cb], logger=False, enable_progress_bar=False)
trainer.fit(OverfitNet(), train, val)
model = OverfitNet.load_from_checkpoint(checkpoint_cb.best_model_path)
model.eval()
print("val mse of best:", nn.functional.mse_loss(model.net(x[40:]), y[40:]).item())
