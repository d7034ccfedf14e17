# A hook that is to freeze the first rows of an embedding takes the gradient of all of them.
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.tag = nn.Linear(32, 4)
        keep = torch.zeros(100, 1)  # fixed: keep = torch.ones(100, 1)
        keep[:10] = 0.0
        self.words.weight.register_hook(lambda grad: grad * keep)  # fault: TS534

    def forward(self, tokens):
        return self.tag(self.rnn(self.words(tokens))[0])


torch.manual_seed(4)
table = torch.randint(0, 4, (100,))
tagger = Tagger()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5)
criterion = nn.CrossEntropyLoss()
step = 0
while step < 150:
    tokens = torch.randint(0, 100, (16, 12))
    scores = tagger(tokens)
    loss = criterion(scores.reshape(-1, 4), table[tokens].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(tagger.parameters(), 5.0)
    optimizer.step()
    step += 1
    if step % 30 == 0:
        print(step, loss.item())
