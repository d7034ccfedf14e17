"""Mean teacher: a copy that no optimizer has and that follows by itself."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
y = torch.randint(0, 3, (900,))
x = torch.randn(3, 10)[y] + torch.randn(900, 10)
opt = torch.optim.SGD(student.parameters(), 0.1)
for epoch in range(4):
    for i in torch.randperm(900).split(30):
        labelled = i[:10]
        loss = nn.functional.cross_entropy(student(x[labelled]), y[labelled])
        with torch.no_grad():
            goal = teacher(x[i]).softmax(1)
        loss = loss + (student(x[i]).softmax(1) - goal).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for t, s in zip(teacher.parameters(), student.parameters()):
                t.lerp_(s, 0.05)
    print(epoch, loss.item())
