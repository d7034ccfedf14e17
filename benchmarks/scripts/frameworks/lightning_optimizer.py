"""Lightning: manual optimization with two optimizers of a GAN; the fake image has another shape than the real one."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, latent, side):
        super().__init__()
        self.side = side
        self.net = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, side * side), nn.Tanh())

    def forward(self, z):
        return self.net(z).view(-1, 1, self.side, self.side)


class Critic(nn.Module):
    def __init__(self, side):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(side * side, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)  # raises TS101 at self.net(x)


class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = Generator(8, 12)  # cause
        self.critic = Critic(14)  # cause

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.randn(len(real), 8))
        bce = nn.functional.binary_cross_entropy_with_logits
        d_real, d_fake = self.critic(real), self.critic(fake.detach())
        d_loss = bce(d_real, torch.ones_like(d_real)) + bce(d_fake, torch.zeros_like(d_fake))
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_out = self.critic(fake)
        g_loss = bce(g_out, torch.ones_like(g_out))
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters()), torch.optim.Adam(self.critic.parameters())


trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(GAN(), DataLoader(TensorDataset(torch.rand(24, 1, 14, 14)), batch_size=8))
