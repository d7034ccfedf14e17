"""Reads the YAML that configurations are written in: nested maps, lists and scalars, with PyYAML's rules for numbers.

Everything else of the language (anchors, aliases, tags, merged keys, block texts, several documents) is refused: what is
asked of it is then not known.
"""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 40

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)$")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$")
_SPECIAL = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((form for word in ("yes", "true", "on") for form in (word, word.title(), word.upper())), True),
    **dict.fromkeys((form for word in ("no", "false", "off") for form in (word, word.title(), word.upper())), False),
}
_ODD = re.compile(r"[-+]?0[0-9_xob]|[-+]?[0-9][0-9_]*:[0-9]|[0-9]{4}-[0-9]")
"""Other numbers, and dates."""
_KEY = re.compile(r"""(?P<key>"[^"\\]*"|'[^']*'|[^\s'"\[\]{}#,&*!|>%@`?:-][^#\[\]{}]*?|-?[0-9.]+)\s*:(?:\s+|$)""")
_QUOTED = re.compile(r"""(?:"(?P<double>[^"\\]*)"|'(?P<single>(?:[^']|'')*)')""")


class NotPlainYaml(ValueError):
    """A text with something in it that is not read."""


def load(text: str) -> Any:
    """The value that ``yaml.safe_load`` makes of a text. Raises NotPlainYaml."""
    lines: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = _without_comment(raw)
        if not line.strip() or (not lines and line.strip() == "---"):
            continue
        if "\t" in line or line.startswith(("---", "...", "%")):
            raise NotPlainYaml(line)
        lines.append((len(line) - len(line.lstrip()), line.strip()))
    if not lines:
        return None
    value, rest = _block(lines, 0, 0)
    if rest != len(lines):
        raise NotPlainYaml(lines[rest][1])
    return value


def _without_comment(line: str) -> str:
    quote = ""
    for position, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (position == 0 or line[position - 1] in " [{,:"):
            quote = letter
        elif letter == "#" and (position == 0 or line[position - 1] in " \t"):
            return line[:position].rstrip()
    return line.rstrip()


def _block(lines: list[tuple[int, str]], at: int, depth: int) -> tuple[Any, int]:
    """The value whose first line is `at`, and the line behind it."""
    if depth > MAX_DEPTH:
        raise NotPlainYaml("too deep")
    indentation, first = lines[at]
    if first == "-" or first.startswith("- "):
        return _list(lines, at, indentation, depth)
    if _KEY.match(first):
        return _map(lines, at, indentation, depth)
    return _inline(first), at + 1


def _list(lines: list[tuple[int, str]], at: int, indentation: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(lines) and lines[at][0] == indentation and (lines[at][1] == "-" or lines[at][1].startswith("- ")):
        inside = lines[at][1][1:]
        if inside.strip():
            # What stands behind the dash is a line of its own, as far in as it stands.
            lines[at] = (indentation + 1 + len(inside) - len(inside.lstrip()), inside.strip())
            value, at = _block(lines, at, depth + 1)
        else:
            value, at = _nested(lines, at + 1, indentation + 1, depth)
        found.append(value)
    _outside(lines, at, indentation + 1)  # a list may stand as far out as the key that it belongs to
    return found, at


def _map(lines: list[tuple[int, str]], at: int, indentation: int, depth: int) -> tuple[dict[Any, Any], int]:
    found: dict[Any, Any] = {}
    while at < len(lines) and lines[at][0] == indentation:
        match = _KEY.match(lines[at][1])
        if match is None:
            break
        key, rest = _inline(match["key"]), lines[at][1][match.end() :]
        if key == "<<" or key in found:
            raise NotPlainYaml(lines[at][1])
        if rest:
            value, at = _inline(rest), at + 1
        else:
            listed = at + 1 < len(lines) and lines[at + 1][0] == indentation and lines[at + 1][1].startswith("-")
            value, at = _nested(lines, at + 1, indentation if listed else indentation + 1, depth)
        found[key] = value
    _outside(lines, at, indentation)
    return found, at


def _nested(lines: list[tuple[int, str]], at: int, least: int, depth: int) -> tuple[Any, int]:
    """The value below a key or a dash; None where there is none."""
    if at < len(lines) and lines[at][0] >= least:
        return _block(lines, at, depth + 1)
    return None, at


def _outside(lines: list[tuple[int, str]], at: int, indentation: int) -> None:
    """A block ends where something stands further out."""
    if at < len(lines) and lines[at][0] >= indentation:
        raise NotPlainYaml(lines[at][1])


def _inline(text: str) -> Any:
    value, rest = _value(text, 0, 0, closing="")
    if rest != len(text):
        raise NotPlainYaml(text)
    return value


def _value(text: str, at: int, depth: int, closing: str) -> tuple[Any, int]:
    """A scalar, ``[…]`` or ``{…}`` that begins at `at`, and where it ends. `closing`: what may stand behind it."""
    at += len(text) - at - len(text[at:].lstrip())
    if depth > MAX_DEPTH:
        raise NotPlainYaml("too deep")
    if text[at : at + 1] == "[":
        return _flow(text, at, depth, "]")
    if text[at : at + 1] == "{":
        return _flow(text, at, depth, "}")
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        content = quoted["double"] if quoted["double"] is not None else quoted["single"].replace("''", "'")
        return content, quoted.end()
    end = at
    while end < len(text) and not (closing and text[end] in closing):
        end += 1
    return _scalar(text[at:end].strip()), end


def _flow(text: str, at: int, depth: int, end: str) -> tuple[Any, int]:
    items: list[Any] = []
    keyed: dict[Any, Any] = {}
    at += 1
    while True:
        at += len(text) - at - len(text[at:].lstrip())
        if at >= len(text):
            raise NotPlainYaml(text)
        if text[at] == end:
            return (keyed if end == "}" else items), at + 1
        value, at = _value(text, at, depth + 1, f",:{end}" if end == "}" else f",{end}")
        if end == "}":
            if text[at : at + 2] != ": ":
                raise NotPlainYaml(text)
            keyed[value], at = _value(text, at + 2, depth + 1, ",}")
        else:
            items.append(value)
        at += len(text) - at - len(text[at:].lstrip())
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != end:
            raise NotPlainYaml(text)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text in _SPECIAL:
        return _SPECIAL[text]
    if _INTEGER.match(text):
        return int(text.replace("_", ""))
    if _FLOAT.match(text):
        return float(text.replace("_", ""))
    if text[0] in "&*!|>%@`\"'?[]{}," or ": " in text or text.endswith(":") or text == "-" or text.startswith("- "):
        raise NotPlainYaml(text)
    if _ODD.match(text):
        raise NotPlainYaml(text)
    return text
