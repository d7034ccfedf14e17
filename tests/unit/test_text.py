"""Positions and edits in every way of counting."""

from __future__ import annotations

import ast
import gc

import pytest

from torchsleuth.schema import Diagnostic, Edit, Fix, Position, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.parse import MAX_KEPT, parse, parse_with_errors
from torchsleuth.syntax.text import Encoding, SourceText
from torchsleuth.worker.structure import structure

TEXT = 'a = 1\r\n名 = "😋"; b = 2\n# \x0c \u2028 \x85 one line\rlast'


def test_lines_end_where_python_and_the_editor_end_them() -> None:
    source = SourceText("f.py", TEXT)
    assert source.line_count == 4
    assert [source.line(n) for n in range(1, 6)] == [
        "a = 1",
        '名 = "😋"; b = 2',
        "# \x0c \u2028 \x85 one line",
        "last",
        "",
    ]


def test_columns_round_trip() -> None:
    source = SourceText("f.py", TEXT)
    column = source.line(2).index("b") + 1
    at = Position(2, column)
    assert source.to_units(at, "utf-16") == (1, column)  # the emoji counts twice
    assert source.from_units(1, column, "utf-16") == at
    assert source.from_utf8(2, len(source.line(2)[: column - 1].encode())) == at
    assert source.position(source.offset(at)) == at


def test_edits_apply_together() -> None:
    source = SourceText("f.py", "x = 1\ny = 2\n")
    tree = ast.parse(source.text)
    made = (
        edits.replace(source, tree.body[0].value, "10"),
        edits.insert_line_before(source, tree.body[1], "z = 3"),
        edits.insert_line_after(source, tree.body[1], "w = 4"),
    )
    assert source.apply(made) == "x = 10\nz = 3\ny = 2\nw = 4\n"


def test_wrapping_keeps_strings_comments_and_blank_lines() -> None:
    text = 'def f():\n    for x in y:\n        a = """one\ntwo"""\n\n        # comment\n        g(a)  # end\n    return 1\n'
    source = SourceText("f.py", text)
    loop = ast.parse(text).body[0].body[0]
    wrapped = source.apply(edits.wrap(source, loop, "with torch.no_grad():"))
    assert wrapped == (
        'def f():\n    with torch.no_grad():\n        for x in y:\n            a = """one\ntwo"""\n\n'
        "            # comment\n            g(a)  # end\n    return 1\n"
    )


def test_broken_text_loses_only_what_is_broken() -> None:
    text = "a = 1\ndef half(:\n    x = (\nb = 2\nif True:\n\nc = 3\nd = 'open\ne = 4\n"
    source = SourceText("f.py", text)
    tree, blanked = parse_with_errors(source)
    names = {node.id: node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names["a"] == 1 and names["b"] == 4 and names["e"] == 9
    assert 2 in blanked


def test_nothing_breaks_the_parser() -> None:
    for text in ("", "\0", "(" * 500, "\t x\n  y\n z", "def", "\ufeffx = 1", "x = '\ud800'"):
        parse_with_errors(SourceText("f.py", text))


def test_schema_round_trip() -> None:
    at = Position(1, 2)
    fix = Fix("t", (Edit("p", at, at, "n"),), True, True)
    item = Diagnostic("p", "TS101", "n", "error", "m", at, at, (Related("p", at, at, "r"),), (fix,), "run")
    assert structure(item.to_json(), Diagnostic) == item


def test_trees_are_shared_and_few_are_kept() -> None:
    text = "x = 1\n"
    tree = parse(SourceText("a.py", text))
    assert parse(SourceText("b.py", text)) is tree
    long = "y = 2\n" * (MAX_KEPT // 6 + 1)
    assert len(parse(SourceText("c.py", long)).body) == MAX_KEPT // 6 + 1
    assert parse(SourceText("a.py", text)) is not tree


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 1), ("utf-16", 2), ("utf-32", 4)])
def test_columns_in_each_encoding(encoding: Encoding, width: int) -> None:
    text = "aé中😋\ud800b"
    source = SourceText("f.py", text)
    name = encoding if encoding == "utf-8" else f"{encoding}-le"
    for column in range(len(text) + 1):
        units = len(text[:column].encode(name, "surrogatepass")) // width
        assert source.to_units(Position(1, column + 1), encoding) == (0, units)
        assert source.from_units(0, units, encoding) == Position(1, column + 1)
    assert source.from_units(0, 1000, encoding) == Position(1, len(text) + 1)


def test_nothing_is_collected_in_the_middle_of_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs then may parse, too, in another thread, and Python counts the depths of both together."""
    enabled = []
    parse_text = ast.parse

    def parse_and_look(text: str) -> ast.Module:
        enabled.append(gc.isenabled())
        return parse_text(text)

    monkeypatch.setattr(ast, "parse", parse_and_look)
    parse(SourceText("a.py", "x = 1  # that nobody has parsed before\n"))
    assert enabled == [False] and gc.isenabled()
