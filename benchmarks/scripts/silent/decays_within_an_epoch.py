# The rate is halved after every batch: after thirty of them nothing moves any more.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1000, 15)
y = (x @ torch.randn(15, 4)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)


class Learner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 4))
        self.optim = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.optim, gamma=0.5)  # fault: TS536/TS928/TS527 | fixed: self.sched = torch.optim.lr_scheduler.ExponentialLR(self.optim, gamma=0.99)

    def step(self, batch):
        inputs, targets = batch
        self.optim.zero_grad()
        loss = nn.functional.cross_entropy(self.net(inputs), targets)
        loss.backward()
        self.optim.step()
        self.sched.step()  # fault: TS536/TS928/TS527
        return loss.item()


learner = Learner()
for epoch in range(6):
    losses = [learner.step(batch) for batch in loader]
    print(epoch, sum(losses) / len(losses))
