"""The diagonal of a similarity is taken out before it is put in rows again."""
import torch
import torch.nn.functional as F
from torch import nn

def info_nce(z, temperature=0.5):
    n = z.shape[0]
    sim = F.normalize(z, dim=1) @ F.normalize(z, dim=1).T
    mask = torch.eye(n, dtype=torch.bool)
    labels = torch.cat([torch.arange(n // 2), torch.arange(n // 2)])
    labels = (labels[None] == labels[:, None]).float()
    labels = labels[~mask].view(n, -1)
    sim = sim[~mask].view(n, n)  # raises TS104 at sim[~mask].view(n, n), cause
    positives = sim[labels.bool()].view(n, -1)
    negatives = sim[~labels.bool()].view(n, -1)
    logits = torch.cat([positives, negatives], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(n, dtype=torch.long))

encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(encoder.parameters())
for _ in range(2):
    x = torch.randn(16, 12)
    views = torch.cat([x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)])
    loss = info_nce(encoder(views))
    opt.zero_grad(); loss.backward(); opt.step()
