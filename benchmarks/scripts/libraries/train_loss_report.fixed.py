import torch
import torch.nn.functional as F
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(5)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        avg = self.trainer.callback_metrics["train_loss"]
        print(f"epoch {self.current_epoch} mean train loss: {avg:.4f}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


x = torch.randn(210, 3)
y = x.sum(1, keepdim=True) + torch.randn(210, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
trainer = L.Trainer(max_epochs=4, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Model(), loader)
