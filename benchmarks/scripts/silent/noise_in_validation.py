# Noise that is meant for training is added to the validation's images, too.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, images, labels, augment):
        self.images, self.labels, self.augment = images, labels, augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        if self.augment:
            image = image + 1.5 * torch.randn_like(image)
        return image, self.labels[i]


torch.manual_seed(3)
protos = torch.randn(5, 1, 12, 12)
y = torch.randint(5, (800,))
x = protos[y] + 0.8 * torch.randn(800, 1, 12, 12)
train_set = Noisy(x[:600], y[:600], augment=True)
val_set = Noisy(x[600:], y[600:], augment=True)  # fixed: val_set = Noisy(x[600:], y[600:], augment=False)
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)  # fault: TS952
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    for images, targets in train_loader:
        loss = loss_fn(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, targets in val_loader:
            correct += (model(images).argmax(1) == targets).sum().item()
    print(f"epoch {epoch} accuracy {correct / len(val_set):.3f}")
