"""A deep network of bare matrices in a ParameterList, drawn so small that no gradient gets through."""
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=14, width=32, std=0.02):
        super().__init__()
        self.first = nn.Parameter(torch.randn(10, width) * 0.3)
        self.inner = nn.ParameterList(
            nn.Parameter(torch.randn(width, width) * std)  # fault: TS924 | fixed: nn.Parameter(torch.randn(width, width) * width**-0.5)
            for _ in range(depth)
        )
        self.last = nn.Parameter(torch.randn(width, 4) * 0.3)

    def forward(self, x):
        h = torch.tanh(x @ self.first)  # fault: TS924
        for matrix in self.inner:
            h = torch.tanh(h @ matrix)  # fault: TS924
        return h @ self.last


gen = torch.Generator().manual_seed(11)
prototypes = torch.randn(4, 10, generator=gen)
net = Deep()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
history = []
step = 0
while step < 150:
    y = torch.randint(4, (64,), generator=gen)
    x = prototypes[y] + 0.5 * torch.randn(64, 10, generator=gen)
    optimizer.zero_grad()
    log_p = net(x).log_softmax(-1)
    loss = -log_p.gather(1, y[:, None]).mean()  # fault: TS924
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    step += 1
print(history[0], history[-1])
