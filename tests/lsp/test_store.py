"""The store: layers, owners, generations, agreement of analysis and run, and what edits do to results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchsleuth.lsp.documents import TextChange
from torchsleuth.lsp.store import ResultStore
from torchsleuth.schema import Diagnostic, Edit, Fix, Position, Related, TensorFact

CONSTRUCTOR = Edit("a.py", Position(3, 20), Position(3, 24), "16384")
FIX = Fix("Change in_features", (CONSTRUCTOR,), verified=True)


def diagnostic(line: int = 10, code: str = "TS101", path: str = "a.py", **changes: object) -> Diagnostic:
    found = Diagnostic(path, code, "name", "error", "sizes differ", Position(line, 5), Position(line, 12))
    return replace(found, **changes)  # type: ignore[arg-type]


def fact(line: int = 10, path: str = "a.py", **changes: object) -> TensorFact:
    found = TensorFact(path, Position(line, 1), Position(line, 2), "x", (4,), "float32", binding="x")
    return replace(found, **changes)  # type: ignore[arg-type]


def typed(line: int, column: int = 6, width: int = 1) -> TextChange:
    return TextChange(Position(line, column), Position(line, column), Position(line, column + width))


def inserted_line(line: int) -> TextChange:
    return TextChange(Position(line, 1), Position(line, 1), Position(line + 1, 1))


@pytest.fixture
def published() -> list[str]:
    return []


@pytest.fixture
def store(published: list[str]) -> ResultStore:
    return ResultStore(published.append, lambda _: None)


def shown(store: ResultStore, path: str = "a.py") -> list[tuple[int, str, bool, bool]]:
    return [
        (item.diagnostic.start.line, item.diagnostic.code, item.confirmed, item.stale) for item in store.findings(path)
    ]


def test_newer_results_replace_older_ones_of_the_same_owner_only(store: ResultStore, published: list[str]) -> None:
    first = store.replace("static", "a.py", [diagnostic(), diagnostic(path="lib.py")], [])
    assert sorted(published) == ["a.py", "lib.py"]
    store.replace("static", "b.py", [diagnostic(line=2, path="lib.py")], [])
    published.clear()
    second = store.replace("static", "a.py", [], [])
    assert sorted(published) == ["a.py", "lib.py"]
    assert shown(store) == [] and shown(store, "lib.py") == [(2, "TS101", False, False)]
    assert store.generation("static", "a.py") == second > first


def test_the_same_diagnostic_from_two_owners_is_shown_once(store: ResultStore) -> None:
    store.replace("static", "b.py", [diagnostic(path="lib.py", message="reached from b")], [])
    store.replace("static", "lib.py", [diagnostic(path="lib.py")], [])
    (finding,) = store.findings("lib.py")
    assert finding.owner == "lib.py"


def test_a_run_confirms_what_the_analysis_says_and_adds_to_it(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic(fixes=(FIX,))], [], 1)
    other = Fix("Another", (Edit("a.py", Position(4, 1), Position(4, 2), "y"),))
    here = Related("a.py", Position(3, 1), Position(3, 9), "built here")
    run = diagnostic(layer="run", fixes=(replace(FIX, verified=False), other), related=(here,), message="crashed")
    store.replace("run", "a.py", [run], [])
    (finding,) = store.findings("a.py")
    assert finding.confirmed and finding.diagnostic.message == "sizes differ"
    assert finding.diagnostic.fixes == (FIX, other) and finding.diagnostic.related == (here,)
    assert finding.measured == frozenset({other.edits})
    store.clear("run")
    assert shown(store) == [(10, "TS101", False, False)]


def test_another_code_or_another_line_is_no_confirmation(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic()], [])
    store.replace("run", "a.py", [diagnostic(code="TS901", layer="run"), diagnostic(line=11, layer="run")], [])
    assert shown(store) == [(10, "TS101", False, False), (10, "TS901", False, False), (11, "TS101", False, False)]


def test_a_run_that_ends_where_the_analysis_says_confirms_it(store: ResultStore) -> None:
    backward = Related("a.py", Position(12, 1), Position(12, 9), "backward() is called here")
    store.replace("static", "a.py", [diagnostic(code="TS402", related=(backward,))], [])
    store.replace("run", "a.py", [diagnostic(line=12, code="TS402", layer="run")], [])
    assert shown(store) == [(10, "TS402", True, False)]


def test_a_run_without_a_name_for_its_error_confirms_the_one_of_the_line(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic(), diagnostic(line=11, code="TS701", severity="warning")], [])
    store.replace("run", "a.py", [diagnostic(code="TS199", layer="run"), diagnostic(11, "TS918", layer="run")], [])
    assert shown(store) == [(10, "TS101", True, False), (11, "TS701", False, False), (11, "TS918", False, False)]


def test_results_move_with_the_text(store: ResultStore, published: list[str]) -> None:
    store.replace("static", "a.py", [diagnostic(fixes=(FIX,))], [fact()])
    store.replace("run", "a.py", [diagnostic(line=20, layer="run")], [fact(line=20, layer="run")])
    published.clear()
    store.text_changed("a.py", [inserted_line(2)])
    assert [item[0] for item in shown(store)] == [11, 21]
    assert store.findings("a.py")[0].diagnostic.fixes[0].edits[0].start == Position(4, 20)
    assert [item.start.line for item in store.facts("a.py")] == [11, 21]
    assert published == []


def test_a_run_is_stale_where_its_line_changed(store: ResultStore, published: list[str]) -> None:
    store.replace("run", "a.py", [diagnostic(layer="run")], [fact(layer="run")])
    published.clear()
    store.text_changed("a.py", [typed(10)])
    assert shown(store) == [(10, "TS101", False, True)]
    assert store.facts("a.py") == [] and published == ["a.py"]
    store.text_changed("a.py", [typed(1)])
    assert shown(store) == [(10, "TS101", False, True)]


def test_a_run_is_stale_where_the_constructor_it_blames_changed(store: ResultStore) -> None:
    built = Related("lib.py", Position(7, 1), Position(7, 30), "built here")
    store.replace("run", "a.py", [diagnostic(layer="run", related=(built,))], [])
    store.text_changed("lib.py", [typed(7)])
    assert shown(store) == [(10, "TS101", False, True)]


def test_a_run_says_nothing_any_more_where_its_fix_was_made(store: ResultStore, published: list[str]) -> None:
    store.replace("run", "a.py", [diagnostic(layer="run", fixes=(FIX,))], [])
    published.clear()
    store.text_changed("a.py", [TextChange(CONSTRUCTOR.start, CONSTRUCTOR.end, Position(3, 25))])
    assert shown(store) == [] and published == ["a.py"]


def test_what_is_stale_confirms_nothing(store: ResultStore) -> None:
    store.replace("run", "a.py", [diagnostic(layer="run")], [])
    store.text_changed("a.py", [typed(10)])
    store.replace("static", "a.py", [diagnostic()], [])
    assert shown(store) == [(10, "TS101", False, False)]


def test_a_fix_whose_place_was_typed_in_is_dropped_until_the_next_analysis(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic(fixes=(FIX,))], [])
    store.text_changed("a.py", [typed(3, 22)])
    (finding,) = store.findings("a.py")
    assert finding.diagnostic.fixes == ()


def test_one_layer_can_be_moved_alone(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic()], [])
    store.replace("run", "a.py", [diagnostic(line=20, layer="run")], [])
    store.text_changed("a.py", [inserted_line(1)], layer="run")
    assert [item[0] for item in shown(store)] == [10, 21]


def test_clearing_one_owner_leaves_the_others(store: ResultStore, published: list[str]) -> None:
    store.replace("run", "a.py", [diagnostic(layer="run")], [])
    store.replace("run", "b.py", [diagnostic(path="b.py", layer="run")], [])
    published.clear()
    store.clear("run", "a.py")
    assert published == ["a.py"] and shown(store, "b.py")
    store.clear("run")
    assert shown(store, "b.py") == []


def test_whether_a_change_reached_into_something_is_known(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic()], [fact(line=12)])
    store.text_changed("a.py", [inserted_line(2)])
    store.text_changed("a.py", [typed(13, column=9)])
    assert store.is_whole("static", "a.py")
    inside = Position(11, 6)
    store.text_changed("a.py", [TextChange(inside, inside, Position(11, 8), blank=True)])
    assert store.is_whole("static", "a.py")
    store.text_changed("a.py", [typed(11)])
    assert not store.is_whole("static", "a.py") and not shown(store)
    store.replace("static", "a.py", [diagnostic()], [])
    assert store.is_whole("static", "a.py")


CALL = Related("b.py", Position(4, 1), Position(4, 9), "reached by this call", call=True)
MADE = Related("b.py", Position(2, 1), Position(2, 9), "made here")


def notes(store: ResultStore, path: str = "b.py") -> list[tuple[int, str, str]]:
    return [(item.place.start.line, item.finding.diagnostic.code, item.place.message) for item in store.notes(path)]


def test_a_finding_is_noted_at_the_call_in_another_file(store: ResultStore, published: list[str]) -> None:
    store.replace("static", "b.py", [diagnostic(related=(MADE, CALL)), diagnostic(line=11, related=(CALL,))], [])
    assert notes(store) == [(4, "TS101", "reached by this call")] and notes(store, "a.py") == []
    store.text_changed("b.py", [inserted_line(1)])
    assert notes(store) == [(5, "TS101", "reached by this call")]
    published.clear()
    store.replace("static", "b.py", [], [])
    assert notes(store) == [] and sorted(published) == ["a.py", "b.py"]


def test_there_is_no_note_for_hints_or_where_the_same_is_found(store: ResultStore) -> None:
    store.replace("static", "b.py", [diagnostic(related=(MADE,), severity="hint")], [])
    assert notes(store) == []
    store.replace("static", "b.py", [diagnostic(related=(MADE,)), diagnostic(line=2, path="b.py")], [])
    assert notes(store) == []
    store.replace("static", "b.py", [diagnostic(related=(MADE,)), diagnostic(line=2, path="b.py", code="TS1")], [])
    assert notes(store) == [(2, "TS101", "made here")]


def test_a_finding_that_is_found_again_keeps_its_number(store: ResultStore) -> None:
    store.replace("static", "a.py", [diagnostic(), diagnostic(line=20)], [], 1)
    first, second = (item.number for item in store.findings("a.py"))
    store.text_changed("a.py", [inserted_line(1)])
    found = [diagnostic(line=2, message="new"), diagnostic(line=11, message="other words"), diagnostic(line=30)]
    store.replace("static", "a.py", found, [], 2)
    numbers = [item.number for item in store.findings("a.py")]
    assert numbers[1:] == [first, second] and numbers[0] not in (first, second)
    assert store.finding(first) == store.findings("a.py")[1]
    store.replace("static", "a.py", [], [], 3)
    assert store.finding(first) is None


def test_a_change_of_another_file_leaves_open_whether_a_finding_still_holds(store: ResultStore) -> None:
    store.replace("static", "b.py", [diagnostic(related=(CALL,))], [], 7)
    store.text_changed("a.py", [inserted_line(1)])
    assert [item.version for item in store.findings("a.py")] == [None]
    store.keep("static", "b.py", 8)
    assert [item.version for item in store.findings("a.py")] == [8]


def test_what_was_found_while_another_file_was_typed_in_lies_where_it_is_now(store: ResultStore) -> None:
    found = [diagnostic(related=(CALL,), fixes=(FIX,))]
    store.replace("static", "b.py", found, [], 7, since={"a.py": [inserted_line(1)], "c.py": [inserted_line(1)]})
    (finding,) = store.findings("a.py")
    assert finding.diagnostic.start.line == 11 and finding.diagnostic.fixes[0].edits[0].start.line == 4
    assert finding.version is None
    store.replace("static", "b.py", found, [], 7, since={"c.py": [inserted_line(1)]})
    assert [item.version for item in store.findings("a.py")] == [7]


def test_fixes_are_expected_again_while_those_of_newer_results_are_verified(store: ResultStore) -> None:
    def expected() -> tuple[Fix, ...]:
        (finding,) = store.findings("a.py")
        return finding.expected

    store.replace("static", "a.py", [diagnostic(fixes=(FIX,))], [])
    assert expected() == ()
    store.replace("static", "a.py", [diagnostic()], [], pending=True)
    store.replace("static", "a.py", [diagnostic()], [], pending=True)
    assert expected() == (FIX,)
    store.replace("static", "a.py", [diagnostic(fixes=(FIX,))], [], pending=True)
    assert expected() == ()
    store.replace("static", "a.py", [diagnostic()], [])
    assert expected() == ()
