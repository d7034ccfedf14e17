"""Shows what would steer a terminal, an editor or the log of a workflow, instead of letting it do so.

File names and sources come from anybody. A control character in one can rewrite what was printed before, a bidirectional
override can make a line read as another one, and a line break can begin a line of its own.
"""

from __future__ import annotations

import re

_STEERING = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, line breaks among them
    "\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # order of writing, and what is not seen
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff"  # halves of characters: bytes of a file name that are not UTF-8
    "\U000e0000-\U000e007f"  # invisible letters
    "]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COMMAND = re.compile(r"(?<=#)#(?=\[|vso\[)|\A(?P<margin>\s*):(?=:)")
"""Texts that the runner of a workflow takes for a command: ``::`` where a line begins, ``##[`` and ``##vso[`` anywhere."""


def escape(text: str, keep: str = "") -> str:
    """The text on one line, with every character that steers, but those in `keep`, as Python writes it: ``\\n``, ``\\x1b``,
    ``\\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return _STEERING.sub(lambda match: match[0] if match[0] in keep else _escaped(match[0]), text)


def escape_line(text: str, keep: str = "") -> str:
    """A whole line as it goes to a terminal or a log: `escape`, and no workflow command either."""
    return _COMMAND.sub(_without_command, escape(text, keep))


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _without_command(match: re.Match[str]) -> str:
    return "\\x23" if match[0] == "#" else f"{match['margin']}\\x3a"
