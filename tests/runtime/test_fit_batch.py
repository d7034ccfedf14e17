"""The largest batch that fits, found by trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_runs import write
from torchsleuth.cli.fit_batch import fit_batch
from torchsleuth.cli.run import Options

SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn({samples}, 4)), batch_size=16)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for (x,) in loader:
    if len(x) > {most}:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("samples", "most", "status", "said"),
    [(6, 99, 0, "batches of 8 samples fit, and the data set has 6"), (50, 2, 0, "about 2: 3 is too large")],
)
def test_the_largest_batch_that_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], samples: int, most: int, status: int, said: str
) -> None:
    script = write(tmp_path / "train.py", SCRIPT.format(samples=samples, most=most))
    assert fit_batch(str(script), [], Options((), "text", None)) == status
    assert said in capsys.readouterr().err


def test_a_script_that_cannot_be_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(tmp_path / "train.py", "import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n")
    assert fit_batch(str(script), [], Options((), "text", None)) == 2
    assert "could not be tried: TS101" in capsys.readouterr().err
