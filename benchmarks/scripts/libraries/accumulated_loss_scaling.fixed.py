import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pl.seed_everything(2)
ACCUM = 4


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_mse", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


x = torch.randn(640, 16)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
trainer = pl.Trainer(max_epochs=5, accumulate_grad_batches=ACCUM, logger=False,
                     enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Model(), loader)
print(trainer.callback_metrics["train_mse"])
