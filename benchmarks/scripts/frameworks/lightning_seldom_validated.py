"""A schedule watches what the validation logs, which does not run after every epoch."""
import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.log("held_out", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=0.1)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": plateau, "monitor": "held_out"}}  # cause


rows = DataLoader(TensorDataset(torch.randn(12, 4), torch.randint(0, 3, (12,))), 6)
options = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu")
trainer = pl.Trainer(max_epochs=4, check_val_every_n_epoch=2, num_sanity_val_steps=0, **options)
trainer.fit(Model(), rows, rows)  # raises TS580 at trainer.fit(Model(), rows, rows)
