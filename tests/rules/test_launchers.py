"""Functions that something else than the script calls: processes, coroutines, command lines, test runners."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.check import analyze, engine

HEAD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.first, self.last = nn.Linear(10, hidden), nn.Linear(hidden, 3)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))

"""
PROGRAMS = {
    "threads of a pool": """
        from concurrent.futures import ThreadPoolExecutor
        def load(width, rows=2):
            return torch.randn(rows, width)
        with ThreadPoolExecutor(max_workers=2) as pool:
            waiting = [pool.submit(load, SIZE, rows=number + 1) for number in range(3)]
            batch = torch.cat([one.result() for one in waiting])
        Net()(batch)
        """,
    "a pool that maps": """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor()
        for part in pool.map(lambda rows: torch.randn(rows, SIZE), range(1, 3)):
            Net()(part)
        pool.shutdown()
        """,
    "spawn": """
        import torch.multiprocessing as mp
        def worker(rank, width):
            Net()(torch.randn(4, width))
        if __name__ == "__main__":
            mp.spawn(worker, args=(SIZE,), nprocs=2)
        """,
    "thread": """
        import threading
        def work(width, hidden=16):
            Net(hidden)(torch.randn(4, width))
        thread = threading.Thread(target=work, args=(SIZE,), kwargs={"hidden": 8})
        thread.start()
        thread.join()
        """,
    "coroutine": """
        import asyncio
        async def fetch():
            await asyncio.sleep(0)
            return torch.randn(4, SIZE)
        async def main():
            first, second = await asyncio.gather(fetch(), fetch())
            return Net()(await fetch()), first
        asyncio.run(main())
        """,
    "click": """
        import click
        @click.command()
        @click.option("--hidden", default=32)
        @click.option("-w", "--net-width", type=int, default="SIZE")
        @click.option("--fast/--slow")
        def main(hidden, net_width, fast):
            Net(hidden)(torch.randn(4, net_width))
        main()
        """,
    "options of click": """
        import click
        def numbers(text):
            return [int(part) for part in text.split(",")]
        @click.command()
        @click.option("--sizes", type=numbers, default="SIZE,3")
        @click.option("--H_in", "H_in", type=click.IntRange(min=1), default=10)
        @click.option("--names", multiple=True)
        @click.option("--width", "--the-net-width", type=int, default=12)
        def main(sizes, H_in, names, width):
            len(names)
            torch.as_tensor(sizes)
            Net(H_in)(torch.randn(width, sizes[0]))
        main()
        """,
    "typer": """
        import typer
        def main(hidden: int = 32, width: int = typer.Option(SIZE, help="of the input")):
            Net(hidden)(torch.randn(4, width))
        typer.run(main)
        """,
    "fire": """
        import fire
        def main(name, width=SIZE):
            Net()(torch.randn(4, width))
        fire.Fire(main)
        """,
    "tyro": """
        import tyro
        from dataclasses import dataclass
        @dataclass
        class Args:
            width: int = SIZE
        args = tyro.cli(Args)
        Net()(torch.randn(4, args.width))
        """,
    "hydra": """
        import hydra
        @hydra.main(version_base=None, config_path=None)
        def main(cfg):
            Net(cfg.hidden)(torch.randn(4, SIZE))
        main()
        """,
    "fixture": """
        import pytest
        @pytest.fixture
        def net():
            return Net()
        @pytest.fixture(scope="module")
        def batch(net):
            yield torch.randn(4, SIZE)
            net.eval()
        def test_shape(net, batch):
            assert net(batch).shape == (4, 3)
        """,
    "unittest": """
        import unittest
        class ShapeTest(unittest.TestCase):
            def setUp(self):
                self.net = Net()
            def test_shape(self):
                self.assertEqual(self.net(torch.randn(4, SIZE)).shape, (4, 3))
        unittest.main()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_is_called_with_is_known(name: str) -> None:
    text = HEAD + textwrap.dedent(PROGRAMS[name])
    assert [one.code for one in analyze(text.replace("SIZE", "12")).diagnostics] == ["TS101"]
    assert analyze(text.replace("SIZE", "10")).diagnostics == ()


@pytest.mark.parametrize(
    "test",
    [
        "@pytest.mark.xfail\ndef test_bad(net):\n    net(torch.randn(4, 12))",
        "def test_bad(net):\n    with pytest.raises(RuntimeError):\n        net(torch.randn(4, 12))",
        "class TestBad(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_bad(self):\n        Net()(torch.randn(4, 12))",
        "class TestBad(unittest.TestCase):\n    def test_bad(self):\n"
        "        with self.assertRaises(RuntimeError):\n            Net()(torch.randn(4, 12))",
        "@pytest.mark.parametrize('width', [10, 12])\ndef test_widths(net, width):\n    net(torch.randn(4, width))",
    ],
)
def test_an_error_that_a_test_expects_is_none(test: str) -> None:
    fixtures = "import unittest\nimport pytest\n@pytest.fixture\ndef net():\n    return Net()\n"
    assert analyze(HEAD + fixtures + test + "\n").diagnostics == ()


COMPOSED = """
import hydra

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    net = nn.Linear(cfg.model.width, cfg["model"]["hidden"])
    net(torch.randn(cfg.batch, cfg.data.get("width", 7)))

main()
"""
MERGED = """
from omegaconf import OmegaConf

cfg = OmegaConf.merge(OmegaConf.load("conf/config.yaml"), OmegaConf.create({"model": {"width": 10}}), OmegaConf.from_cli())
net = nn.Linear(cfg.model.width, 4)
net(torch.randn(cfg.batch, WIDTH))
"""


@pytest.mark.parametrize(("width", "expected"), [(10, []), (12, ["TS101"])])
def test_configurations_beside_the_script(tmp_path: Path, width: int, expected: list[str]) -> None:
    for name, text in {
        "config": "defaults:\n  - model: small\n  - data\n  - _self_\nbatch: 4\n",
        "model/small": "width: 10\nhidden: 16\n",
        "data": f"data:\n  width: {width}\n",
    }.items():
        (tmp_path / "conf" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "conf" / f"{name}.yaml").write_text(text)
    script = str(tmp_path / "train.py")
    for program in (COMPOSED, MERGED.replace("WIDTH", str(width))):
        found = engine().analyze(script, HEAD + program)
        assert [one.code for one in found.diagnostics] == expected, program


def test_a_layer_some_sizes_of_which_are_not_known() -> None:
    text = """
        def build(cfg):
            net = nn.Sequential(nn.Linear(10, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 3))
            conv = nn.Conv2d(3, cfg.width, 3)
            return net(torch.randn(4, 12)), conv(torch.randn(2, 1, 8, 8)), nn.Linear(cfg.width, 4)(torch.randn(2, 7))
        """
    found = analyze(HEAD + textwrap.dedent(text)).diagnostics
    assert [one.code for one in found] == ["TS101", "TS102"]


def test_a_configuration_that_lists_itself(tmp_path: Path) -> None:
    listed = "".join("  - config\n" for _ in range(100))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text(f"defaults:\n{listed}model:\n  width: 12\n")
    found = engine().analyze(str(tmp_path / "train.py"), HEAD + COMPOSED)
    assert found.diagnostics == () and found.stats["internal_errors"] == []
