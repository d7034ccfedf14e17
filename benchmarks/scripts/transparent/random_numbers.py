"""Random numbers of all generators, and their states afterwards."""
import hashlib
import random

import numpy
import torch

random.seed(1)
numpy.random.seed(2)
torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(5):
    x = torch.randn(6, 4) + random.random() + numpy.random.rand()
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print(hashlib.md5(torch.get_rng_state().numpy().tobytes()).hexdigest())
print(hashlib.md5(repr(random.getstate()).encode()).hexdigest(), numpy.random.rand())
