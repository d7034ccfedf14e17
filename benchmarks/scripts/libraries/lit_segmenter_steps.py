import pytorch_lightning as pl
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Segmenter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
        self.criterion = nn.BCEWithLogitsLoss()

    @torch.no_grad()
    def shared_step(self, batch, stage):
        image, mask = batch
        loss = self.criterion(self.net(image), mask)
        self.log(f"{stage}_loss", loss, on_epoch=True)
        return loss

    def training_step(self, batch, batch_idx):
        return self.shared_step(batch, "train")

    def validation_step(self, batch, batch_idx):
        return self.shared_step(batch, "valid")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


images = torch.rand(16, 3, 16, 16)
ds = TensorDataset(images, (images.mean(1, keepdim=True) > 0.5).float())
trainer = pl.Trainer(max_epochs=1, num_sanity_val_steps=0, logger=False, enable_checkpointing=False)
trainer.fit(Segmenter(), DataLoader(ds, batch_size=4), DataLoader(ds, batch_size=4))
