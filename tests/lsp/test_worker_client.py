"""The worker process and its client, with an engine double."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchsleuth.schema import FileAnalysis
from torchsleuth.worker import client as client_module
from torchsleuth.worker.bounded import Bounded
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable, is_overdue
from torchsleuth.worker.progress import Progress, Record
from torchsleuth.worker.request import Analyze

States = list[tuple[str, str]]


@pytest.fixture
def states() -> States:
    return []


@pytest.fixture
def worker(double: str, states: States) -> Iterator[WorkerClient]:
    client = WorkerClient(double, lambda state, detail: states.append((state, detail)))
    yield client
    client.close()


def test_answers_with_what_the_engine_found(worker: WorkerClient, states: States) -> None:
    analysis = worker.analyze("/a.py", "text", {"/b.py": "other"}, ("/root",))
    assert [item.message for item in analysis.diagnostics] == ["1 other documents, roots /root: text"]
    assert [state for state, _ in states] == ["starting", "ready", "busy", "ready"]


def test_what_libraries_print_does_not_reach_the_wire(worker: WorkerClient) -> None:
    for _ in range(2):
        assert "noise" in worker.analyze("/a.py", "# noise").diagnostics[0].message


def test_a_text_with_lone_surrogates_and_emoji_arrives(worker: WorkerClient) -> None:
    assert worker.analyze("/a.py", "😋 \ud800 中文").diagnostics[0].message.endswith("😋 \ud800 中文")


def test_an_exception_in_the_engine_is_an_answer(worker: WorkerClient) -> None:
    analysis = worker.analyze("/a.py", "# raise")
    assert analysis.stats["incomplete"] == "RuntimeError: no such luck"
    assert "Traceback" in analysis.stats["traceback"]
    pid = worker.pid
    assert worker.analyze("/a.py", "fine").diagnostics
    assert worker.pid == pid


def test_a_text_that_makes_the_worker_die_twice_is_not_tried_again_until_it_changes(
    worker: WorkerClient, states: States
) -> None:
    assert worker.analyze("/a.py", "# die").stats["incomplete"]
    assert states[-1][0] == "restarting"
    started = [state for state, _ in states].count("starting")
    assert started == 2
    assert "repeatedly" in worker.analyze("/a.py", "# die").stats["incomplete"]
    assert [state for state, _ in states].count("starting") == started
    assert worker.analyze("/a.py", "fine").diagnostics


def test_one_death_blames_nobody(worker: WorkerClient, tmp_path: Path) -> None:
    """The document is analysed again, and another that comes first in between."""
    text = f"# die-once {tmp_path / 'died'}"
    assert worker.ask(Analyze("/a.py", text), patient=False).stats["died"]
    assert worker.analyze("/b.py", "fine").diagnostics
    assert worker.ask(Analyze("/a.py", text), patient=False).diagnostics
    (tmp_path / "died").unlink()
    found = worker.analyze("/a.py", text)
    assert found.diagnostics and not found.stats.get("incomplete")


def test_a_worker_that_is_killed_is_no_fault_of_the_document(worker: WorkerClient, states: States) -> None:
    for _ in range(3):
        busy = len(states)
        answers: list[FileAnalysis] = []
        thread = threading.Thread(target=lambda: answers.append(worker.ask(Analyze("/a.py", "# hang"), patient=False)))
        thread.start()
        while not any(state == "busy" for state, _ in states[busy:]):
            thread.join(0.01)
        assert worker.pid is not None
        os.killpg(worker.pid, signal.SIGKILL)
        thread.join()
        assert answers[0].stats["died"]
    assert worker.ask(Analyze("/a.py", "# hang"), budget_s=2.0, patient=False).stats["died"]


def test_a_worker_that_dies_of_saving_is_no_fault_of_the_next_document(worker: WorkerClient, tmp_path: Path) -> None:
    assert worker.analyze("/a.py", "# die-saving").diagnostics
    for number in range(3):
        assert worker.analyze("/b.py", f"fine {number}").diagnostics
        assert worker.analyze("/a.py", "# die-saving").diagnostics


def test_a_worker_that_cannot_save_goes_on(worker: WorkerClient) -> None:
    assert worker.analyze("/a.py", "# raise-saving").diagnostics
    pid = worker.pid
    assert worker.analyze("/a.py", "# raise-saving").diagnostics
    assert worker.pid == pid


def test_an_idle_death_is_announced(worker: WorkerClient, states: States) -> None:
    announced = threading.Event()
    worker._listener = lambda state, _: announced.set() if state == "restarting" else None
    worker.start()
    assert worker.pid is not None
    os.killpg(worker.pid, signal.SIGKILL)
    assert announced.wait(60)
    assert worker.analyze("/a.py", "fine").diagnostics


@pytest.mark.parametrize(
    ("seconds_used", "overdue"),
    [
        ([0.0], True),  # it never said anything
        ([12.0, 24.0, 36.0], False),  # a busy machine: it is done when it has been waited for three times
        ([12.0, 24.0, 61.0], True),
        ([12.0, 12.1], True),  # it waits for something
        ([], False),
    ],
)
def test_what_hangs_is_told_from_what_is_slow(seconds_used: list[float], overdue: bool) -> None:
    looks = iter(seconds_used)
    done = iter([False] * len(seconds_used) + [True])
    assert is_overdue(60.0, lambda: next(looks), lambda seconds: next(done)) is overdue


def test_a_worker_says_how_long_it_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("torchsleuth.worker.progress.time.process_time", lambda: clock[0])
    record = Record()
    progress = Progress(record._memory)
    seen, said = [], threading.Event()

    def beat() -> None:
        progress.beat()
        said.set()

    with progress.request(1):
        clock[0] = 104.5
        assert Bounded(beat).run(said.wait)
        seen.append(record.used)
    with progress.request(2):
        seen.append(record.used)
    record.inherited()
    assert seen == [4.5, 0.0]


def test_an_analysis_over_its_budget_is_killed_with_its_children(worker: WorkerClient, tmp_path: Path) -> None:
    note = tmp_path / "child"
    worker.start()
    # Long enough for the double to start its child and note it, before the budget is over.
    assert worker.ask(Analyze("/a.py", f"# hang {note}"), budget_s=3.0).stats["incomplete"]
    assert has_ended(int(note.read_text()))
    assert worker.analyze("/a.py", "fine").diagnostics


def test_an_analysis_can_be_interrupted(double: str) -> None:
    busy = threading.Event()
    worker = WorkerClient(double, lambda state, _: busy.set() if state == "busy" else None)
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(worker.analyze("/a.py", "# hang").stats["incomplete"]))
    thread.start()
    busy.wait()
    while thread.is_alive():
        worker.interrupt()
        thread.join(0.01)
    assert answers and answers[0]
    assert worker.analyze("/a.py", "fine").diagnostics
    worker.close()


def test_closing_ends_an_analysis_in_the_middle(double: str) -> None:
    busy = threading.Event()
    worker = WorkerClient(double, lambda state, _: busy.set() if state == "busy" else None)
    errors: list[str] = []

    def analyze() -> None:
        with pytest.raises(WorkerUnavailable) as error:
            worker.analyze("/a.py", "# hang")
        errors.append(str(error.value))

    thread = threading.Thread(target=analyze)
    thread.start()
    busy.wait()
    pid = worker.pid
    assert pid is not None
    worker.close()
    thread.join()
    assert errors == ["the analysis was stopped"]
    assert has_ended(pid)


def killed_while_starting(path: Path, double: str, times: int) -> str:
    """An interpreter that is killed as often as that before it gets to anything."""
    count = path / "starts"
    count.write_text("")
    script = path / "killed"
    script.write_text(
        f'#!/bin/sh\necho >> {count}\nif [ $(wc -l < {count}) -le {times} ]; then kill -9 $$; fi\nexec {double} "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


def test_deaths_while_starting_are_not_for_ever(
    double: str, states: States, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "LONGEST_PAUSE_SECONDS", 0.0)
    deaths = client_module.START_DEATHS
    interpreter = killed_while_starting(tmp_path, double, deaths + 2)
    client = WorkerClient(interpreter, lambda state, detail: states.append((state, detail)))
    with pytest.raises(WorkerUnavailable, match=f"{deaths} times in a row"):
        client.start()
    assert client.retry_seconds == 0.0
    assert client.analyze("/a.py", "fine").diagnostics
    assert [state for state, _ in states].count("unavailable") == 1
    client.close()


def test_pauses_before_a_start_grow(double: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = killed_while_starting(tmp_path, double, 4)
    client = WorkerClient(interpreter)
    waited: list[float] = []
    monkeypatch.setattr(client._closed, "wait", waited.append)
    client.start()
    assert waited == [1.0, 2.0, 4.0]
    client.close()


@pytest.mark.parametrize(
    "said",
    ['{"method": "ready"}', '{"method": "ready", "params": [1]}', '{"method": "unavailable", "params": 3}', "{}"],
)
def test_an_interpreter_that_says_something_else_is_told_in_a_line(said: str, tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\necho '{said}'\n")
    interpreter.chmod(0o755)
    client = WorkerClient(str(interpreter))
    with pytest.raises(WorkerUnavailable, match="is it a Python that works"):
        client.start()
    client.close()


def test_an_interpreter_that_comes_back_is_used_again(
    double: str, states: States, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "LONGEST_PAUSE_SECONDS", 0.0)
    interpreter = tmp_path / "python"
    interpreter.symlink_to(double)
    client = WorkerClient(str(interpreter), lambda state, detail: states.append((state, detail)))
    assert client.analyze("/a.py", "fine").diagnostics
    interpreter.unlink()
    assert client.pid is not None
    os.killpg(client.pid, signal.SIGKILL)
    for _ in range(3):
        with pytest.raises(WorkerUnavailable, match="cannot be started"):
            client.analyze("/a.py", "fine")
    assert [state for state, _ in states].count("unavailable") == 1
    interpreter.symlink_to(double)
    assert client.analyze("/a.py", "fine").diagnostics
    assert states[-1][0] == "ready"
    client.close()


def test_a_worker_and_its_children_end_with_its_client_even_while_it_hangs(double: str, tmp_path: Path) -> None:
    note = tmp_path / "child"
    os.mkfifo(note)
    process = subprocess.Popen(
        [double, "-I", "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    assert b"ready" in process.stdout.readline()
    request = {"id": 1, "method": "analyze", "params": {"path": "a", "text": f"# hang {note}"}}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    child = int(note.read_text())
    process.stdin.close()
    process.wait()
    process.stdout.close()
    assert has_ended(child)


@pytest.mark.parametrize("interpreter", ["/nonexistent/python", os.devnull, "/bin/false"])
def test_what_is_no_python_is_unavailable_and_not_tried_again_at_once(interpreter: str, states: States) -> None:
    client = WorkerClient(interpreter, lambda state, detail: states.append((state, detail)))
    for _ in range(3):
        with pytest.raises(WorkerUnavailable, match=interpreter):
            client.analyze("/a.py", "text")
    assert [state for state, _ in states] == ["starting", "unavailable"]
    client.close()


def test_an_interpreter_without_torch_is_unavailable(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    client = WorkerClient(python)
    with pytest.raises(WorkerUnavailable, match=f"PyTorch is not installed in {python}"):
        client.start()
    client.close()


def test_the_working_folder_and_our_site_packages_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project may have a random.py, and the server may live beside another torch."""
    for name in ("random", "queue", "torch", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('executed the code of the user')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    client = WorkerClient(sys.executable)
    client.start()
    assert client.torch
    client.close()


def has_ended(pid: int) -> bool:
    """Whether a process ends; waits for a killed one to be gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


def test_a_worker_that_is_being_started_just_now_ends_with_its_client() -> None:
    def start(client: WorkerClient) -> None:
        with pytest.raises(WorkerUnavailable):
            client.start()

    for _ in range(20):
        client = WorkerClient(command=[sys.executable, "-c", "import time; time.sleep(1000)"])
        starting = threading.Thread(target=start, args=(client,), daemon=True)
        starting.start()
        client.close()
        starting.join()
