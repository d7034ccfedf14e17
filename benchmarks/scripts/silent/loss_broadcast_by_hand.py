"""The error is written out; the shapes are (N, 1) and (N,)."""
import torch


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3, 1))
        self.b = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x @ self.w + self.b


def objective(prediction, target):
    return ((prediction - target) ** 2).mean()  # fault: TS114 | fixed: return ((prediction[:, 0] - target) ** 2).mean()


torch.manual_seed(0)
line = Line()
sgd = torch.optim.SGD(line.parameters(), lr=0.05)
for _ in range(100):
    x = torch.randn(48, 3)
    y = x[:, 0] - 2 * x[:, 1] + 1
    value = objective(line(x), y)
    sgd.zero_grad()
    value.backward()
    sgd.step()
print(value.item(), line.w.flatten().tolist())
