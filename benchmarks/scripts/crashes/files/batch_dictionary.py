"""Batches are dictionaries; a key is called otherwise."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {"input_ids": torch.randint(0, 50, (6,)), "label": torch.tensor(i % 2)}  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(50, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, ids):
        return self.fc(self.emb(ids))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader(Reviews(), batch_size=4):
    logits = net(batch["input_ids"])
    loss = nn.functional.cross_entropy(logits, batch["labels"])  # raises TS531 at batch["labels"], cause
    opt.zero_grad()
    loss.backward()
    opt.step()
