"""Spam filter: the labels are integers, the loss wants floats of the same shape."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Messages(Dataset):
    def __init__(self, size=40):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        words = torch.randint(0, 200, (12,), generator=generator)
        return words, int(words.sum() % 2)  # cause


class Spam(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(200, 16)
        self.classify = nn.Linear(16, 1)

    def forward(self, words):
        return self.classify(self.embedding(words))


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss()

    def forward(self, words, label):
        return self.criterion(self.model(words), label)  # raises TS113/TS307/TS103 at self.criterion(self.model(words), label), cause


wrapper = Wrapper(Spam())
optimizer = torch.optim.RMSprop(wrapper.parameters(), lr=1e-3)
for epoch in range(2):
    for words, label in DataLoader(Messages(), batch_size=10):
        loss = wrapper(words, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
