# The critic's weights are kept within a hundred-thousandth: it says the same of everything.
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
generator = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-4)  # fault: TS927
opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
CLIP = 1e-6  # fixed: CLIP = 0.1
for step in range(100):
    for _ in range(3):
        real = torch.randn(64, 2) + torch.tensor([2.0, -1.0])
        fake = generator(torch.randn(64, 4)).detach()
        loss_c = critic(fake).mean() - critic(real).mean()
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-CLIP, CLIP)
    loss_g = -critic(generator(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 20 == 0:
        print(step, loss_c.item(), loss_g.item())
