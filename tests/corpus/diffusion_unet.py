"""Denoising diffusion on small squares: noise schedule, sinusoidal time embedding, conditional U-Net, sampling."""
import math

import torch
from torch import nn, optim
import torch.nn.functional as F

T_STEPS = 50
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def linear_beta_schedule(timesteps):
    return torch.linspace(1e-4, 0.02, timesteps)


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        device = time.device
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        embeddings = torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)
        return embeddings


class Block(nn.Module):
    def __init__(self, in_ch, out_ch, time_emb_dim, up=False):
        super().__init__()
        self.time_mlp = nn.Linear(time_emb_dim, out_ch)
        if up:
            self.conv1 = nn.Conv2d(2 * in_ch, out_ch, 3, padding=1)
            self.transform = nn.ConvTranspose2d(out_ch, out_ch, 4, 2, 1)
        else:
            self.conv1 = nn.Conv2d(in_ch, out_ch, 3, padding=1)
            self.transform = nn.Conv2d(out_ch, out_ch, 4, 2, 1)
        self.conv2 = nn.Conv2d(out_ch, out_ch, 3, padding=1)
        self.bnorm1 = nn.GroupNorm(4, out_ch)
        self.bnorm2 = nn.GroupNorm(4, out_ch)
        self.relu = nn.SiLU()

    def forward(self, x, t):
        h = self.bnorm1(self.relu(self.conv1(x)))
        time_emb = self.relu(self.time_mlp(t))
        time_emb = time_emb[(...,) + (None,) * 2]
        h = h + time_emb
        h = self.bnorm2(self.relu(self.conv2(h)))
        return self.transform(h)


class SimpleUnet(nn.Module):
    def __init__(self):
        super().__init__()
        down_channels = (8, 16, 32)
        up_channels = (32, 16, 8)
        time_emb_dim = 16
        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(time_emb_dim),
            nn.Linear(time_emb_dim, time_emb_dim),
            nn.ReLU(),
        )
        self.conv0 = nn.Conv2d(1, down_channels[0], 3, padding=1)
        self.downs = nn.ModuleList([
            Block(down_channels[i], down_channels[i + 1], time_emb_dim) for i in range(len(down_channels) - 1)
        ])
        self.ups = nn.ModuleList([
            Block(up_channels[i], up_channels[i + 1], time_emb_dim, up=True) for i in range(len(up_channels) - 1)
        ])
        self.output = nn.Conv2d(up_channels[-1], 1, 1)

    def forward(self, x, timestep):
        t = self.time_mlp(timestep)
        x = self.conv0(x)
        residual_inputs = []
        for down in self.downs:
            x = down(x, t)
            residual_inputs.append(x)
        for up in self.ups:
            residual_x = residual_inputs.pop()
            x = torch.cat((x, residual_x), dim=1)
            x = up(x, t)
        return self.output(x)


def get_index_from_list(vals, t, x_shape):
    """Pick the values at t and shape them for broadcasting over x."""
    batch_size = t.shape[0]
    out = vals.gather(-1, t.cpu())
    return out.reshape(batch_size, *((1,) * (len(x_shape) - 1))).to(t.device)


betas = linear_beta_schedule(T_STEPS)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, axis=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
sqrt_recip_alphas = torch.sqrt(1.0 / alphas)
sqrt_alphas_cumprod = torch.sqrt(alphas_cumprod)
sqrt_one_minus_alphas_cumprod = torch.sqrt(1.0 - alphas_cumprod)
posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)


def q_sample(x_0, t, device="cpu"):
    noise = torch.randn_like(x_0)
    a = get_index_from_list(sqrt_alphas_cumprod, t, x_0.shape)
    b = get_index_from_list(sqrt_one_minus_alphas_cumprod, t, x_0.shape)
    return a.to(device) * x_0.to(device) + b.to(device) * noise.to(device), noise.to(device)


@torch.no_grad()
def p_sample(model, x, t):
    betas_t = get_index_from_list(betas, t, x.shape)
    sqrt_omac_t = get_index_from_list(sqrt_one_minus_alphas_cumprod, t, x.shape)
    sqrt_recip_t = get_index_from_list(sqrt_recip_alphas, t, x.shape)
    model_mean = sqrt_recip_t * (x - betas_t * model(x, t) / sqrt_omac_t)
    posterior_variance_t = get_index_from_list(posterior_variance, t, x.shape)
    if t[0] == 0:
        return model_mean
    noise = torch.randn_like(x)
    return model_mean + torch.sqrt(posterior_variance_t) * noise


torch.manual_seed(0)
model = SimpleUnet().to(DEVICE)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
images = torch.zeros(32, 1, 16, 16)
images[:, :, 4:12, 4:12] = 1.0
images = images * 2 - 1
for step in range(4):
    batch = images[torch.randint(0, len(images), (8,))].to(DEVICE)
    t = torch.randint(0, T_STEPS, (8,), device=DEVICE).long()
    x_noisy, noise = q_sample(batch, t, DEVICE)
    noise_pred = model(x_noisy, t)
    loss = F.l1_loss(noise, noise_pred)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

model.eval()
img = torch.randn((1, 1, 16, 16), device=DEVICE)
for i in reversed(range(10)):
    t = torch.full((1,), i, device=DEVICE, dtype=torch.long)
    img = p_sample(model, img, t)
img = torch.clamp(img, -1.0, 1.0)
print(img.shape, img.min().item(), img.max().item())
