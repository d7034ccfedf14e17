import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class HistoryModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 1))
        self.history = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        prediction = self.net(x)
        loss = nn.functional.mse_loss(prediction, y)
        self.history.append(loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


x = torch.randn(640, 32)
model = HistoryModel()
trainer = L.Trainer(max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, DataLoader(TensorDataset(x, x[:, :1]), batch_size=64))
print(len(model.history), "losses, last:", model.history[-1])
