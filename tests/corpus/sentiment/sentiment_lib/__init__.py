"""Vocabulary, dataset and collate."""
from collections import Counter

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Vocab:
    pad, unk = 0, 1

    def __init__(self, words):
        self.itos = ["<pad>", "<unk>"] + list(words)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    @classmethod
    def build(cls, texts, min_freq=1):
        counter = Counter(word for text in texts for word in text.split())
        return cls(w for w, c in counter.most_common() if c >= min_freq)

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return [self.stoi.get(word, self.unk) for word in text.lower().split()]


class SentimentDataset(Dataset):
    def __init__(self, samples, vocab):
        self.samples = samples
        self.vocab = vocab

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, idx):
        text, label = self.samples[idx]
        return torch.LongTensor(self.vocab.encode(text)), label


def collate_batch(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts), lengths, torch.tensor(labels, dtype=torch.float)
