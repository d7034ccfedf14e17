"""The head of a Lightning model is built for another width than its backbone gives."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Backbone(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, stride=2)

    def forward(self, x):
        return self.conv(x).relu().mean((2, 3))

class Model(L.LightningModule):
    def __init__(self, width=16, classes=5, hidden=32):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = Backbone(width)
        self.head = nn.Linear(hidden, classes)  # cause

    def forward(self, x):
        return self.head(self.backbone(x))  # raises TS101 at self.head(self.backbone(x))

    def training_step(self, batch, _):
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.get("lr", 0.1))

data = DataLoader(TensorDataset(torch.randn(16, 3, 16, 16), torch.randint(0, 5, (16,))), batch_size=4)
L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu").fit(Model(), data)
