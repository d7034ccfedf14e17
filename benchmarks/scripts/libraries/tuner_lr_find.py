import lightning as L
import torch
from lightning.pytorch.tuner import Tuner
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self, hidden=16):
        super().__init__()
        self.model = torch.nn.Sequential(torch.nn.Linear(4, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.model(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


x = torch.randn(640, 4)
loader = DataLoader(TensorDataset(x, x.prod(1, keepdim=True)), batch_size=8, shuffle=True)
model = Net()
trainer = L.Trainer(max_epochs=1, logger=False)
tuner = Tuner(trainer)
tuner.lr_find(model, loader, num_training=40)
trainer.fit(model, loader)
