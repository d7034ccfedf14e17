"""Truncated backpropagation without truncation."""
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.RNN(2, 16, batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=1e-4)
series = torch.randn(4, 400, 2)
goal = series.cumsum(1)[:, :, :1] * 0.05
hidden = torch.zeros(1, 4, 16)
for start in range(0, 400, 10):
    piece = series[:, start : start + 10]
    out, hidden = rnn(piece, hidden)
    loss = nn.functional.mse_loss(head(out), goal[:, start : start + 10])
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # fault: TS408/TS701
    # fixed: hidden = hidden.detach()
    with torch.no_grad():
        for p in [*rnn.parameters(), *head.parameters()]:
            p.data -= 1e-3 * p.grad
print(loss.item())
