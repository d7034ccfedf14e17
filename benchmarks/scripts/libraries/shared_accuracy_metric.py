import torch
from torch import nn
import lightning as L
from torchmetrics import Accuracy
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(3)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 2))
        self.accuracy = Accuracy(task="binary")

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.accuracy.update(logits.argmax(1), y)
        return nn.functional.cross_entropy(logits, y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.accuracy.update(self.net(x).argmax(1), y)

    def on_validation_epoch_end(self):
        self.log("val_acc", self.accuracy.compute())
        self.accuracy.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


train = TensorDataset(torch.randn(200, 20), torch.randint(0, 2, (200,)))
val = TensorDataset(torch.randn(100, 20), torch.randint(0, 2, (100,)))
trainer = L.Trainer(max_epochs=15, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Model(), DataLoader(train, 25, shuffle=True), DataLoader(val, 25))
print(trainer.callback_metrics["val_acc"])
