"""Action recognition on toy clips: factorised 3-D convolutions, temporal pooling, frames from a Sampler, top-k metrics."""
import random

import torch
import torch.nn as nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler


class Clips(Dataset):
    DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, n=40, frames=8, size=16, train=True):
        self.n, self.frames, self.size, self.train = n, frames, size, train

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        label = index % 4
        dy, dx = self.DIRECTIONS[label]
        clip = torch.zeros(3, self.frames, self.size, self.size)
        for t in range(self.frames):
            y, x = (self.size // 2 + dy * t) % (self.size - 3), (self.size // 2 + dx * t) % (self.size - 3)
            clip[:, t, y:y + 3, x:x + 3] = 1.0
        if self.train:
            clip += 0.05 * torch.randn_like(clip)
        return clip, label


class BalancedSampler(Sampler):
    def __init__(self, labels, per_class):
        self.groups = {c: [i for i, l in enumerate(labels) if l == c] for c in set(labels)}
        self.per_class = per_class

    def __iter__(self):
        chosen = []
        for indices in self.groups.values():
            chosen += random.sample(indices, self.per_class)
        random.shuffle(chosen)
        return iter(chosen)

    def __len__(self):
        return self.per_class * len(self.groups)


class Conv2Plus1D(nn.Sequential):
    def __init__(self, in_planes, out_planes, midplanes, stride=1):
        super().__init__(
            nn.Conv3d(in_planes, midplanes, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
        )

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        midplanes = (inplanes * planes * 27) // (inplanes * 9 + 3 * planes)
        self.conv1 = nn.Sequential(Conv2Plus1D(inplanes, planes, midplanes, stride), nn.BatchNorm3d(planes), nn.ReLU(True))
        self.conv2 = nn.Sequential(Conv2Plus1D(planes, planes, midplanes), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        if stride != 1 or inplanes != planes:
            ds_stride = Conv2Plus1D.get_downsample_stride(stride)
            self.downsample = nn.Sequential(nn.Conv3d(inplanes, planes, 1, ds_stride, bias=False), nn.BatchNorm3d(planes))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        out = self.conv2(self.conv1(x))
        out += self.downsample(x)
        return self.relu(out)


class VideoNet(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, 8, (3, 5, 5), (1, 2, 2), (1, 2, 2)), nn.ReLU(inplace=True))
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, stride=2)
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(16, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv3d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.BatchNorm3d):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.stem(x)
        x = self.layer2(self.layer1(x))
        x = self.avgpool(x).flatten(1)
        return self.fc(x)


def topk_accuracy(output, target, topk=(1, 2)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target[None])
        return [correct[:k].flatten().sum(dtype=torch.float32) * (100.0 / batch_size) for k in topk]


random.seed(0)
torch.manual_seed(0)
dataset = Clips()
labels = [i % 4 for i in range(len(dataset))]
loader = DataLoader(dataset, batch_sampler=BatchSampler(BalancedSampler(labels, 4), batch_size=8, drop_last=False))
model = VideoNet()
criterion = nn.CrossEntropyLoss(reduction="mean")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(2):
    for clips, target in loader:
        output = model(clips)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc1, acc2 = topk_accuracy(output, target)
    print(epoch, loss.item(), acc1.item(), acc2.item(), tuple(clips.shape))
