import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

rng = np.random.default_rng(0)
series = np.cumsum(rng.normal(size=400)).astype(np.float32)
series = (series - series[:250].mean()) / series[:250].std()
window, horizon = 24, 12
X = np.stack([series[i : i + window] for i in range(len(series) - window - horizon)])
y = np.stack([series[i + window : i + window + horizon] for i in range(len(series) - window - horizon)])

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
X_train, X_test, y_train, y_test = map(torch.from_numpy, (X_train, X_test, y_train, y_test))

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(window, 128), nn.ReLU(), nn.Linear(128, horizon))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(600):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(X_train), y_train)
    loss.backward()
    optimizer.step()
print(f"train {loss.item():.4f} test {nn.functional.mse_loss(model(X_test), y_test).item():.4f}")
