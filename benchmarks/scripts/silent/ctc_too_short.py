"""CTC over pooled frames: the frames that are left are fewer than the letters, and the loss is infinite."""
import torch
from torch import nn


class Listener(nn.Module):
    def __init__(self, letters=12):
        super().__init__()
        self.conv = nn.Conv1d(8, 24, 5, stride=4, padding=2)  # fault: TS920 | fixed: self.conv = nn.Conv1d(8, 24, 5, stride=1, padding=2)
        self.rnn = nn.LSTM(24, 24, bidirectional=True, batch_first=True)
        self.out = nn.Linear(48, letters)

    def forward(self, sound):
        h = self.conv(sound).relu().transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def utterances(n, generator):
    lengths = torch.randint(7, 11, (n,), generator=generator)
    words = torch.zeros(n, 10, dtype=torch.long)
    sound = torch.zeros(n, 8, 40)
    codes = torch.linspace(-1, 1, 12)
    for k in range(n):
        word = torch.randint(1, 12, (int(lengths[k]),), generator=generator)
        words[k, : len(word)] = word
        spread = codes[word].repeat_interleave(4)[:40]
        sound[k, :, : len(spread)] = spread * torch.linspace(0.5, 2, 8)[:, None]
    return sound, words, lengths


torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
net, ctc = Listener(), nn.CTCLoss(blank=0)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(60):
    sound, words, lengths = utterances(16, generator)
    log_p = net(sound)
    frames = torch.full((16,), log_p.shape[1], dtype=torch.long)
    loss = ctc(log_p.transpose(0, 1), words, frames, lengths)  # fault: TS920
    optimizer.zero_grad()
    loss.backward()  # fault: TS920
    torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
