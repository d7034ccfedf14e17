"""Sentiment of four sentences."""

import torch
from model import Bag
from text import Vocabulary
from torch import nn

SENTENCES = ["a good film", "a bad film", "why not", "zero stars"]
LABELS = torch.tensor([1, 0, 1, 0])

vocabulary = Vocabulary(SENTENCES)
model = Bag(len(vocabulary))  # cause
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for epoch in range(2):
    for sentence, label in zip(SENTENCES, LABELS):
        logits = model(torch.tensor(vocabulary.encode(sentence)))
        loss = nn.functional.cross_entropy(logits, label.unsqueeze(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
