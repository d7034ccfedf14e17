"""A signal is resized as if it were a picture."""
import torch
import torch.nn.functional as F
from torch import nn

class Up(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(c, c, 3, padding=1)

    def forward(self, x, like):
        x = F.interpolate(x, size=like.shape[1:], mode="linear")  # raises TS108 at F.interpolate(x, size=like.shape[1:], mode="linear"), cause
        return self.conv(x) + like

net, down = Up(4), nn.Conv1d(4, 4, 3, stride=2, padding=1)
opt = torch.optim.Adam([*net.parameters(), *down.parameters()])
for _ in range(2):
    signal = torch.randn(3, 4, 40)
    loss = F.l1_loss(net(down(signal), signal), signal)
    opt.zero_grad(); loss.backward(); opt.step()
