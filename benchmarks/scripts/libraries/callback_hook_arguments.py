import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LossPrinter(L.Callback):
    def on_train_epoch_end(self, trainer):
        print(f"epoch {trainer.current_epoch}: {trainer.callback_metrics['train_loss']:.4f}")


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


x = torch.randn(64, 6)
dl = DataLoader(TensorDataset(x, x[:, :1]), batch_size=16)
L.Trainer(max_epochs=3, callbacks=[LossPrinter()], logger=False, enable_checkpointing=False).fit(Model(), dl)
