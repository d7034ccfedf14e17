"""Agents write to a board in turn, and each reads it before: what was read is written over."""
import torch
from torch import nn


class Board(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.places, self.width = places, width
        self.ask, self.put = nn.Linear(width, width), nn.Linear(width, width)

    def clear(self, batch):
        self.notes = torch.zeros(batch, self.places, self.width)

    def look(self, state):
        weight = torch.einsum("bw,bpw->bp", self.ask(state), self.notes).softmax(-1)
        return torch.einsum("bp,bpw->bw", weight, self.notes)

    def pin(self, state, place):
        self.notes[:, place] = self.put(state).tanh()  # cause


class Talk(nn.Module):
    def __init__(self, width=5, places=4):
        super().__init__()
        self.board, self.cell, self.out = Board(places, width), nn.GRUCell(width, width), nn.Linear(width, 2)

    def forward(self, words):
        self.board.clear(len(words))
        state = torch.zeros(len(words), words.shape[-1])
        for place in range(4):
            state = self.cell(words[:, place] + self.board.look(state), state)
            self.board.pin(state, place)
        return self.out(state)


torch.manual_seed(0)
net = Talk()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(net(torch.randn(6, 4, 5)), torch.randint(2, (6,)))
    opt.zero_grad()
    loss.backward()  # raises TS403 at loss.backward()
    opt.step()
