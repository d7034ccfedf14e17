"""scikit-learn: the parts of a split are taken in the order of another library."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

drifts = np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32)
kinds = (drifts.sum(1) > 0).astype(np.int64)
drifts_train, kinds_train, drifts_test, kinds_test = train_test_split(drifts, kinds, test_size=0.25)  # cause
seen, wanted = torch.from_numpy(drifts_train), torch.from_numpy(kinds_train)
net = nn.Linear(4, 2)
descent = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(seen), wanted)  # raises TS113 at nn.functional.cross_entropy(net(seen), wanted)
    descent.zero_grad()
    loss.backward()
    descent.step()
