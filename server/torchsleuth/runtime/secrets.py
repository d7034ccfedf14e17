"""Keeps what a script read from its environment out of its report: tokens and passwords are handed over there.

Nobody can tell which string of a crash is a secret, so none that stands in the environment is kept: where one does, the
report has ``<value of $NAME>``. Hidden are

* a string that is exactly the value of a variable;
* of longer texts, each stretch of `STRETCH` characters or more that a value has too, so that neither a part of a token nor
  one with something around it is told, and a shorter value where it stands as a word of its own.

Not hidden are the variables that say where things are on every machine (``$HOME``, ``$PATH``, …), numbers in longer texts
and in edits, and what does not come from values: paths of files, names, dtypes, the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

STRETCH = 8
"""Characters in a row that are no coincidence."""
SHORTEST_WORD = 3
"""Characters of a value that is looked for in longer texts."""
MAX_VALUE = 1 << 15
"""Characters of a value that are looked at."""
_PUBLIC = re.compile(
    r"PATH|HOME|PWD|OLDPWD|SHELL|SHLVL|_|USER|LOGNAME|USERNAME|HOSTNAME|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLORTERM|LS_COLORS"
    r"|TMPDIR|TMP|TEMP|VIRTUAL_ENV|CONDA_PREFIX|PYTHON(?:PATH|HOME|UNBUFFERED|IOENCODING|UTF8)|LD_LIBRARY_PATH"
    r"|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAM\w+|OS"
)
_NUMBER = re.compile(r"[-+]?[\d.]+|true|false|yes|no|on|off|none|null", re.IGNORECASE)
_FACTS = frozenset(
    "path function type kind owner dtype device grad_fn name event code severity layer script loaded file".split()
)
"""Fields whose strings are no values of the script's."""


class Secrets:
    """The values of variables of the environment."""

    def __init__(self, variables: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, str] = {}
        self._stretches: dict[str, str] = {}
        words: dict[str, str] = {}
        for name, value in variables:
            if _PUBLIC.fullmatch(name.upper()) or not value.strip():
                continue
            for form in _forms(value[:MAX_VALUE]):
                self._exact.setdefault(form, name)
                if len(form) >= STRETCH:
                    for start in range(len(form) - STRETCH + 1):
                        self._stretches.setdefault(form[start : start + STRETCH], name)
                elif len(form) >= SHORTEST_WORD and not _NUMBER.fullmatch(form):
                    words.setdefault(form, name)
        self._words = words
        longest_first = sorted(words, key=len, reverse=True)
        self._word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)") if words else None

    def without(self, value: Any, field: str = "") -> Any:
        """A JSON value without them."""
        if isinstance(value, str):
            size_written = field == "new_text" and _NUMBER.fullmatch(value) is not None
            return value if field in _FACTS or size_written else self.hidden(value)
        if isinstance(value, dict):
            ours = field != "attributes"  # the names in there are the script's
            return {name: self.without(item, name if ours else "") for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.without(item, field) for item in value]
        return value

    def hidden(self, text: str) -> str:
        """A text without them."""
        if text.strip() in self._exact:
            return _placeholder(self._exact[text.strip()])
        parts: list[str] = []
        last = 0
        for start, end, name in self._found(text):
            parts += (self._without_words(text[last:start]), _placeholder(name))
            last = end
        return "".join((*parts, self._without_words(text[last:])))

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where stretches of a value stand, those that meet as one."""
        begin, end, name = 0, 0, ""
        for start in range(len(text) - STRETCH + 1):
            found = self._stretches.get(text[start : start + STRETCH])
            if found is None:
                continue
            if name and start > end:
                yield begin, end, name
                name = ""
            if not name:
                begin, name = start, found
            end = start + STRETCH
        if name:
            yield begin, end, name

    def _without_words(self, text: str) -> str:
        return self._word.sub(lambda match: _placeholder(self._words[match[0]]), text) if self._word else text


def _forms(value: str) -> tuple[str, ...]:
    """A value as it is, and as it looks in messages: escaped, in an address, on one line."""
    plain = value.strip()
    escaped = (repr(plain)[1:-1], json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1])
    quoted = (quote(plain, safe="", errors="replace"), quote(plain, errors="replace"))
    return tuple(dict.fromkeys((plain, *escaped, *quoted, " ".join(plain.split()), *plain.splitlines())))


def _placeholder(name: str) -> str:
    return f"<value of ${name}>"
