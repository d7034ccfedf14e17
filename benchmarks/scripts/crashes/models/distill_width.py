"""Feature distillation between networks of different width."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def backbone(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
    )


class Net(nn.Module):
    def __init__(self, width, classes=10):
        super().__init__()
        self.backbone = backbone(width)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        features = self.backbone(x)
        return self.head(features.mean((2, 3))), features


class Distiller(nn.Module):
    def __init__(self, teacher, student, alpha=0.5, temperature=4.0):
        super().__init__()
        self.teacher, self.student = teacher.eval().requires_grad_(False), student
        self.alpha, self.temperature = alpha, temperature

    def forward(self, x, y):
        with torch.no_grad():
            t_logits, t_features = self.teacher(x)
        s_logits, s_features = self.student(x)
        hint = F.mse_loss(s_features, t_features)  # raises TS113/TS103 at F.mse_loss(s_features, t_features), cause
        soft = F.kl_div(
            F.log_softmax(s_logits / self.temperature, 1), F.softmax(t_logits / self.temperature, 1), reduction="batchmean"
        )
        return self.alpha * soft + hint + F.cross_entropy(s_logits, y)


teacher = Net(32)
student = Net(16)  # cause
distiller = Distiller(teacher, student)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
for step in range(3):
    images, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
    loss = distiller(images, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
