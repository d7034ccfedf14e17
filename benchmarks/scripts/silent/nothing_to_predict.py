# One batch holds only sequences whose labels are all left out: its mean loss is that of nothing.
import torch
from torch import nn

torch.manual_seed(3)
vocabulary = 30


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 16)
        self.gru = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, vocabulary)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.out(hidden)


def batches():
    for number in range(40):
        tokens = torch.randint(0, vocabulary, (8, 10))
        labels = (tokens + 1) % vocabulary
        prompt = 10 if number == 21 else 4
        labels[:, :prompt] = -100
        yield tokens, labels


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=-100)
for number, (tokens, labels) in enumerate(batches()):
    logits = model(tokens)
    loss = criterion(logits.transpose(1, 2), labels)  # fault: TS920 | fixed: loss = criterion(logits.transpose(1, 2), labels) if (labels >= 0).any() else 0.0 * logits.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if number % 10 == 0:
        print(number, loss.item())
