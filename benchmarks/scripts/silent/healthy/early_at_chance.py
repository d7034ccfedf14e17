"""The first steps of a hard task, for a look: the loss is still that of a guess."""
import torch
from torch import nn
import torch.nn.functional as F


class CharModel(nn.Module):
    def __init__(self, vocabulary=65, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


torch.manual_seed(0)
model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
data = torch.randint(0, 65, (5000,))
for step in range(20):
    start = torch.randint(0, 4900, (12,))
    block = torch.stack([data[s : s + 33] for s in start])
    logits = model(block[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 65), block[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
