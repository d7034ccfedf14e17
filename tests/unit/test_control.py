"""Selection, configuration, suppression comments and baselines."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchsleuth.control import baseline
from torchsleuth.control.configuration import Configurations
from torchsleuth.control.selection import ConfigurationError, Layer, is_selected, selected
from torchsleuth.control.shown import shown
from torchsleuth.control.suppression import ignoring, suppressions, unused
from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic, Position
from torchsleuth.syntax.text import SourceText


def found(code: str, line: int, path: str = "a.py") -> Diagnostic:
    return Diagnostic(path, code, "name", "error", "text", Position(line, 1), Position(line, 2))


def kept(text: str, *diagnostics: Diagnostic) -> list[tuple[str, int]]:
    source = SourceText("a.py", text)
    return [
        (item.code, item.start.line) for item in shown(diagnostics, Configurations(isolated=True).of, lambda _: source)
    ]


def idle(text: str, *diagnostics: Diagnostic) -> list[tuple[str, str]]:
    """Messages about comments that silence nothing, with the text that the fix leaves."""
    source = SourceText("a.py", text)
    comments = suppressions(source)
    for diagnostic in diagnostics:
        assert any([comment.silences(diagnostic) for comment in comments])
    return [(item.message, source.apply(item.fixes[0].edits)) for item in unused(source, comments, FAULTS)]


def test_without_configuration_the_rules_decide() -> None:
    assert set(selected(())) == {code for code, fault in FAULTS.items() if fault.default and fault.rule}


@pytest.mark.parametrize(
    ("layers", "code", "expected"),
    [
        ([Layer(select=("TS5",))], "TS501", True),
        ([Layer(select=("TS5",))], "TS101", False),
        ([Layer(select=("TS",))], "TS001", True),
        ([Layer(select=("ALL",))], "TS001", True),
        ([Layer(extend_select=("TS001",))], "TS001", True),
        ([Layer(extend_select=("TS001",))], "TS101", True),
        ([Layer(ignore=("TS1",))], "TS101", False),
        ([Layer(ignore=("TS1",), extend_select=("TS101",))], "TS101", True),
        ([Layer(select=("TS101",), ignore=("TS101",))], "TS101", False),
        ([Layer(ignore=("TS101",)), Layer(select=("TS1",))], "TS101", True),
        ([Layer(select=("TS1",)), Layer(ignore=("TS101",))], "TS101", False),
        ([Layer(select=())], "TS101", False),
        ([], "TS405", True),
    ],
)
def test_selection(layers: list[Layer], code: str, expected: bool) -> None:
    assert is_selected(code, layers) is expected


def test_pyproject_is_found_from_the_file_upward(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.torchsleuth]\nselect = ["TS1", "TS5"]\nextend-ignore = ["TS104"]\nexclude = ["old", "gen/*.py"]\n'
        '[tool.torchsleuth.per-file-ignores]\n"tests/*" = ["TS5"]\n'
        '[tool.torchsleuth.severity]\nTS501 = "error"\nTS5 = "hint"\n'
    )
    inner = tmp_path / "pkg"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\nname = 'no table of ours'\n")
    configuration = Configurations().of(str(inner / "a.py"))
    assert configuration.root == str(tmp_path)
    assert configuration.wants("TS101", str(inner / "a.py")) and not configuration.wants("TS104", str(inner / "a.py"))
    assert configuration.wants("TS501", str(inner / "a.py"))
    assert not configuration.wants("TS501", str(tmp_path / "tests" / "a.py"))
    assert (
        configuration.severity("TS501", "warning") == "error" and configuration.severity("TS503", "warning") == "hint"
    )
    assert configuration.excludes(str(tmp_path / "old" / "deep" / "x.py"))
    assert configuration.excludes(str(tmp_path / "gen" / "x.py")) and not configuration.excludes(str(inner / "a.py"))
    assert Configurations(isolated=True).of(str(inner / "a.py")).codes() is None
    assert Configurations(Layer(select=("TS201",))).of(str(inner / "a.py")).codes() == ("TS201",)


@pytest.mark.parametrize(
    "text",
    [
        "[tool.torchsleuth\n",
        "[tool.torchsleuth]\nselekt = []\n",
        "[tool.torchsleuth]\nselect = 'TS1'\n",
        "[tool.torchsleuth]\nselect = ['TS999']\n",
        "[tool.torchsleuth]\nignore = ['E501']\n",
        "[tool.torchsleuth]\nseverity = {TS101 = 'fatal'}\n",
        "[tool]\ntorchsleuth = 3\n",
    ],
)
def test_bad_configuration_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigurationError) as error:
        Configurations().of(str(tmp_path / "a.py"))
    assert len(str(error.value).splitlines()) == 1 and str(tmp_path / "pyproject.toml") in str(error.value)


def test_comments_silence_what_they_name() -> None:
    assert kept("x = 1  # torchsleuth: ignore[TS101, TS5]\n", found("TS101", 1), found("TS501", 1)) == []
    assert kept("x = 1  # torchsleuth: ignore[TS101]\n", found("TS102", 1), found("TS101", 2)) == [
        ("TS102", 1),
        ("TS101", 2),
    ]
    assert kept("x = 1  # type: ignore  # torchsleuth: ignore because\n", found("TS102", 1)) == []
    assert kept("x = 1  # noqa: E501, ts101\n", found("TS101", 1), found("TS102", 1)) == [("TS102", 1)]
    assert kept("x = 1  # noqa\n", found("TS101", 1)) == [("TS101", 1)]
    assert kept("x = 1\n# torchsleuth: ignore-file[TS1]\n", found("TS101", 1), found("TS501", 1)) == [("TS501", 1)]
    assert kept("# torchsleuth: ignore-file\nx = 1\n", found("TS101", 2)) == []


def test_on_the_last_line_of_a_statement_a_comment_counts_for_all_of_it() -> None:
    call = "x = f(\n    1,  # torchsleuth: ignore[TS102]\n    2,\n)  # torchsleuth: ignore[TS101]\n"
    codes = [found("TS101", 1), found("TS101", 3), found("TS102", 1), found("TS102", 2)]
    assert kept(call, *codes) == [("TS102", 1)]
    header = "for x in (\n    y\n):  # torchsleuth: ignore\n    z\n"
    assert kept(header, found("TS101", 2), found("TS101", 4)) == [("TS101", 4)]


def test_strings_do_not_silence() -> None:
    assert kept('x = "# torchsleuth: ignore"\n', found("TS101", 1)) == [("TS101", 1)]
    assert kept('x = """\n# torchsleuth: ignore-file\n"""\n', found("TS101", 1)) == [("TS101", 1)]


def test_comments_of_a_half_typed_file_count() -> None:
    broken = "x = 1  # torchsleuth: ignore\ndef f(:\n  y\n z = $  \nx = 2  # torchsleuth: ignore\n"
    assert kept(broken, found("TS101", 1), found("TS101", 5), found("TS101", 3)) == [("TS101", 3)]


def test_unused_comments_and_their_removal() -> None:
    assert idle("x = 1  # torchsleuth: ignore[TS101]\n", found("TS101", 1)) == []
    assert idle("x = 1  # torchsleuth: ignore\ny = 2\n") == [("this comment silences nothing here", "x = 1\ny = 2\n")]
    assert idle("x = 1  # torchsleuth: ignore[TS101, TS5]\n", found("TS101", 1)) == [
        ("nothing of TS5 is found here", "x = 1  # torchsleuth: ignore[TS101]\n")
    ]
    assert idle("x = 1  # noqa: E501, TS101\n") == [("nothing of TS101 is found here", "x = 1  # noqa: E501\n")]
    assert idle("x = 1  # type: ignore  # noqa: TS101\n")[0][1] == "x = 1  # type: ignore\n"
    assert idle("# torchsleuth: ignore-file\nx = 1\n")[0][1] == "x = 1\n"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("x = 1\n", 1, "x = 1  # torchsleuth: ignore[TS101]\n"),
        ("x = 1  # why\n", 1, "x = 1  # why  # torchsleuth: ignore[TS101]\n"),
        ("x = 1  # torchsleuth: ignore[TS5] why\n", 1, "x = 1  # torchsleuth: ignore[TS5, TS101] why\n"),
        ("x = f(\n  1)\n", 1, "x = f(  # torchsleuth: ignore[TS101]\n  1)\n"),
        ('x = f("""\n  1""", y)\n', 1, 'x = f("""\n  1""", y)  # torchsleuth: ignore[TS101]\n'),
        ("x = 1 + \\\n  y\n", 1, "x = 1 + \\\n  y  # torchsleuth: ignore[TS101]\n"),
        ("x = 1\r\ny = 2\r\n", 1, "x = 1  # torchsleuth: ignore[TS101]\r\ny = 2\r\n"),
    ],
)
def test_the_edit_that_ignores(text: str, line: int, expected: str) -> None:
    source = SourceText("a.py", text)
    edit = ignoring(source, found("TS101", line))
    assert edit is not None and source.apply((edit,)) == expected


def test_a_baseline_survives_moved_lines(tmp_path: Path) -> None:
    path = str(tmp_path / "known.json")
    here = str(tmp_path / "a.py")
    before = SourceText(here, "x = f(1)\nx = f(1)\n")
    Path(path).write_text(baseline.written([found("TS101", 1, here), found("TS101", 2, here)], lambda _: before, path))
    known = baseline.load(path)
    after = SourceText(here, "# new\n\nif y:\n    x =  f(1)\nx = f(1)\nx = f(1)\nx = g(1)\n")
    findings = [found("TS101", line, here) for line in (4, 5, 6, 7)]
    assert [item.start.line for item in known.unknown(findings, lambda _: after)] == [6, 7]


@pytest.mark.parametrize("text", ["[]", "{", '{"version": 9, "findings": []}', '{"version": 1, "findings": [3]}'])
def test_what_is_no_baseline_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(text)
    with pytest.raises(ConfigurationError):
        baseline.load(str(tmp_path / "known.json"))
