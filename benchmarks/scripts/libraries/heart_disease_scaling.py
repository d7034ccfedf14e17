import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

rng = np.random.default_rng(0)
X = rng.lognormal(sigma=1.5, size=(80, 6))
y = (np.log(X[:, 0]) + 0.5 * np.log(X[:, 1]) > 0).astype(np.float32)

scaler = StandardScaler()
X = scaler.fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

X_train, X_test = (torch.tensor(a, dtype=torch.float32) for a in (X_train, X_test))
y_train, y_test = (torch.tensor(a).unsqueeze(1) for a in (y_train, y_test))

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(X_train), y_train)
    loss.backward()
    optimizer.step()
accuracy = ((model(X_test) > 0).float() == y_test).float().mean()
print(f"test accuracy {accuracy.item():.3f}")
