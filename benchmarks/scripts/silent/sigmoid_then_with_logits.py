"""Binary segmentation with a sigmoid too much."""
import torch
from torch import nn


class Mask(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, padding=1)
        self.up = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, image):
        return torch.sigmoid(self.up(torch.relu(self.down(image))))  # fault: TS304 | fixed: return self.up(torch.relu(self.down(image)))


def train(model, iterations):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for i in range(iterations):
        image = torch.rand(8, 1, 16, 16)
        mask = (image > 0.6).float()
        optimizer.zero_grad()
        loss = loss_fn(model(image), mask)  # fault: TS304
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
print(train(Mask(), 60))
