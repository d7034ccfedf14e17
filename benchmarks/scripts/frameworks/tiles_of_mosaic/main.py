"""A mosaic is cut into stones, of which the cut of the camera holds no whole number."""
import torch
from torch import nn

from look import Look
from stones import Stones


class Camera:
    def __init__(self, look):
        self.look = look

    def shots(self, count):
        whole = torch.rand(count, 3, 40, 40)
        side = self.look.side
        return whole[:, :, :side, :side], torch.randint(2, (count,))


torch.manual_seed(0)
look = Look()
net = Stones(look)
camera = Camera(look)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = camera.shots(4)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
