import pandas as pd
import torch
from torch import nn

train = pd.DataFrame({"city": ["oslo", "rome", "paris", "oslo", "rome", "berlin"], "rent": [15.0, 9.0, 18.0, 14.0, 10.0, 12.0]})
test = pd.DataFrame({"city": ["paris", "oslo", "rome"], "rent": [17.0, 15.0, 9.5]})

X_train = pd.get_dummies(train["city"], dtype=float)
X_test = pd.get_dummies(test["city"], dtype=float).reindex(columns=X_train.columns, fill_value=0.0)

torch.manual_seed(0)
model = nn.Linear(X_train.shape[1], 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
inputs = torch.tensor(X_train.to_numpy(), dtype=torch.float32)
target = torch.tensor(train[["rent"]].to_numpy(), dtype=torch.float32)
for epoch in range(200):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), target).backward()
    optimizer.step()

with torch.no_grad():
    predicted = model(torch.tensor(X_test.to_numpy(), dtype=torch.float32))
print(predicted.squeeze(1).tolist(), test["rent"].tolist())
