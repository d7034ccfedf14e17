"""An InfoGAN-flavoured conditional GAN on two moons; networks and losses are imported with aliases."""
import torch

import losses as L
import networks
from networks.discriminator import Discriminator
from utils import set_requires_grad, toy_moons

Z, C, BATCH = 8, 2, 32

torch.manual_seed(0)
G = networks.Generator(z_dim=Z, n_classes=C)
D = Discriminator(n_classes=C)
networks.init_weights(G)
networks.init_weights(D)
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))

for it in range(6):
    real, labels = toy_moons(BATCH)
    # discriminator
    set_requires_grad(D, True)
    noise = torch.randn(BATCH, Z)
    with torch.no_grad():
        fake = G(noise, labels)
    loss_d = L.hinge_d(D(real, labels), D(fake, labels))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    # generator
    set_requires_grad(D, False)
    fake_labels = torch.randint(C, (BATCH,))
    scores = D(G(torch.randn(BATCH, Z), fake_labels), fake_labels)
    loss_g = L.hinge_g(scores)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(f"{it} D {loss_d.item():.3f} G {loss_g.item():.3f}")
