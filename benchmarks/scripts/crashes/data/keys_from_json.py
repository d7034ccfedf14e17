"""Keys that were numbers are texts after JSON."""

import json

import torch
from torch import nn

labels = ["cat", "dog", "bird"]
with open("labels.json", "w") as file:
    json.dump({index: name for index, name in enumerate(labels)}, file)


class Classifier(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.names = names
        self.head = nn.Linear(6, len(names))

    def predict(self, x):
        best = self.head(x).argmax(dim=1)
        return [self.names[index] for index in best.tolist()]  # raises TS531 at self.names[index], cause


with open("labels.json") as file:
    net = Classifier(json.load(file))
for _ in range(2):
    print(net.predict(torch.randn(3, 6)))
