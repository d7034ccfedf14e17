"""Kim's CNN for sentences: several widths of filters, k-fold cross-validation with samplers, sklearn-like wrapper."""
import random
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset, WeightedRandomSampler

MAX_LEN, VOCAB = 14, 60


class TextCNN(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_filters, filter_sizes, num_classes, dropout=0.3):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv2d(1, num_filters, (k, embed_dim)) for k in filter_sizes])
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(num_filters * len(filter_sizes), num_classes)

    def conv_and_pool(self, x, conv):
        x = F.relu(conv(x)).squeeze(3)
        return F.max_pool1d(x, x.size(2)).squeeze(2)

    def forward(self, x):
        out = self.embedding(x)
        out = out.unsqueeze(1)
        out = torch.cat([self.conv_and_pool(out, conv) for conv in self.convs], 1)
        return self.fc(self.dropout(out))


class TorchClassifier:
    """fit, predict_proba and predict like an estimator."""

    def __init__(self, build, epochs=2, lr=1e-2, batch_size=16, random_state=0):
        self.build, self.epochs, self.lr, self.batch_size, self.random_state = build, epochs, lr, batch_size, random_state

    def fit(self, dataset, indices):
        torch.manual_seed(self.random_state)
        self.model_ = self.build()
        optimizer = torch.optim.Adam(self.model_.parameters(), lr=self.lr)
        loader = DataLoader(dataset, batch_size=self.batch_size, sampler=SubsetRandomSampler(indices))
        self.history_ = []
        self.model_.train()
        for _ in range(self.epochs):
            for xb, yb in loader:
                loss = F.cross_entropy(self.model_(xb), yb)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.history_.append(loss.item())
        return self

    @torch.no_grad()
    def predict_proba(self, x):
        self.model_.eval()
        return torch.cat([F.softmax(self.model_(chunk), dim=-1) for chunk in x.split(self.batch_size)])

    def predict(self, x):
        return self.predict_proba(x).argmax(dim=1)

    def score(self, x, y):
        return (self.predict(x) == y).float().mean().item()


def make_sentences(n):
    xs, ys = torch.zeros(n, MAX_LEN, dtype=torch.long), torch.zeros(n, dtype=torch.long)
    for i in range(n):
        length = random.randint(6, MAX_LEN)
        label = int(random.random() < 0.3)
        words = [random.randint(1, VOCAB // 2) + label * (VOCAB // 2 - 1) for _ in range(length)]
        xs[i, :length] = torch.tensor(words)
        ys[i] = label
    return xs, ys


def k_fold(n, k):
    indices = list(range(n))
    random.shuffle(indices)
    fold = n // k
    for i in range(k):
        test = indices[i * fold:(i + 1) * fold]
        train = [j for j in indices if j not in test]
        yield train, test


random.seed(0)
torch.manual_seed(0)
x, y = make_sentences(90)
dataset = TensorDataset(x, y)
scores = OrderedDict()
for fold, (train_idx, test_idx) in enumerate(k_fold(len(dataset), 3)):
    clf = TorchClassifier(lambda: TextCNN(VOCAB, 16, 8, (2, 3, 4), 2))
    clf.fit(dataset, train_idx)
    scores[fold] = clf.score(x[test_idx], y[test_idx])
print(dict(scores))

class_weights = 1.0 / torch.bincount(y).float()
sampler = WeightedRandomSampler(class_weights[y], num_samples=len(y), replacement=True)
balanced = torch.cat([yb for _, yb in DataLoader(dataset, batch_size=30, sampler=sampler)])
print(balanced.float().mean().item(), balanced.shape)
