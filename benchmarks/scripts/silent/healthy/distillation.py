"""A teacher in evaluation mode, never updated, and not put under no_grad; the student learns from its soft labels."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 3)).eval()
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(80):
    x = torch.randn(40, 8)
    soft = F.softmax(teacher(x) / 2, dim=1)
    loss = F.kl_div(F.log_softmax(student(x) / 2, dim=1), soft.detach(), reduction="batchmean") * 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
