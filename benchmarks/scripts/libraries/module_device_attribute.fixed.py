import torch
from torch import nn
import pytorch_lightning as pl
from torch.utils.data import DataLoader, TensorDataset


class Seq2Label(pl.LightningModule):
    def __init__(self, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(5, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), self.hidden, device=self.device)
        out, _ = self.lstm(x, (h0, h0.clone()))
        return self.fc(out[:, -1])

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


ds = TensorDataset(torch.randn(80, 7, 5), torch.randint(0, 2, (80,)))
trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(Seq2Label(), DataLoader(ds, batch_size=20))
