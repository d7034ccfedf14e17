import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class WarmupNet(L.LightningModule):
    def __init__(self, lr=0.1, warmup=10):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if self.trainer.global_step < self.hparams.warmup:
            scale = (self.trainer.global_step + 1) / self.hparams.warmup
            for pg in optimizer.param_groups:
                pg["lr"] = scale * self.hparams.lr
        optimizer.step(closure=optimizer_closure)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


x = torch.randn(256, 8)
loader = DataLoader(TensorDataset(x, x.mean(1, keepdim=True)), batch_size=32)
L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False).fit(WarmupNet(), loader)
