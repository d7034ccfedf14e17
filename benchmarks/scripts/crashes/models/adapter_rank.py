"""The two factors of a low-rank adapter are multiplied in the wrong order."""
import torch
from torch import nn

class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float = 16):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, r))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + x @ (self.a @ self.b) * self.scale  # raises TS101 at self.a @ self.b, cause

def adapt(model, r=4):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, LoRA(child, r))
    return model

model = adapt(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5)))
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for _ in range(3):
    x, y = torch.randn(8, 20), torch.randint(0, 5, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
