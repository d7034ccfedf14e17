"""A loss over the tokens that are not padding: the mask is not shifted as the logits are."""

import torch
from torch import nn
from torch.nn import functional as F


class TinyLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.table = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        hidden, _ = self.rnn(self.table(ids))
        return self.head(hidden)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def loss(self, batch):
        ids, mask = batch["ids"], batch["mask"]
        logits = self.model(ids[:, :-1])
        targets = ids[:, 1:]
        keep = mask.bool()  # cause
        return F.cross_entropy(logits[keep], targets[keep])  # raises TS103 at logits[keep]

    def fit(self, batches):
        for batch in batches:
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def make_batches(count):
    for _ in range(count):
        lengths = torch.randint(4, 12, (8,))
        mask = torch.arange(12) < lengths[:, None]
        yield {"ids": torch.randint(1, 50, (8, 12)), "mask": mask}


Trainer(TinyLM(50, 16)).fit(make_batches(3))
