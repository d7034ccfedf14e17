"""Ranks under torchrun: one report for all of them; where they hang, and where a process was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.test_runs import execute, write
from torchsleuth.cli.run import collect
from torchsleuth.report.view import View
from torchsleuth.runtime import page, together, where
from torchsleuth.runtime.report import read_sources
from torchsleuth.runtime.session import Run, RunReport
from torchsleuth.schema import Json

SERVER = Path(__file__).parents[2] / "server"
TRAINING = """
import os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(SEED)
model = WRAPPED(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = DataLoader(TensorDataset(torch.randn(24, 4) + rank * bool("WRAPPED")), 8)
for epoch in range(2):
    for (x,) in loader:
        INSIDE
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("end", rank, flush=True)
AFTER
dist.destroy_process_group()
"""


def script(folder: Path, *, seed: str = "0", wrapped: str = "", inside: str = "pass", after: str = "") -> str:
    text = TRAINING.replace("SEED", seed).replace("WRAPPED", wrapped)
    path = folder / "train.py"
    path.write_text(text.replace("INSIDE", inside).replace("AFTER", after))
    return str(path)


def torchrun(path: str, **options: Any) -> Run:
    arguments = ("--nproc-per-node", "2", path)
    return Run("torch.distributed.run", arguments, sys.executable, os.path.dirname(path), module=True, **options)


def ranks_of(report: RunReport) -> Json:
    assert report.ranks is not None
    return report.ranks


def test_a_report_of_all_ranks(tmp_path: Path) -> None:
    job = torchrun(script(tmp_path, wrapped="nn.parallel.DistributedDataParallel"), on_output=lambda text: None)
    report = job.execute()
    assert (report.exit_code, report.diagnostics) == (0, ())
    found = ranks_of(report)
    assert [(rank["rank"], rank["steps"], rank["batches"]) for rank in found["ranks"]] == [(0, 6, 3), (1, 6, 3)]
    assert [[item["batches"] for item in rank["passes"]] for rank in found["ranks"]] == [[[3, 3]], [[3, 3]]]
    assert found["world"] == 2 and found["apart"] is None and found["unequal"] is None
    assert report.to_json()["ranks"] == found


def test_ranks_that_nothing_keeps_together(tmp_path: Path) -> None:
    report = torchrun(script(tmp_path, seed="rank"), on_output=lambda text: None).execute()
    (found,) = report.diagnostics
    assert (found.code, found.severity, found.start.line) == ("TS917", "warning", 20)
    assert "of shape (1, 4), is no longer the same in the ranks after step 1" in found.message


def test_the_rank_that_crashed_first(tmp_path: Path) -> None:
    wrapped, inside = "nn.parallel.DistributedDataParallel", "x = x[:, :3] if rank and epoch else x"
    report = torchrun(script(tmp_path, wrapped=wrapped, inside=inside), on_output=lambda text: None).execute()
    (found,) = report.diagnostics
    assert (found.code, found.start.line) == ("TS101", 17) and found.message.endswith("(rank 1)")
    merged = ranks_of(report)
    assert merged["first_to_crash"] == 1
    assert [[one["line"] for one in rank["findings"]] for rank in merged["ranks"]] == [[], [17]]
    assert together.summary(merged) == "2 ranks: rank 1 was the first to crash, behind 3 steps"


def test_an_input_is_followed_through_the_wrapper_of_ranks(tmp_path: Path) -> None:
    text = (
        "import os, torch\nfrom torch import nn\nimport torch.distributed as dist\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(6, 2)\n"
        "    def forward(self, x):\n        return self.fc(x)\n\ndef piece():\n    return torch.randn(4, 7)\n\n"
        "os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='0')\n"
        "store = dist.HashStore()\ndist.init_process_group('gloo', store=store, rank=0, world_size=1)\n"
        "model = nn.parallel.DistributedDataParallel(Net())\nmodel(piece())\n"
    )
    report, _ = execute(write(tmp_path / "main.py", text))
    (found,) = report.diagnostics
    assert (found.code, found.start.line) == ("TS101", 10)
    assert {13, 19} <= {related.start.line for related in found.related}


def test_what_is_silently_wrong_in_one_rank_and_in_all(tmp_path: Path) -> None:
    text = script(tmp_path, wrapped="nn.parallel.DistributedDataParallel", inside="x = x * (1 + 499 * rank)")
    report = torchrun(text, on_output=lambda text: None).execute()
    (large,) = [found for found in report.diagnostics if found.code == "TS930"]
    assert large.message.endswith("(rank 1)")
    merged = ranks_of(report)
    assert [[one["code"] for one in rank["findings"]] for rank in merged["ranks"]] == [[], ["TS930"]]
    (table,) = (table for table in View(report, read_sources()).to_json()["tables"] if table["name"] == "ranks")
    assert [row[-1] for row in table["rows"]] == ["–", f"TS930 train.py:{large.start.line}"]

    both = script(tmp_path, wrapped="nn.parallel.DistributedDataParallel", inside="x = x * 500")
    (found,) = torchrun(both, on_output=lambda text: None).execute().diagnostics
    assert found.code == "TS930" and "rank" not in found.message


def test_ranks_that_wait_for_each_other(tmp_path: Path) -> None:
    after = "dist.barrier() if rank else __import__('signal').pause()"
    job = torchrun(script(tmp_path, after=after))
    ended: list[str] = []

    def on_output(text: str) -> None:
        ended.append(text)
        if "".join(ended).count("end") == 2:
            job.time_out()

    job.on_output = on_output
    report = job.execute()
    (found,) = report.diagnostics
    assert found.code == "TS916" and found.start.line == 22 and report.ended == "timeout"
    assert "made no progress" in found.message or "rank 1 waits here, in `barrier`" in found.message


@pytest.mark.parametrize("waits", ["signal.pause()", "threading.Event().wait()", "os.read(os.pipe()[0], 1)"])
def test_where_a_run_hangs(tmp_path: Path, waits: str) -> None:
    text = f"import os, signal, threading\n\ndef wait():\n    print('ready', flush=True)\n    {waits}\n\nwait()\n"
    job = Run(str(write(tmp_path / "main.py", text)), (), sys.executable)
    job.on_output = lambda text: job.time_out()
    report = job.execute()
    (found,) = report.diagnostics
    assert (found.code, report.ended) == ("TS916", "timeout")
    assert found.start.line in (4, 5) and found.related[-1].start.line == 7


STALLED = """
import threading
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
for step in range(3):
    loss = (w * step).sum()
    loss.backward()
    optimizer.step()
threading.Event().wait()
"""


def test_a_run_in_which_nothing_moves_is_stopped(tmp_path: Path) -> None:
    job = Run(str(write(tmp_path / "main.py", STALLED)), (), sys.executable, on_output=lambda text: None, stall=0.5)
    report = job.execute()
    (found,) = report.diagnostics
    assert (found.code, found.start.line, report.ended) == ("TS916", 11, "stall")


def test_the_last_place_of_a_process_that_was_killed(tmp_path: Path) -> None:
    text = STALLED.replace("threading.Event().wait()", "import os\nos.kill(os.getpid(), 9)")
    report, _ = execute(write(tmp_path / "main.py", text))
    (found,) = report.diagnostics
    assert report.exit_code == -signal.SIGKILL
    assert found.code == "TS915" and found.start.line == 8 and "behind 3 optimizer steps" in found.message


def told(
    rank: int, norm: float, shape: tuple[int, ...] = (2, 2), batches: tuple[int, ...] = (4, 4), **more: Any
) -> Json:
    place = {"path": "a.py", "line": 3, "function": "f"}
    passes = [{"path": "a.py", "line": 2, "batches": list(batches)}]
    event = {"rank": rank, "world": 2, "steps": 8, "step_ms": 10.0, "local_ms": 1.0, "place": place, "passes": passes}
    event["complete"] = True
    return {"pid": rank, "rank": rank, "ranks": [{**event, "summed": 4, "sums": [[list(shape), 0.5, norm]], **more}]}


def test_ranks_that_are_given_the_same_batches() -> None:
    def alike(one: list[tuple[int, float]], other: list[tuple[int, float]], **more: Any) -> Json | None:
        first, second = told(0, 1.0), told(1, 1.0)
        for process, outputs in ((first, one), (second, other)):
            process["ranks"][-1].update(outputs=outputs, **more)
        found = together.merged_ranks([first, second], [], [])
        assert found is not None
        (said,) = [*together.rank_findings(found)] or [None]
        assert (said is None) == (found["alike"] is None)
        return found["alike"]

    seen = [(1, 0.5), (2, -3.25), (4, 7.0)]
    assert alike(seen, list(seen)) == {"path": "a.py", "line": 2, "steps": 3, "world": 2}
    assert alike(seen, [(1, 0.5), (2, -3.25), (4, 7.5)]) is None
    assert alike(seen[:2], seen[:2]) is None, "too early"
    assert alike([(1, 2.0), (2, 2.0), (4, 2.0)], [(1, 2.0), (2, 2.0), (4, 2.0)]) is None, (
        "a model that gives one number"
    )
    assert alike(seen, list(seen), passes=[]) is None, "data that a script makes itself"


def test_what_is_not_said_of_ranks() -> None:
    def merged(*processes: Json) -> Json:
        found = together.merged_ranks(processes, [], [])
        assert found is not None
        return found

    assert merged(told(0, 1.0), told(1, 2.0))["apart"]["parameter"] == 0
    assert merged(told(0, 1.0), told(1, 1.0001))["apart"] is None
    assert merged(told(0, 1.0), told(1, 2.0, shape=(2, 3)))["apart"] is None, "sharded"
    assert merged(told(0, 1.0), told(1, 2.0, summed=8))["apart"] is None, "not the same step"
    assert merged(told(0, 1.0), told(1, 2.0, sums=None))["apart"] is None
    assert merged(told(0, 1.0), told(1, 1.0, batches=(3, 4)))["unequal"]["batches"] == {0: 4, 1: 3}
    assert merged(told(0, 1.0), told(1, 1.0, batches=(4, 3)))["unequal"] is None, "the last one goes on"
    assert merged(told(0, 1.0), told(1, 1.0, batches=(4, 1)))["unequal"]["batches"] == {0: 4, 1: 1}
    stopped = told(1, 1.0, batches=(4, 1), complete=False)
    assert merged(told(0, 1.0), stopped)["unequal"] is None, "it was stopped, and told of its batches long before"
    assert merged(told(0, 1.0), told(1, 1.0, passes=[]))["unequal"] is None, "one rank evaluates"
    assert merged(told(0, 1.0), told(1, 1.0))["slowest"] is None
    assert merged(told(0, 1.0), told(1, 1.0, local_ms=5.0))["slowest"]["rank"] == 1
    assert merged(told(0, 1.0), told(1, 1.0, local_ms=1.6))["slowest"] is None, "too little of a step"
    assert together.merged_ranks([{"pid": 1, "rank": None}], [], []) is None


def test_a_line_about_all_ranks() -> None:
    def line(*processes: Json) -> str:
        found = together.merged_ranks(processes, [], [])
        assert found is not None
        return together.summary(found)

    assert line(told(0, 1.0), told(1, 1.0)) == "2 ranks, 8 steps each: none of them keeps the others waiting"
    slow = line(told(0, 1.0), told(1, 1.0, local_ms=5.0))
    assert "the others wait for rank 1, which works 5 ms alone in a step, rank 0 1 ms" in slow
    assert line(told(0, 1.0), told(1, 1.0, steps=5)).endswith("different numbers of steps: 8 in rank 0, 5 in rank 1")


def test_pages_and_lines_that_are_strange(tmp_path: Path) -> None:
    (tmp_path / "7.page").write_bytes(b"\1")
    (tmp_path / "7.lines").write_bytes(b"\xffThread")
    assert list(page.read(str(tmp_path))) == [page.Page(7, 1, 0, 0, 0)]
    assert list(where.read(str(tmp_path))) == [] and list(page.read("/nowhere")) == []
    where.ask(str(tmp_path))


def test_what_other_versions_and_full_disks_leave_is_told_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def events(pid: int, *more: dict[str, Any]) -> str:
        head = {
            "event": "process",
            "pid": pid,
            "time": float(pid),
            "parent": 1,
            "how": "spawn",
            "name": "x",
            "rank": None,
        }
        return "\n".join(json.dumps(event) for event in (head, *more))

    write(tmp_path / "1-1.events", events(1, {"event": "ended", "why": "exit"}))
    write(tmp_path / "2-1.events", events(2, {"event": "crash", "frames": 7}))
    write(tmp_path / "3-1.events", events(3, {"event": "lines", "completed": None, "files": [1]}))
    write(tmp_path / "4-1.events", events(4, {"event": "recorded", "training": {"losses": 3}}))
    write(tmp_path / "5-1.events", '{"event": "process", "time": "now"}\n' + "[" * 100_000)
    (tmp_path / "6-1.events").mkdir()
    write(tmp_path / "note.page", "none of ours")
    write(tmp_path / "note.lines", "Thread 0x1 (most recent call first):\n")
    if hasattr(os, "mkfifo"):
        for name in ("7-1.events", "7.page", "7.lines"):
            os.mkfifo(tmp_path / name)
    assert collect(tmp_path, (), "text", None) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert [line.partition("process ")[2].partition(" ")[0] for line in said] == ["2", "3"]


def test_a_recorder_that_the_environment_alone_starts(tmp_path: Path) -> None:
    write(tmp_path / "work.py", "import torch\n\ntorch.nn.Linear(4, 2)(torch.ones(3, 5))\n")
    start = SERVER / "torchsleuth" / "runtime" / "start"
    given = {**os.environ, "PYTHONPATH": str(start), "TORCHSLEUTH_RUN": str(tmp_path / "run")}
    done = subprocess.run([sys.executable, "work.py"], cwd=tmp_path, env=given, capture_output=True, text=True)
    assert done.returncode == 1 and "torchsleuth" not in done.stderr
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    command = [sys.executable, "-m", "torchsleuth", "collect", str(tmp_path / "run")]
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert said.returncode == 1 and "--> work.py:3:1" in said.stderr, said.stderr
    missing = subprocess.run([*command[:-1], "nowhere"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert missing.returncode == 2 and "nowhere" in missing.stderr


def test_a_run_inside_of_a_run_and_two_at_once(tmp_path: Path) -> None:
    write(tmp_path / "inner.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'leaf.py'])\n")
    write(tmp_path / "leaf.py", "import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n")
    command = "[sys.executable, '-m', 'torchsleuth', 'run', '--report', name, 'inner.py']"
    text = (
        "import subprocess, sys\nboth = [subprocess.Popen(COMMAND, stderr=subprocess.DEVNULL) for name in ('a', 'b')]\n"
        "print([one.wait() for one in both])\n"
    )
    outer = write(tmp_path / "outer.py", text.replace("COMMAND", command))
    given = {**os.environ, "PYTHONPATH": str(SERVER)}
    report, output = execute(outer, cwd=str(tmp_path), environment=given)
    assert (report.exit_code, output, report.diagnostics) == (0, "[0, 0]\n", ())
    assert [(tmp_path / name).exists() for name in ("a", "b")] == [True, True]
