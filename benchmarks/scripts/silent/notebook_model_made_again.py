"""A notebook as a script: the cell of the model was executed once more behind that of the optimizer."""
# %%
import torch
from torch import nn

torch.manual_seed(0)
# %% data
points = torch.rand(800, 2) * 2 - 1
inside = (points.norm(dim=1) < 0.7).long()
train_x, train_y, test_x, test_y = points[:640], inside[:640], points[640:], inside[640:]

# %% model
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
# fixed: model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
# %% training tools
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # fault: TS512/TS534 | fixed: optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

# %% a wider one
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))  # fault: TS512/TS534 | fixed: pass

# %% train
curve = []
for epoch in range(12):
    for idx in torch.randperm(640).split(64):
        optimizer.zero_grad()
        loss = criterion(model(train_x[idx]), train_y[idx])
        loss.backward()
        optimizer.step()
        curve.append(loss.item())

# %% look
with torch.no_grad():
    print(curve[0], curve[-1], (model(test_x).argmax(1) == test_y).float().mean().item())
