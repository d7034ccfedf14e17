"""Input lengths that are longer than the input."""

import torch
from torch import nn


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(8, 16, 3, stride=2)  # cause
        self.fc = nn.Linear(16, 6)

    def forward(self, x):
        return self.fc(self.conv(x).permute(2, 0, 1)).log_softmax(-1)


speech, ctc = Speech(), nn.CTCLoss()
opt = torch.optim.Adam(speech.parameters())
for _ in range(2):
    audio = torch.randn(2, 8, 41)
    lengths = torch.tensor([41, 41])  # cause
    loss = ctc(speech(audio), torch.randint(1, 6, (2, 4)), lengths, torch.tensor([4, 4]))  # raises TS199/TS113/TS310 at ctc(speech(audio), torch.randint(1, 6, (2, 4)), lengths, torch.tensor([4, 4]))
    opt.zero_grad()
    loss.backward()
    opt.step()
