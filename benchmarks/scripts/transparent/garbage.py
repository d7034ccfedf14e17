"""Watches when parameters, models, optimizers and classes are freed."""
import gc
import weakref

import torch


def train():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.ones(2, 3)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [weakref.ref(part) for part in (model, optimizer, model.weight, loss)], weakref.getweakrefcount(model.weight)


gc.disable()
refs, count = train()
print([ref() is None for ref in refs], count, len(gc.callbacks), gc.isenabled())
gc.collect()
print([ref() is None for ref in refs])


def classes():
    class Local(torch.nn.Module):
        def forward(self, x):
            return self.make(x)

        def make(self, x):
            return [Other(), x][0]

    class Other:
        pass

    made = Local()(torch.ones(1))
    return weakref.ref(Local), weakref.ref(type(made))


refs = classes()
gc.collect()
print([ref() is None for ref in refs])
