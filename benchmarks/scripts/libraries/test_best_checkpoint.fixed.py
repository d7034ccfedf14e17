import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))

    def _step(self, batch, name):
        x, y = batch
        loss = nn.functional.l1_loss(self.f(x), y)
        self.log(name, loss)
        return loss

    def training_step(self, batch, batch_idx):
        return self._step(batch, "train_loss")

    def test_step(self, batch, batch_idx):
        self._step(batch, "test_loss")

    def configure_optimizers(self):
        return torch.optim.RMSprop(self.parameters())


x = torch.randn(100, 3)
loader = DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=25)
trainer = L.Trainer(max_epochs=3, callbacks=[L.pytorch.callbacks.ModelCheckpoint(monitor="train_loss")], logger=False)
trainer.fit(Net(), loader)
trainer.test(ckpt_path="best", dataloaders=loader)
