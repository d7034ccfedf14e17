"""Top-5 accuracy, as for ImageNet, of a model with four classes."""

import torch
from torch import nn


def topk_accuracy(output, target, topk=(1, 5)):
    maxk = max(topk)
    _, pred = output.topk(maxk, 1, True, True)  # raises TS199 at output.topk(maxk, 1, True, True), cause
    pred = pred.t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    return [correct[:k].reshape(-1).float().sum().item() / target.size(0) for k in topk]


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean(dim=(2, 3)))


model = Classifier(4)  # cause
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for step in range(2):
        images, labels = torch.randn(8, 3, 16, 16), torch.randint(0, 4, (8,))
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(topk_accuracy(logits, labels))  # cause
