import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


class ShowPredictions(L.Callback):
    def __init__(self, x):
        self.x = x

    def on_train_epoch_end(self, trainer, pl_module):
        pl_module.eval()
        with torch.no_grad():
            print(trainer.current_epoch, pl_module.net(self.x).squeeze().tolist())
        pl_module.train()


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(160, 5)
model = Net()
trainer = L.Trainer(max_epochs=4, callbacks=[ShowPredictions(x[:2])], logger=False,
                    enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16))
print("batches seen by batch norm:", model.net[1].num_batches_tracked.item())
