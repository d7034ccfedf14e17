"""Scores of queries against a table of prototypes, with one size typed wrong."""

import torch

torch.manual_seed(0)
queries = torch.randn(32, 512)
prototypes = torch.randn(256, 10)
scores = torch.mm(queries, prototypes)
print(scores.argmax(dim=1).bincount(minlength=10))
