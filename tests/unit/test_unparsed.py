"""A document that does not parse: nothing is said that depends on what stands in the broken line."""

from __future__ import annotations

import pytest

from tests.check import analyze

TEXT = """import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(0, 2, (64,)))
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
for epoch in range(3):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            a, b = x.to(device), y.to(device)
            print((model(a).argmax(1) == b).sum().item())
"""
STATEMENTS = [line for line in TEXT.splitlines() if line and not line.endswith(":")]


@pytest.mark.parametrize("line", STATEMENTS, ids=str.strip)
def test_a_half_typed_line_raises_no_alarm(line: str) -> None:
    head = line[: len(line) - len(line.lstrip())] + line.strip().split("(")[0].split(" =")[0]
    for typed in (head + "(", head + "."):
        assert analyze(TEXT.replace(line, typed, 1)).diagnostics == ()


def test_what_does_not_depend_on_it_is_found() -> None:
    text = TEXT.replace("nn.Linear(16, 2)", "nn.Linear(17, 2)").replace("print((model", "print((model).")
    assert {item.code for item in analyze(text).diagnostics} == {"TS101"}
