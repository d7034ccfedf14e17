import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import nn

rng = np.random.default_rng(0)
train_temp = rng.uniform(0, 20, size=(300, 1))
test_temp = rng.uniform(20, 30, size=(100, 1))
train_load = 3.0 * train_temp + 5.0
test_load = 3.0 * test_temp + 5.0

scaler = MinMaxScaler()
X_train = torch.tensor(scaler.fit_transform(train_temp), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(test_temp), dtype=torch.float32)
y_train = torch.tensor(train_load / 100, dtype=torch.float32)
y_test = torch.tensor(test_load / 100, dtype=torch.float32)

torch.manual_seed(0)
model = nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(400):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(X_train), y_train).backward()
    optimizer.step()
print("test MAE", (model(X_test) - y_test).abs().mean().item() * 100)
