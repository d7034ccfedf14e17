import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class DomainModel(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Linear(12, 2)

    def forward(self, x):
        return self.backbone(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self(x), y)

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        x, y = batch
        acc = (self(x).argmax(1) == y).float().mean()
        self.log("val_acc", acc, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def make_domain(shift, n=64):
    x = torch.randn(n, 12) + shift
    return DataLoader(TensorDataset(x, (x.sum(1) > 12 * shift).long()), batch_size=16)


trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False)
trainer.fit(DomainModel(), make_domain(0.0), [make_domain(0.0), make_domain(1.0)])
