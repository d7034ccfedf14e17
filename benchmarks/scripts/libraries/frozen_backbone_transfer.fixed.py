import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.models import resnet18


class TransferModel(L.LightningModule):
    def __init__(self, num_classes=2):
        super().__init__()
        self.backbone = resnet18(weights=None)
        self.backbone.fc = nn.Identity()
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.classifier = nn.Linear(512, num_classes)

    def on_train_epoch_start(self):
        self.backbone.eval()

    def training_step(self, batch, batch_idx):
        x, y = batch
        feats = self.backbone(x)
        return nn.functional.cross_entropy(self.classifier(feats), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.classifier.parameters(), lr=1e-3)


ds = TensorDataset(torch.rand(16, 3, 32, 32) * 4, torch.randint(0, 2, (16,)))
model = TransferModel()
trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, DataLoader(ds, batch_size=8))
print("bn1 running mean:", model.backbone.bn1.running_mean[:4])
