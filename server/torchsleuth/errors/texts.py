"""Numbers of a configuration that were read as texts: YAML takes ``1e-3`` for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.syntax.forms import is_text, nodes_in

_WRITTEN = re.compile(
    r"([\w-]+)(\s*:\s*)(-?\d+[eE][-+]?\d+|-?\d*\.\d+[eE]\d+|-?\d+\.\d*[eE]\d+)(?=\s*(?:[,}#\\'\"]|$))", re.MULTILINE
)
"""A number that YAML 1.1 has no dot or no sign enough for to read it as one."""
_Told = tuple[CrashFrame, Position, Position, str, str]


def _texts_given(case: Case) -> list[tuple[ast.expr, list[str]]]:
    """What the failing call is given by ``**options``, with the keys of those that are texts."""
    found = []
    for keyword in case.frame.call.keywords if case.frame.call is not None else ():
        if keyword.arg is None:
            held = case.frame.value(keyword.value) or {}
            kinds = [item.get("type") for item in held.get("items") or ()]
            names = [str(key) for key, kind in zip(held.get("keys") or (), kinds) if kind == "str"]
            if len(kinds) == held.get("length") and names:
                found.append((keyword.value, names))
    return found


def _written(case: Case) -> list[_Told]:
    """Where such a number stands in a text of a script that reads YAML, and how it would be one."""
    wanted = {name for _, names in _texts_given(case) for name in names}
    found: list[_Told] = []
    for file in case.files:
        if "yaml" not in file.source.text:
            continue
        for node in nodes_in(file.tree, ast.Constant):
            if not is_text(node):
                continue
            first = file.source.offset(file.source.start_of(node))
            text = file.source.text[first : file.source.offset(file.source.end_of(node))]
            for match in _WRITTEN.finditer(text):
                if not wanted or match[1] in wanted:
                    start, end = (
                        file.source.position(first + match.start(3)),
                        file.source.position(first + match.end(3)),
                    )
                    found.append((file, start, end, match[3], _as_number(match[3])))
    return found[:4]


def _as_number(text: str) -> str:
    """``1e-3`` → ``1.0e-3``, ``2.5e3`` → ``2.5e+3``"""
    digits, _, power = text.lower().partition("e")
    digits = digits if "." in digits else f"{digits}.0"
    return f"{digits}e{power if power[:1] in '+-' else f'+{power}'}"


def _written_here(case: Case) -> Iterator[Related]:
    for file, start, end, number, other in _written(case):
        yield Related(file.path, start, end, message("error.yaml_text", number=number, other=other))
    for node, names in _texts_given(case):
        yield note(case.frame.source, node, "error.text_given", names=", ".join(f"`{name}`" for name in names))


def _as_numbers(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``lr: 1e-3`` → ``lr: 1.0e-3``; ``**options`` → ``**{**options, "lr": float(options["lr"])}``"""
    told = _written(case)
    if told:
        changes = tuple(Edit(file.path, start, end, other) for file, start, end, _, other in told)
        yield Fix(message("fix.replace", old=told[0][3], new=told[0][4]), changes)
    for node, names in _texts_given(case):
        whole = case.frame.text(node)
        parts = ", ".join(f'"{name}": float({whole}["{name}"])' for name in names)
        yield replace(case.frame, node, f"{{**{whole}, {parts}}}", safe=False)


_COMPARED = r"not supported between instances of '\w+' and '(?:str|float|int)'|can't multiply sequence by non-int|could not convert string|must be real number, not str"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_COMPARED, _as_numbers),)
PLACES = ((_COMPARED, _written_here),)
