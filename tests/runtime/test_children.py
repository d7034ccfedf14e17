"""Processes and threads that a script starts: their crashes are reported, and they see nothing of the recorder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.test_runs import execute, write
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run

MODEL = """
import os, sys, threading
import torch
from torch import nn

def work(size):
    return nn.Linear(4, 2)(torch.ones(3, size))
"""
STARTED = {
    "process": "import multiprocessing as mp\n"
    "mp.set_start_method('spawn')\nchild = mp.Process(target=work, args=(5,))\nchild.start(); child.join(); sys.exit(3)",
    "forked": "import multiprocessing as mp\n"
    "child = mp.get_context('fork').Process(target=work, args=(5,))\nchild.start(); child.join()",
    "forkserver": "import multiprocessing as mp\nwith mp.get_context('forkserver').Pool(1) as pool:\n    pool.map(work, [5])",
    "fork": "if os.fork() == 0:\n    work(5)\nsys.exit(os.wait()[1] >> 8)",
    "pool": "import multiprocessing as mp\nwith mp.get_context('fork').Pool(1) as pool:\n    pool.map(work, [5])",
    "spawn": "import torch.multiprocessing as mp\nmp.spawn(work_of, args=([5],), nprocs=1)",
    "program": "import subprocess\nsys.exit(subprocess.run([sys.executable, 'worker.py']).returncode)",
    "thread": "thread = threading.Thread(target=work, args=(5,))\nthread.start(); thread.join()",
}


@pytest.mark.parametrize("kind", STARTED)
def test_a_crash_is_found_wherever_it_happened(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "worker.py", MODEL + "work(5)\n")
    body = "\n".join("    " + line for line in STARTED[kind].splitlines())
    spawned = "\ndef work_of(rank, sizes):\n    work(sizes[rank])\n"
    script = write(tmp_path / "main.py", f"{MODEL}{spawned}\nif __name__ == '__main__':\n{body}\n")
    report, output = execute(script, cwd=str(tmp_path))
    found = report.diagnostics[0]
    assert Path(found.path).name == ("worker.py" if kind == "program" else "main.py")
    assert (found.code, found.start.line, found.start.column, found.end.column) == ("TS101", 7, 12, 48)
    assert len(report.diagnostics) == 1
    assert "mat1 and mat2" in output and "torchsleuth" not in output


def test_what_a_child_does_not_record_is_said_in_words_of_torch(tmp_path: Path) -> None:
    text = (
        "import multiprocessing as mp\nimport torch\ndef work(n):\n    return torch.ones(2, n) @ torch.ones(3, 1)\n"
        "with mp.get_context('fork').Pool(1) as pool:\n    pool.map(work, [4])\n"
    )
    (found,) = execute(write(tmp_path / "main.py", text))[0].diagnostics
    assert (found.code, found.start.line) == ("TS101", 4) and "(2x4 and 3x1)" in found.message


def test_what_a_parent_handles_is_no_crash(tmp_path: Path) -> None:
    text = (
        "import multiprocessing as mp\ndef work(text):\n    return int(text)\nwith mp.get_context('fork').Pool(1) as pool:\n"
        "    try:\n        pool.map(work, ['1', 'x'])\n    except ValueError:\n        print('handled')\n"
    )
    report, output = execute(write(tmp_path / "main.py", text))
    assert (report.exit_code, output, report.diagnostics) == (0, "handled\n", ())


def test_an_error_of_its_own_with_which_a_script_exits_is_no_crash(tmp_path: Path) -> None:
    text = "import sys\ntry:\n    int('x')\nexcept ValueError:\n    sys.exit(4)\n"
    report, _ = execute(write(tmp_path / "main.py", text))
    assert (report.exit_code, report.diagnostics, report.crash) == (4, (), None)


MIRROR = (
    "import os, sys\nprint(sorted(os.environ.items()))\nprint(sys.path, sys.argv, sys.orig_argv, sys.flags)\n"
    "print(__file__, __spec__, type(__loader__), sys._getframe().f_back)\n"
)


def test_a_program_that_a_script_starts_sees_the_same_environment(tmp_path: Path) -> None:
    write(tmp_path / "mirror.py", MIRROR)
    started = (
        "import subprocess, sys, os\nsubprocess.run([sys.executable, 'mirror.py'], check=True)\n"
        "subprocess.run([sys.executable, './mirror.py', 'x'], env={**os.environ, 'PYTHONPATH': 'one:two'}, check=True)\n"
        "for flags in (['-I'], ['-O', '-E'], ['-S'], ['-X', 'utf8']):\n"
        "    subprocess.run([sys.executable, *flags, 'mirror.py'], check=True)\n"
        "print(subprocess.run(['env'], capture_output=True, text=True, check=True).stdout)\n"
    )
    script = write(tmp_path / "main.py", started)
    given = {**os.environ, "PYTHONUNBUFFERED": "1"}
    plain = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=given)
    report, output = execute(script, cwd=str(tmp_path), environment=given)
    assert report.exit_code == 0
    assert sorted(output.splitlines()) == sorted(plain.stdout.splitlines())


@pytest.mark.parametrize("start", ["subprocess.run([sys.executable, 'part.py'])", "mp.spawn(part.train, args=(3,))"])
def test_what_a_child_computes_is_recorded(tmp_path: Path, start: str) -> None:
    train = (
        "import torch\n\ndef train(rank, width):\n    model = torch.nn.Linear(width, 1)\n"
        "    optimizer = torch.optim.SGD(model.parameters(), 0.1)\n    for step in range(40):\n"
        "        loss = model(torch.randn(8, width)).mean()\n        optimizer.step()\n"
        "if __name__ == '__main__':\n    train(0, 3)\n"
    )
    write(tmp_path / "part.py", train)
    text = f"import subprocess, sys\nimport torch.multiprocessing as mp\nimport part\nif __name__ == '__main__':\n    {start}\n"
    report, _ = execute(write(tmp_path / "main.py", text), cwd=str(tmp_path))
    assert {fact.binding: fact.shape for fact in report.facts}["loss"] == ()
    assert report.recorded is not None and report.recorded.steps == 40
    assert ("TS502", 8) in [(found.code, found.start.line) for found in report.diagnostics]


def test_a_limit_holds_for_what_a_script_starts(tmp_path: Path) -> None:
    part = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for step in range(9):\n    optimizer.step()\n    print(step, flush=True)\n"
    )
    write(tmp_path / "part.py", part)
    text = "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, 'part.py']).returncode)\n"
    output: list[str] = []
    job = Run(str(write(tmp_path / "main.py", text)), (), sys.executable, str(tmp_path), on_output=output.append)
    job.limits = Limits(max_steps=2)
    report = job.execute()
    assert ("".join(output), report.exit_code, report.ended) == ("0\n", 0, "max-steps")


def test_the_line_that_a_fault_in_c_ended_is_found(tmp_path: Path) -> None:
    text = "import ctypes\n\ndef read():\n    return ctypes.string_at(0)\n\nfor step in range(2):\n    read()\n"
    report, output = execute(write(tmp_path / "main.py", text))
    (found,) = report.diagnostics
    assert report.exit_code == -signal.SIGSEGV and output == ""
    assert (found.start.line, found.related[-1].start.line) == (4, 7) and "Segmentation fault" in found.message
