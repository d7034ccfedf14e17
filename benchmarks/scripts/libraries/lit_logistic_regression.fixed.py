import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class LogisticRegression(LightningModule):
    def __init__(self, dim, lr=0.1):
        super().__init__()
        self.linear = torch.nn.Linear(dim, 1)
        self.lr = lr

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.binary_cross_entropy_with_logits(self.linear(x).squeeze(1), y)
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)


x = torch.randn(100, 3)
train_dl = DataLoader(TensorDataset(x, (x[:, 0] > 0).float()), batch_size=20)
Trainer(max_epochs=1, logger=False, enable_checkpointing=False).fit(LogisticRegression(3), train_dl)
