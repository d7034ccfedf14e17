import pandas as pd
import torch
from sklearn.preprocessing import LabelEncoder
from torch import nn

prices = {"audio": 40.0, "books": 12.0, "garden": 30.0, "toys": 18.0}
train = pd.DataFrame({"category": ["audio", "books", "garden", "toys"] * 30})
test = pd.DataFrame({"category": ["garden", "toys", "books"] * 10})
train["price"] = train["category"].map(prices)
test["price"] = test["category"].map(prices)

encoder = LabelEncoder()
train_codes = torch.tensor(encoder.fit_transform(train["category"]))
test_codes = torch.tensor(encoder.fit_transform(test["category"]))

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(len(prices), 8), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
target = torch.tensor(train["price"].to_numpy(), dtype=torch.float32).unsqueeze(1)
for epoch in range(300):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(train_codes), target).backward()
    optimizer.step()

test_target = torch.tensor(test["price"].to_numpy(), dtype=torch.float32).unsqueeze(1)
print("test MAE", (model(test_codes) - test_target).abs().mean().item())
