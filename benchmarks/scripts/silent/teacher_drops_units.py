"""The teacher stays in training mode: its advice is another one each time."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 12)
y = (x[:, 0] * x[:, 1] > 0).long()


def network(width):
    return nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, 2))


teacher, student = network(128), network(16)
optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for step in range(60):
    loss = nn.functional.cross_entropy(teacher(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(teacher.state_dict(), "teacher.pt")
del teacher, optimizer

guide = network(128)
guide.load_state_dict(torch.load("teacher.pt"))
guide.requires_grad_(False)  # fixed: guide.requires_grad_(False).eval()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(80):
    part = torch.randint(600, (60,))
    with torch.no_grad():
        advice = guide(x[part]).softmax(1)  # fault: TS505
    loss = nn.functional.kl_div(student(x[part]).log_softmax(1), advice, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
