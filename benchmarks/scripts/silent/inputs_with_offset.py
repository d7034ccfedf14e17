"""Years as features: a large offset, a small spread."""
import torch
from torch import nn

torch.manual_seed(0)
year = torch.randint(1950, 2020, (400, 1)).float()
mileage = torch.rand(400, 1) * 200_000
table = torch.cat([year, mileage], 1)
price = (year - 1950) / 70 - mileage / 400_000
# fixed: table = (table - table.mean(0)) / table.std(0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for rows in torch.randperm(400).chunk(10):
        prediction = model(table[rows])  # fault: TS930
        loss = nn.functional.mse_loss(prediction, price[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
