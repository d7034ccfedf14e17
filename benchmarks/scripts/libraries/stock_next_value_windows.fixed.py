import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
returns = rng.normal(size=600).astype(np.float32)


def create_sequences(data, length):
    xs, ys = [], []
    for i in range(len(data) - length):
        xs.append(data[i : i + length])
        ys.append(data[i + length])
    return torch.from_numpy(np.array(xs)).unsqueeze(-1), torch.from_numpy(np.array(ys)).unsqueeze(-1)


X, y = create_sequences(returns, length=10)
X_train, y_train, X_test, y_test = X[:450], y[:450], X[450:], y[450:]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


torch.manual_seed(0)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(X_train), y_train).backward()
    optimizer.step()
print("test MSE", nn.functional.mse_loss(model(X_test), y_test).item(), "variance", y_test.var().item())
