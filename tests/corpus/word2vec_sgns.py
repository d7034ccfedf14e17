"""Skip-gram with negative sampling: vocabulary, subsampling table, sparse embeddings, nearest neighbours."""
import collections
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

corpus = """the king rules the land the queen rules the land the boy plays in the garden the girl plays in the garden
the king and the queen live in the castle the boy and the girl live in the house""".split()


class SkipGramModel(nn.Module):
    def __init__(self, emb_size, emb_dimension):
        super().__init__()
        self.emb_dimension = emb_dimension
        self.u_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)
        self.v_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)
        initrange = 1.0 / self.emb_dimension
        nn.init.uniform_(self.u_embeddings.weight.data, -initrange, initrange)
        nn.init.constant_(self.v_embeddings.weight.data, 0)

    def forward(self, pos_u, pos_v, neg_v):
        emb_u = self.u_embeddings(pos_u)
        emb_v = self.v_embeddings(pos_v)
        emb_neg_v = self.v_embeddings(neg_v)

        score = torch.sum(torch.mul(emb_u, emb_v), dim=1)
        score = torch.clamp(score, max=10, min=-10)
        score = -F.logsigmoid(score)

        neg_score = torch.bmm(emb_neg_v, emb_u.unsqueeze(2)).squeeze()
        neg_score = torch.clamp(neg_score, max=10, min=-10)
        neg_score = -torch.sum(F.logsigmoid(-neg_score), dim=1)

        return torch.mean(score + neg_score)


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
counts = collections.Counter(corpus)
word2id = {w: i for i, (w, _) in enumerate(counts.most_common())}
id2word = {i: w for w, i in word2id.items()}
freqs = np.array([counts[w] for w in word2id], dtype=np.float64) ** 0.75
freqs /= freqs.sum()
ids = [word2id[w] for w in corpus]
pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in range(max(0, i - 2), min(len(ids), i + 3)) if i != j]

model = SkipGramModel(len(word2id), 10)
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
for epoch in range(2):
    random.shuffle(pairs)
    total = 0.0
    for k in range(0, len(pairs) - 15, 16):
        chunk = pairs[k:k + 16]
        pos_u = torch.tensor([p[0] for p in chunk])
        pos_v = torch.tensor([p[1] for p in chunk])
        neg_v = torch.from_numpy(np.random.choice(len(word2id), size=(16, 4), p=freqs))
        optimizer.zero_grad()
        loss = model(pos_u, pos_v, neg_v)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total)


def most_similar(word, k=3):
    with torch.no_grad():
        table = F.normalize(model.u_embeddings.weight, dim=1)
        query = table[word2id[word]]
        scores, indices = torch.topk(table @ query, k + 1)
    return [id2word[i.item()] for i in indices[1:]]


print("king:", most_similar("king"))
