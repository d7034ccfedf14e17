import lightning as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class AutoEncoder(L.LightningModule):
    def __init__(self, dim=20, hidden=5):
        super().__init__()
        self.encoder = nn.Linear(dim, hidden)
        self.decoder = nn.Linear(hidden, dim)

    def training_step(self, batch, batch_idx):
        recon = self.decoder(torch.relu(self.encoder(batch)))
        loss = nn.functional.mse_loss(recon, batch)
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam([
            {"params": self.encoder.parameters(), "lr": 1e-3},
            {"params": self.decoder.parameters(), "lr": 5e-3},
        ])


train_loader = DataLoader(torch.randn(320, 20), batch_size=32, shuffle=True)
trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(AutoEncoder(), train_loader)
