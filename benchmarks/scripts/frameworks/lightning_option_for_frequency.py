"""How often a schedule steps is an option of the model, and the validation runs less often."""
import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self, width=8, every=1):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("seen", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("held_out", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=0.1)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
        watched = {"scheduler": plateau, "monitor": "held_out", "frequency": self.hparams.every}
        return {"optimizer": opt, "lr_scheduler": watched}


EVERY = 2


def main():
    rows = DataLoader(TensorDataset(torch.randn(12, 4), torch.randint(0, 3, (12,))), 6)
    model = Model(width=6)  # cause
    trainer = pl.Trainer(
        max_epochs=4, check_val_every_n_epoch=EVERY, num_sanity_val_steps=0, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, accelerator="cpu",
    )
    trainer.fit(model, rows, rows)  # raises TS580 at trainer.fit(model, rows, rows)


main()
