"""A focal loss by hand: the logarithm of the softmax goes over a row of the image, the target has its classes in dimension 1."""
import torch
from torch import nn

torch.manual_seed(1)
images = torch.randn(120, 2, 12, 12)
regions = images.mean(1).mul(2).add(1.5).clamp(0, 2).long()


def focal(scores, regions, gamma=2.0):
    wanted = nn.functional.one_hot(regions, scores.shape[1]).permute(0, 3, 1, 2).float()
    chances = torch.log_softmax(scores, dim=3)  # fault: TS319 | fixed: chances = torch.log_softmax(scores, dim=1)
    return -((1 - chances.exp()).pow(gamma) * (wanted * chances)).sum(1).mean()


net = nn.Sequential(nn.Conv2d(2, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for picks in torch.randperm(len(images)).split(20):
        optimizer.zero_grad()
        loss = focal(net(images[picks]), regions[picks])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
