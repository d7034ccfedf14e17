"""A student is trained on the features of a teacher that are computed under inference mode."""
import torch
from torch import nn

class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
    @torch.inference_mode()  # cause
    def features(self, x):
        return self.body(x).tanh()

class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.teacher = teacher
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        return self.head(self.teacher.features(x))  # raises TS401 at self.head(self.teacher.features(x))

@torch.inference_mode()
def evaluate(net, x):
    return net(x).argmax(1)

net = Student(Teacher())
opt = torch.optim.SGD(net.head.parameters(), 0.1)
for _ in range(2):
    loss = net(torch.randn(3, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(evaluate(net, torch.randn(2, 4)))
