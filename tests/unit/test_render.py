"""Carets stand below what they mean, and nothing in a source steers the terminal."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from torchsleuth.cli.files import PathNames
from torchsleuth.cli.output import Output
from torchsleuth.cli.render import caret_columns, diff_lines, print_diagnostic, visible
from torchsleuth.schema import Diagnostic, Edit, Fix, Position
from torchsleuth.syntax.text import SourceText


@pytest.mark.parametrize(
    "line",
    ["x = mark", "\tx = mark", "\t\tx,\tmark\t", "名 = '😋', mark", "\t'中文'\tmark", "x\x0c = mark", "e\u0301 = mark"],
)
def test_carets_cover_exactly_the_marked_text(line: str) -> None:
    start = line.index("mark") + 1
    before, width = caret_columns(line, start, start + 4)
    shown = visible(line)
    cells = [cell_len(shown[:index]) for index in range(len(shown) + 1)]
    assert shown[cells.index(before) if before else 0 :].startswith("mark") or shown[: shown.index("mark")].endswith(
        "\u0301"
    )
    assert before == cell_len(shown[: shown.index("mark")]) and width == 4


def test_a_tab_inside_the_marked_text_is_covered() -> None:
    assert caret_columns("ab\tcd", 1, 6) == (0, 6)
    assert caret_columns("ab\tcd", 2, 4) == (1, 3)


def test_an_empty_span_still_has_a_caret() -> None:
    assert caret_columns("abc", 4, 4) == (3, 1)


def diagnostic(start: Position, end: Position, fixes: tuple[Fix, ...] = ()) -> Diagnostic:
    return Diagnostic("[bold]f.py", "TS101", "name", "error", "message [red]\x1b[31m", start, end, (), fixes)


def render(item: Diagnostic, text: str) -> str:
    stream = io.StringIO()
    print_diagnostic(Output(stream), item, lambda path: SourceText(path, text))
    return stream.getvalue()


def test_markup_and_escapes_in_names_and_sources_are_text() -> None:
    shown = render(diagnostic(Position(1, 1), Position(1, 2)), "x = ':smile:' # [blue] \x1b[2J\x07\n")
    assert "\x1b" not in shown and "\x07" not in shown
    assert "--> [bold]f.py:1:1" in shown and r"message [red]\x1b[31m" in shown
    assert r"':smile:' # [blue] \x1b[2J\x07" in shown


def test_a_span_over_lines_is_marked_to_the_end_of_its_first() -> None:
    shown = render(diagnostic(Position(1, 5), Position(2, 3)), "x = f(\n  1)\n")
    assert shown.splitlines()[2:4] == ["    1 | x = f(", "            ^^"]


def test_the_diff_of_a_fix_counts_lines_as_python_does() -> None:
    text = "a = 1 # \x0c \u2028\r\nb = 2\r\n"
    edit = Edit("f.py", Position(2, 5), Position(2, 6), "3")
    assert list(diff_lines(Fix("t", (edit,)), lambda path: SourceText(path, text))) == [("-", "b = 2"), ("+", "b = 3")]


def test_long_diffs_are_cut() -> None:
    edit = Edit("[bold]f.py", Position(1, 1), Position(1, 1), "x\n" * 40)
    shown = render(diagnostic(Position(1, 1), Position(1, 2), (Fix("t", (edit,)),)), "a\n")
    assert "… 28 more lines" in shown and "t (not verified)" in shown


def test_paths_are_shown_as_given_or_relative(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    names = PathNames(["./sub/../a.py"])
    assert names.shown(str(tmp_path / "a.py")) == "./sub/../a.py"
    assert names.shown(str(tmp_path / "b" / "c.py")) == "b/c.py"
    assert names.shown("/elsewhere/d.py") == "/elsewhere/d.py"
