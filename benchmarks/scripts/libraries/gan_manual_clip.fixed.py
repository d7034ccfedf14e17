import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from lightning.pytorch import LightningModule, Trainer


class ToyGAN(LightningModule):
    def __init__(self, latent_dim=4):
        super().__init__()
        self.automatic_optimization = False
        self.latent_dim = latent_dim
        self.gen = nn.Sequential(nn.Linear(latent_dim, 16), nn.ReLU(), nn.Linear(16, 2))
        self.disc = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.bce = nn.BCEWithLogitsLoss()

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.gen(torch.randn(len(real), self.latent_dim))
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        d_loss = self.bce(self.disc(real), ones) + self.bce(self.disc(fake.detach()), zeros)
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        self.clip_gradients(opt_d, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        opt_d.step()
        g_loss = self.bce(self.disc(fake), ones)
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

    def configure_optimizers(self):
        return [torch.optim.Adam(self.gen.parameters(), 2e-4), torch.optim.Adam(self.disc.parameters(), 2e-4)]


loader = DataLoader(TensorDataset(torch.randn(256, 2) + 3.0), batch_size=64)
trainer = Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(ToyGAN(), loader)
