"""An autoencoder of heart beats whose decoder is built from a list of widths."""
import torch
from torch import nn

CONFIG = {"widths": [8, 16, 32], "rate": 1e-3}


def stack(widths, layer):
    parts = []
    for one, other in zip(widths, widths[1:]):
        parts += [layer(one, other, 4, 2, 1), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


class Beats(nn.Module):
    def __init__(self, config):
        super().__init__()
        widths = [1, *config["widths"]]
        self.encoder = stack(widths, nn.Conv1d)
        self.decoder = stack(widths, nn.ConvTranspose1d)  # cause

    def forward(self, x):
        return self.decoder(self.encoder(x))  # raises TS102 at self.decoder(self.encoder(x))


def main():
    torch.manual_seed(0)
    net = Beats(CONFIG)
    opt = torch.optim.Adam(net.parameters(), lr=CONFIG["rate"])
    for _ in range(2):
        x = torch.randn(4, 1, 64)
        loss = nn.functional.mse_loss(net(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
