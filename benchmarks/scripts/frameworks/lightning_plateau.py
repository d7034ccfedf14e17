"""Lightning: a schedule that watches a metric is not told which one."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Kiln(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 1)

    def heat(self, batch, part):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log(part + "_heat_loss", loss)
        return loss

    def training_step(self, batch, _):
        return self.heat(batch, "train")

    def validation_step(self, batch, _):
        self.heat(batch, "val")

    def configure_optimizers(self):
        descent = torch.optim.SGD(self.parameters(), lr=0.1)
        return [descent], [torch.optim.lr_scheduler.ReduceLROnPlateau(descent, patience=1)]  # cause


def loader():
    return DataLoader(TensorDataset(torch.randn(16, 6), torch.randn(16, 1)), batch_size=4)


trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu")
trainer.fit(Kiln(), loader(), loader())  # raises TS918 at trainer.fit(Kiln(), loader(), loader())
