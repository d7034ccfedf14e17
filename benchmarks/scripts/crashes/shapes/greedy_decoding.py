"""A decoder joins its tokens with the next ones, which have no dimension for time."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=30, size=16):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, size), nn.GRU(size, size, batch_first=True), nn.Linear(size, vocab)

    def forward(self, tokens, state=None):
        out, state = self.rnn(self.embed(tokens), state)
        return self.out(out), state


@torch.no_grad()
def generate(decoder, start, steps):
    tokens, state = start, None
    for _ in range(steps):
        logits, state = decoder(tokens[:, -1:], state)
        best = logits[:, -1].argmax(dim=-1)
        tokens = torch.cat([tokens, best], dim=1)  # raises TS106 at torch.cat([tokens, best], dim=1), cause
    return tokens


print(generate(Decoder(), torch.zeros(4, 1, dtype=torch.long), 5))
