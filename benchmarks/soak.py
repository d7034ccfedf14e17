"""Whether anything is lost: many edits of many documents, while the worker is killed again and again.

    python -m benchmarks.soak [--edits 10000] [--documents 30] [--kills 200] [--rounds 4] [--steady 2000] [--seed 0]
                              [--sources FOLDER…] [--verbose]

A client types into documents made of the given sources: it changes numbers, inserts and deletes statements, pastes, leaves
lines half typed, closes, opens and renames documents. Meanwhile the worker is killed (SIGKILL) while it is idle, busy,
starting, and after it was stopped (SIGSTOP). Before the last round ends, the interpreter vanishes for a while. At the end of
each round, every document gets a text that parses, and nothing more is done until what is on screen is what a fresh server
shows for the same texts; what is missing after `PATIENCE` seconds is *lost*, what is too much is *stale*. *Given up*: how
often the status said that there is no analysis although the interpreter was there.

`--steady` edits without faults follow, in which the memory of server and worker is measured: megabytes for each 1,000 edits,
by the slope of all samples but those of the first quarter. In the end, servers are asked to end, or killed, while their
worker is idle, busy, stopped or starting, while they look for modules and while a script runs: *left* are the processes
that live on.

Linux only: processes are found in ``/proc``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchsleuth.lsp.code_actions import SETTLE_S

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "examples", ROOT / "tests" / "corpus")
COMMAND = (sys.executable, "-m", "torchsleuth.lsp")
SITUATIONS = ("idle", "busy", "starting", "stopped")
PATIENCE = 180.0
"""Seconds after which what is not on screen is lost."""
SNIPPETS = (
    "y = torch.randn(3, 4) @ torch.randn(5, 6)",
    "z = torch.nn.Linear(8, 4)(torch.zeros(2, 9))",
    "print(torch.zeros(2, 3).view(7))",
    "x1 = torch.cat([torch.zeros(2, 3), torch.zeros(4, 5)], dim=0)",
    "import somewhere.else_entirely",
    "for i in range(3): print(torch.ones(i, 2).sum())",
    "s = 'é😀𝓍 (' + str(torch.zeros(3).shape)",
    "w = torch.zeros(2, 3).cuda() + torch.zeros(2, 3)",
    "loss = torch.nn.functional.cross_entropy(torch.zeros(4, 3), torch.zeros(4))",
    "def helper(a, b=3):\n    return a.reshape(b, -1)",
    "q = ((torch.zeros(3)",
    "if True:\n    k = torch.zeros(1",
)
SLEEPER = """import subprocess, sys, time
import torch
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print("up", flush=True)
time.sleep(600)
"""
Shown = frozenset[tuple[str, str, int, str]]
Json = dict[str, Any]


class Client:
    """Enough of an editor: it keeps what was published, and the status."""

    def __init__(self, folder: Path, interpreter: Path | str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
        self.errors: list[str] = []
        self.published: dict[str, list[Json]] = {}
        self.state = ""
        self.states: list[str] = []
        self.output = ""
        self.ended = False
        self._answers: dict[int, Json] = {}
        self._number = 0
        self._news = threading.Condition()
        self._writing = threading.Lock()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environment)
        for work in (self._read, self._listen):
            threading.Thread(target=work, daemon=True).start()
        where = {"uri": folder.as_uri(), "name": "work"}
        capabilities = {
            "workspace": {"workspaceFolders": True},
            "textDocument": {"publishDiagnostics": {"versionSupport": False, "relatedInformation": True}},
        }
        options = {"interpreter": str(interpreter)}
        params = {"processId": os.getpid(), "rootUri": where["uri"], "workspaceFolders": [where]}
        self.request("initialize", {**params, "capabilities": capabilities, "initializationOptions": options})
        self.notify("initialized", {})

    @property
    def pid(self) -> int:
        return self.process.pid

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any, seconds: float = PATIENCE) -> Json | None:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        self.wait(lambda: number in self._answers, seconds)
        return self._answers.pop(number, None)

    def wait(self, condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
        """Until something is so, looking again whenever the server says something."""
        end = time.monotonic() + seconds
        with self._news:
            while not condition():
                left = end - time.monotonic()
                if left <= 0 or self.ended:
                    return bool(condition())
                self._news.wait(min(left, 0.5))
        return True

    def settle(self, uri: str) -> None:
        """Until a document has been analysed: all fixes at once are made from what was found in its text of now, which the server
        waits for, for `SETTLE_S` at a time."""
        end = time.monotonic() + PATIENCE
        took = SETTLE_S
        while took >= SETTLE_S and time.monotonic() < end and not self.ended:
            asked = time.monotonic()
            start = {"line": 0, "character": 0}
            context = {"diagnostics": [], "only": ["source.fixAll.torchsleuth"]}
            where = {"textDocument": {"uri": uri}, "range": {"start": start, "end": start}, "context": context}
            self.request("textDocument/codeAction", where)
            took = time.monotonic() - asked

    def stop(self) -> bool:
        """Ask it to end; whether it does."""
        self.request("shutdown", None, 30)
        try:
            self.notify("exit", None)
            self.process.wait(30)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            return False
        return True

    def shown(self, uri: str) -> Shown:
        return frozenset(
            (str(item["code"]), json.dumps(item["range"], sort_keys=True), item.get("severity", 0), item["message"])
            for item in self.published.get(uri, ())
        )

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        assert stream is not None
        with self._writing:
            try:
                stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                stream.flush()
            except OSError:
                self.ended = True

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            self.errors.append(line.decode(errors="replace").rstrip())

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = stream.read(length) if length else b""
            if not length or len(body) < length:
                break
            self._take(json.loads(body))
        with self._news:
            self.ended = True
            self._news.notify_all()

    def _take(self, said: Json) -> None:
        method = said.get("method")
        with self._news:
            if method == "textDocument/publishDiagnostics":
                self.published[said["params"]["uri"]] = said["params"]["diagnostics"]
            elif method == "torchsleuth/status":
                self.state = said["params"]["state"]
                self.states.append(self.state)
                if self.state == "unavailable":
                    self.errors.append(f"ERROR: unavailable: {said['params'].get('detail')}")
            elif method == "torchsleuth/runOutput":
                self.output += said["params"]["text"]
            elif method is not None and "id" in said:
                threading.Thread(target=self._send, args=({"id": said["id"], "result": None},), daemon=True).start()
            elif method is None:
                self._answers[said["id"]] = said
            self._news.notify_all()


@dataclass
class Document:
    """A text, as the editor sees it."""

    path: Path
    text: str
    original: str
    version: int = 1
    open: bool = False

    @property
    def uri(self) -> str:
        return self.path.as_uri()


class Editor:
    """What somebody does with the documents of one client."""

    def __init__(self, client: Client, documents: Sequence[Document], draw: random.Random) -> None:
        self.client, self.documents, self.draw = client, documents, draw
        self.edits = 0

    def open(self, document: Document) -> None:
        document.open = True
        document.version += 1
        item = {"uri": document.uri, "languageId": "python", "version": document.version, "text": document.text}
        self.client.notify("textDocument/didOpen", {"textDocument": item})

    def close(self, document: Document) -> None:
        document.open = False
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def rename(self, document: Document) -> None:
        self.close(document)
        new = document.path.with_name(
            re.sub(r"(_r\d+)?\.py$", f"_r{self.draw.randrange(10**6)}.py", document.path.name)
        )
        document.path.rename(new)
        changes = [{"uri": document.uri, "type": 3}, {"uri": new.as_uri(), "type": 1}]
        document.path = new
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        self.open(document)

    def replace(self, document: Document, start: int, end: int, new: str) -> None:
        where = {"start": _place(document.text, start), "end": _place(document.text, end)}
        document.text = document.text[:start] + new + document.text[end:]
        self._changed(document, {"range": where, "text": new})

    def put(self, document: Document, text: str) -> None:
        if text != document.text:
            document.text = text
            self._changed(document, {"text": text})

    def _changed(self, document: Document, change: Json) -> None:
        document.version += 1
        self.edits += 1
        identifier = {"uri": document.uri, "version": document.version}
        self.client.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})

    def type(self, document: Document, at: int, text: str) -> None:
        for number, letter in enumerate(text):
            self.replace(document, at + number, at + number, letter)
            time.sleep(self.draw.uniform(0.005, 0.03))

    def backspace(self, document: Document, at: int, count: int) -> None:
        for end in range(at, max(0, at - count), -1):
            self.replace(document, end - 1, end, "")
            time.sleep(self.draw.uniform(0.005, 0.03))

    def act(self) -> None:
        """What somebody does without a pause."""
        draw, document = self.draw, self.draw.choice(self.documents)
        text = document.text
        ends = [match.start() for match in re.finditer(r"\n", text)] or [len(text)]
        kind = draw.randrange(14)
        if kind <= 2:
            at = draw.choice(ends)
            line = text[text.rfind("\n", 0, at) + 1 : at]
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            new = "\n" + "\n".join(indent + row for row in draw.choice(SNIPPETS).split("\n"))
            self.type(document, at, new)
            if draw.random() < 0.6:
                self.backspace(document, at + len(new), len(new))
        elif kind <= 6:
            numbers = _numbers(text)
            if numbers:
                match = draw.choice(numbers)
                self.backspace(document, match.end(), len(match[0]))
                self.type(document, match.start(), str(draw.choice((1, 3, 7, 16, 64))))
        elif kind == 7:
            at = draw.randrange(len(text) + 1)
            gone = text[max(0, at - 8) : at]
            self.backspace(document, at, 8)
            if draw.random() < 0.7:
                self.type(document, max(0, at - 8), gone)
        elif kind == 8:
            at = draw.choice(ends)
            start = text.rfind("\n", 0, at) + 1
            gone = text[start : at + 1]
            self.replace(document, start, min(at + 1, len(text)), "")
            time.sleep(draw.uniform(0, 0.5))
            if draw.random() < 0.6:
                self.replace(document, start, start, gone)
        elif kind == 9:
            other = draw.choice(self.documents).original.splitlines(True)
            at, position = draw.randrange(len(other)), draw.choice(ends)
            self.replace(document, position, position, "\n" + "".join(other[at : at + draw.randint(1, 15)]))
        elif kind == 10:
            self.put(document, document.original)
        elif kind == 11:
            at = draw.randrange(len(text) + 1)
            self.type(document, at, "".join(draw.choice("abx() [],.=:\n01😀é#'\"") for _ in range(draw.randint(1, 6))))
        elif kind == 12:
            self.close(document)
            time.sleep(draw.uniform(0, 0.3))
            self.open(document)
        else:
            self.rename(document)

    def finish(self, document: Document) -> None:
        """A text that parses: the original, or one with other numbers or one more statement."""
        kind, text = self.draw.randrange(3), document.original
        if kind == 1:
            numbers = _numbers(text)
            for match in sorted(self.draw.sample(numbers, min(2, len(numbers))), key=lambda match: -match.start()):
                text = text[: match.start()] + str(self.draw.choice((3, 7, 16, 64))) + text[match.end() :]
        elif kind == 2:
            text += "\n" + self.draw.choice(SNIPPETS[:4]) + "\n"
        self.put(document, text if _parses(text) else document.original)


class Faults(threading.Thread):
    """Kills the worker, in one situation after the other, as often as `wanted`."""

    def __init__(self, client: Client, draw: random.Random) -> None:
        super().__init__(daemon=True)
        self.client, self.draw = client, draw
        self.wanted = 0
        self.kills: Counter[str] = Counter()
        self.start()

    def run(self) -> None:
        while not self.client.ended:
            time.sleep(self.draw.uniform(0.1, 0.5))
            if self.kills.total() < self.wanted:
                self._kill(SITUATIONS[self.kills.total() % len(SITUATIONS)])

    def _kill(self, situation: str) -> None:
        wanted = {"idle": ("ready",), "busy": ("busy",), "starting": ("starting",)}.get(situation, ("ready", "busy"))
        if situation == "starting" and (pid := worker(self.client.pid)) is not None:
            _signal(pid, signal.SIGKILL)  # so that another starts
            self.kills["any"] += 1
        reached = self.client.wait(lambda: self.client.state in wanted, 60)
        pid = worker(self.client.pid)
        if pid is not None and reached:
            if situation == "stopped":
                _signal(pid, signal.SIGSTOP)
                time.sleep(self.draw.uniform(0.1, 1.0))
            if _signal(pid, signal.SIGKILL):
                self.kills[situation if self.client.state in wanted or situation == "stopped" else "any"] += 1


@dataclass
class Report:
    """What came of it. `left`: by situation."""

    documents: int = 0
    edits: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    expected: int = 0
    lost: int = 0
    stale: int = 0
    given_up: int = 0
    back: bool = True
    died: bool = False
    orderly: bool = True
    server_mb: float = 0.0
    worker_mb: float = 0.0
    left: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        wrong = self.lost or self.stale or self.given_up or self.died or any(self.left.values())
        return self.back and self.orderly and not wrong

    def __str__(self) -> str:
        kills = ", ".join(f"{count} {name}" for name, count in sorted(self.kills.items()))
        left = ", ".join(f"{count} after {name}" for name, count in self.left.items() if count)
        return (
            f"soak: {self.documents} documents, {self.edits} edits, {self.kills.total()} kills ({kills}); "
            f"compared {self.compared} documents with {self.expected} diagnostics: lost {self.lost}, stale {self.stale}; "
            f"given up {self.given_up}, back after the interpreter {'yes' if self.back else 'NO'}, "
            f"server died {'YES' if self.died else 'no'}, orderly end {'yes' if self.orderly else 'NO'}, "
            f"errors logged {len(self.errors)}; MB per 1,000 edits: server {self.server_mb:+.2f}, "
            f"worker {self.worker_mb:+.2f}; processes left: {left or 'none'}"
        )


@dataclass(frozen=True)
class Plan:
    edits: int = 10_000
    documents: int = 30
    kills: int = 200
    rounds: int = 4
    steady: int = 2_000
    seed: int = 0
    sources: tuple[Path, ...] = SOURCES
    ends: bool = True
    """Whether the ends of servers are looked at."""
    verbose: bool = False


def run(plan: Plan, folder: Path) -> Report:
    """Carry it out in an empty folder."""
    draw = random.Random(plan.seed)
    root = folder / "work"
    root.mkdir()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    report = Report()
    documents = list(_documents(root, plan, draw))
    report.documents = len(documents)
    client = Client(root, python)
    editor = Editor(client, documents, draw)
    for document in documents:
        editor.open(document)
    client.wait(lambda: all(document.uri in client.published for document in documents), 5 * PATIENCE)
    faults = Faults(client, random.Random(plan.seed + 1))
    seen = 0
    for number in range(1, plan.rounds + 1):
        until, kills = plan.edits * number // plan.rounds, plan.kills * number // plan.rounds
        faults.wanted = kills
        while not client.ended and (editor.edits < until or faults.kills.total() < kills):
            editor.act()
            time.sleep(draw.choice((0, 0.05, 0.2, 0.6)))
        for document in documents:
            editor.finish(document)
        report.given_up += client.states[seen:].count("unavailable")
        if number == plan.rounds:
            report.back = _vanishes(client, python, folder / "gone")
        seen = len(client.states)
        _compare(client, documents, root, python, report, plan.verbose)
        report.edits, report.kills, report.died = editor.edits, faults.kills, client.ended
        print(f"round {number}: {report}", flush=True)
    if plan.steady and not client.ended:
        report.server_mb, report.worker_mb = _memory(editor, plan.steady)
    below = [client.pid, *descendants(client.pid)]
    report.orderly = client.stop()
    report.left["a shutdown"] = _left(below)
    report.errors = [line for line in client.errors if "Traceback" in line or "ERROR" in line]
    if plan.ends:
        report.left.update(ends(root, python, documents[0].original))
    return report


def _documents(root: Path, plan: Plan, draw: random.Random) -> Iterator[Document]:
    texts = [path.read_text(encoding="utf-8") for folder in plan.sources for path in sorted(folder.rglob("*.py"))]
    usable = [text for text in texts if 300 < len(text) < 9000 and _parses(text)]
    draw.shuffle(usable)
    for number, text in enumerate(usable[: plan.documents]):
        path = root / f"doc_{number:02}.py"
        path.write_text(text, encoding="utf-8")
        yield Document(path, text, text)


def _vanishes(client: Client, python: Path, elsewhere: Path) -> bool:
    """Take the interpreter away, kill the worker, and put it back; whether the analysis is there again by itself.

    A worker that was killed before is up again first: one that is between its start and its `exec` is not found, and would
    live on without its interpreter.
    """
    if not client.wait(lambda: client.state in ("ready", "busy") and worker(client.pid) is not None):
        return False
    python.rename(elsewhere)
    pid = worker(client.pid)
    if pid is not None:
        _signal(pid, signal.SIGKILL)
    gone = client.wait(lambda: client.state == "unavailable", 60)
    elsewhere.rename(python)
    return gone and client.wait(lambda: client.state in ("ready", "busy"))


def _compare(
    client: Client, documents: Sequence[Document], root: Path, python: Path, report: Report, verbose: bool
) -> None:
    """What is on screen, with what a fresh server shows."""
    fresh = Client(root, python)
    editor = Editor(fresh, documents, random.Random(0))
    for document in documents:
        editor.open(Document(document.path, document.text, document.original))
    fresh.wait(lambda: all(document.uri in fresh.published for document in documents), 5 * PATIENCE)
    fresh.wait(lambda: fresh.state in ("ready", "busy"), PATIENCE)
    for document in documents:
        fresh.settle(document.uri)
    right = {document.uri: fresh.shown(document.uri) for document in documents}
    fresh.stop()
    client.wait(lambda: all(client.shown(uri) == shown for uri, shown in right.items()))
    for document in documents:
        shown, wanted = client.shown(document.uri), right[document.uri]
        report.compared += 1
        report.expected += len(wanted)
        report.lost += len(wanted - shown)
        report.stale += len(shown - wanted)
        if verbose and shown != wanted:
            print(document.path.name, "lost", sorted(wanted - shown), "stale", sorted(shown - wanted), flush=True)
            document.path.with_suffix(".differs").write_text(document.text, encoding="utf-8")


def _memory(editor: Editor, edits: int) -> tuple[float, float]:
    """Megabytes for each 1,000 edits without faults, of server and worker."""
    first, samples = editor.edits, list[tuple[float, float, float]]()
    while editor.edits < first + edits and not editor.client.ended:
        editor.act()
        pid = worker(editor.client.pid)
        if pid is not None:
            samples.append((editor.edits, resident(editor.client.pid), resident(pid)))
        time.sleep(editor.draw.choice((0, 0.2, 0.5)))
    settled = samples[len(samples) // 4 :]
    return slope([(x, y) for x, y, _ in settled]), slope([(x, z) for x, _, z in settled])


def ends(root: Path, python: Path, text: str) -> dict[str, int]:
    """Processes that are left after servers have ended, by how they ended and what they were at."""
    counts: dict[str, int] = {}
    for how, what in [
        *(("a kill", what) for what in ("idle", "busy", "stopped", "starting", "looking up", "running")),
        *(("a shutdown", what) for what in ("busy", "running")),
        ("the end of input", "busy"),
        ("SIGTERM", "running"),
    ]:
        client = Client(root, python)
        editor = Editor(client, [], random.Random(0))
        document = Document(root / f"end_{what.replace(' ', '_')}.py", text, text)
        if what == "starting":
            client.wait(lambda client=client: worker(client.pid) is not None)
        else:
            client.wait(lambda client=client: client.state == "ready")
        if what == "looking up":
            document.text = "import torch\nimport nowhere.to_be_found\n"
            editor.open(document)
            client.wait(lambda client=client: any("lookup" in name for name in descendants(client.pid).values()), 60)
        elif what == "running":
            document.path.write_text(SLEEPER)
            arguments = {"command": "torchsleuth.server.runAndDiagnose", "arguments": [document.uri]}
            threading.Thread(target=client.request, args=("workspace/executeCommand", arguments), daemon=True).start()
            client.wait(lambda client=client: "up" in client.output)
        elif what in ("busy", "stopped"):
            editor.open(document)
        below = [client.pid, *descendants(client.pid)]
        pid = worker(client.pid)
        if what == "stopped" and pid is not None:
            _signal(pid, signal.SIGSTOP)
        if how == "a shutdown":
            client.stop()
        elif how == "the end of input" and client.process.stdin is not None:
            client.process.stdin.close()
        else:
            client.process.send_signal(signal.SIGTERM if how == "SIGTERM" else signal.SIGKILL)
        counts[f"{how} while {what}"] = _left(below, client.process)
    return counts


# -- processes -------------------------------------------------------------------------------------


def descendants(pid: int) -> dict[int, str]:
    """Processes below one, with their commands."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: dict[int, str] = {}
    waiting = list(children.get(pid, ()))
    while waiting:
        child = waiting.pop()
        try:
            found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        waiting += children.get(child, ())
    return found


def worker(pid: int) -> int | None:
    return next((child for child, command in descendants(pid).items() if "torchsleuth.worker" in command), None)


def resident(pid: int) -> float:
    """Megabytes of memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError):
        return 0.0


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Least squares: units for each 1,000 edits."""
    if len(samples) < 3:
        return 0.0
    mx, my = (sum(values) / len(samples) for values in zip(*samples))
    below = sum((x - mx) ** 2 for x, _ in samples)
    return 1000 * sum((x - mx) * (y - my) for x, y in samples) / below if below else 0.0


def _left(pids: Sequence[int], server: subprocess.Popen[bytes] | None = None, seconds: float = 15.0) -> int:
    """How many processes still live after a while; they are killed then."""
    end = time.monotonic() + seconds
    while any(map(_lives, pids)) and time.monotonic() < end:
        if server is not None:
            server.poll()
        time.sleep(0.05)
    left = [pid for pid in pids if _lives(pid)]
    for pid in left:
        _signal(pid, signal.SIGKILL)
    return len(left)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _numbers(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))


def _place(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    line = before[before.rfind("\n") + 1 :]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = Plan()
    for name in ("edits", "documents", "kills", "rounds", "steady", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    parser.add_argument("--sources", nargs="*", type=Path, default=usual.sources)
    parser.add_argument("--verbose", action="store_true")
    options = vars(parser.parse_args())
    plan = Plan(**{**options, "sources": tuple(options["sources"])})
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        report = run(plan, Path(folder))
    for line in report.errors:
        print(line)
    print(report)
    return 0 if report.fine else 1


if __name__ == "__main__":
    sys.exit(main())
