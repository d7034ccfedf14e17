import torch
import lightning as L
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(L.LightningModule):
    def __init__(self, window=24, hidden=32):
        super().__init__()
        self.save_hyperparameters()
        self.rnn = torch.nn.GRU(1, hidden, batch_first=True)
        self.head = torch.nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


series = torch.sin(torch.arange(300) / 10.0)
windows = series.unfold(0, 25, 1)
ds = TensorDataset(windows[:, :24].unsqueeze(-1), windows[:, 24:])
trainer = L.Trainer(max_epochs=1, logger=False)
trainer.fit(Forecaster(), DataLoader(ds, 32, shuffle=True))
trainer.save_checkpoint("forecaster.ckpt")

model = Forecaster()
model.load_from_checkpoint("forecaster.ckpt")
model.eval()
print(model(ds[:1][0]).item())
