"""A batch is unpacked into keywords, and holds one that the model does not take."""

import torch
from torch import nn
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self, vocab=40, width=16, tags=5):
        super().__init__()
        self.table = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, tags)

    def forward(self, input_ids, labels=None):  # cause
        hidden, _ = self.rnn(self.table(input_ids))
        scores = self.out(hidden)
        if labels is None:
            return scores
        return nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())


def collate(items):
    ids = torch.stack([ids for ids, _ in items])
    return {
        "input_ids": ids,
        "labels": torch.stack([tags for _, tags in items]),
        "attention_mask": torch.ones_like(ids),
    }  # cause


torch.manual_seed(0)
data = [(torch.randint(0, 40, (9,)), torch.randint(0, 5, (9,))) for _ in range(32)]
model = Tagger()
optimizer = torch.optim.Adam(model.parameters())
for batch in DataLoader(data, batch_size=8, collate_fn=collate):
    loss = model(**batch)  # raises TS820 at model(**batch), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
