import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader

L.seed_everything(0)


class LitAutoEncoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(28, 16), nn.ReLU(), nn.Linear(16, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 28))

    def training_step(self, batch, batch_idx):
        z = self.encoder(batch)
        x_hat = self.decoder(z)
        loss = nn.functional.mse_loss(x_hat, batch)
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.encoder.parameters(), lr=1e-2)


basis = torch.randn(3, 28)
data = torch.randn(640, 3) @ basis
trainer = L.Trainer(max_epochs=15, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(LitAutoEncoder(), DataLoader(data, batch_size=64, shuffle=True))
print(trainer.callback_metrics["loss"])
