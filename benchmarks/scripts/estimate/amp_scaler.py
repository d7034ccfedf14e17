"""Mixed precision where there is an accelerator, with a gradient scaler, in a Trainer of one's own."""

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, width=1024, depth=6):
        super().__init__()
        self.inp = nn.Linear(128, width)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(x).squeeze(-1)


class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
        self.loss_fn = nn.HuberLoss()

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type=self.device.type, dtype=torch.bfloat16):
            loss = self.loss_fn(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = Trainer(MLP(), device)
    for i in range(3):
        print(trainer.step(torch.randn(256, 128), torch.randn(256)))
