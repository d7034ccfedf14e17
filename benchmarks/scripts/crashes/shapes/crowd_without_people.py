"""Pictures without people were to be left out, and what is asked for its length is a dictionary of two."""
import torch
from torch import nn


def boxes_of(people):
    corners = [[x, y, x + 2, y + 2] for x, y in people]
    return {"boxes": corners, "names": ["person"] * len(people)}


def kept(pictures):
    rows = []
    for people in pictures:
        found = boxes_of(people)
        if len(found) == 0:  # cause
            continue
        rows.append(torch.tensor(found["boxes"], dtype=torch.float32))
    return rows


def sides(boxes):
    return boxes[:, 2:] - boxes[:, :2]  # raises TS108 at boxes[:, 2:]


net = nn.Linear(2, 1)
for boxes in kept([[(1, 2)], [(3, 4), (5, 6)], [], [(0, 1)]]):
    net(sides(boxes)).mean().backward()
