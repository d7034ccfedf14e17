"""A table with categories and numbers; one of the columns is an income, and nobody scaled it."""
import csv
import io
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

random.seed(0)
rows = [["city", "age", "income", "hours", "bought"]]
for _ in range(900):
    city, age, income, hours = random.randrange(6), random.gauss(0, 1), random.gauss(52_000, 15_000), random.gauss(0, 1)
    score = 0.8 * age - hours + (city in (1, 4)) + (income - 52_000) / 20_000
    rows.append([str(city), str(age), str(income), str(hours), str(int(score + random.gauss(0, 0.5) > 0))])
text = io.StringIO()
csv.writer(text).writerows(rows)
text.seek(0)


class Table(Dataset):
    numeric = ("age", "income", "hours")

    def __init__(self, file):
        self.rows = list(csv.DictReader(file))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        numbers = torch.tensor([float(row[name]) for name in self.numeric])
        # fixed: numbers = (numbers - torch.tensor([0.0, 52_000.0, 0.0])) / torch.tensor([1.0, 15_000.0, 1.0])
        return {"city": int(row["city"]), "numbers": numbers, "bought": float(row["bought"])}


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.city = nn.Embedding(6, 4)
        self.body = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, city, numbers):
        return self.body(torch.cat([self.city(city), numbers], 1)).squeeze(1)  # fault: TS930


train, held_out = random_split(Table(text), [700, 200], torch.Generator().manual_seed(0))
torch.manual_seed(0)
model = Tabular()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
for epoch in range(4):
    model.train()
    for batch in DataLoader(train, batch_size=50, shuffle=True):
        logits = model(batch["city"], batch["numbers"])  # fault: TS930
        loss = nn.functional.binary_cross_entropy_with_logits(logits, batch["bought"].float())  # fault: TS930
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = 0
        for batch in DataLoader(held_out, batch_size=100):
            right += ((model(batch["city"], batch["numbers"]) > 0) == (batch["bought"] > 0)).sum().item()
    print(epoch, loss.item(), right / 200)
