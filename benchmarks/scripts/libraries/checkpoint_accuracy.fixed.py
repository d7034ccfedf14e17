import lightning as L
import torch
from torch import nn
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.fc(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_acc", (self.fc(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(600, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
train, val = TensorDataset(x[:500], y[:500]), TensorDataset(x[500:], y[500:])
checkpoint = ModelCheckpoint(dirpath="ckpts", monitor="val_acc", mode="max", save_top_k=1)
trainer = L.Trainer(max_epochs=8, callbacks=[checkpoint], logger=False, enable_progress_bar=False)
trainer.fit(Net(), DataLoader(train, 50, shuffle=True), DataLoader(val, 100))
print(checkpoint.best_model_path, checkpoint.best_model_score)
