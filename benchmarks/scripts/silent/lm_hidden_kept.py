"""A character model that carries the hidden state with its graph from batch to batch."""
import torch
from torch import nn

torch.manual_seed(0)
text = ("the quick brown fox jumps over the lazy dog. " * 60)[:2500]
letters = sorted(set(text))
codes = torch.tensor([letters.index(c) for c in text])


class CharGRU(nn.Module):
    def __init__(self, n, d=32):
        super().__init__()
        self.embed = nn.Embedding(n, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, n)

    def forward(self, x, h=None):
        y, h = self.gru(self.embed(x), h)
        return self.out(y), h


model = CharGRU(len(letters))
loss_fn = nn.CrossEntropyLoss()
h = None
T = 20
for step in range(60):
    i = (step * T) % (len(codes) - T - 1)
    x, y = codes[i : i + T].unsqueeze(0), codes[i + 1 : i + T + 1].unsqueeze(0)
    logits, h = model(x, h)  # fault: TS408/TS701 | fixed: logits, h = model(x, None if h is None else h.detach())
    loss = loss_fn(logits.view(-1, len(letters)), y.view(-1))
    grads = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            p.data.add_(g, alpha=-0.05)
    if step % 20 == 0:
        print(step, loss.item())
