"""A LightningModule whose optimizer gets the head alone."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", nn.functional.cross_entropy(self(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.head.parameters(), lr=1e-2)  # fault: TS512 | fixed: return torch.optim.Adam(self.parameters(), lr=1e-2)


if __name__ == "__main__":
    L.seed_everything(0)
    y = torch.randint(0, 4, (1000,))
    x = torch.randn(4, 20)[y] + torch.randn(1000, 20)
    train = DataLoader(TensorDataset(x[:800], y[:800]), 40, shuffle=True)
    val = DataLoader(TensorDataset(x[800:], y[800:]), 50)
    trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Lit(), train, val)
