"""Names of files and strings of sources steer neither a terminal nor the log of a workflow, whatever prints them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from torchsleuth.cli.output import Output, patch
from torchsleuth.escaping import escape, escape_line
from torchsleuth.messages import message

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")

BROKEN = (
    'import torch\n"""\n::error::from the source\n##[error]too\n"""\n'
    "torch.mm(torch.ones(2, 3), torch.ones(4, 5))  # \x1b[2J\x07 \u202e \u2066 \x9b1m \x85 \u2028\n"
    'torch.einsum("i\u202ej,jk->i\x1bk", torch.ones(2, 3), torch.ones(4, 5))\n'
)
NAMES = [
    b"plain.py",
    b"line\nfeed.py",
    "escape\x1b[31m\x1b]0;title\x07[red]\ttab\rreturn c1\x9b31m\x85.py".encode(),
    b"bytes\xff\xfe.py",
    b"::error file=x,line=1::mine%0A.py",
    b" ::debug::x.py",
    b"##[error]mine ##vso[task.setvariable variable=x]y.py",
    "bidi\u202egnp\u2066\u2069\u200f separators\u2028\u2029\ufeff hidden\U000e0041\u2060.py".encode(),
]
_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def steers(text: str) -> list[str]:
    """The lines that would steer what shows them. Line feeds end lines."""

    def bad(character: str) -> bool:
        return (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(character) in _BIDI
            or character in "\u200e\u200f\u061c\ufeff\u2060"
            or 0xE0000 <= ord(character) <= 0xE007F
        )

    commands = ("::", "##[", "##vso[")
    return [
        line
        for line in text.split("\n")
        if any(map(bad, line)) or line.lstrip().startswith("::") or any(command in line for command in commands[1:])
    ]


def torchsleuth(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchsleuth", *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, cwd=cwd, env=environment)
    # Not as text: that would take a carriage return for a line end.
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    for name in NAMES:
        try:
            Path(os.fsdecode(os.fsencode(made) + b"/" + name)).write_bytes(BROKEN.encode())
        except OSError:  # a system where every name is Unicode
            continue
    return made


@pytest.mark.parametrize("output_format", ["text", "concise", "github", "json", "sarif"])
def test_no_format_lets_them_through(folder: Path, output_format: str) -> None:
    done = torchsleuth("check", ".", "--output-format", output_format, cwd=folder)
    assert (done.returncode, steers(done.stderr)) == (1, [])
    count = len(os.listdir(folder))
    if output_format == "json":
        assert done.stdout.isascii()
        assert {os.fsencode(item["path"]) for item in json.loads(done.stdout)} <= set(NAMES)
    elif output_format == "sarif":
        assert done.stdout.isascii()
        results = json.loads(done.stdout)["runs"][0]["results"]
        uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
        assert len(uris) == count and {unquote_to_bytes(uri) for uri in uris} <= set(NAMES)
        assert all(uri.isprintable() and ":" not in uri and " " not in uri for uri in uris)
    elif output_format == "github":
        lines = done.stdout.splitlines()
        assert len(lines) >= count and all(line.startswith("::error file=") for line in lines)
        for line in lines:
            properties, _, text = line.removeprefix("::error ").partition("::")
            values = dict(item.split("=", 1) for item in properties.split(","))
            assert set(values) == {"file", "line", "endLine", "col", "endColumn", "title"}
            assert text and not steers(text)
        assert not [line for line in lines if steers(line.removeprefix("::")) and "##" not in line]
    else:
        assert steers(done.stdout) == []
        assert (
            r"line\nfeed.py:" in done.stdout and r"escape\x1b[31m\x1b]0;title\x07[red]\ttab\rreturn c1" in done.stdout
        )
        assert r"bidi\u202egnp\u2066\u2069\u200f separators\u2028" in done.stdout


def test_nor_do_other_commands(folder: Path, tmp_path: Path) -> None:
    plain = folder / "plain.py"
    for arguments in (
        ["check", ".", "--diff", "--unsafe-fixes"],
        ["check", ".", "--select", "\x1b[31m"],
        ["check", ".", "--config", "no\x1b[31m.toml"],
        ["check", "no\n::error::\u202e.py"],
        ["check", "--no\x1b[31m"],
        ["check", ".", "--python", "no\x1b[31m\n::error::x"],
        ["rule", "no\x1b[31m\n::error::x"],
        ["env", "--python", "no\x1b[31m\n::error::x"],
        ["run", "no\x1b[31m\n::error::x.py"],
        ["run", "--report", "no\x1b[31m/r.json", plain],
        ["fix", "no\x1b[31m\n::error::x.py"],
    ):
        done = torchsleuth(*arguments, cwd=folder)
        assert steers(done.stdout) == [] and steers(done.stderr) == [], arguments
        assert done.returncode in (1, 2) and (done.stdout or done.stderr), arguments


@pytest.mark.parametrize("name", NAMES[2:4])
def test_hints_baselines_and_fixes(folder: Path, tmp_path: Path, name: bytes) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    try:
        file.write_bytes(BROKEN.encode())
    except OSError:
        pytest.skip("a system where every name is Unicode")
    hints = torchsleuth("hints", file.name, cwd=tmp_path)
    assert hints.returncode == 0 and "[2, 3]" in hints.stdout and steers(hints.stdout) == []
    written = torchsleuth("check", ".", "--write-baseline", "base.json", cwd=tmp_path)
    assert written.returncode == 0 and steers(written.stdout) == []
    assert torchsleuth("check", ".", "--baseline", "base.json", cwd=tmp_path).returncode == 0
    fixed = torchsleuth("check", file.name, "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert "fixed" in fixed.stderr and steers(fixed.stderr) == [] and steers(fixed.stdout) == []


CRASH = (
    "import sys, torch\nsys.excepthook = lambda *error: None\n"
    "def \u0430(x):\n    raise RuntimeError('\\x1b[2J\\u202e first\\r\\n::error::second\\n##[error]third')\n"
    "print('::error::of the script\\x1b[2J')\n\u0430(torch.ones(2))  # \x1b[31m\n"
)


def test_the_diagnosis_of_a_run_is_escaped(tmp_path: Path) -> None:
    script = tmp_path / "a\x1b[31m\n::error::b.py"
    script.write_text(CRASH)
    done = torchsleuth("run", script.name, cwd=tmp_path)
    assert done.returncode == 1 and "script-error" in done.stderr and steers(done.stderr) == []
    fixed = torchsleuth("fix", script.name, cwd=tmp_path)
    assert fixed.returncode == 1 and steers(fixed.stdout) == [] and steers(fixed.stderr) == []


def test_a_message_escapes_the_names_in_it() -> None:
    assert message("file.missing", path=Path("a\n\x1b[2Jb\u202e.py")) == r"a\n\x1b[2Jb\u202e.py does not exist"
    assert message("cli.fixed", path="a", line=1, code="TS101", fix="use `a\x1b`\u2028") == (
        r"a:1: TS101 fixed: use `a\x1b`" + "\\u2028"
    )


def test_what_is_escaped_and_what_is_not() -> None:
    for text in ("", "plain", "é 名 😋 👩\u200d🚀 عربى", "a\\x1b", "x: y, 100%"):
        assert escape(text) == text
    everything = "".join(map(chr, range(0x110000)))
    assert steers(escape(everything)) == [] and len(escape(everything)) > 0x100000
    assert escape("a\tb\n", keep="\t") == "a\tb\\n"
    assert escape_line("::error::x") == r"\x3a:error::x" and escape_line("  ::x") == r"  \x3a:x"
    assert escape_line("a::b # [c] ## [d]") == "a::b # [c] ## [d]"
    assert escape_line("a ##[b] ##vso[c]") == r"a #\x23[b] #\x23vso[c]"


def test_colours_are_ours_alone(capsys: pytest.CaptureFixture[str]) -> None:
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    out = Output(stream)
    out._console._force_terminal = True
    out.line(("label\x1b[2J", "bold red"), " [red]text[/red] \x1b[31m", "\u202e")
    shown = stream.getvalue()
    assert r"label\x1b[2J" in shown and r" [red]text[/red] \x1b[31m\u202e" in shown
    assert not steers(shown.replace("\x1b[1;31m", "").replace("\x1b[0m", ""))
    patch("--- a/x\n+++ b/x\n \tkept\r\n-\x1b[2J\n ::error::x\n")
    assert capsys.readouterr().out == "--- a/x\n+++ b/x\n \tkept\r\n-\\x1b[2J\n \\x3a:error::x\n"
