"""CTC over letters that are numbered from 0, while 0 is the blank of the loss and the last class was meant to be it."""
import torch
from torch import nn

LETTERS = "aeiknorst"


class Reader(nn.Module):
    def __init__(self, bands=16, classes=len(LETTERS) + 1):
        super().__init__()
        self.rnn = nn.GRU(bands, 24, bidirectional=True, batch_first=True)
        self.out = nn.Linear(48, classes)

    def forward(self, strokes):
        return self.out(self.rnn(strokes)[0]).log_softmax(-1)


def lines(n, generator):
    number = {letter: i for i, letter in enumerate(LETTERS)}
    shapes = torch.randn(len(LETTERS), 16, generator=torch.Generator().manual_seed(5))
    strokes, labels, lengths = torch.zeros(n, 40, 16), [], []
    for k in range(n):
        size = int(torch.randint(4, 8, (1,), generator=generator))
        picked = torch.randint(0, len(LETTERS), (size,), generator=generator).tolist()
        word = [number[LETTERS[i]] for i in picked]
        for place, i in enumerate(word):
            strokes[k, 5 * place : 5 * place + 4] = shapes[i]
        labels.append(torch.tensor(word))
        lengths.append(size)
    return strokes + 0.1 * torch.randn(strokes.shape, generator=generator), torch.cat(labels), torch.tensor(lengths)


torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
net, ctc = Reader(), nn.CTCLoss(zero_infinity=True)  # fault: TS959 | fixed: net, ctc = Reader(), nn.CTCLoss(blank=len(LETTERS), zero_infinity=True)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(80):
    strokes, labels, lengths = lines(16, generator)
    scores = net(strokes)
    frames = torch.full((16,), scores.shape[1], dtype=torch.long)
    loss = ctc(scores.transpose(0, 1), labels, frames, lengths)  # fault: TS959
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, round(loss.item(), 3))
