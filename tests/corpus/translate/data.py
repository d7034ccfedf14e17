"""Reversal as a language pair: ragged sentences, padded by the collate function."""
import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, BOS, EOS = 0, 1, 2


class Pairs(Dataset):
    def __init__(self, n, vocab_size):
        rng = random.Random(n)
        self.sources = [[rng.randrange(3, vocab_size) for _ in range(rng.randint(4, 10))] for _ in range(n)]

    def __len__(self):
        return len(self.sources)

    def __getitem__(self, i):
        source = self.sources[i]
        target = [BOS] + source[::-1] + [EOS]
        return torch.tensor(source), torch.tensor(target)


def collate(batch):
    sources, targets = zip(*batch)
    sources = pad_sequence(sources, batch_first=True, padding_value=PAD)
    targets = pad_sequence(targets, batch_first=True, padding_value=PAD)
    return sources, targets


def build_loader(cfg, n, shuffle):
    return DataLoader(Pairs(n, cfg.vocab_size), batch_size=cfg.batch_size, shuffle=shuffle, collate_fn=collate)
