"""A language model with a carried LSTM state: detach() is called, its result thrown away, and retain_graph hides the error."""
import torch
from torch import nn


class WordModel(nn.Module):
    def __init__(self, vocabulary, size=24):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.lstm = nn.LSTM(size, size)
        self.decoder = nn.Linear(size, vocabulary)

    def forward(self, tokens, state):
        output, state = self.lstm(self.embedding(tokens), state)
        return self.decoder(output), state

    def begin(self, batch):
        return torch.zeros(1, batch, 24), torch.zeros(1, batch, 24)


def batchify(stream, batch):
    length = len(stream) // batch
    return stream[: length * batch].view(batch, length).t().contiguous()


def main():
    torch.manual_seed(7)
    stream = (torch.arange(4000) * 3 % 17 + torch.randint(0, 2, (4000,))) % 18
    data = batchify(stream, 8)
    model = WordModel(18)
    criterion = nn.CrossEntropyLoss()
    state = model.begin(8)
    for start in range(0, 480, 12):
        source, target = data[start : start + 12], data[start + 1 : start + 13]
        for part in state:
            part.detach()  # fixed: part.detach_()
        logits, state = model(source, state)  # fault: TS408/TS701 | fixed: logits, state = model(source, tuple(part.detach() for part in state))
        loss = criterion(logits.flatten(0, 1), target.flatten())
        model.zero_grad()
        loss.backward(retain_graph=True)  # fault: TS408/TS701 | fixed: loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if start == 0:
            print("first", loss.item())
        sgd(model)
    print("last", loss.item())


def sgd(model, lr=0.5):
    with torch.no_grad():
        for p in model.parameters():
            p.data.sub_(lr * p.grad)


main()
