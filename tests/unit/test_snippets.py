"""The editor's snippets: each parses, runs, and gives the analysis nothing to say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.check import analyze

_FILE = Path(__file__).parents[2] / "snippets" / "python.json"
SNIPPETS: dict[str, dict[str, object]] = json.loads(_FILE.read_text(encoding="utf-8"))
_PLACEHOLDER = re.compile(r"\$\{\d+:([^}]*)\}|\$\d+")

PRELUDE = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
train_loader = DataLoader(TensorDataset(torch.randn(12, 5), torch.randint(0, 3, (12,))), batch_size=4, shuffle=True)
val_loader = DataLoader(TensorDataset(torch.randn(8, 5), torch.randint(0, 3, (8,))), batch_size=4)
model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3)).to(device)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

"""
"""What a snippet finds in the script that it is inserted into."""

USES = {
    "PyTorch dataset": "print(MyDataset(torch.zeros(3, 2), torch.zeros(3))[2][0].shape)\n",
    "PyTorch module": "print(Net(4, 8, 2)(torch.randn(6, 4)).shape)\n",
    "PyTorch convolutional classifier": "print(ConvNet()(torch.randn(2, 3, 17, 33)).shape)\n",
    "PyTorch attention": "print(SelfAttention(24, 4, causal=True)(torch.randn(2, 9, 24)).shape)\n",
    "PyTorch checkpoint": (
        "save_checkpoint('checkpoint.pt', model, optimizer, 3)\n"
        "print(load_checkpoint('checkpoint.pt', model, optimizer, device))\n"
    ),
    "PyTorch learning rate schedule": "optimizer.step()\nscheduler.step()\n",
}
"""What the user would write next."""


def expanded(name: str) -> str:
    """The text that the editor inserts when every placeholder is left as it is."""
    body = SNIPPETS[name]["body"]
    assert isinstance(body, list)
    return _PLACEHOLDER.sub(lambda match: match[1] or "", "\n".join(body)).expandtabs(4)


def script(name: str) -> str:
    return PRELUDE + expanded(name) + USES.get(name, "")


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_analysis_has_nothing_to_say(name: str) -> None:
    analysis = analyze(script(name))
    assert [diagnostic.message for diagnostic in analysis.diagnostics] == []
    assert analysis.stats["incomplete"] is None


@pytest.mark.parametrize("name", SNIPPETS)
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(script(name), f"{name}.py", "exec"), {"__name__": "__main__"})


def test_prefixes_are_distinct_and_easy_to_find() -> None:
    prefixes = [snippet["prefix"] for snippet in SNIPPETS.values()]
    assert len(set(prefixes)) == len(prefixes)
    assert all(str(prefix).startswith("torch-") for prefix in prefixes)
