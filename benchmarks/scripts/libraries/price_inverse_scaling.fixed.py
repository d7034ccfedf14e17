import numpy as np
import pandas as pd
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import nn

rng = np.random.default_rng(0)
df = pd.DataFrame({"volume": rng.uniform(1e3, 5e3, 200), "spread": rng.uniform(0, 1, 200)})
df["price"] = 20 + 0.01 * df["volume"] - 5 * df["spread"]

scaler = MinMaxScaler()
target_scaler = MinMaxScaler().fit(df[["price"]].to_numpy()[:160])
scaler.fit(df.to_numpy()[:160])
data = torch.tensor(scaler.transform(df.to_numpy()), dtype=torch.float32)
X, y = data[:, :2], data[:, 2:]

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(X[:160]), y[:160]).backward()
    optimizer.step()

with torch.no_grad():
    scaled = model(X[160:]).numpy()
predicted = target_scaler.inverse_transform(scaled)
print("MAE", np.abs(predicted[:, 0] - df["price"].to_numpy()[160:]).mean())
