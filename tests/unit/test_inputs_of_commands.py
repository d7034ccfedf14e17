"""Whatever lies in a folder, and whatever is named as an interpreter: a line says what is wrong, the rest is done."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchsleuth.cli import env as env_command
from torchsleuth.cli.check import Options, check
from torchsleuth.cli.env import env
from torchsleuth.cli.fix import fix
from torchsleuth.cli.hints import hints
from torchsleuth.cli.run import Options as RunOptions
from torchsleuth.cli.run import run
from torchsleuth.cli.writing import PRIVATE, Unwritable, write_private, write_source, write_text
from torchsleuth.control.baseline import load as load_baseline
from torchsleuth.control.configuration import Configurations
from torchsleuth.control.selection import ConfigurationError
from torchsleuth.interp.imports import Workspace
from torchsleuth.lsp import documents
from torchsleuth.runtime.report import read_sources
from torchsleuth.syntax import files
from torchsleuth.syntax.files import MAX_BYTES, Unreadable, read_bytes, read_source
from torchsleuth.worker import client, wire

BROKEN = "import torch\ntorch.mm(torch.ones(2, 3), torch.ones(4, 5))\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A folder with everything that is no source, and what is said of each."""
    if sys.platform == "win32":
        pytest.skip("Windows has no such files")
    said: dict[str, str] = {}
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    listener = socket.socket(socket.AF_UNIX)
    here = os.open(".", os.O_RDONLY)
    os.chdir(tmp_path)  # the path of a socket has to be short
    listener.bind("sock.py")
    os.fchdir(here)
    os.close(here)
    for name in ("fifo", "zero", "sock"):
        said[f"{name}.py"] = "is no regular file, and is not read"
    (tmp_path / "loop.py").symlink_to("loop.py")
    said["loop.py"] = f"cannot be read: {os.strerror(errno.ELOOP)}"
    (tmp_path / "dangling.py").symlink_to("nowhere.py")
    said["dangling.py"] = "is a link that leads nowhere"
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(2 << 30)
    said["huge.py"] = "is larger than 5 MB, and is not read"
    (tmp_path / "bytes.py").write_bytes(b"x = 1\ny = 2\nz = '\xff\xfe'\n")
    said["bytes.py"] = "cannot be decoded: "
    (tmp_path / "cookie.py").write_bytes(b"# -*- coding: klingon -*-\n")
    (tmp_path / "puny.py").write_bytes(b"# coding: punycode\n" + b"a" * 100_000)
    said["cookie.py"] = said["puny.py"] = "cannot be decoded: unknown encoding: "
    (tmp_path / "nul.py").write_bytes(b"x = 1\0\n")
    yield said
    listener.close()


@posix
def test_a_folder_with_everything_in_it_is_checked(
    hostile: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.py").touch()
    Path(".#note.py").symlink_to("user@host.1")
    Path("folder.py").mkdir()
    Path("folder.py", "inner.py").write_text(BROKEN)
    imports = "".join(f"import {name.removesuffix('.py')}\n" for name in (*hostile, "folder.py", "nul.py"))
    Path("importer.py").write_text(imports + BROKEN)
    Path("mark.py").write_bytes(b"\xef\xbb\xbf" + BROKEN.encode())
    assert check([Path("."), Path("absent.py")], Options(output_format="concise")) == 2
    shown = capsys.readouterr()
    assert [line.split(":")[0] for line in shown.out.splitlines()] == ["folder.py/inner.py", "importer.py", "mark.py"]
    lines = shown.err.splitlines()
    assert len(lines) == len(hostile) + 2
    for name, text in hostile.items():
        assert any(line.startswith(f"torchsleuth: {name} {text}") for line in lines), (name, lines)
    assert any(line.startswith("torchsleuth: nul.py:1: not Python") for line in lines), lines
    assert lines[-1] == "torchsleuth: absent.py does not exist"


@posix
def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "closed").mkdir()
    listed = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "closed":  # permissions do not keep root out
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.chdir(tmp_path)
    assert check([Path(".")], Options()) == 2
    assert capsys.readouterr().err == f"torchsleuth: ./closed cannot be read: {os.strerror(errno.EACCES)}\n"


@posix
def test_commands_for_one_file_say_what_it_is(
    hostile: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = {name: text for name, text in hostile.items() if "decoded" not in text}
    wrong |= {"absent.py": "does not exist", ".": "is a folder: name a file in it"}
    for name, text in wrong.items():
        path = Path(name)
        for status in (
            hints(path, "text", None),
            run(str(path), [], RunOptions((), "text", None)),
            fix(path, [], Path("copy"), None),
        ):
            assert status == 2
        assert capfd.readouterr() == ("", f"torchsleuth: {name} {text}\n" * 3)
    assert hints(Path("bytes.py"), "text", None) == 2
    assert "bytes.py cannot be decoded" in capfd.readouterr().err


@posix
def test_a_copy_to_repair_is_made_beside_all_that(
    hostile: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text("print('it runs')\n")
    assert fix(Path("script.py"), [], Path("copy"), None) == 0
    shown = capsys.readouterr()
    assert "it runs" in shown.out and shown.err == ""
    assert {name for name in hostile if not os.path.lexists(Path("copy", name))} == set()


@posix
def test_every_reader_of_sources_comes_back(hostile: dict[str, str], tmp_path: Path) -> None:
    workspace = Workspace({}, (str(tmp_path),))
    for name in hostile:
        path = str(tmp_path / name)
        with pytest.raises(Unreadable) as caught:
            read_source(path)
        assert "\n" not in str(caught.value) and name in str(caught.value)
        assert documents.read_source(path).text == "" and read_sources()(path).text == ""
        assert workspace.find(name.removesuffix(".py"), str(tmp_path / "a.py"), 0) is None
    assert workspace.source(str(tmp_path / "nul.py")) is not None


def test_a_file_that_vanishes_grows_or_is_closed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\r\n")
    assert read_source(path) == "x = 1\r\n"
    opened = os.open

    def vanished(name: str, *arguments: int) -> int:
        path.unlink()
        return opened(name, *arguments)

    monkeypatch.setattr(files.os, "open", vanished)
    with pytest.raises(Unreadable, match="does not exist"):
        read_source(path)

    def closed(name: str, *arguments: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.undo()
    path.touch()
    monkeypatch.setattr(files.os, "open", closed)
    with pytest.raises(Unreadable, match=f"cannot be read: {os.strerror(errno.EACCES)}"):
        read_source(path)
    monkeypatch.setattr(files.os, "open", opened)
    monkeypatch.setattr(files.os, "read", lambda handle, count: b"x" * count)
    with pytest.raises(Unreadable, match="larger than 5 MB"):
        read_bytes(path)
    monkeypatch.undo()
    path.write_bytes(b"#" * MAX_BYTES)
    assert len(read_bytes(path)) == MAX_BYTES
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(Unreadable, match="larger than 5 MB"):
        read_bytes(path)
    with pytest.raises(Unreadable, match="cannot be read"):
        read_bytes(f"{tmp_path}/nul\0.py")


@posix
def test_a_file_exchanged_for_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    opened = os.open

    def exchanged(name: str, *arguments: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return opened(name, *arguments)

    monkeypatch.setattr(files.os, "open", exchanged)
    with pytest.raises(Unreadable, match="no regular file"):
        read_bytes(path)


@posix
@pytest.mark.parametrize("kind", ["fifo", "zero", "huge", "deep", "bytes"])
def test_settings_and_baselines_may_be_anything_too(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "pyproject.toml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(2 << 30)
    else:
        path.write_bytes(b"x = " + b"[" * 100_000 + b"# torchsleuth" if kind == "deep" else b"\xff torchsleuth")
    with pytest.raises(ConfigurationError) as caught:
        Configurations(file=str(path))
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    if kind in ("fifo", "zero"):  # not a settings file
        Configurations().of(str(tmp_path / "a.py"))
    else:
        with pytest.raises(ConfigurationError):
            Configurations().of(str(tmp_path / "a.py"))
    if kind == "deep":
        path.write_bytes(b"[" * 1_000_000)
    with pytest.raises(ConfigurationError) as caught:
        load_baseline(str(path))
    assert str(path) in str(caught.value)


def interpreter(folder: Path, body: str, mode: int = 0o755) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    return str(path)


BAD = {
    "silent": "exit 0",
    "hang": "exec sleep 100000",
    "flood": "exec yes",
    "flood of messages": "exec yes {}",
    "one endless line": "yes | tr -d '\\n'",
    "flood of errors": "exec yes >&2",
    "rubbish": "echo 42; echo '[1, 2]'; echo hello",
    "deep": "head -c 1000000 /dev/zero | tr '\\0' '['; echo",
    "bytes": "head -c 1000 /dev/urandom; echo",
    "leaves a child that holds the pipe": "sleep 100000 & echo hello",
}


@posix
@pytest.mark.parametrize("fault", BAD)
def test_an_interpreter_that_is_none_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    python = interpreter(tmp_path, BAD[fault])
    if fault in ("hang", "flood of errors"):  # what never says anything
        monkeypatch.setattr(client, "START_SECONDS", 1.0)
        monkeypatch.setattr(env_command, "SECONDS", 1.0)
    monkeypatch.setattr(env_command, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(wire, "MAX_LINE", 1 << 20)
    (tmp_path / "a.py").write_text(BROKEN)
    for status in (
        check([tmp_path / "a.py"], Options(python=python)),
        hints(tmp_path / "a.py", "text", python),
        env("text", python),
    ):
        assert status == 2
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert shown.out == "" and len(lines) == 3
    assert all(line.startswith(f"torchsleuth: {python} did not ") and len(line) < 500 for line in lines), lines


@posix
def test_an_interpreter_that_cannot_be_started_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    closed = interpreter(tmp_path, "exit 0", 0o644)
    (tmp_path / "text").write_bytes(b"\x7fELF rubbish")
    (tmp_path / "text").chmod(0o755)
    for python in (closed, str(tmp_path / "text"), str(tmp_path), str(tmp_path / "absent"), "no such command"):
        assert check([tmp_path / "a.py"], Options(python=python)) == 2
        assert hints(tmp_path / "a.py", "text", python) == 2
        assert run(str(tmp_path / "a.py"), [], RunOptions((), "text", python)) == 2
        assert fix(tmp_path / "a.py", [], tmp_path / "copy", python) == 2
        assert env("text", python) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 5 and all("cannot be started" in line and python in line for line in lines), lines


VANISHING = """#!{python}
import json, os, sys
def say(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
say({{"method": "ready", "params": {{"torch": "9", "python": "3", "words": [], "executable": "x"}}}})
request = json.loads(sys.stdin.readline())
diagnostic = {{"path": request["params"]["path"], "code": "TS101", "name": "n", "severity": "error", "message": "first",
    "start": {{"line": 1, "column": 1}}, "end": {{"line": 1, "column": 2}}, "related": [], "fixes": [], "layer": "static"}}
os.unlink(sys.argv[0] if os.path.exists(sys.argv[0]) and sys.argv[0] != "-c" else {path!r})
say({{"id": request["id"], "result": {{"path": request["params"]["path"], "diagnostics": [diagnostic], "facts": [],
    "stats": {{"analysis_ms": 1.0}}}}}})
"""


@posix
def test_what_was_found_before_the_interpreter_vanished_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program"
    program.write_text(VANISHING.format(python=sys.executable, path=str(tmp_path / "python")))
    program.chmod(0o755)
    python = interpreter(tmp_path, f"exec {program}")
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    paths = [Path(name) for name in ("a.py", "b.py", "c.py")]
    assert check(paths, Options(python=python, output_format="concise")) == 2
    shown = capsys.readouterr()
    assert shown.out == "a.py:1:1: TS101 first\n"
    assert "are not analysed" in shown.err and "Traceback" not in shown.err


@posix
def test_a_private_file_is_private_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    old = os.umask(0)
    try:
        path.write_text("of an earlier run")
        path.chmod(0o666)
        modes: list[int] = []
        replace = os.replace

        def watched(source: Path, target: Path) -> None:
            modes.append(stat.S_IMODE(os.stat(source).st_mode))
            assert path.read_text() == "of an earlier run"
            replace(source, target)

        monkeypatch.setattr(os, "replace", watched)
        write_private(path, "new")
    finally:
        os.umask(old)
    assert path.read_text() == "new" and modes == [PRIVATE] and stat.S_IMODE(path.stat().st_mode) == PRIVATE
    assert os.listdir(tmp_path) == ["report.json"]


@posix
def test_nothing_is_written_through_links_or_into_devices(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "fifo")
    wrong = {"link": "is a link", "fifo": "no regular file", ".": "is a folder", "no/r.json": "folder does not exist"}
    for name, reason in wrong.items():
        with pytest.raises(Unwritable, match=reason):
            write_private(tmp_path / name, "report")
    for name in ("fifo", "."):
        with pytest.raises(Unwritable):
            write_text(tmp_path / name, "baseline")
    assert target.read_text() == "mine" and stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)
    write_text(tmp_path / "link", "baseline")  # that one is the user's to share
    assert target.read_text() == "baseline" and (tmp_path / "link").is_symlink()


@posix
def test_a_source_keeps_its_permissions_and_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    path.chmod(0o640)
    write_source(path, "# coding: latin-1\nx = 'ü'\n")
    assert path.read_bytes() == "# coding: latin-1\nx = 'ü'\n".encode("latin-1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(UnicodeError):
        write_source(path, "x = '名'\n")
    assert os.listdir(tmp_path) == ["a.py"]


def test_an_endless_message_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(wire, "MAX_LINE", 1000)
    assert wire.read(io.BytesIO(b"x" * 5000)) is None
    assert wire.read(io.BytesIO(b"[" * 900 + b"\n")) is None
    assert wire.read(io.BytesIO(b'{"a": 1}\n')) == {"a": 1}
