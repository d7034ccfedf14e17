"""Tags of sentences whose padding is counted as a right answer."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
sentences = []
for _ in range(300):
    n = int(torch.randint(2, 30, (1,)))
    words = torch.randint(1, 50, (n,))
    sentences.append((words, words % 3 + 1))


def collate(batch):
    words, tags = zip(*batch)
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16, padding_idx=0)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 4)

    def forward(self, w):
        return self.out(self.rnn(self.emb(w))[0])


model = Tagger()
loss_fn = nn.CrossEntropyLoss()  # fixed: loss_fn = nn.CrossEntropyLoss(ignore_index=0)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for w, t in DataLoader(sentences, batch_size=30, shuffle=True, collate_fn=collate):
        loss = loss_fn(model(w).transpose(1, 2), t)  # fault: TS344
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
