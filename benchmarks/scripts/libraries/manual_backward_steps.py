import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

pl.seed_everything(0)


class Regressor(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.lin = torch.nn.Linear(10, 1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        x, y = batch
        loss = F.mse_loss(self.lin(x), y)
        self.manual_backward(loss)
        opt.step()
        self.log("train_loss", loss, on_step=False, on_epoch=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


x = torch.randn(512, 10)
y = x @ torch.randn(10, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
trainer = pl.Trainer(max_epochs=5, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Regressor(), loader)
print(trainer.callback_metrics["train_loss"])
