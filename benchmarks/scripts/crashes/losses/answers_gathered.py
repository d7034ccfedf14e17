"""The log probabilities of answers are gathered by labels that are -100 where the question stands."""
import torch
from torch import nn

SKIP = -100


def batch(n=4, asked=3, length=8):
    tokens = torch.randint(0, 20, (n, length))
    labels = tokens.clone()
    labels[:, :asked] = SKIP
    return tokens, labels


def score(net, tokens, labels):
    told = net(tokens)[:, :-1].log_softmax(-1)
    labels = labels[:, 1:]
    kept = labels != SKIP  # cause
    each = told.gather(-1, labels[..., None])[..., 0]  # raises TS310 at told.gather(-1, labels[..., None]), cause
    return (each * kept).sum(-1)


net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = -score(net, *batch()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
