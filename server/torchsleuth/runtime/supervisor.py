"""Stands between a run and its script, so that the script and all it started end with the run, however that ends.

    python -I -S supervisor.py LIFELINE EVENTS [job]

LIFELINE is a pipe from the one that runs the script. Its first line is a number, that of the bytes of the command, which follow, a
zero byte between two arguments; each byte after that is the number of a signal for the script, or, where a terminal would send it to all, for its process group; at its end, everything
is killed. EVENTS is passed on to the script. The exit status is that of the script. What the script leaves behind lives on,
unless the script was ended by a signal that was sent to it.

Without ``job`` the script gets a session of its own, without a terminal. With it, the session stays, and this process does
what a shell does for a job: the script's process group is in the foreground of the terminal while that of the command line
would be, so that Ctrl-C, Ctrl-Z and ``/dev/tty`` reach it; when it stops, the command line stops, and goes on with it.

On Linux, processes below the script are found even if they have made themselves independent of it; elsewhere, those that
are still its descendants when it ends, and its process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_FOR_ALL = (signal.SIGINT, signal.SIGTSTP, signal.SIGCONT)
"""Signals that a terminal or a shell sends to all processes of a job."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)
PATIENCE_SECONDS = 10.0
"""Time in which killed processes are waited for."""


def main(lifeline: int, events: int, job: bool) -> int:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP"):
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores some, and so is the script to
            signal.signal(number, lambda number, frame: None)  # those for the script come by the lifeline
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for name in ("SIGCHLD", "SIGCONT"):
        signal.signal(getattr(signal, name), lambda number, frame: None)
    os.set_inheritable(lifeline, False)
    length = _first_line(lifeline)
    if length is None:
        return 1
    command = b""
    while len(command) < int(length) and (read := os.read(lifeline, int(length) - len(command))):
        command += read
    _control(_PR_SET_CHILD_SUBREAPER, 1)
    terminal = Terminal() if job else None
    script = os.fork()
    if script == 0:
        _become(command.split(b"\0"), events, terminal)
    os.close(events)
    if terminal is not None:
        terminal.adopt(script)
    signalled = False
    while True:
        ready, _, _ = select.select([lifeline, reader], [], [])
        if reader in ready:
            os.read(reader, 1 << 10)
            status = _ended(script, terminal)
            if status is not None:
                if signalled and status != 0:
                    _sweep(script)
                if terminal is not None:
                    terminal.take()
                return _end_as(status)
            if terminal is not None:
                terminal.give(script)
        if lifeline in ready:
            numbers = os.read(lifeline, 1 << 10)
            if not numbers:
                _sweep(script)
                return _end_as(signal.SIGKILL)
            for number in numbers:
                signalled = signalled or number in _ENDING
                if number == signal.SIGCONT and terminal is not None and terminal.has_continued():
                    continue
                _signal_group(script, number) if number in _FOR_ALL else _signal(script, number)


class Terminal:
    """The controlling terminal, if there is one, and the job that this process and the command line belong to."""

    def __init__(self) -> None:
        self._group = os.getpgrp()
        self._stopped = self._told_again = False
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a job in the background may not choose the one in front
        try:
            self._descriptor: int | None = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            self._descriptor = None

    def adopt(self, script: int) -> None:
        """Make the script a process group, in front if this one is. Done on both sides of the fork: either may be first."""
        with contextlib.suppress(OSError):
            os.setpgid(script, script)
        self.give(script)

    def give(self, script: int) -> None:
        """Called when something has happened: put the script in front if its job is, and let it go on after a stop."""
        if self._is_in_front():
            self._put_in_front(script)
        if self._stopped:
            self._stopped, self._told_again = False, True
            _signal_group(script, signal.SIGCONT)

    def has_continued(self) -> bool:
        """Whether the script was continued already, when the command line hands on its SIGCONT: a shell sends one to both. A
        second one, late, would undo the next stop."""
        if self._told_again:
            self._told_again = False
            return True
        self._stopped = False
        return False

    def take(self) -> None:
        """The command line in front again."""
        if self._descriptor is not None and not self._is_in_front():
            self._put_in_front(self._group)

    def stop(self, script: int) -> None:
        """The script has stopped: so does its job, until somebody continues it."""
        in_front = self._descriptor is not None and self._front() == script
        if in_front:
            self._put_in_front(self._group)
        self._stopped = True
        if os.getsid(0) == os.getppid():
            return  # there is no shell that could continue it: it goes on
        os.killpg(self._group, signal.SIGSTOP)

    def _front(self) -> int | None:
        try:
            return None if self._descriptor is None else os.tcgetpgrp(self._descriptor)
        except OSError:
            return None

    def _is_in_front(self) -> bool:
        return self._front() == self._group

    def _put_in_front(self, group: int) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self._descriptor, group)


def _first_line(lifeline: int) -> bytes | None:
    """The length of the command; None where whoever started this has gone."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(lifeline, 1)
        if not byte:
            return None
        line += byte
    return line


def _become(command: list[bytes], events: int, terminal: Terminal | None) -> None:
    """The forked process: the script, in a session or a process group of its own."""
    try:
        if terminal is None:
            os.setsid()
        else:
            terminal.adopt(os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for name in ("SIGPIPE", "SIGXFSZ"):  # as for a program that is not started by Python
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(events, b'{"event": "failed", "errno": %d}\n' % (error.errno or errno.ENOEXEC))
    finally:
        os._exit(127)


def _control(option: int, value: int) -> None:
    """``prctl``, where there is one."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
        except (OSError, AttributeError):
            return


def _ended(script: int, terminal: Terminal | None = None) -> int | None:
    """The script's status if it has ended. Others that ended are forgotten."""
    status = None
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG | (os.WUNTRACED if terminal is not None else 0))
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == script:
            if terminal is not None and os.WIFSTOPPED(found):
                terminal.stop(script)
            else:
                status = found


def _signal(script: int, number: int) -> None:
    try:
        os.kill(script, number)
    except OSError:
        return


def _signal_group(script: int, number: int) -> None:
    try:
        os.killpg(script, number)
    except OSError:
        return


def _sweep(script: int) -> None:
    """Kill the script and everything below it, and what they start meanwhile."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = _descendants()
        _signal_group(script, signal.SIGKILL)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        _ended(script)
        if not found:
            return
        time.sleep(0.01)


def _descendants() -> list[int]:
    """Processes below this one that have not ended."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = children.get(os.getpid(), [])
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def _processes() -> list[tuple[int, int]]:
    """Every process that has not ended, with its parent."""
    found: list[tuple[int, int]] = []
    if os.path.exists("/proc/self/stat"):
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat", "rb") as file:
                        state, parent = file.read().rsplit(b")", 1)[1].split()[:2]
                except (OSError, IndexError, ValueError):
                    continue
                if state != b"Z":
                    found.append((int(entry), int(parent)))
        return found
    import subprocess  # not where it is not needed: a script waits for what is imported here

    try:
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,state="], capture_output=True, timeout=5).stdout
    except (OSError, subprocess.SubprocessError):
        return found
    for line in listing.decode(errors="replace").splitlines():
        parts = line.split()
        if len(parts) == 3 and not parts[2].startswith("Z") and parts[0].isdigit() and parts[1].isdigit():
            found.append((int(parts[0]), int(parts[1])))
    return found


def _end_as(status: int) -> int:
    """End as the script did: with its exit status, or of its signal."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    import resource

    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


if __name__ == "__main__":
    code = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["job"])
    os._exit(code)
