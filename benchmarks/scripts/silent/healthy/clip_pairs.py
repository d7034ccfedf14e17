"""Two encoders, a learned temperature, and the diagonal as labels."""
import torch
from torch import nn
import torch.nn.functional as F


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(20, 16), nn.Linear(12, 16)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        a, b = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)
        return self.scale.exp() * a @ b.T


torch.manual_seed(0)
model = Pair()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
mix_a, mix_b = torch.randn(6, 20), torch.randn(6, 12)
for step in range(80):
    hidden = torch.randn(24, 6)
    logits = model(hidden @ mix_a, hidden @ mix_b)
    goal = torch.arange(24)
    loss = (F.cross_entropy(logits, goal) + F.cross_entropy(logits.T, goal)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
