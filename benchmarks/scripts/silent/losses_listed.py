"""The losses of all steps are kept with their graphs, to be plotted later."""
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(200, 400), nn.Linear(400, 10)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


class History:
    def __init__(self):
        self.values = {"loss": []}

    def add(self, **metrics):
        for key, value in metrics.items():
            self.values[key].append(value)  # fault: TS701

    def mean(self, key):
        return sum(float(v) for v in self.values[key]) / len(self.values[key])


net, history = Net(), History()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
y = torch.randint(0, 10, (2000,))
x = torch.randn(10, 200)[y] + torch.randn(2000, 200)
for epoch in range(4):
    for i in range(0, 2000, 50):
        loss = nn.functional.cross_entropy(net(x[i : i + 50]), y[i : i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
        probability = torch.softmax(net(x[:200]), 1).max(1).values.mean()
        history.add(loss=loss + 0 * probability)  # fault: TS701 | fixed: history.add(loss=loss.item())
    print(epoch, history.mean("loss"))
