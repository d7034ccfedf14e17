"""Answers to questions are ranked by products of vectors, and the hinge lifts the wrong ones."""
import torch
from torch import nn

torch.manual_seed(9)
questions, answers = torch.randn(200, 8), torch.randn(200, 8)
turned = nn.Linear(8, 8, bias=False)
optimizer = torch.optim.Adam(turned.parameters(), lr=1e-2)
meaning = torch.linalg.qr(torch.randn(8, 8))[0]
answers = questions @ meaning + 0.1 * answers


def fit(queries, replies):
    return (turned(queries) * replies).sum(1)


def ranking(queries, positive, negative):
    lead = fit(queries, negative) - fit(queries, positive)  # fault: TS355 | fixed: lead = fit(queries, positive) - fit(queries, negative)
    return nn.functional.softplus(-lead).mean()


for epoch in range(6):
    for rows in torch.randperm(200).split(25):
        wrong = rows[torch.randperm(len(rows))]
        optimizer.zero_grad()
        ranking(questions[rows], answers[rows], answers[wrong]).backward()
        optimizer.step()
