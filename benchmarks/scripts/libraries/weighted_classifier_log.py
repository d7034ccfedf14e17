import lightning as L
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class WeightedClassifier(L.LightningModule):
    def __init__(self, n_classes=5):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, n_classes))

    def training_step(self, batch, batch_idx):
        x, y, w = batch
        losses = F.cross_entropy(self.net(x), y, reduction="none")
        loss = (losses * w).sum() / w.sum()
        self.log("train_loss", losses)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)


ds = TensorDataset(torch.randn(160, 16), torch.randint(0, 5, (160,)), torch.rand(160))
trainer = L.Trainer(max_epochs=1, enable_checkpointing=False, logger=False)
trainer.fit(WeightedClassifier(), DataLoader(ds, batch_size=40))
