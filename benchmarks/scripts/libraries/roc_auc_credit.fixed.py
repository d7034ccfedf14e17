import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

rng = np.random.default_rng(0)
X = torch.tensor(rng.normal(size=(600, 5)), dtype=torch.float32)
y = torch.tensor(X[:, 0].numpy() + rng.normal(size=600) > 1.5).long()

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(X[:400]), y[:400]).backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    scores = model(X[400:]).softmax(dim=1)[:, 1]
print("ROC AUC", roc_auc_score(y[400:].numpy(), scores.numpy()))
