"""The factory returns the model in evaluation mode."""
import torch
from torch import nn


def load_pretrained():
    model = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 4))
    state = {name: value * 0.9 for name, value in model.state_dict().items() if value.is_floating_point()}
    model.load_state_dict(state, strict=False)
    return model.eval()  # fault: TS507


def fine_tune(model, steps=60):
    # fixed: model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(32, 16)
        y = x[:, :4].argmax(1)
        logits = model(x)  # fault: TS507
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step + 1, loss.item())


torch.manual_seed(0)
fine_tune(load_pretrained())
