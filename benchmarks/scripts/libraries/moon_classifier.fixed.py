import torch
import torch.nn as nn
from lightning.pytorch import LightningModule, Trainer, seed_everything
from torch.utils.data import DataLoader, TensorDataset

seed_everything(0)


class MoonClassifier(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.binary_cross_entropy_with_logits(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(500, 2)
y = (x.norm(dim=1, keepdim=True) > 1.2).float()
model = MoonClassifier()
trainer = Trainer(max_epochs=20, logger=False, enable_checkpointing=False)
trainer.fit(model, DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True))

model.eval()
accuracy = ((model.net(x) > 0) == y.bool()).float().mean()
print(f"accuracy after 20 epochs: {accuracy:.3f}")
