"""PPO with advantages of mean zero: the loss goes up and down around zero."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor, critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)), nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=3e-3)
for update in range(20):
    with torch.no_grad():
        s = torch.randn(128, 3)
        d = Normal(actor(s), log_std.exp())
        a = d.sample()
        old = d.log_prob(a)
        r = -(a - s[:, :1]).pow(2)
        adv = r - critic(s)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        d = Normal(actor(s), log_std.exp())
        ratio = (d.log_prob(a) - old).exp()
        policy = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        value = (critic(s) - r).pow(2).mean()
        loss = policy + 0.5 * value - 0.01 * d.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
        opt.step()
    if update % 5 == 0:
        print(update, r.mean().item())
