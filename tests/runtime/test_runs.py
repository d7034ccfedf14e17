"""Real runs: what the script sees is what plain Python gives it; what we see is where it failed."""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from torchsleuth.runtime.session import Run, RunReport, run
from torchsleuth.schema import Json, Position

MIRROR = '''"""Docstring."""
from __future__ import annotations

import atexit, inspect, os, sys, threading, warnings

class Private:
    __hidden = len("abc")

    def get(self):
        return self.__hidden

atexit.register(lambda: sys.stdout.write("at exit\\n"))
module = sys.modules["__main__"]
print(__doc__, __name__, __file__, sys.argv, sys.orig_argv[1:], sys.path[0], __spec__, __package__, __cached__)
print(sorted(vars(module)), sorted(k for k in os.environ if "TORCH" in k or k == "PYTHONPATH"), Private().get())
print(type(__loader__).__name__, os.getcwd(), threading.active_count(), inspect.getsource(Private))
print(sys.stdin.readline().upper(), end="", flush=True)
print("error text", file=sys.stderr)
warnings.warn("a warning")
os.chdir("/")
MODES = {
    "exit": lambda: sys.exit(7),
    "text": lambda: sys.exit("a reason"),
    "none": lambda: sys.exit(),
    "hard": lambda: os._exit(9),
    "killed": lambda: os.kill(os.getpid(), 15),
    "interrupt": lambda: os.kill(os.getpid(), 2),
    "end": lambda: None,
}
def deep(n):
    return 1 // n if n == 0 else deep(n - 1)

def caught(n):
    try:
        deep(n)
    except ZeroDivisionError as error:
        raise KeyError("中文") from error
if sys.argv[1] == "fork":
    if os.fork() == 0:
        print("child", flush=True)
        deep(1)
    print("child ended with", os.wait()[1] >> 8)
    sys.exit(3)
if sys.argv[1] == "hook":
    sys.excepthook = lambda kind, error, traceback: print("hooked", kind, error, traceback.tb_frame.f_code.co_name)
if sys.argv[1] == "thread":
    thread = threading.Thread(target=deep, args=(1,), name="worker")
    thread.start()
    thread.join()
print = lambda *args: sys.stdout.write("mine: %s\\n" % (args,))
print("redefined")
MODES.get(sys.argv[1], lambda: caught(2))()
'''
ENDINGS = ["exit", "text", "none", "hard", "killed", "interrupt", "end", "fork", "hook", "thread", "crash"]


def execute(path: Path, *arguments: str, **options: Any) -> tuple[RunReport, str]:
    output: list[str] = []
    report = run(str(path), arguments, interpreter=sys.executable, on_output=output.append, **options)
    return report, "".join(output)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


ENTRY = """
import sys
from torchsleuth.runtime.session import run
report = run(sys.argv[1], tuple(sys.argv[2:]), interpreter=sys.executable)
with open("report", "w") as file:
    file.write(str(report.exit_code))
"""


@pytest.mark.parametrize("mode", ENDINGS)
def test_streams_arguments_traceback_and_exit_status_are_those_of_python(tmp_path: Path, mode: str) -> None:
    write(tmp_path / "mirror.py", MIRROR)
    given: dict[str, Any] = {"input": "hello\n", "capture_output": True, "text": True, "cwd": tmp_path}
    plain = subprocess.run([sys.executable, "mirror.py", mode], **given)
    server = str(Path(__file__).parents[2] / "server")
    code = f"import sys; sys.path.insert(0, {server!r}){ENTRY}"
    ours = subprocess.run([sys.executable, "-c", code, "mirror.py", mode], **given)
    assert ours.stdout == plain.stdout
    assert ours.stderr == plain.stderr
    assert (tmp_path / "report").read_text() == str(plain.returncode)


def test_a_missing_script_ends_as_with_python(tmp_path: Path) -> None:
    report, output = execute(tmp_path / "no.py")
    assert report.exit_code == 2 and "can't open file" in output and not report.diagnostics


IMPORTED = {
    "syntax": "x = 1\nif x\n    pass\n",
    "crash": "def f():\n    return 1 / 0\nf()\n",
    "name": "import no_such_module\n",
}


@pytest.mark.parametrize("fault", IMPORTED)
@pytest.mark.parametrize("imported", [False, True])
def test_faults_on_loading_are_printed_as_python_does(tmp_path: Path, fault: str, imported: bool) -> None:
    write(tmp_path / "faulty.py", IMPORTED[fault])
    write(tmp_path / "main.py", "import faulty\n")
    script = tmp_path / ("main.py" if imported else "faulty.py")
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True)
    report, output = execute(script)
    assert (report.exit_code, output) == (1, plain.stderr)


def test_crash_in_a_helper_built_sequential_points_at_the_number(tmp_path: Path) -> None:
    script = write(
        tmp_path / "net.py",
        "import torch\nfrom torch import nn\n\ndef block(a, b):\n    return nn.Sequential(nn.Linear(a, b), nn.ReLU())\n\n"
        "net = nn.Sequential(block(8, 16), block(10, 4))\nx = torch.randn(3, 8)\ny = net(x)\n",
    )
    report, output = execute(script)
    assert report.exit_code == 1 and "mat1 and mat2" in output
    (found,) = report.diagnostics
    assert (found.code, found.start, found.end) == ("TS101", Position(9, 5), Position(9, 11))
    assert "(3, 16) has 16 features" in found.message and "in_features=10" in found.message
    assert report.crash is not None and report.crash["module"]["path"] == "net.1.0"
    built = found.related[0]
    assert (built.start, built.end) == (Position(5, 26), Position(5, 41))
    (edit,) = found.fixes[0].edits
    assert (edit.start, edit.end, edit.new_text) == (Position(7, 41), Position(7, 43), "16")
    assert ("x", (3, 8)) in {(fact.binding, fact.shape) for fact in report.facts}
    assert report.to_json()["diagnostics"][0]["layer"] == "run"


PACKAGE = {
    "train.py": "from lib.model import Net\nimport torch\nprint(Net()(torch.ones(2, 6)).shape)\n",
    "lib/__init__.py": "",
    "lib/model.py": "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, wide=5):\n        super().__init__()\n"
    "        self.fc = nn.Linear(wide, 2)\n\n    def forward(self, x):\n        return self.fc(x * 2)\n",
}


def test_modules_of_the_project_are_recorded_and_a_default_is_the_number_to_change(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, text)
    report, _ = execute(tmp_path / "train.py", cwd=str(tmp_path))
    model = str(tmp_path / "lib" / "model.py")
    (found,) = report.diagnostics
    assert (found.path, found.start) == (model, Position(9, 16))
    (edit,) = found.fixes[0].edits
    assert (edit.path, edit.start, edit.new_text) == (model, Position(4, 29), "6")
    assert (model, "x * 2", (2, 6)) in {(fact.path, fact.expression, fact.shape) for fact in report.facts}
    assert set(report.loaded) == {str(tmp_path / name) for name in PACKAGE}


LOADER = """
import builtins
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        row = torch.zeros(3)
        assert builtins.torchsleuth_record.func.__name__ == "unrecorded"
        if index == 5:
            return index, row + torch.zeros(4)
        return index, row

if __name__ == "__main__":
    for numbers, rows in DataLoader(Rows(), batch_size=2, num_workers=2):
        pass
"""


def test_a_worker_of_a_loader_is_not_recorded_and_its_crash_is_found(tmp_path: Path) -> None:
    script = write(tmp_path / "loader.py", LOADER)
    report, _ = execute(script)
    (found,) = report.diagnostics
    assert (found.code, found.start.line) == ("TS103", 14)
    if sys.version_info >= (3, 11):
        assert (found.start.column, found.end.column) == (27, 47)
    assert 18 in {related.start.line for related in found.related}
    assert {fact.start.line for fact in report.facts} == {18}


def test_the_facts_of_a_script_that_leaves_by_the_back_door_arrive(tmp_path: Path) -> None:
    script = write(tmp_path / "leave.py", "import os\nimport torch\nx = torch.ones(2, 3)\ny = x.T @ x\nos._exit(4)\n")
    report, _ = execute(script)
    assert report.exit_code == 4 and not report.diagnostics
    assert {("x", (2, 3)), ("y", (3, 3))} <= {(fact.binding, fact.shape) for fact in report.facts}


def test_a_crash_that_the_script_reports_itself_is_found_too(tmp_path: Path) -> None:
    script = write(
        tmp_path / "polite.py",
        "import sys\nimport torch\ntry:\n    torch.ones(2) + torch.ones(3)\nexcept RuntimeError as error:\n"
        "    sys.exit(f'failed: {error}')\n",
    )
    report, output = execute(script)
    assert report.exit_code == 1 and output.startswith("failed: The size")
    assert [(found.code, found.start.line) for found in report.diagnostics] == [("TS103", 4)]


def test_compiled_code_sees_no_recorder(tmp_path: Path) -> None:
    script = write(
        tmp_path / "compiled.py",
        "import torch\ndef f(x):\n    y = x.sin() * 2\n    return y[:, :2].sum(dim=1)\n"
        "g = torch.compile(f, fullgraph=True, backend='eager')\nprint(g(torch.ones(3, 4)).shape)\n",
    )
    report, output = execute(script)
    assert (report.exit_code, output) == (0, "torch.Size([3])\n")


ENDLESS = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(600)'])
print(child.pid, flush=True)
import torch
x = torch.ones(2)
while True:
    x = x * 1
"""


def is_gone(process: int) -> bool:
    """Whether a process ends; a signal that was sent takes effect a moment later."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
def test_facts_stream_while_a_script_runs_and_cancel_ends_its_whole_group(tmp_path: Path) -> None:
    script = write(tmp_path / "forever.py", ENDLESS)
    lines: list[str] = []
    events: list[Json] = []
    session = Run(str(script), (), sys.executable, on_output=lines.append)

    def on_event(event: Json) -> None:
        events.append(event)
        if event["event"] == "facts":
            threading.Thread(target=session.cancel).start()

    session.on_event = on_event
    report = session.execute()
    assert report.cancelled and report.crash is None
    # SIGINT ends it, or, where the machine is too busy for that, SIGKILL after the grace period.
    assert report.exit_code in (-signal.SIGINT, -signal.SIGKILL)
    assert [event["event"] for event in events][:2] == ["started", "loaded"] and events[-1]["event"] == "finished"
    assert ("x", (2,)) in {(fact.binding, fact.shape) for fact in report.facts}
    assert is_gone(int("".join(lines).split()[0]))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
def test_interrupting_the_command_line_ends_the_script_and_what_it_started(tmp_path: Path) -> None:
    script = write(tmp_path / "forever.py", ENDLESS)
    server = str(Path(__file__).parents[2] / "server")
    command = [sys.executable, "-m", "torchsleuth", "run", str(script)]
    environment = {**os.environ, "PYTHONPATH": server}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 128 + signal.SIGINT
    assert "KeyboardInterrupt" in errors and "torchsleuth" not in errors
    assert is_gone(child)


def test_the_script_and_what_it_started_end_with_a_command_line_that_is_killed(tmp_path: Path) -> None:
    script = write(tmp_path / "forever.py", ENDLESS)
    command = [sys.executable, "-m", "torchsleuth", "run", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "server")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    assert is_gone(child)


def test_children_that_a_script_leaves_behind_live_on(tmp_path: Path) -> None:
    """As with plain Python: only those of a script that was stopped end with it."""
    text = "import subprocess\nprint(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid, flush=True)\n"
    report, output = execute(write(tmp_path / "leaves.py", text))
    assert report.exit_code == 0
    os.kill(int(output), signal.SIGKILL)


def test_a_run_that_is_killed_before_it_starts_ends_at_once(tmp_path: Path) -> None:
    job = Run(str(write(tmp_path / "forever.py", ENDLESS)), interpreter=sys.executable, on_output=lambda text: None)
    job.kill()
    assert job.execute().cancelled


def test_an_interpreter_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    script = write(tmp_path / "script.py", "")
    with pytest.raises(OSError):
        run(str(script), (), interpreter=str(tmp_path / "no-python"))


SAFE = "-P -m pack" if sys.version_info >= (3, 11) else "-s -m pack"
FOLDER = {
    "pack/__init__.py": "",
    "pack/__main__.py": "import sys, traceback\nfrom pack import deep\nprint(sys.argv, sys.orig_argv[1:], sys.path[0], __name__,\n"
    "      __file__, __package__, __spec__.name, __debug__, sorted(vars()))\ntraceback.print_stack()\ndeep.dig(sys.argv[-1])\n",
    "pack/deep.py": "import sys, traceback\ndef dig(text):\n    traceback.print_stack()\n    if text == 'exit':\n        sys.exit(5)\n"
    "    return 1 / len(text[1:])\n",
}


@pytest.mark.parametrize("last", ["x", "exit", "long"])
@pytest.mark.parametrize("command", ["-m pack", "-O -X utf8 -m pack.__main__ --report a", "pack", SAFE, "-m none.such"])
def test_a_module_and_a_folder_run_as_with_python(tmp_path: Path, command: str, last: str) -> None:
    for name, text in FOLDER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, text)
    arguments = [*command.split(), last]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    given: dict[str, Any] = {"capture_output": True, "text": True, "cwd": tmp_path, "env": environment}
    plain = subprocess.run([sys.executable, *arguments], **given)
    flags = list(itertools.takewhile(lambda item: item not in ("-m", "pack"), arguments))
    module = "-m" in arguments
    target, *rest = arguments[len(flags) + module :]
    job = Run(
        target, tuple(rest), sys.executable, str(tmp_path), environment=environment, module=module, flags=tuple(flags)
    )
    output: list[str] = []
    job.on_output = output.append
    report = job.execute()
    assert report.exit_code == plain.returncode
    assert sorted("".join(output).splitlines()) == sorted((plain.stdout + plain.stderr).splitlines())


SWALLOWED = """
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(size):
    for _ in range(3):
        {before}
            optimizer.zero_grad()
            model(torch.randn(8, size)).sum().backward()
            optimizer.step()
        {after}

{main}
"""


@pytest.mark.parametrize(
    ("before", "after", "main", "expected"),
    [
        ("try:", "except RuntimeError:\n            continue", "train(5)", "caught at line 14, 3 times"),
        ("if True:", "", "try:\n    train(5)\nexcept Exception as error:\n    print(error)", "caught at line 18"),
        ("if True:", "", "try:\n    train(5)\nexcept RuntimeError:\n    train(4)", None),
        ("try:", "except RuntimeError:\n            continue", "train(5); train(4); train(4)", None),
        ("try:", "except RuntimeError:\n            continue", "train(4)", None),
    ],
)
def test_an_error_that_the_script_catches_and_that_undoes_its_training(
    tmp_path: Path, before: str, after: str, main: str, expected: str | None
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SWALLOWED.format(before=before, after=after, main=main))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    found = [diagnostic for diagnostic in report.diagnostics if diagnostic.severity == "error"]
    assert report.exit_code == 0 and report.crash is None
    assert [(one.code, one.start.line) for one in found] == ([("TS101", 12)] if expected else [])
    assert all(expected is not None and expected in one.message for one in found)


def test_what_is_ignored_by_who_starts_it_is_ignored_by_the_script(tmp_path: Path) -> None:
    """As under ``nohup``, and in the background of a shell without jobs."""
    script = tmp_path / "train.py"
    script.write_text(
        "import os, signal\n"
        "print([signal.getsignal(one) is signal.SIG_IGN for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGHUP)\nprint('still here')\n"
    )
    shell = f"trap '' HUP INT; exec {sys.executable} -m torchsleuth run {script}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "[True, True, False]\nstill here\n")
