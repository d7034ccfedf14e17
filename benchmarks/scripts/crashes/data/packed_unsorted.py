"""Sentences of different lengths are packed in the order in which they come."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader


def collate(batch):
    ids = [sample[0] for sample in batch]
    labels = torch.tensor([sample[1] for sample in batch])
    lengths = torch.tensor([len(x) for x in ids])
    return pad_sequence(ids, batch_first=True), lengths, labels


class Sentiment(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 24, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(48, 2)

    def forward(self, text, lengths):
        embedded = self.embedding(text)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)  # raises TS199 at pack_padded_sequence(embedded, lengths, batch_first=True), cause
        output, (hidden, _) = self.rnn(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        return self.fc(torch.cat([hidden[-2], hidden[-1]], dim=1))


corpus = [(torch.randint(1, 50, (3 + (i * 5) % 7,)), i % 2) for i in range(24)]
model = Sentiment(50)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for text, lengths, labels in DataLoader(corpus, batch_size=6, collate_fn=collate):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(text, lengths), labels)
        loss.backward()
        optimizer.step()
