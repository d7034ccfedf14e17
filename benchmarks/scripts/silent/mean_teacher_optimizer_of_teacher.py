"""Mean teacher: the optimizer is made for the teacher, which is an average of the student; nobody trains the student."""
import copy
import itertools
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)


def network():
    return nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))


def ema(teacher, student, decay):
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 1 - decay)
        for t, s in zip(teacher.buffers(), student.buffers()):
            t.copy_(s)


student = network()
teacher = copy.deepcopy(student)
optimizer = torch.optim.AdamW(teacher.parameters(), lr=3e-3)  # fault: TS512/TS534 | fixed: optimizer = torch.optim.AdamW(student.parameters(), lr=3e-3)
means = torch.randn(3, 10) * 1.2
labelled_y = torch.randint(0, 3, (120,))
labelled_x = means[labelled_y] + torch.randn(120, 10)
unlabelled = means[torch.randint(0, 3, (960,))] + torch.randn(960, 10)
labels = itertools.cycle(zip(labelled_x.split(24), labelled_y.split(24)))
step = 0
for epoch in range(3):
    for u in unlabelled[torch.randperm(960)].split(32):
        x, y = next(labels)
        student.train()
        teacher.train()
        supervised = F.cross_entropy(student(x), y)
        with torch.no_grad():
            goal = teacher(u + 0.1 * torch.randn_like(u)).softmax(1)
        consistency = F.mse_loss(student(u + 0.1 * torch.randn_like(u)).softmax(1), goal)
        loss = supervised + min(1.0, step / 40) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema(teacher, student, min(0.99, 1 - 1 / (step + 1)))
        step += 1
    teacher.eval()
    with torch.no_grad():
        print(epoch, (teacher(labelled_x).argmax(1) == labelled_y).float().mean().item())
