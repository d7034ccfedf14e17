import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import roc_auc_score

L.seed_everything(0)


class Detector(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
        self.val_outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.val_outputs.append((self.net(x).squeeze(1), y))

    def on_validation_epoch_end(self):
        scores, labels = map(torch.cat, zip(*self.val_outputs))
        self.log("val_auc", roc_auc_score(labels, scores))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


x = torch.randn(600, 10)
ds = TensorDataset(x, (x[:, 0] * x[:, 1] > 0).float())
train_ds, val_ds = torch.utils.data.random_split(ds, [500, 100])
model = Detector()
trainer = L.Trainer(max_epochs=10, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, DataLoader(train_ds, 50, shuffle=True), DataLoader(val_ds, 50))
print(trainer.callback_metrics["val_auc"], sum(len(y) for _, y in model.val_outputs))
