"""Data through generators only: read, window, shuffle, batch, prefetch; a seq-to-one LSTM forecaster."""
import itertools
import math
import random

import torch
import torch.nn as nn


def readings(n, seed=0):
    rng = random.Random(seed)
    for t in range(n):
        yield math.sin(t / 6) + 0.5 * math.sin(t / 17) + rng.gauss(0, 0.05)


def windows(series, width, horizon=1):
    history = []
    for value in series:
        history.append(value)
        if len(history) == width + horizon:
            yield history[:width], history[width:]
            history = history[1:]


def shuffled(items, buffer_size, seed=0):
    rng = random.Random(seed)
    buffer = []
    for item in items:
        if len(buffer) < buffer_size:
            buffer.append(item)
            continue
        i = rng.randrange(buffer_size)
        buffer[i], item = item, buffer[i]
        yield item
    yield from buffer


def batched(items, size):
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        x = torch.tensor([a for a, _ in chunk]).unsqueeze(-1)
        y = torch.tensor([b for _, b in chunk])
        yield x, y


class Forecaster(nn.Module):
    def __init__(self, n_features=1, n_hidden=24, horizon=1):
        super().__init__()
        self.lstm = nn.LSTM(n_features, n_hidden, num_layers=2, batch_first=True)
        self.linear = nn.Linear(n_hidden, horizon)

    def forward(self, x):
        _, (h_n, _) = self.lstm(x)
        return self.linear(h_n[-1])


torch.manual_seed(0)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(2):
    running = []
    for x, y in batched(shuffled(windows(readings(260), 24), 64, epoch), 32):
        prediction = model(x)
        loss = loss_fn(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running.append(loss.item())
    print(f"epoch {epoch}: {sum(running) / len(running):.4f} over {len(running)} batches")

model.eval()
with torch.no_grad():
    context = torch.tensor(list(readings(24, seed=1))).view(1, 24, 1)
    forecast = []
    for _ in range(5):
        nxt = model(context)
        forecast.append(nxt.item())
        context = torch.cat([context[:, 1:], nxt.unsqueeze(-1)], dim=1)
print([round(v, 2) for v in forecast])
