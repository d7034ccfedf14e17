"""Sequences are sorted by length for packing; their labels stay in the order in which they came."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader


def sentences(n, generator):
    for _ in range(n):
        length = int(torch.randint(4, 15, (1,), generator=generator))
        label = int(torch.randint(0, 2, (1,), generator=generator))
        low, high = (1, 16) if label else (8, 24)
        yield torch.randint(low, high, (length,), generator=generator), label


def collate(samples):
    samples_by_length = sorted(samples, key=lambda sample: len(sample[0]), reverse=True)
    words = [tokens for tokens, _ in samples_by_length]
    labels = torch.tensor([label for _, label in samples])  # fault: TS933/TS626 | fixed: labels = torch.tensor([label for _, label in samples_by_length])
    return pad_sequence(words), torch.tensor([len(w) for w in words]), labels


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(24, 12, padding_idx=0), nn.LSTM(12, 24)
        self.judge = nn.Linear(24, 1)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.words(tokens), lengths)
        _, (h, _) = self.lstm(packed)
        return self.judge(h[0]).squeeze(-1)


torch.manual_seed(6)
corpus = list(sentences(800, torch.Generator().manual_seed(6)))
loader = DataLoader(corpus, batch_size=32, shuffle=True, collate_fn=collate)  # fault: TS933/TS626
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(6):
    total = 0.0
    for tokens, lengths, labels in loader:  # fault: TS933/TS626
        loss = bce(model(tokens, lengths), labels.float())  # fault: TS933/TS626/TS921
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
