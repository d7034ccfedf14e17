"""Mean teacher: a second network follows the first one as a moving average of its weights."""

import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, width=64, classes=10):
        super().__init__()
        self.first = nn.Linear(32, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(F.gelu(self.norm(self.first(x))))


class MeanTeacher:
    def __init__(self, student, decay=0.99):
        self.student, self.decay = student, decay
        self.teacher = Encoder(width=48)  # cause
        for parameter in self.teacher.parameters():
            parameter.requires_grad_(False)

    @torch.no_grad()
    def update(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)  # raises TS103 at slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)


torch.manual_seed(0)
student = Encoder()  # cause
trainer = MeanTeacher(student)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(6):
    x = torch.randn(16, 32)
    clean = trainer.teacher(x).softmax(-1)
    noisy = student(x + 0.1 * torch.randn_like(x)).softmax(-1)
    loss = F.cross_entropy(student(x), x[:, :10].argmax(1)) + F.mse_loss(noisy, clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    trainer.update()
