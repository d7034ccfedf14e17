"""Vocabularies that grow after the size of an embedding was read from them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame, enclosing_function
from torchsleuth.errors.constructor import build_sites
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import defined, made_from
from torchsleuth.errors.reached import around, note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    given_to,
    is_attribute,
    is_function_call,
    is_method_call,
    is_reference,
    last_word,
    nodes_in,
    plain_name,
    stands_on,
)

_ADDS = ("add_tokens", "add_special_tokens", "add_token", "add_words", "add_word", "add_symbol", "add_symbols")
_SIZE = ("vocab_size", "n_words", "n_tokens", "num_tokens", "size")
_Grows = tuple[CrashFrame, ast.stmt, ast.expr]
"""The statement by which something grows, and what grows."""


def _growths(file: CrashFrame, case: Case) -> Iterator[_Grows]:
    """``tokenizer.add_tokens(new)``, ``vocab["<eos>"] = len(vocab)``, ``vocab.setdefault(word, len(vocab))``"""
    for node in file.all(ast.Call):
        statement = edits.enclosing_statement(file.tree, node)
        if not is_method_call(node) or statement is None:
            continue
        by_length = any(is_function_call(part, "len") for given in node.args[1:] for part in ast.walk(given))
        if node.func.attr in _ADDS or node.func.attr == "setdefault" and by_length or _adds(case, node.func.attr):
            yield file, statement, node.func.value
    for assigned in file.all(ast.Assign):
        for target in assigned.targets:
            if isinstance(target, ast.Subscript):
                text = file.text(target.value)
                if any(
                    is_function_call(part, "len") and file.text(part.args[0]) == text
                    for part in ast.walk(assigned.value)
                    if given_to(part)
                ):
                    yield file, assigned, target.value


def _adds(case: Case, name: str) -> bool:
    """Whether a method of the user's puts into its own vocabulary what it is given."""
    if not re.match(r"add|extend|grow|register", name):
        return False
    return any(
        is_method_call(part, "setdefault", "append") and re.match(r"self\.", file.text(part))
        or isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and file.text(part).startswith("self.")
        for file, function in defined(case, name)
        for part in ast.walk(function)
    )  # fmt: skip


def _is_embedding(case: Case) -> bool:
    module = case.crash["module"] or {}
    return module.get("type") in ("Embedding", "EmbeddingBag") or "embedding" in str(case.crash.get("library"))


def _grown(case: Case) -> list[tuple[_Grows, CrashFrame, ast.stmt]]:
    """What grows after the model was made in the same function, with the statement that made it; and after its size was read."""
    if not _is_embedding(case):
        return []
    found: dict[int, tuple[_Grows, CrashFrame, ast.stmt]] = {}
    for file in case.files:
        for grows in _growths(file, case):
            for place, made in _sized(case):
                before = place is file and made.lineno < grows[1].lineno
                if (
                    before
                    and around(file.tree, made) is around(file.tree, grows[1])
                    and _is_of(case, grows, place, made)
                ):
                    found.setdefault(id(grows[1]), (grows, place, made))
    return list(found.values())[:2]


def _sized(case: Case) -> Iterator[tuple[CrashFrame, ast.stmt]]:
    """The statements of the user's that built the model, and those in which the size was read that its constructor got."""
    by_path = {file.path: file for file in case.files}
    for site in build_sites(case):
        file = by_path.get(site.source.path)
        for node in nodes_in(file.tree, ast.Assign, ast.Expr) if file is not None else ():
            if stands_on(node, site.line):
                assert file is not None
                yield file, node
    for file, size, _ in _sizes(case):
        statement = edits.enclosing_statement(file.tree, size)
        if statement is not None:
            yield file, statement


def _sizes(case: Case) -> Iterator[tuple[CrashFrame, ast.expr, ast.expr]]:
    """``len(vocab)`` and ``tokenizer.vocab_size`` in what the constructors were given, and what they are the sizes of."""
    by_path = {file.path: file for file in case.files}
    for site in build_sites(case):
        call, file = site.call(None), by_path.get(site.source.path)
        if call is None or file is None:
            continue
        twin = next(
            (node for node in file.all(ast.Call) if (node.lineno, node.col_offset) == (call.lineno, call.col_offset)),
            None,
        )
        for given in given_to(twin):
            for place, node in made_from(case, file, given):
                if is_function_call(node, "len") and len(node.args) == 1 and is_reference(node.args[0]):
                    yield place, node, node.args[0]
                elif is_attribute(node, *_SIZE) and is_reference(node.value):
                    yield place, node, node.value


def _is_of(case: Case, grows: _Grows, place: CrashFrame, made: ast.stmt) -> bool:
    """Whether the size of what was made comes from what grows: by its name, or by those that it is passed on under."""
    name = last_word(grows[2])
    sizes = list(_sizes(case))
    if any(last_word(whole) == name for _, _, whole in sizes):
        return True
    return any(last_word(part) == name for part in nodes_in(made, ast.Name, ast.Attribute))


def _grown_here(case: Case) -> Iterator[Related]:
    for (file, statement, _), place, made in _grown(case):
        yield note(file.source, statement, "error.grows_after")
        yield note(place.source, made, "error.sized_before")
    for file, size, whole in _short_sizes(case):
        yield note(file.source, size, "error.without_added", name=file.text(whole))


def _short_sizes(case: Case) -> list[tuple[CrashFrame, ast.expr, ast.expr]]:
    """``tokenizer.vocab_size`` of transformers, which does not count the tokens that were added."""
    if not _is_embedding(case):
        return []
    adds = [
        node
        for file in case.files
        for node in file.all(ast.Call)
        if called(node) in ("add_tokens", "add_special_tokens")
    ]
    own = [part for file in case.files for part in file.all(ast.FunctionDef) if part.name in _ADDS]
    return [item for item in _sizes(case) if is_attribute(item[1], "vocab_size") and adds and not own][:2]


def _sized_again(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``model.resize_token_embeddings(len(tokenizer))`` behind what was added; else the model is made behind it."""
    for file, size, whole in _short_sizes(case):
        yield replace(file, size, f"len({file.text(whole)})")
    for (file, statement, whole), _, made in _grown(case):
        name = plain_name(made.targets[0]) if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        scope = enclosing_function(file.tree, statement.lineno)
        if name is not None and "transformers" in file.source.text and not _is_number(made):
            text = f"{name}.resize_token_embeddings(len({file.text(whole)}))"
            yield Fix(message("fix.insert", text=text), (edits.insert_line_after(file.source, statement, text),))
        block = next((part.body for part in [scope or file.tree] if made in part.body and statement in part.body), None)
        if block is not None and not _needs(file, statement, made, block):
            first = made.lineno
            lines = file.source.text.splitlines(keepends=True)[statement.lineno - 1 : statement.end_lineno]
            cut = Edit(file.path, Position(statement.lineno, 1), Position((statement.end_lineno or 0) + 1, 1), "")
            moved = Edit(file.path, Position(first, 1), Position(first, 1), "".join(lines))
            title = message("fix.grown_first", name=file.text(whole))
            yield Fix(title, (moved, cut), safe=False)


def _is_number(made: ast.stmt) -> bool:
    value = getattr(made, "value", None)
    return is_function_call(value, "len") or isinstance(value, ast.Attribute)


def _needs(file: CrashFrame, statement: ast.stmt, made: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether a statement reads what is bound between the place that it would be moved to and its own."""
    between = block[block.index(made) : block.index(statement)]
    stored = {part.id for item in between for part in nodes_in(item, ast.Name) if isinstance(part.ctx, ast.Store)}
    return bool(stored & {part.id for part in nodes_in(statement, ast.Name)})


_TOO_LARGE = r"index out of range in self"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_TOO_LARGE, _sized_again),)
PLACES = ((_TOO_LARGE, _grown_here),)
