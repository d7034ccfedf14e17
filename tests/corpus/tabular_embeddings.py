"""Tabular regression with an embedding for each categorical column, written like a Kaggle notebook."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, random_split

rng = np.random.default_rng(42)
N = 300
cat_sizes = {"store": 12, "weekday": 7, "promo": 2}
cats = np.stack([rng.integers(0, n, size=N) for n in cat_sizes.values()], axis=1)
conts = rng.normal(size=(N, 4)).astype(np.float32)
target = (conts[:, 0] * 2 + cats[:, 2] * 1.5 + 0.1 * rng.normal(size=N)).astype(np.float32)

emb_szs = [(n, min(50, (n + 1) // 2)) for n in cat_sizes.values()]


class TabularDataset(Dataset):
    def __init__(self, cats, conts, y):
        self.cats = torch.tensor(cats, dtype=torch.int64)
        self.conts = torch.tensor(conts, dtype=torch.float)
        self.y = torch.tensor(y).reshape(-1, 1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.cats[idx], self.conts[idx], self.y[idx]


class TabularModel(nn.Module):
    def __init__(self, emb_szs, n_cont, out_sz, layers, p=0.2):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        self.emb_drop = nn.Dropout(p)
        self.bn_cont = nn.BatchNorm1d(n_cont)
        layerlist = []
        n_emb = sum([nf for ni, nf in emb_szs])
        n_in = n_emb + n_cont
        for i in layers:
            layerlist.append(nn.Linear(n_in, i))
            layerlist.append(nn.ReLU(inplace=True))
            layerlist.append(nn.BatchNorm1d(i))
            layerlist.append(nn.Dropout(p))
            n_in = i
        layerlist.append(nn.Linear(layers[-1], out_sz))
        self.layers = nn.Sequential(*layerlist)

    def forward(self, x_cat, x_cont):
        embeddings = []
        for i, e in enumerate(self.embeds):
            embeddings.append(e(x_cat[:, i]))
        x = torch.cat(embeddings, 1)
        x = self.emb_drop(x)
        x_cont = self.bn_cont(x_cont)
        x = torch.cat([x, x_cont], 1)
        return self.layers(x)


torch.manual_seed(33)
dataset = TabularDataset(cats, conts, target)
train_ds, valid_ds = random_split(dataset, [240, 60])
train_dl = DataLoader(train_ds, batch_size=40, shuffle=True)
valid_dl = DataLoader(valid_ds, batch_size=60)

model = TabularModel(emb_szs, conts.shape[1], 1, [32, 16], p=0.1)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

losses = []
for i in range(3):
    model.train()
    for xc, xn, yb in train_dl:
        y_pred = model(xc, xn)
        loss = torch.sqrt(criterion(y_pred, yb))
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        xc, xn, yb = next(iter(valid_dl))
        y_val = model(xc, xn)
        rmse = torch.sqrt(criterion(y_val, yb))
    print(f"epoch {i}: train {np.mean(losses):.4f} valid {rmse:.4f}")
for j in range(3):
    print(f"{y_val[j].item():8.3f} {yb[j].item():8.3f} {abs(y_val[j] - yb[j]).item():8.3f}")
