"""The catalogue of messages: used, complete and one line each."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

from torchsleuth.messages import ENGLISH, message

ROOT = Path(__file__).parents[2] / "server" / "torchsleuth"


def uses() -> dict[str, list[tuple[str, set[str] | None]]]:
    """Identifiers given to `message` as literals, with the names of the values; None where they are unpacked."""
    found: dict[str, list[tuple[str, set[str] | None]]] = {}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "message"
                and node.args
            ):
                names = {keyword.arg for keyword in node.keywords}
                values = None if None in names else {name for name in names if name}
                for constant in ast.walk(node.args[0]):
                    if isinstance(constant, ast.Constant) and constant.value in ENGLISH:
                        found.setdefault(str(constant.value), []).append((str(path), values))
                    elif isinstance(node.args[0], ast.Constant):
                        assert constant is not node.args[0], f"{path}: unknown message {node.args[0].value}"
    return found


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_use_gives_every_placeholder() -> None:
    for identifier, places in uses().items():
        for path, values in places:
            assert values is None or placeholders(ENGLISH[identifier]) <= values, f"{path}: {identifier}"


def test_messages_are_one_line() -> None:
    assert not [identifier for identifier, template in ENGLISH.items() if "\n" in template or not template.strip()]


def test_a_message_is_filled() -> None:
    assert message("file.missing", path="a.py") == "a.py does not exist"


def test_an_expression_of_several_lines_is_told_on_one() -> None:
    text = message("forward.direct", name="`layers[\n        0\n    ](\n  a,\n  b\n)`")
    assert "`layers[0](a, b)`" in text and "\n" not in text


def test_what_is_said_of_a_fault_is_short() -> None:
    """Subject, actual, expected, remedy, in 120 characters, where a value takes eight of them."""
    said = {
        identifier
        for identifier, places in uses().items()
        if any(Path(path).relative_to(ROOT).parts[0] in ("rules", "errors") for path, _ in places)
    }
    said |= {identifier for identifier in ENGLISH if identifier.startswith(("error.", "explain."))}
    long = {identifier for identifier in said if len(re.sub(r"\{\w+\}", "x" * 8, ENGLISH[identifier])) > 120}
    assert not long
