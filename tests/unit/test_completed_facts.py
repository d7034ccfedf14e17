"""Facts of the calls and facts of contracts together: sizes that are lacking, and names beside numbers."""

from __future__ import annotations

from torchsleuth.lsp.callers import called
from torchsleuth.lsp.contracts import completed
from torchsleuth.schema import DimJson, Position, TensorFact


def _fact(line: int, *shape: DimJson, contract: str = "", names: tuple[str, ...] = ()) -> TensorFact:
    start, end = Position(line, 1), Position(line, 2)
    return TensorFact("model.py", start, end, "x", shape, binding="x", contract=contract, names=names)


def _hints(facts: list[TensorFact], told: list[TensorFact], varied: frozenset[str] = frozenset()) -> list[str]:
    return [fact.sizes() for fact in completed(facts, told, varied)]


def test_a_number_stands_beside_the_name_of_the_author() -> None:
    # N is nobody's name, and a product has none.
    told = _fact(1, "N", "B", "width", "2*width", contract="Net", names=("", "B", "width", ""))
    assert _hints([_fact(1, 8, 4, 32, 64)], [told]) == ["[8, B=4, width=32, 64]"]
    assert _hints([_fact(1, "?", 4, 32, "?")], [told]) == ["[N, B=4, width=32, 2*width]"]
    # What a run has seen is shown as it was.
    seen = _fact(1, 8, 4, 32, 64)
    assert _hints([TensorFact(**{**vars(seen), "layer": "run"})], [told])[0] == "[8, 4, 32, 64]"


def test_any_number_of_dimensions_is_the_same_everywhere() -> None:
    told = [_fact(1, "B", "...", contract="mix"), _fact(2, "N", "...", contract="mix")]
    assert _hints([_fact(1, "?", "?"), _fact(2, "?", 3)], told) == ["[B, ?]", "[N, 3]"]
    assert _hints([_fact(1, "?", "?"), _fact(2, "?", 3, 4)], told) == ["[?, ?]", "[?, 3, 4]"]


def test_a_multiple_of_something_unknown_is_lacking_too_and_beside_a_name_nothing_stands() -> None:
    told = _fact(1, "B", "4*width", contract="Net", names=("B", ""))
    assert _hints([_fact(1, "B", "4*?")], [told]) == ["[B, 4*width]"]
    assert _hints([], [told]) == ["[B, 4*width]"]


def test_a_contract_for_one_way_to_make_a_class_says_nothing_of_others() -> None:
    told = _fact(1, "B", "width", contract="Net", names=("B", "width"))
    assert _hints([_fact(1, "?", 32)], [told], frozenset({"Net"})) == ["[?, 32]"]
    supposed = TensorFact(**{**vars(_fact(1, "?", 32)), "supposed": True})
    assert _hints([supposed], [told], frozenset({"Net"})) == ["[B, width]"]


def test_calls_in_other_files_say_what_nothing_in_the_file_calls() -> None:
    own = TensorFact(**{**vars(_fact(1, "B", "?")), "uncalled": True})
    assert [fact.sizes() for fact in called([own], [_fact(1, 8, 4), _fact(2, 8)])] == ["[8, 4]", "[8]"]
    assert [fact.sizes() for fact in called([_fact(1, 2, 4)], [_fact(1, 8, 4)])] == ["[2, 4]"]
