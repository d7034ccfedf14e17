"""Answers on disk: the next oracle knows them; whatever happens to the file, nobody is told anything wrong."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchsleuth.oracle import store as store_module
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.oracle.store import Store, Unstorable, decoded, encoded
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Symbol
from torchsleuth.tensors.spec import Autocast, DType, Failure, ListSpec, ModuleSpec, Result, SliceSpec, TensorSpec

BATCH = Symbol("B", 7)
BATCH_SIZE = dims.of(BATCH)
LAYER = ModuleSpec("torch.nn.Linear", (4, 3), ())
posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")


def ask(oracle: Oracle, *, size: dims.Size = BATCH_SIZE) -> object:
    return oracle.call(LAYER, (TensorSpec((size, 4)),), {}, lambda name: Symbol(name, 99))


def filled(folder: Path, count: int = 3, version: str = "2.9") -> Store:
    """A store with answers about batches of 1, 2 …"""
    store = Store(folder, version)
    oracle = Oracle(store)
    for size in range(1, count + 1):
        ask(oracle, size=size)
    oracle.save()
    return store


def known(folder: Path, count: int = 3, version: str = "2.9") -> int:
    """How many of those a new oracle knows; it answers all of them rightly."""
    oracle = Oracle(Store(folder, version))
    for size in range(1, count + 1):
        assert ask(oracle, size=size) == ask(Oracle(), size=size)
    oracle.save()
    return oracle.hits


def test_the_next_oracle_knows_the_answers(tmp_path: Path) -> None:
    first = Oracle(Store(tmp_path, "2.9"))
    expected = [ask(first), ask(first, size=5), first.call(LAYER, (TensorSpec((2, 5)),), {}, lambda name: BATCH)]
    assert isinstance(expected[0], Result) and isinstance(expected[2], Failure)
    first.save()
    second = Oracle(Store(tmp_path, "2.9"))
    again = [ask(second), ask(second, size=5), second.call(LAYER, (TensorSpec((2, 5)),), {}, lambda name: BATCH)]
    assert again == expected and second.misses == 0


@pytest.mark.parametrize(
    "value",
    [
        (None, True, 1, 1.0, -0.0, float("inf"), "text", "\udc80", ..., 2j, 10**400, ((),)),
        (bool, float, complex, TensorSpec, type(None)),
        TensorSpec((2, BATCH_SIZE, dims.product((BATCH_SIZE, 3))), "float16", Device("cuda", 1), None, (6, 3, 1)),
        Result(ListSpec((DType("int8"), SliceSpec(None, 3, BATCH_SIZE))), ()),
        (LAYER, Autocast("cuda", "float16")),
    ],
    ids=str,
)
def test_what_is_written_is_what_is_read(value: object) -> None:
    import json

    again = decoded(json.loads(json.dumps(encoded(value))))
    assert again == value and repr(again) == repr(value)


@pytest.mark.parametrize(
    "value", [object(), [1], {1: 2}, {1}, os.mkdir, os, (1, [2]), int, b"bytes"], ids=lambda value: type(value).__name__
)
def test_nothing_else_is_written(value: object) -> None:
    with pytest.raises(Unstorable):
        encoded(value)


@pytest.mark.parametrize("text", ['{"kind": "mkdir", "of": ["made"]}', '{"kind": "Value", "of": []}', '{"x": 1}', "{}"])
def test_nothing_else_is_made_of_what_is_read(tmp_path: Path, text: str) -> None:
    store = filled(tmp_path)
    with sqlite3.connect(store.path) as connection:
        for number, digest in connection.execute("SELECT id, question FROM answers").fetchall():
            checksum = store_module._checksum(digest, text.encode())
            row = text.encode(), checksum, number
            connection.execute("UPDATE answers SET answer = ?, checksum = ? WHERE id = ?", row)
    connection.close()
    assert known(tmp_path) == 0
    assert not Path("made").exists()


def test_only_new_answers_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Oracle(Store(tmp_path, "2.9"))
    added: list[int] = []
    kept = Store.add
    monkeypatch.setattr(Store, "add", lambda self, answers: added.append(len(answers)) or kept(self, answers))
    ask(oracle)
    oracle.save()
    oracle.save()
    ask(oracle)
    ask(oracle, size=5)
    oracle.save()
    assert added == [1, 0, 1]


def test_questions_are_the_same_in_every_process(tmp_path: Path) -> None:
    """The hashes of strings are not."""
    oracle = Oracle(Store(tmp_path, "2.9"))
    ask(oracle)
    oracle.save()
    code = (
        "import sys; from pathlib import Path; from tests.unit.test_store import ask; "
        "from torchsleuth.oracle.oracle import Oracle; from torchsleuth.oracle.store import Store; "
        "o = Oracle(Store(Path(sys.argv[1]), '2.9')); ask(o); print(o.misses)"
    )
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "server")]),
    }
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, text=True)
    assert run.stdout.strip() == "0", run.stderr


def test_two_versions_share_a_file_and_no_answers(tmp_path: Path) -> None:
    old, new = filled(tmp_path, 3, "2.9"), Store(tmp_path, "2.10")
    assert old.path == new.path
    assert known(tmp_path, 2, "2.10") == 0
    assert known(tmp_path, 2, "2.10") == 2 and known(tmp_path, 3, "2.9") == 3


def test_two_processes_write_at_the_same_time(tmp_path: Path) -> None:
    """Each writes while the others do; in the end everything is there."""
    code = (
        "import sys; from pathlib import Path; from torchsleuth.oracle.store import Store; "
        "from torchsleuth.tensors.spec import Undecided; store = Store(Path(sys.argv[1]), sys.argv[2]); "
        "sys.stdin.readline()\n"
        "for number in range(60):\n"
        "    while not store.add({(sys.argv[3], number): Undecided(str(number))}): pass\n"
        "    assert store.get((sys.argv[3], number)) == Undecided(str(number))\n"
    )
    writers = [("2.9", "one"), ("2.9", "two"), ("2.10", "one"), ("2.10", "two")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "server")}
    command = [sys.executable, "-c", code, str(tmp_path)]
    runs = [subprocess.Popen([*command, *who], stdin=subprocess.PIPE, env=environment) for who in writers]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write(b"go\n")
        run.stdin.close()
    assert [run.wait() for run in runs] == [0, 0, 0, 0]
    stores = {version: Store(tmp_path, version) for version, _ in writers}
    for version, who in writers:
        assert all(stores[version].get((who, number)) is not None for number in range(60))


def test_a_writer_that_is_killed_in_the_middle_leaves_a_file_that_can_be_read(tmp_path: Path) -> None:
    filled(tmp_path)
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('PRAGMA cache_size = 1'); "
        "c.execute('BEGIN IMMEDIATE'); c.execute('DELETE FROM answers'); "
        "c.executemany('INSERT INTO answers (version, question, answer, checksum) VALUES (?, ?, ?, ?)', "
        "[('x', os.urandom(32), 'y' * 3000, b'z') for _ in range(500)]); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / store_module.NAME)], check=False)
    assert known(tmp_path) == 3


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9])
def test_a_file_that_was_cut_is_begun_again(tmp_path: Path, share: float) -> None:
    store = filled(tmp_path, 40)
    store.close()
    data = store.path.read_bytes()
    store.path.write_bytes(data[: int(len(data) * share)])
    for _ in range(2):  # what could be read before the damage was met is asked again by the second
        known(tmp_path, 40)
    assert known(tmp_path, 40) == 40


@pytest.mark.parametrize("seed", range(8))
def test_random_bytes_in_the_file_are_not_believed(tmp_path: Path, seed: int) -> None:
    store = filled(tmp_path, 40)
    store.close()
    draw = random.Random(seed)
    data = bytearray(store.path.read_bytes())
    for _ in range(4 ** (seed % 4 + 1)):
        at = draw.randrange(len(data))
        data[at : at + 8] = draw.randbytes(8)
    store.path.write_bytes(data[: len(data)])
    for _ in range(3):
        known(tmp_path, 40)


def test_a_file_that_is_no_database_is_begun_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / store_module.NAME).write_bytes(random.Random(0).randbytes(50_000))
    (tmp_path / store_module.NAME).chmod(0o600)
    known(tmp_path)
    assert known(tmp_path) == 3


def test_the_file_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_BYTES", 200_000)
    store = Store(tmp_path, "2.9")
    for number in range(60):
        store.add({(number, inner): Failure("E", "x" * 200, True) for inner in range(50)})
    assert store.path.stat().st_size < 400_000
    assert store.get((59, 49)) is not None and store.get((0, 0)) is None


@posix
def test_file_and_folder_are_the_users_own(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        store = filled(tmp_path / "cache" / "torchsleuth")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in store.path.parent.iterdir()] == [store_module.NAME]
    store.path.parent.chmod(0o755)
    store.path.chmod(0o644)
    assert known(tmp_path / "cache" / "torchsleuth") == 3
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


@posix
def test_what_others_may_have_written_is_not_read(tmp_path: Path) -> None:
    filled(tmp_path).path.chmod(0o622)
    assert known(tmp_path) == 0 and known(tmp_path) == 3


@posix
@pytest.mark.parametrize("kind", ["link", "folder link", "hard link", "pipe", "folder"])
def test_what_is_no_file_of_the_users_is_not_touched(tmp_path: Path, kind: str) -> None:
    filled(tmp_path / "theirs").close()
    theirs, folder = tmp_path / "theirs" / store_module.NAME, tmp_path / "mine"
    before = theirs.read_bytes()
    if kind == "folder link":
        folder.symlink_to(theirs.parent)
    else:
        folder.mkdir(mode=0o700)
        mine = folder / store_module.NAME
        if kind == "link":
            mine.symlink_to(theirs)
        elif kind == "hard link":
            os.link(theirs, mine)
        elif kind == "pipe":
            os.mkfifo(mine)
        else:
            mine.mkdir()
    assert known(folder) == 0 and known(folder) == 0
    assert theirs.read_bytes() == before


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_or_a_folder_of_somebody_else_is_not_read(tmp_path: Path) -> None:
    store = filled(tmp_path / "cache")
    os.chown(store.path, 12345, -1)
    assert known(tmp_path / "cache") == 0
    os.chown(store.path, 0, -1)
    os.chown(store.path.parent, 12345, -1)
    assert known(tmp_path / "cache") == 0


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    oracle = Oracle(Store(tmp_path / "file", "2.9"))
    ask(oracle)
    oracle.save()
    assert oracle.misses == 1


def test_a_python_without_sqlite_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "sqlite3", None)
    oracle = Oracle(Store(tmp_path, "2.9"))
    ask(oracle)
    oracle.save()
    assert oracle.misses == 1 and not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 256 KB."""
    mount, place = shutil.which("mount"), tmp_path / "disk"
    place.mkdir()
    command = [mount or "false", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this system does not let us mount a disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_no_error(small_disk: Path) -> None:
    filled(small_disk, 3)
    free = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(bytes(free))
    oracle = Oracle(Store(small_disk, "2.9"))
    for size in range(1, 200):
        ask(oracle, size=size)
        oracle.save()
    assert oracle.hits == 3
    (small_disk / "ballast").unlink()
    assert known(small_disk) == 3
    filled(small_disk, 200)
    assert known(small_disk, 200) == 200


def test_a_disk_that_is_full_from_the_start_is_no_error(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    assert known(small_disk) == 0


def test_a_disk_that_becomes_read_only_is_read(small_disk: Path) -> None:
    filled(small_disk).close()
    assert subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], capture_output=True).returncode == 0
    oracle = Oracle(Store(small_disk, "2.9"))
    for size in range(1, 6):
        ask(oracle, size=size)
    oracle.save()
    assert (oracle.hits, oracle.misses) == (3, 2)
    assert subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], capture_output=True).returncode == 0
