"""Repairs that a message gives away: an option that it says to pass, and values that end a stream of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder, files_of
from torchsleuth.errors.case import Case
from torchsleuth.errors.fixes import add_argument, replace
from torchsleuth.errors.origin import followed_operands
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_attribute, is_binding, is_place, keyword_of, names_in
from torchsleuth.syntax.text import SourceText


def _told_option(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.jit.trace(net, x)`` → ``…, strict=False)``, where the function that was called has a parameter of that name. Only
    for errors of which nothing else is known: where an option is the wrong remedy, an entry says so."""
    node = case.frame.node
    if not isinstance(node, ast.Call) or case.match.re.pattern or any(item.arg is None for item in node.keywords):
        return
    name, text = found[1], f"{found[1]}={found[2]}"
    takes = [call for call in case.crash["calls"] if call["function"] == called(node) and name in call["inputs"]]
    given = keyword_of(node, name)
    if takes and given is None:
        yield add_argument(case.frame.source, node, text)
    elif takes and given is not None and case.frame.text(given.value) != found[2]:
        yield replace(case.frame, given.value, found[2])


def _padded_stack(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.stack(rows)`` → ``pad_sequence(rows, batch_first=True)``, where only their lengths differ; → ``torch.stack([row.mean()
    for row in rows])``, where one of them is a number; → ``torch.cat(rows)``, where the results of batches are collected."""
    node, frame = case.frame.node, case.frame
    if not isinstance(node, ast.Call) or frame.text(node.func) != "torch.stack" or len(node.args) != 1 or node.keywords:
        return
    one, other = ([int(size) for size in re.findall(r"\d+", found[group])] for group in (1, 2))
    parts = frame.text(node.args[0])
    if (
        len(one) == len(other) == 1 and int(found[3]) > 1
    ):  # the others are as long as the first: the last batch is smaller
        yield replace(frame, node.func, "torch.cat", safe=False)
    if one and other and one[1:] == other[1:]:
        yield replace(frame, node, f"torch.nn.utils.rnn.pad_sequence({parts}, batch_first=True)", safe=False)
    elif not one or not other:
        yield replace(frame, node.args[0], f"[part.mean() for part in {parts}]", safe=False)


def _ends_with_none(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``x, y = items.get()`` in a loop without end → the loop is left at None, which is put there as the last item."""
    statement, source = as_kind(case.frame.statement, ast.Assign), case.frame.source
    value = as_kind(statement.value, ast.Call) if statement is not None else None
    if statement is None or value is None or not _puts_none(case):
        return
    trail = edits.path_to(case.frame.tree, statement)
    loop = as_kind(
        next((part for part in reversed(trail) if isinstance(part, ast.While | ast.For | ast.FunctionDef)), None),
        ast.While,
    )
    endless = loop is not None and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    if not endless or called(value) not in ("get", "get_nowait", "recv"):
        return
    used = names_in(case.frame.tree)
    name = next(text for text in ("item", "received", "taken_item") if text not in used)
    lines = (f"{name} = {source.segment(value)}", f"if {name} is None:", "    break")
    changes = [edits.insert_line_before(source, statement, line) for line in lines]
    text = edits.joined(changes)
    yield Fix(message("fix.ends_with_none"), (*text, edits.replace(source, value, name)), safe=False)


def _puts_none(case: Case) -> bool:
    """Whether a file that was running puts None into a queue."""
    return any(
        called(node) in ("put", "put_nowait", "send")
        and [getattr(item, "value", 0) for item in node.args[:1]] == [None]
        for frame in files_of(case)
        for node in frame.all(ast.Call)
    )


def _number_of_text(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``Net(args.hidden)`` → ``Net(int(args.hidden))``, where the value is a text of digits; with the option of the command line
    that it comes from in reach, its type."""
    places = list(_numbers_as_text(case))
    for source, call, kind in typeless_options(case):
        text = f"type={kind}"
        yield add_argument(source, call, text)
    yield from (_wrapped(source, place, kind) for source, place, kind in reversed(places))


def _numbers_as_text(case: Case) -> Iterator[tuple[SourceText, ast.expr, str]]:
    """The operands that are texts of digits, what they come from, and the type that reads them."""
    texts = {}
    for node in case.frame.operands():
        value = case.frame.value(node) or {}
        if value.get("type") == "str" and (kind := _kind(value["value"])) is not None:
            texts[node] = kind
    for operand, source, place in followed_operands(case):
        if operand in texts and is_place(place):
            yield source, place, texts[operand]


def _wrapped(source: SourceText, place: ast.expr, kind: str) -> Fix:
    old = source.segment(place)
    title = message("fix.replace", old=" ".join(old.split())[:60], new=f"{kind}({old})"[:60])
    return Fix(title, (edits.replace(source, place, f"{kind}({old})"),))


def typeless_options(case: Case) -> Iterator[tuple[SourceText, ast.Call, str]]:
    """``add_argument("--hidden")`` without a type, of which a number in the failing expression is the text, and that type."""
    for _, place, kind in _numbers_as_text(case):
        for frame in files_of(case) if isinstance(place, ast.Attribute) else ():
            for node in frame.all(ast.Call):
                names = [str(getattr(item, "value", "")).lstrip("-").replace("-", "_") for item in node.args]
                if called(node) == "add_argument" and is_attribute(place, *names):
                    if keyword_of(node, "type") is None:
                        yield frame.source, node, kind


def _kind(text: str) -> str | None:
    """How a text is read as a number."""
    for kind, read in (("int", int), ("float", float)):
        try:
            read(text)
        except ValueError:
            continue
        return kind
    return None


def _result_taken_apart(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``state = env.reset()`` → ``state, _ = env.reset()``, where that gives an array and what belongs to it."""
    for operand, source, place in followed_operands(case):
        value = case.frame.value(operand) or {}
        kinds = [item.get("type") for item in value.get("items") or ()]
        if value.get("type") != "tuple" or kinds.count("dict") != 1 or kinds[0] == "dict":
            continue
        for frame in files_of(case) if is_binding(place) and isinstance(place.value, ast.Call) else ():
            if frame.source is source and is_binding(place):
                name = place.targets[0].id
                yield replace(frame, place.targets[0], ", ".join([name, *"_" * (len(kinds) - 1)]))


def _as_many_as_there_are(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``random.sample(memory, size)`` → ``random.sample(memory, min(size, len(memory)))``"""
    held, size = case.frame.argument(0, "population"), case.frame.argument(1, "k")
    if held is not None and size is not None:
        yield replace(case.frame, size, f"min({case.frame.text(size)}, len({case.frame.text(held)}))")


BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"(?:pass|use|set|try|with|specify)(?:ing)? `?(\w+) ?= ?(True|False|None|\d+)\b", _told_option),
    (
        r"stack expects each tensor to be equal size, but got \[(.*?)\] at entry 0 and \[(.*?)\] at entry (\d+)",
        _padded_stack,
    ),
    (r"cannot unpack non-iterable NoneType object", _ends_with_none),
    (r"\bstr\b", _number_of_text),
    (r"Could not infer dtype of dict", _result_taken_apart),
    (r"Sample larger than population", _as_many_as_there_are),
)
