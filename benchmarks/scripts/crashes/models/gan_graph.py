"""A GAN whose discriminator step frees the generator's graph."""

import torch
import torch.nn as nn

latent = 16
netG = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(True), nn.Linear(32, 64), nn.Tanh())
netD = nn.Sequential(nn.Linear(64, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))


class Trainer:
    def __init__(self, real_label=1.0, fake_label=0.0):
        self.real_label = real_label
        self.fake_label = fake_label

    def discriminator_step(self, real, fake):
        netD.zero_grad()
        output = netD(real).view(-1)
        loss_real = criterion(output, torch.full_like(output, self.real_label))
        output = netD(fake).view(-1)  # cause
        loss_fake = criterion(output, torch.full_like(output, self.fake_label))
        loss = loss_real + loss_fake
        loss.backward()  # cause
        optimizerD.step()
        return loss.item()

    def generator_step(self, fake):
        netG.zero_grad()
        output = netD(fake).view(-1)
        loss = criterion(output, torch.full_like(output, self.real_label))
        loss.backward()  # raises TS405 at loss.backward()
        optimizerG.step()
        return loss.item()


trainer = Trainer()
for i in range(4):
    real = torch.randn(8, 64)
    fake = netG(torch.randn(8, latent))
    errD = trainer.discriminator_step(real, fake)
    errG = trainer.generator_step(fake)
    print(f"[{i}] {errD:.3f} {errG:.3f}")
