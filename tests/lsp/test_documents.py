"""Snapshots of documents, incremental changes in UTF-16, and where positions go when text changes."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.lsp.editor import utf16
from torchsleuth.lsp.documents import Documents, TextChange, difference, path_of
from torchsleuth.schema import Position
from torchsleuth.syntax.text import SourceText

URI = "file:///work/a%20b.py"


def opened(text: str) -> Documents:
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, text))
    return documents


def typed(documents: Documents, old: str, new: str) -> tuple[TextChange, ...]:
    document = documents.get(URI)
    assert document is not None
    start = document.text.index(old)
    where = types.Range(utf16(document.text, start), utf16(document.text, start + len(old)))
    changed = documents.change(URI, document.version + 1, [types.TextDocumentContentChangePartial(where, new)])
    assert changed is not None
    return changed[1]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", "😋 = '中文'; ", "\t"])
@pytest.mark.parametrize("noise", ["plain", "form\ffeed", "line\u2028separator \u0085 next"])
def test_incremental_changes_count_utf16_and_lines_as_the_editor_does(ending: str, before: str, noise: str) -> None:
    text = ending.join([f"# {noise}", f"{before}x = 1", "y = 2", ""])
    documents = opened(text)
    typed(documents, "x = 1", "x = '😋'")
    typed(documents, "y = 2", f"y{ending}z")
    document = documents.get(URI)
    assert document is not None
    assert document.text == text.replace("x = 1", "x = '😋'").replace("y = 2", f"y{ending}z")
    assert document.version == 3


def test_several_changes_of_one_notification_build_on_each_other() -> None:
    documents = opened("ab\ncd\n")
    one = types.Range(types.Position(0, 0), types.Position(0, 2))
    two = types.Range(types.Position(1, 0), types.Position(1, 1))
    changes = [types.TextDocumentContentChangePartial(one, "x\ny"), types.TextDocumentContentChangePartial(two, "Z")]
    changed = documents.change(URI, 7, changes)
    assert changed is not None and changed[0].text == "x\nZ\ncd\n"


def test_a_change_beyond_the_end_is_clamped_and_one_of_a_closed_document_ignored() -> None:
    documents = opened("a\n")
    far = types.Range(types.Position(9, 9), types.Position(99, 0))
    changed = documents.change(URI, 2, [types.TextDocumentContentChangePartial(far, "b")])
    assert changed is not None and changed[0].text == "a\nb"
    documents.close(URI)
    assert documents.change(URI, 3, []) is None


def test_paths_and_uris_are_spelled_as_the_client_does() -> None:
    documents = opened("")
    assert path_of(URI) == "/work/a b.py"
    assert documents.uri("/work/a b.py") == URI
    assert documents.uri("/work/not open.py") == "file:///work/not%20open.py"
    assert path_of("untitled:Untitled-1") == "untitled:Untitled-1"
    assert documents.uri("untitled:Untitled-1") == "untitled:Untitled-1"


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb\nc\n", "a\nB\nc\n"), ("a\n", "a\nb\n"), ("aaa", "aa"), ("x\ny\n", ""), ("😋", "😋😋"), ("ab", "ab")],
)
def test_the_difference_of_two_texts_turns_one_into_the_other(before: str, after: str) -> None:
    old, new = SourceText("a.py", before), SourceText("a.py", after)
    text = before
    for change in difference(old, new):
        inserted = new.slice(change.start, change.new_end)
        text = before[: old.offset(change.start)] + inserted + before[old.offset(change.old_end) :]
    assert text == after


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("# first\n", "# first\n# second\n", "loss"),
        ("# first\n", "", "loss"),
        ("x = 1; ", "x = 100; ", "loss"),
        (" + 1", "", "loss"),
        ("# first\n# after\n", "", "loss"),
        ("x = 1", "😋 = 1", "loss"),
    ],
)
def test_a_span_moves_with_its_text(old: str, new: str, word: str) -> None:
    text = "# first\n# after\nx = 1; loss + 1\n"
    documents = opened(text)
    document = documents.get(URI)
    assert document is not None
    at = text.index(word)
    span = document.source.position(at), document.source.position(at + len(word))
    (change,) = typed(documents, old, new)
    moved = change.moved(*span)
    after = documents.get(URI)
    assert moved is not None and after is not None
    assert after.source.slice(*moved) == word


def test_a_span_that_was_typed_in_is_lost() -> None:
    change = TextChange(Position(2, 3), Position(2, 4), Position(2, 9))
    assert change.moved(Position(2, 1), Position(2, 6)) is None
    assert change.moved(Position(1, 1), Position(3, 1)) is None


@pytest.mark.parametrize(("old", "new"), [(" ", "  "), (" ", "\n    "), ("  ", " "), ("\t", "")])
def test_a_span_with_more_or_less_space_in_it_stays(old: str, new: str) -> None:
    text = "x=f(1,\ty, z,  w)+1\n"
    documents = opened(text)
    document = documents.get(URI)
    assert document is not None
    span = document.source.position(2), document.source.position(17)
    (change,) = typed(documents, old, new)
    after = documents.get(URI)
    moved = change.moved(*span)
    assert moved is not None and after is not None
    assert after.source.slice(*moved) == text[2:17].replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        (TextChange(Position(5, 3), Position(5, 3), Position(5, 4)), True),
        (TextChange(Position(4, 1), Position(5, 1), Position(4, 1)), False),  # the line above deleted
        (TextChange(Position(5, 1), Position(5, 1), Position(6, 1)), False),  # a line inserted above
        (TextChange(Position(6, 1), Position(6, 1), Position(7, 1)), False),  # a line inserted below
        (TextChange(Position(4, 2), Position(5, 2), Position(4, 2)), True),  # joined with the line above
        (TextChange(Position(5, 1), Position(6, 1), Position(5, 1)), True),  # deleted
        (TextChange(Position(9, 1), Position(9, 1), Position(9, 2)), False),
    ],
)
def test_which_lines_a_change_touches(change: TextChange, touched: bool) -> None:
    assert change.touches_lines(Position(5, 2), Position(5, 8)) is touched


def test_documents_that_import_a_module_are_found() -> None:
    documents = opened("from nets.model import Net\n")
    uri = "file:///work/other.py"
    documents.open(types.TextDocumentItem(uri, "python", 1, "x = 'import model'\n# import model\n"))
    assert [document.uri for document in documents.importing("/work/nets/model.py")] == [URI]
    assert [document.uri for document in documents.importing("/work/nets/__init__.py")] == [URI]
    assert documents.importing("/work/mode.py") == []


def test_documents_that_import_it_by_way_of_another_are_found_too() -> None:
    documents = opened("from model import Net\n")
    last, loop = "file:///work/main.py", "file:///work/model.py"
    documents.open(types.TextDocumentItem(last, "python", 1, "import os, train_b\n".replace("train_b", "model")))
    documents.open(types.TextDocumentItem(loop, "python", 1, "from layers import Block\nimport main\n"))
    assert {document.uri for document in documents.importing("/work/layers.py")} == {URI, last, loop}
