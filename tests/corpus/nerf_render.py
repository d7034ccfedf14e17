"""A small NeRF: positional encoding, skip connection, ray sampling, volume rendering, chunked evaluation."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def positional_encoding(x, num_freqs, include_input=True):
    """(..., 3) -> (..., 3 + 6 * num_freqs)"""
    freqs = 2.0 ** torch.arange(num_freqs, dtype=x.dtype, device=x.device)
    angles = x[..., None, :] * freqs[:, None]
    enc = torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1).flatten(-2)
    return torch.cat([x, enc], dim=-1) if include_input else enc


class NeRF(nn.Module):
    def __init__(self, D=4, W=32, pos_freqs=4, dir_freqs=2, skips=(2,)):
        super().__init__()
        self.pos_freqs, self.dir_freqs, self.skips = pos_freqs, dir_freqs, skips
        in_pos, in_dir = 3 + 6 * pos_freqs, 3 + 6 * dir_freqs
        self.pts_linears = nn.ModuleList(
            [nn.Linear(in_pos, W)]
            + [nn.Linear(W, W) if i not in skips else nn.Linear(W + in_pos, W) for i in range(D - 1)]
        )
        self.feature_linear = nn.Linear(W, W)
        self.alpha_linear = nn.Linear(W, 1)
        self.views_linear = nn.Linear(W + in_dir, W // 2)
        self.rgb_linear = nn.Linear(W // 2, 3)

    def forward(self, pts, dirs):
        input_pts = positional_encoding(pts, self.pos_freqs)
        input_views = positional_encoding(dirs, self.dir_freqs)
        h = input_pts
        for i, layer in enumerate(self.pts_linears):
            h = F.relu(layer(h))
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        if len(self.pts_linears) - 1 in self.skips:
            h = h[..., input_pts.shape[-1]:]
        alpha = self.alpha_linear(h)
        feature = self.feature_linear(h)
        h = torch.cat([feature, input_views], -1)
        h = F.relu(self.views_linear(h))
        rgb = torch.sigmoid(self.rgb_linear(h))
        return rgb, alpha.squeeze(-1)


def get_rays(H, W, focal, c2w):
    i, j = torch.meshgrid(torch.linspace(0, W - 1, W), torch.linspace(0, H - 1, H), indexing="ij")
    i, j = i.t(), j.t()
    dirs = torch.stack([(i - W * 0.5) / focal, -(j - H * 0.5) / focal, -torch.ones_like(i)], -1)
    rays_d = torch.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    rays_o = c2w[:3, -1].expand(rays_d.shape)
    return rays_o, rays_d


def sample_along_rays(rays_o, rays_d, near, far, n_samples, perturb=True):
    t_vals = torch.linspace(0.0, 1.0, steps=n_samples)
    z_vals = near * (1.0 - t_vals) + far * t_vals
    z_vals = z_vals.expand([rays_o.shape[0], n_samples])
    if perturb:
        mids = 0.5 * (z_vals[..., 1:] + z_vals[..., :-1])
        upper = torch.cat([mids, z_vals[..., -1:]], -1)
        lower = torch.cat([z_vals[..., :1], mids], -1)
        z_vals = lower + (upper - lower) * torch.rand(z_vals.shape)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
    return pts, z_vals


def composite(rgb, sigma, z_vals, rays_d):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.tensor([1e10]).expand(dists[..., :1].shape)], -1)
    dists = dists * rays_d[..., None, :].norm(dim=-1)
    alpha = 1.0 - torch.exp(-F.relu(sigma) * dists)
    trans = torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * trans
    return torch.sum(weights[..., None] * rgb, -2), torch.sum(weights * z_vals, -1)


def render(model, rays_o, rays_d, n_samples=12, chunk=512):
    pts, z_vals = sample_along_rays(rays_o, rays_d, 2.0, 6.0, n_samples)
    dirs = F.normalize(rays_d, dim=-1)[:, None].expand(pts.shape)
    flat_pts, flat_dirs = pts.reshape(-1, 3), dirs.reshape(-1, 3)
    outputs = [model(flat_pts[i:i + chunk], flat_dirs[i:i + chunk]) for i in range(0, flat_pts.shape[0], chunk)]
    rgb = torch.cat([o[0] for o in outputs], 0).reshape(*pts.shape[:-1], 3)
    sigma = torch.cat([o[1] for o in outputs], 0).reshape(pts.shape[:-1])
    return composite(rgb, sigma, z_vals, rays_d)


torch.manual_seed(0)
H = W = 10
pose = torch.eye(4)
pose[2, 3] = 4.0
rays_o, rays_d = get_rays(H, W, 12.0, pose)
rays_o, rays_d = rays_o.reshape(-1, 3), rays_d.reshape(-1, 3)
yy, xx = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
target = ((yy - 5) ** 2 + (xx - 5) ** 2 < 9).float().reshape(-1, 1) * torch.tensor([1.0, 0.2, 0.2])
model = NeRF()
optimizer = torch.optim.Adam(params=list(model.parameters()), lr=5e-3, betas=(0.9, 0.999))
img2mse = lambda x, y: torch.mean((x - y) ** 2)
mse2psnr = lambda x: -10.0 * torch.log(x) / torch.log(torch.tensor([10.0]))
for it in range(4):
    select = torch.randperm(H * W)[:64]
    rgb, depth = render(model, rays_o[select], rays_d[select])
    loss = img2mse(rgb, target[select])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, loss.item(), mse2psnr(loss.detach()).item())
with torch.no_grad():
    image, depth = render(model, rays_o, rays_d)
print(image.reshape(H, W, 3).shape, depth.reshape(H, W).mean().item())
