"""The kinds of birds are those of the training set, and the test set has another one."""
import torch
from torch import nn
from data import Birds, classes_of
train = [("a", "owl"), ("b", "crow"), ("c", "owl")]
test = [("d", "crow"), ("e", "kite")]
ids = classes_of(train)
net = nn.Linear(4, len(ids))
for part in (train, test):
    for x, y in torch.utils.data.DataLoader(Birds(part, ids), 2):
        nn.functional.cross_entropy(net(x), y).backward()
