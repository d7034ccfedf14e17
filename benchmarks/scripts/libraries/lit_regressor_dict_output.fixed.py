import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitRegressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        train_loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", train_loss)
        return {"loss": train_loss}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


x = torch.randn(128, 8)
y = x.sum(dim=1, keepdim=True)
trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(LitRegressor(), DataLoader(TensorDataset(x, y), batch_size=32))
