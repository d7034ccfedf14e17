"""A trainer whose auxiliary loss is logged with a weight, and left out of what goes backward."""
import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.main = nn.Conv2d(8, 2, 1)
        self.aux = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        h = self.stem(x)
        return {"main": self.main(h), "aux": self.aux(h)}


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.history = []

    def losses(self, x, y):
        out = self.model(x)
        main_loss = self.criterion(out["main"], y)
        aux_loss = 0.4 * self.criterion(out["aux"], y)  # fault: TS534
        return main_loss, aux_loss

    def step(self, x, y):
        loss, aux_loss = self.losses(x, y)  # fault: TS534
        self.optimizer.zero_grad()
        loss.backward()  # fault: TS534 | fixed: (loss + aux_loss).backward()
        self.optimizer.step()
        self.history.append((loss.item(), aux_loss.item()))


torch.manual_seed(0)
trainer = Trainer(Segmenter())
for it in range(60):
    x = torch.randn(8, 1, 12, 12)
    trainer.step(x, (x[:, 0] > 0).long())
print(trainer.history[-1])
