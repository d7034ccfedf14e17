"""SimCLR: two augmented views, projection head, NT-Xent loss with masks, a linear probe afterwards."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TwoViews:
    def __init__(self, base_transform, n_views=2):
        self.base_transform = base_transform
        self.n_views = n_views

    def __call__(self, x):
        return [self.base_transform(x) for _ in range(self.n_views)]


def augment(img):
    if torch.rand(()) < 0.5:
        img = img.flip(-1)
    img = img * (0.8 + 0.4 * torch.rand(3, 1, 1))
    return img + 0.05 * torch.randn_like(img)


class Images(Dataset):
    def __init__(self, n=64, transform=None):
        self.labels = torch.arange(n) % 4
        base = torch.rand(4, 3, 16, 16)
        self.images = base[self.labels] + 0.1 * torch.randn(n, 3, 16, 16)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i]
        return (self.transform(img) if self.transform else img), self.labels[i]


class ResBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes * self.expansion:
            self.downsample = nn.Sequential(nn.Conv2d(inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return F.relu(out)


class SimCLR(nn.Module):
    def __init__(self, out_dim=16):
        super().__init__()
        self.backbone = nn.Sequential(ResBlock(3, 8), ResBlock(8, 16, 2), ResBlock(16, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, out_dim))

    def forward(self, x):
        return self.projector(self.backbone(x))


def info_nce_loss(features, batch_size, n_views=2, temperature=0.5):
    labels = torch.cat([torch.arange(batch_size) for i in range(n_views)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    similarity_matrix = torch.matmul(features, features.T)
    # discard the main diagonal from both: labels and similarities matrix
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity_matrix = similarity_matrix[~mask].view(similarity_matrix.shape[0], -1)
    positives = similarity_matrix[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity_matrix[~labels.bool()].view(similarity_matrix.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1)
    labels = torch.zeros(logits.shape[0], dtype=torch.long)
    return logits / temperature, labels


torch.manual_seed(0)
loader = DataLoader(Images(transform=TwoViews(augment)), batch_size=16, shuffle=True, drop_last=True)
model = SimCLR()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for images, _ in loader:
        images = torch.cat(images, dim=0)
        features = model(images)
        logits, labels = info_nce_loss(features, batch_size=16)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

probe = nn.Linear(32, 4)
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.5)
model.eval()
for images, labels in DataLoader(Images(), batch_size=32):
    with torch.no_grad():
        h = model.backbone(images)
    loss = criterion(probe(h), labels)
    probe_opt.zero_grad()
    loss.backward()
    probe_opt.step()
print("probe", loss.item())
