import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(11)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.layers(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


x = torch.randn(500, 4)
loader = DataLoader(TensorDataset(x, x.pow(2).sum(1, keepdim=True)), batch_size=50, shuffle=True)

trainer = L.Trainer(max_epochs=5, logger=False, enable_progress_bar=False, enable_checkpointing=False)
trainer.fit(Net(), loader)
trainer.save_checkpoint("epoch5.ckpt")

model = Net()
trainer = L.Trainer(max_epochs=10, logger=False, enable_progress_bar=False, enable_checkpointing=False)
trainer.fit(model, loader, ckpt_path="epoch5.ckpt")
print("steps after resuming:", trainer.global_step)
print("mse:", nn.functional.mse_loss(model.layers(x), x.pow(2).sum(1, keepdim=True)).item())
