"""CTC: the lengths given are those before the convolution halves the time."""

import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, mels=20, letters=12):
        super().__init__()
        self.conv = nn.Conv1d(mels, 32, 3, stride=2, padding=1)
        self.rnn = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, letters)

    def forward(self, x):
        x = torch.relu(self.conv(x)).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x).log_softmax(-1)


def run():
    torch.manual_seed(0)
    model, criterion = Recogniser(), nn.CTCLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        spectra = torch.randn(4, 20, 60)
        lengths = torch.full((4,), spectra.shape[-1])  # cause
        targets = torch.randint(1, 12, (4, 8))
        sizes = torch.full((4,), 8)
        scores = model(spectra).transpose(0, 1)
        loss = criterion(scores, targets, lengths, sizes)  # raises TS199 at criterion(scores, targets, lengths, sizes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


run()
