"""Bird song to syllables: the loader tells how many frames there are, and the model keeps every fourth."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Song(nn.Module):
    def __init__(self, bands=12, kinds=5):
        super().__init__()
        self.ear = nn.Sequential(
            nn.Conv1d(bands, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv1d(16, 16, 3, stride=2, padding=1)
        )
        self.out = nn.Linear(16, kinds)

    def forward(self, x):
        return self.out(self.ear(x.transpose(1, 2)).transpose(1, 2)).log_softmax(-1)


def songs(n=12):
    for number in range(n):
        yield torch.randn(30 + 4 * (number % 5), 12), torch.randint(1, 5, (3,))


def collate(rows):
    x, y = zip(*rows)
    return pad_sequence(x, batch_first=True), torch.tensor([len(row) for row in x]), torch.stack(y)


def main():
    torch.manual_seed(0)
    net = Song()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for x, frames, y in DataLoader(list(songs()), 6, collate_fn=collate):
        out = net(x).transpose(0, 1)
        counts = torch.full((len(y),), 3)
        loss = nn.functional.ctc_loss(out, y, frames, counts)  # raises TS199 at nn.functional.ctc_loss(out, y, frames, counts), cause
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
