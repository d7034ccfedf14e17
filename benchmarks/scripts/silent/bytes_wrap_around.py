# The mean is subtracted from bytes, which wrap around below 0.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, n=500):
        g = torch.Generator().manual_seed(0)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        base = torch.randint(60, 200, (4, 3, 8, 8), generator=g)
        noise = torch.randint(-50, 50, (n, 3, 8, 8), generator=g)
        self.images = (base[self.labels] + noise).clamp(0, 255).to(torch.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index] - 128  # fault: TS345 | fixed: image = self.images[index].float() - 128
        return image.float() / 64, self.labels[index]


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 4))
opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
for epoch in range(4):
    seen = right = 0
    for image, label in DataLoader(Images(), batch_size=25, shuffle=True):
        out = net(image)
        loss = nn.functional.cross_entropy(out, label)
        opt.zero_grad(); loss.backward(); opt.step()
        right += (out.argmax(1) == label).sum().item()
        seen += len(label)
    print(f"{epoch} {right / seen:.3f}")
