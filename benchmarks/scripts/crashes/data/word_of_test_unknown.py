"""Words of the test set are looked up in a table of those of the training set."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Words:
    def __init__(self, texts):
        self.ids = {"<pad>": 0, "<unk>": 1}
        for text in texts:
            for word in text.split():
                self.ids.setdefault(word, len(self.ids))
    def encode(self, text):
        return [self.ids[word] for word in text.split()]  # raises TS918 at self.ids[word], cause

class Texts(Dataset):
    def __init__(self, texts, words):
        self.texts, self.words = texts, words
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, i):
        return torch.tensor(self.words.encode(self.texts[i]))

train, test = ["a b c", "b c d"], ["a z c", "d d q"]
words = Words(train)
net = nn.EmbeddingBag(len(words.ids), 3)
for part in (train, test):
    for x in DataLoader(Texts(part, words), 2, num_workers=2):
        net(x).sum().backward()
