"""A recommender: biased matrix factorisation and a neural tower, ranking loss, hit rate; written with inheritance."""
from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ratings(Dataset):
    def __init__(self, n_users=30, n_items=40, n=400, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.users = torch.randint(n_users, (n,), generator=g)
        self.items = torch.randint(n_items, (n,), generator=g)
        taste = torch.randn(n_users, 3, generator=g)
        style = torch.randn(n_items, 3, generator=g)
        self.ratings = (taste[self.users] * style[self.items]).sum(-1).clamp(-2, 2) + 3
        self.n_users, self.n_items = n_users, n_items

    def __len__(self):
        return self.ratings.numel()

    def __getitem__(self, i):
        return {"user": self.users[i], "item": self.items[i], "rating": self.ratings[i]}


class Recommender(nn.Module, ABC):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, dim)
        self.item_factors = nn.Embedding(n_items, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.mu = nn.Parameter(torch.tensor(3.0))
        for table in (self.user_bias, self.item_bias):
            nn.init.zeros_(table.weight)

    @abstractmethod
    def interaction(self, p, q):
        ...

    def forward(self, user, item):
        p, q = self.user_factors(user), self.item_factors(item)
        biases = self.user_bias(user) + self.item_bias(item)
        return self.interaction(p, q) + biases.squeeze(-1) + self.mu

    @property
    def device(self):
        return self.mu.device


class DotProduct(Recommender):
    def interaction(self, p, q):
        return (p * q).sum(-1)


class NeuralCF(Recommender):
    def __init__(self, n_users, n_items, dim, hidden=(32, 16)):
        super().__init__(n_users, n_items, dim)
        layers, width = [], 2 * dim
        for h in hidden:
            layers.extend([nn.Linear(width, h), nn.ReLU()])
            width = h
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def interaction(self, p, q):
        return self.mlp(torch.cat([p, q], dim=-1)).squeeze(-1)


def bpr_loss(model, user, positive, n_items):
    negative = torch.randint_like(positive, n_items)
    return -F.logsigmoid(model(user, positive) - model(user, negative)).mean()


def hit_rate(model, user, item, n_items, k=10):
    model.eval()
    with torch.no_grad():
        all_items = torch.arange(n_items, device=model.device)
        scores = torch.stack([model(u.expand(n_items), all_items) for u in user])
        top = scores.topk(k, dim=1).indices
    return (top == item[:, None]).any(dim=1).float().mean().item()


torch.manual_seed(0)
data = Ratings()
loader = DataLoader(data, batch_size=50, shuffle=True)
for cls in (DotProduct, NeuralCF):
    model = cls(data.n_users, data.n_items, dim=8)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    for epoch in range(2):
        model.train()
        total = 0.0
        for batch in loader:
            user, item, rating = batch["user"], batch["item"], batch["rating"]
            loss = F.mse_loss(model(user, item), rating) + 0.1 * bpr_loss(model, user, item, data.n_items)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(user)
        print(f"{cls.__name__} {epoch}: {total / len(data):.3f}")
    print("hit rate", hit_rate(model, data.users[:20], data.items[:20], data.n_items))
