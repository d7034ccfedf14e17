"""backward() and an update by hand, without an optimizer; nothing ever clears the gradients."""
import torch
from torch import nn

torch.manual_seed(5)
data = torch.randn(512, 6)
label = (data[:, 0] * data[:, 1] > 0).float()


def make_model():
    return nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))


def sgd_(model, lr):
    with torch.no_grad():
        for p in model.parameters():
            p.add_(p.grad, alpha=-lr)
            # fixed: p.grad = None


model = make_model()
for epoch in range(6):
    order = torch.randperm(len(data))
    running = 0.0
    for chunk in order.split(32):
        logits = model(data[chunk]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, label[chunk])
        loss.backward()  # fault: TS501 | fixed: loss.backward()
        sgd_(model, lr=0.05)
        running += loss.item() * len(chunk)
    print("epoch", epoch, "loss", running / len(data))
