"""The command line in a terminal: keys, jobs, signals and ``/dev/tty`` are those of plain Python."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = str(Path(__file__).parents[2] / "server")
SHELL = """
import contextlib, os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)

def in_front(group):
    os.tcsetpgrp(0, group)

job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    in_front(os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
with contextlib.suppress(PermissionError):  # the job has done it, and is another program already
    os.setpgid(job, job)
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    in_front(os.getpgrp())
    if not os.WIFSTOPPED(status):
        break
    print("[stopped]", flush=True)
    command = input()
    if command == "fg":
        in_front(job)
    os.killpg(job, signal.SIGCONT)
print("[ended %s]" % os.waitstatus_to_exitcode(status), flush=True)
"""


class Screen:
    """What a terminal shows, and its keyboard."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""

    def wait_for(self, text: str) -> None:
        while text not in self.text:
            if not select.select([self._descriptor], [], [], 60)[0]:
                raise AssertionError(f"no {text!r} in {self.text!r}")
            try:
                self.text += os.read(self._descriptor, 1 << 10).decode()
            except OSError as error:
                raise AssertionError(f"no {text!r} in {self.text!r}") from error

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())


@contextmanager
def terminal(tmp_path: Path, script: str, *, instrumented: bool, shell: bool = True) -> Iterator[Screen]:
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "shell.py").write_text(SHELL)
    command = ["-m", "torchsleuth", "run", "script.py"] if instrumented else ["script.py"]
    if shell:
        command = ["shell.py", *command]
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = SERVER
        os.execv(sys.executable, [sys.executable, *command])
    attributes = termios.tcgetattr(descriptor)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
    try:
        yield Screen(descriptor)
    finally:
        os.close(descriptor)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


both = pytest.mark.parametrize("instrumented", [False, True], ids=["plain", "instrumented"])

KEYS = """
import signal, sys
for number in range(3):
    try:
        print("ready", number, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        print("saved", number, flush=True)
print("went on", flush=True)
"""


@both
@pytest.mark.parametrize("shell", [True, False], ids=["job", "leader"])
def test_a_script_that_goes_on_after_each_interrupt_is_left_alone(
    tmp_path: Path, instrumented: bool, shell: bool
) -> None:
    with terminal(tmp_path, KEYS, instrumented=instrumented, shell=shell) as screen:
        for number in range(3):
            screen.wait_for(f"ready {number}")
            screen.press("\x03")
            screen.wait_for(f"saved {number}")
        screen.wait_for("went on")
        if shell:
            screen.wait_for("[ended 0]")


TTY = """
import os, sys
with open("/dev/tty", "r+b", buffering=0) as tty:
    tty.write(b"password? ")
    given = tty.readline()
print(given, sys.stdin.isatty(), os.get_terminal_size() is not None, os.tcgetpgrp(0) == os.getpgrp(), input("more? "))
"""


@both
def test_the_terminal_can_be_opened_and_read(tmp_path: Path, instrumented: bool) -> None:
    with terminal(tmp_path, TTY, instrumented=instrumented) as screen:
        screen.wait_for("password? ")
        screen.press("secret\n")
        screen.wait_for("more? ")
        screen.press("text\n")
        screen.wait_for("b'secret\\n' True True True text")
        screen.wait_for("[ended 0]")


STOPPED = """
import signal, sys
signal.signal(signal.SIGCONT, lambda number, frame: print("continued", flush=True))
print("ready", flush=True)
for line in sys.stdin:
    print(f"got {line.strip()}", flush=True)
    if line == "end\\n":
        break
"""


@both
def test_a_job_stops_and_goes_on(tmp_path: Path, instrumented: bool) -> None:
    with terminal(tmp_path, STOPPED, instrumented=instrumented) as screen:
        screen.wait_for("ready")
        for number in range(2):
            screen.press("\x1a")
            screen.wait_for("[stopped]")
            screen.text = ""
            screen.press("fg\n")
            screen.wait_for("continued")
            screen.press(f"{number}\n")
            screen.wait_for(f"got {number}")
        screen.press("end\n")
        screen.wait_for("[ended 0]")


@both
def test_a_job_in_the_background_stops_where_it_reads(tmp_path: Path, instrumented: bool) -> None:
    with terminal(tmp_path, STOPPED, instrumented=instrumented) as screen:
        screen.wait_for("ready")
        screen.press("\x1a")
        screen.wait_for("[stopped]")
        screen.text = ""
        screen.press("bg\n")
        screen.wait_for("[stopped]")
        screen.press("fg\n")
        screen.wait_for("continued")
        screen.press("end\n")
        screen.wait_for("[ended 0]")


SIGNALS = """
import os, signal, sys
left = ["SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGINT", "SIGINT", "SIGCONT"]
def handle(number, frame):
    os.write(1, signal.Signals(number).name.encode() + b"\\n")  # in one piece: two processes write
    left.remove(signal.Signals(number).name)
for name in left:
    signal.signal(getattr(signal, name), handle)
def waiting():
    # between a look at `left` and pause(), a signal would be lost
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    return lambda: os.read(reader, 1)
ready, there = os.pipe()
child = os.fork()
wait = waiting()
if child == 0:
    os.write(there, b"x")  # what reaches a process in the middle of fork() is forgotten by Python
    while "SIGCONT" in left:
        wait()
    os._exit(0)
os.read(ready, 1)
print("ready", flush=True)
while left:
    wait()
os.waitpid(child, 0)
sys.exit(9)
"""


def test_signals_are_handed_on_each_time(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SIGNALS)
    environment = {**os.environ, "PYTHONPATH": SERVER}
    # A shell's job in the background ignores some signals from birth.
    heeded = "import os, signal, sys; [signal.signal(one, signal.SIG_DFL) for one in (2, 3)]; os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", heeded, sys.executable, "-m", "torchsleuth", "run", "script.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for name in ("SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP", "SIGTERM", "SIGQUIT"):
            process.send_signal(getattr(signal, name))
            assert process.stdout.readline() == f"{name}\n"
        for name in ("SIGINT", "SIGINT", "SIGCONT"):
            process.send_signal(getattr(signal, name))
            assert {process.stdout.readline(), process.stdout.readline()} == {f"{name}\n"}, "its child has it too"
        assert process.wait() == 9


DEBUGGED = """
import torch

def train(step):
    secret = 7 * step
    x = torch.ones(2, 3 + step)
    breakpoint()
    return x * secret

for step in range(1, 4):
    made = train(step)
print("sum", made.sum().item())
"""


@both
def test_a_debugger_sees_the_script_alone_each_time(tmp_path: Path, instrumented: bool) -> None:
    with terminal(tmp_path, DEBUGGED, instrumented=instrumented) as screen:
        for step in range(1, 4):
            screen.wait_for("(Pdb) ")
            screen.press("p secret, sorted(locals()), x.shape\n")
            screen.wait_for(f"({7 * step}, ['secret', 'step', 'x'], torch.Size([2, {3 + step}]))\r\n(Pdb) ")
            screen.text = ""
            screen.press("where\n")
            screen.wait_for("(Pdb) ")
            assert screen.text.count("script.py(") == 2 and "torchsleuth" not in screen.text
            screen.text = ""
            screen.press("c\n")
        screen.wait_for("sum 252.0")
        screen.wait_for("[ended 0]")


DEEP = """
import torch

model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(8, 4)))
model(torch.zeros(2, 9))
"""


def test_at_a_terminal_the_frames_of_libraries_in_a_row_are_one(tmp_path: Path) -> None:
    with terminal(tmp_path, DEEP, instrumented=True) as screen:
        screen.wait_for("[ended 1]")
    assert "frames of torch …" in screen.text and screen.text.count("container.py") == 0
    assert "mat1 and mat2 shapes cannot be multiplied" in screen.text and "script.py" in screen.text


def test_a_switch_shows_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHSLEUTH_TRACEBACK", "full")
    with terminal(tmp_path, DEEP, instrumented=True) as screen:
        screen.wait_for("[ended 1]")
    assert "frames of torch" not in screen.text and screen.text.count("container.py") == 2
