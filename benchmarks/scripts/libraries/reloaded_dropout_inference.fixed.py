import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


class TabularNet(L.LightningModule):
    def __init__(self, n_features=12, p=0.5):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(n_features, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 1)
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


x = torch.randn(256, 12)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32)
trainer = L.Trainer(max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(TabularNet(), loader)
trainer.save_checkpoint("tabular.ckpt")

model = TabularNet.load_from_checkpoint("tabular.ckpt")
model.eval()
with torch.no_grad():
    first, second = model(x[:4]), model(x[:4])
print(first.squeeze(), second.squeeze())
