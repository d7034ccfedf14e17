import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(1)
df = pd.DataFrame(rng.normal(size=(120, 3)), columns=["tenure", "charges", "calls"])
df["churn"] = (df["calls"] > 0).astype("int64")


class ChurnDataset(Dataset):
    def __init__(self, features, target):
        self.features = torch.tensor(features.to_numpy(), dtype=torch.float32)
        self.target = target

    def __len__(self):
        return len(self.features)

    def __getitem__(self, idx):
        return self.features[idx], self.target.iloc[idx]


X_train, X_test, y_train, y_test = train_test_split(df.drop(columns="churn"), df["churn"], test_size=0.25, random_state=0)
loader = DataLoader(ChurnDataset(X_train, y_train), batch_size=16)
model = torch.nn.Linear(3, 2)
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
print(loss.item())
