import torch
class Corpus(torch.utils.data.Dataset):
    def __init__(self, cfg):
        self.ids = torch.randint(0, cfg.words, (400,))
        self.n = cfg.chunk
    def __len__(self):
        return len(self.ids) // self.n - 1
    def __getitem__(self, i):
        part = self.ids[i * self.n : (i + 1) * self.n + 1]
        return part[:-1], part[1:]
