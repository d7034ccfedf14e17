"""WGAN with gradient penalty: critic steps in an inner loop, autograd.grad with create_graph."""
import torch
from torch import autograd, nn


class WGANGP:
    def __init__(self, latent=8, dim=2, hidden=32, lambda_gp=10.0, n_critic=3):
        self.latent, self.lambda_gp, self.n_critic = latent, lambda_gp, n_critic
        self.generator = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.critic = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 1))
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=1e-4, betas=(0.0, 0.9))

    def gradient_penalty(self, real, fake):
        alpha = torch.rand(real.size(0), 1).expand_as(real)
        interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        scores = self.critic(interpolates)
        gradients = autograd.grad(
            outputs=scores,
            inputs=interpolates,
            grad_outputs=torch.ones_like(scores),
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        return ((gradients.view(gradients.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()

    def critic_step(self, real):
        noise = torch.randn(real.size(0), self.latent)
        with torch.no_grad():
            fake = self.generator(noise)
        self.opt_c.zero_grad()
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss = loss + self.lambda_gp * self.gradient_penalty(real, fake)
        loss.backward()
        self.opt_c.step()
        return loss.item()

    def generator_step(self, batch_size):
        for p in self.critic.parameters():
            p.requires_grad_(False)
        self.opt_g.zero_grad()
        loss = -self.critic(self.generator(torch.randn(batch_size, self.latent))).mean()
        loss.backward()
        self.opt_g.step()
        for p in self.critic.parameters():
            p.requires_grad_(True)
        return loss.item()

    def train(self, steps, batch_size=32):
        for step in range(steps):
            for _ in range(self.n_critic):
                theta = torch.rand(batch_size) * 6.2831853
                real = torch.stack((theta.cos(), theta.sin()), dim=-1)
                c_loss = self.critic_step(real)
            g_loss = self.generator_step(batch_size)
            print(f"{step} critic {c_loss:.3f} generator {g_loss:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    WGANGP().train(5)
