"""An average of the parameters lacks the buffers of the norm."""
import torch
from torch import nn

class EMA:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.named_parameters()}  # cause

    def update(self, model):
        for k, v in model.named_parameters():
            self.shadow[k].mul_(self.decay).add_(v.detach(), alpha=1 - self.decay)

    def apply(self, model):
        self.backup = {k: v.clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow)  # raises TS530 at model.load_state_dict(self.shadow), cause

    def restore(self, model):
        model.load_state_dict(self.backup)

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 36, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
ema = EMA(model)
for epoch in range(2):
    model.train()
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(torch.randn(4, 1, 8, 8)), torch.randint(0, 3, (4,)))
        opt.zero_grad(); loss.backward(); opt.step()
        ema.update(model)
    ema.apply(model)
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(2, 1, 8, 8)).argmax(1))
    ema.restore(model)
