import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score


class Classifier(L.LightningModule):
    def __init__(self, num_classes=4):
        super().__init__()
        self.fc = nn.Linear(10, num_classes)
        self.metrics = nn.ModuleDict({
            "acc": MulticlassAccuracy(num_classes),
            "f1": MulticlassF1Score(num_classes),
        })

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.fc(x)
        for name, metric in self.metrics.items():
            metric(logits, y)
            self.log(f"train_{name}", metric, on_step=False, on_epoch=True)
        return nn.functional.cross_entropy(logits, y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


ds = TensorDataset(torch.randn(120, 10), torch.randint(0, 4, (120,)))
trainer = L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False)
trainer.fit(Classifier(), DataLoader(ds, batch_size=24))
