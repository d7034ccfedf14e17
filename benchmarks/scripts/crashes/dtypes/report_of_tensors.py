"""A report that is written as JSON holds tensors in one of its entries."""

import json
import tempfile

import torch
from torch import nn

KINDS = ["reed", "sand", "mud"]


def score(given, wanted):
    hits = torch.stack([(given[wanted == kind] == kind).float().sum() for kind in range(3)])
    return {"all": (given == wanted).float().mean().item(), "each": dict(zip(KINDS, hits))}  # cause


class Log:
    def __init__(self):
        self.rows = []

    def write(self, path):
        report = {"kinds": KINDS, "rows": self.rows}
        with open(path, "w") as out:
            json.dump(report, out)  # raises TS199 at json.dump(report, out)


net, log = nn.Linear(4, 3), Log()
for _ in range(2):
    x, wanted = torch.randn(12, 4), torch.arange(12) % 3
    log.rows.append(score(net(x).argmax(1), wanted))
log.write(tempfile.mkdtemp() + "/report.json")
