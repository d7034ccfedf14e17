"""Everything that the commands print: the one place where a line goes to a terminal, a pipe or the log of a workflow.

What is printed is data of strangers: names of files, sources, messages of an interpreter. Each line is escaped here; the only
control characters that get through are the line ends and the colours that are put there on purpose.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

from torchsleuth.escaping import escape, escape_line

_TAB = "\t"
Part = str | tuple[str, str]
"""A piece of a line, with its style."""


def line(text: str = "") -> None:
    """One line on standard output."""
    _write(text, sys.stdout)


def note(text: str) -> None:
    """One line on standard error."""
    _write(text, sys.stderr)


def complain(text: str) -> None:
    """One line on standard error that says who speaks."""
    note(f"torchsleuth: {text}")


def lines(text: str, stream: TextIO | None = None) -> None:
    """Several lines, each of them escaped."""
    for item in re.split(r"\r\n|\r|\n", text):
        _write(item, stream or sys.stdout)


def command(text: str) -> None:
    """A command for the runner of a workflow: one line, whose values are encoded."""
    print(escape(text))


def data(text: str, stream: TextIO | None = None) -> None:
    """A document for another program: JSON in ASCII, which has no character that steers."""
    assert text.isascii()
    print(text, file=stream or sys.stdout)


def patch(text: str) -> None:
    """A unified diff on standard output. Tabs and carriage returns at line ends are part of it; a hunk with other characters
    that steer is shown, and does not apply."""
    for item in text.split("\n")[:-1]:
        body = item.removesuffix("\r")
        sys.stdout.write(f"{escape_line(body, _TAB)}{item[len(body) :]}\n")


class Output:
    """Lines with styled parts, for people: no wrapping, no markup, colours only on a terminal and not where NO_COLOR is set."""

    def __init__(self, file: TextIO | None = None, stderr: bool = False) -> None:
        self._console = Console(file=file, stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def line(self, *parts: Part) -> None:
        shown = [(part, "") if isinstance(part, str) else part for part in parts]
        whole = "".join(escape(text) for text, _ in shown)
        if escape_line(whole) != whole:  # a command that begins in one part and ends in the next
            shown = [(escape_line(whole), "")]
        self._console.print(Text.assemble(*((escape(text), style) for text, style in shown)))


def _write(text: str, stream: TextIO) -> None:
    stream.write(escape_line(text) + "\n")
