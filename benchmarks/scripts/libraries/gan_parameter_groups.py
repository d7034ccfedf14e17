import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader

L.seed_everything(0)


class GAN(L.LightningModule):
    def __init__(self, latent=8):
        super().__init__()
        self.automatic_optimization = False
        self.latent = latent
        self.generator = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
        self.loss = nn.BCEWithLogitsLoss()

    def training_step(self, real, batch_idx):
        g_opt, d_opt = self.optimizers()
        z = torch.randn(real.size(0), self.latent)
        label = torch.ones(real.size(0), 1)
        d_loss = self.loss(self.discriminator(real), label) + self.loss(
            self.discriminator(self.generator(z).detach()), 1 - label)
        d_opt.zero_grad()
        self.manual_backward(d_loss)
        d_opt.step()
        g_loss = self.loss(self.discriminator(self.generator(z)), label)
        g_opt.zero_grad()
        self.manual_backward(g_loss)
        g_opt.step()
        self.log_dict({"d_loss": d_loss, "g_loss": g_loss})

    def configure_optimizers(self):
        g_opt = torch.optim.Adam(self.parameters(), lr=1e-3)
        d_opt = torch.optim.Adam(self.discriminator.parameters(), lr=1e-3)
        return g_opt, d_opt


trainer = L.Trainer(max_epochs=10, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(GAN(), DataLoader(torch.randn(512, 2) * 0.2 + 2, batch_size=64, shuffle=True))
print(trainer.callback_metrics)
