"""IterableDatasets: a sharded stream, a shuffle buffer, chained generators; a causal model over packed blocks."""
import itertools
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class ConstantLengthDataset(IterableDataset):
    """Concatenates documents and cuts the stream into blocks of seq_length + 1 tokens."""

    def __init__(self, documents, seq_length=16, infinite=False):
        super().__init__()
        self.documents = documents
        self.seq_length = seq_length
        self.infinite = infinite

    def __iter__(self):
        worker = get_worker_info()
        docs = self.documents
        if worker is not None:
            docs = docs[worker.id:: worker.num_workers]
        buffer = []
        stream = itertools.cycle(docs) if self.infinite else iter(docs)
        for doc in stream:
            buffer.extend(doc + [0])
            while len(buffer) > self.seq_length:
                block = buffer[: self.seq_length + 1]
                buffer = buffer[self.seq_length:]
                yield {"input_ids": torch.tensor(block[:-1]), "labels": torch.tensor(block[1:])}


class ShuffleBuffer(IterableDataset):
    def __init__(self, dataset, buffer_size=8):
        super().__init__()
        self.dataset = dataset
        self.buffer_size = buffer_size

    def __iter__(self):
        shufbuf = []
        for item in self.dataset:
            shufbuf.append(item)
            if len(shufbuf) >= self.buffer_size:
                yield shufbuf.pop(random.randrange(len(shufbuf)))
        random.shuffle(shufbuf)
        yield from shufbuf


class Model(nn.Module):
    def __init__(self, vocab, dim=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, input_ids, labels=None):
        hidden, _ = self.rnn(self.tok(input_ids))
        logits = self.out(hidden)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))
        return {"loss": loss, "logits": logits}


random.seed(0)
torch.manual_seed(0)
documents = [[random.randrange(1, 30) for _ in range(random.randint(5, 40))] for _ in range(40)]
dataset = ShuffleBuffer(ConstantLengthDataset(documents))
loader = DataLoader(dataset, batch_size=4)
model = Model(30)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step, batch in enumerate(loader):
    out = model(**batch)
    optimizer.zero_grad()
    out["loss"].backward()
    optimizer.step()
    if step == 5:
        break
    print(step, out["loss"].item(), tuple(out["logits"].shape))
