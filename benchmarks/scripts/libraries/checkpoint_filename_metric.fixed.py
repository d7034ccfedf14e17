import os
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.fc(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val/acc", (self.fc(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(120, 6)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=20)
checkpoint = ModelCheckpoint(
    dirpath="runs", monitor="val/acc", mode="max", save_top_k=2,
    filename="epoch={epoch}-val_acc={val/acc:.3f}", auto_insert_metric_name=False,
)
trainer = pl.Trainer(max_epochs=4, callbacks=[checkpoint], logger=False, enable_progress_bar=False)
trainer.fit(Net(), loader, loader)
print(sorted(os.listdir("runs")))
