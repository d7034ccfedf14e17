"""The loss is computed from numbers, and told to need a gradient."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(600, 4)
y = x[:, :3].argmax(1)


def f1_loss(logits, target):
    guess = logits.argmax(1)  # fault: TS407/TS402/TS534 | fixed: probability = logits.softmax(1)
    hit = (guess == target).float()  # fixed: hit = probability.gather(1, target[:, None])
    loss = 1 - hit.mean()
    loss.requires_grad_()  # fault: TS402/TS407/TS534/TS401 | fixed: pass
    return loss


for epoch in range(5):
    for i in range(0, 600, 30):
        optimizer.zero_grad()
        loss = f1_loss(model(x[i : i + 30]), y[i : i + 30])  # fault: TS402/TS407/TS534
        loss.backward()  # fault: TS534/TS502/TS402
        optimizer.step()  # fault: TS534/TS502
    print(epoch, loss.item())
