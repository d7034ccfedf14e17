"""Classifies sentences with a packed LSTM; the lengths come as they are."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, count=24):
        generator = torch.Generator().manual_seed(0)
        lengths = [3, 9, 5, 7, 4, 8] * (count // 6)
        self.items = [torch.randint(1, 50, (n,), generator=generator) for n in lengths]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index], index % 2


def collate(batch):
    tokens, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in tokens])  # cause
    return pad_sequence(list(tokens), batch_first=True), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, vocab=50, dim=16, hidden=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, 2)

    def forward(self, tokens, lengths):
        embedded = self.embed(tokens)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)  # raises TS199 at pack_padded_sequence(embedded, lengths, batch_first=True), cause
        _, (hidden, _) = self.lstm(packed)
        return self.fc(torch.cat([hidden[-2], hidden[-1]], dim=1))


model = Classifier()
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for tokens, lengths, labels in DataLoader(Sentences(), batch_size=6, collate_fn=collate):
        optimizer.zero_grad()
        loss = criterion(model(tokens, lengths), labels)
        loss.backward()
        optimizer.step()
