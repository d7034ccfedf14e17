"""A classifier of terms is saved, and scored in another place."""
import tempfile
from pathlib import Path

import torch
from torch import nn

from model import Terms
from score import score
from words import Glossary

TEXTS = ["oak ash elm fir", "oak pine elm", "yew ash fir oak", "elm fir larch birch"]


def fit(path):
    glossary = Glossary().read(TEXTS)
    net = Terms(glossary.count())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for text in TEXTS:
        loss = nn.functional.cross_entropy(net(glossary.ids(text)), torch.tensor([len(text) % 2]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), path)


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    fit(Path(folder) / "terms.pt")
    print(score(Path(folder) / "terms.pt", ["oak elm", "fir"]))
