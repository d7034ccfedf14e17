"""A student learns from a teacher by a divergence of two probabilities, where it wants logarithms first."""
import torch
import torch.nn.functional as F
from torch import nn


def network(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 5))


class Distiller:
    def __init__(self, teacher, student, temperature=2.0):
        self.teacher, self.student, self.t = teacher.eval(), student, temperature
        self.opt = torch.optim.Adam(student.parameters(), lr=2e-3)

    def loss(self, x):
        with torch.no_grad():
            wanted = F.softmax(self.teacher(x) / self.t, dim=1)
        given = F.softmax(self.student(x) / self.t, dim=1)  # fault: TS305 | fixed: given = F.log_softmax(self.student(x) / self.t, dim=1)
        return F.kl_div(given, wanted, reduction="batchmean") * self.t**2  # fault: TS305

    def fit(self, steps):
        for _ in range(steps):
            loss = self.loss(torch.randn(48, 10))
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()


torch.manual_seed(0)
print(Distiller(network(64), network(16)).fit(100))
