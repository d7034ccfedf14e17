# Both matrices of an adapter begin at zero: the gradient of each is a product with the other.
import torch
from torch import nn
import torch.nn.functional as F


class LoRA(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.down = nn.Parameter(torch.zeros(rank, base.in_features))  # fault: TS943 | fixed: self.down = nn.Parameter(0.1 * torch.randn(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


def main():
    torch.manual_seed(0)
    backbone = nn.Sequential(LoRA(nn.Linear(20, 40)), nn.ReLU(), LoRA(nn.Linear(40, 5)))
    trainable = [p for p in backbone.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-2, weight_decay=0.0)
    w = torch.randn(20, 5)
    for step in range(100):
        x = torch.randn(64, 20)
        loss = F.cross_entropy(backbone(x), (x @ w).argmax(1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 0:
            print(step, loss.item())


main()
