"""Momentum contrast: the projection of the query is computed under no_grad together with the keys, only the predictor learns."""
import copy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


def augment(x):
    return x + 0.3 * torch.randn_like(x)


class MoCo(nn.Module):
    def __init__(self, dim=16, queue=128, tau=0.2, m=0.99):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, dim))
        self.predictor = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(queue, dim), dim=1))
        self.tau, self.m, self.at = tau, m, 0

    @torch.no_grad()
    def follow(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.mul_(self.m).add_(q, alpha=1 - self.m)

    @torch.no_grad()
    def enqueue(self, keys):
        end = self.at + len(keys)
        self.queue[self.at : end] = keys
        self.at = end % len(self.queue)

    def forward(self, one, two):
        # fixed: embedded = self.query(one)
        with torch.no_grad():  # fault: TS534 | fixed: with torch.no_grad():
            embedded = self.query(one)  # fault: TS534 | fixed: pass
            k = F.normalize(self.key(two), dim=1)
        q = F.normalize(self.predictor(embedded), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().T
        self.enqueue(k)
        return torch.cat([positive, negative], 1) / self.tau


model = MoCo()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05, momentum=0.9)
images = torch.randn(640, 20)
for epoch in range(8):
    for batch in images[torch.randperm(640)].split(32):
        logits = model(augment(batch), augment(batch))
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
    print(epoch, round(loss.item(), 3))
