"""Sizes in the notation of LaTeX, as docstrings have them, in plain words: ``(N, C_{in}, \\text{out\\_features})``."""

from __future__ import annotations

import re

FILL = "\0"
"""Stands for a character of the text that means nothing, so that all others keep their places."""
_MATH = re.compile(r":math:`([^`]*)`|\$([^$\n]*)\$")
_COMMAND = r"(?![A-Za-z])"
_ESCAPED = re.compile(r"\\(?P<kept>[_#%&])")
_WORDS = re.compile(r"\\(text|textit|texttt|mathrm|mathit|mathbf|mathsf|operatorname)\{(?P<kept>[^{}\\]*)\}")
_SPACE = re.compile(rf"\\([,;:! ]|(left|right|bigl?|bigr|quad){_COMMAND})")
_TIMES = re.compile(rf"\\(times|cdot|ast){_COMMAND}")
_DOTS = re.compile(rf"\\(ldots|cdots|dots){_COMMAND}")
_SUBSCRIPT = re.compile(rf"(?<=\w)_\{{(?P<kept>[\w{FILL}]+)\}}")


def plain(text: str) -> str:
    """A text of the same length, with what is formatted in plain words. What has no plain words stays as it is."""
    text = _MATH.sub(_blank_around, text)
    text = _ESCAPED.sub(_kept, text)
    text = _WORDS.sub(_kept, text)
    text = _SPACE.sub(lambda found: FILL * len(found[0]), text)
    text = _TIMES.sub(lambda found: "*".ljust(len(found[0]), FILL), text)
    text = _DOTS.sub(lambda found: "...".ljust(len(found[0]), FILL), text)
    return _SUBSCRIPT.sub(lambda found: f"_{FILL}{found['kept']}{FILL}", text)


def _kept(found: re.Match[str]) -> str:
    before = found.start("kept") - found.start()
    return FILL * before + found["kept"] + FILL * (found.end() - found.end("kept"))


def _blank_around(found: re.Match[str]) -> str:
    """The formula, with spaces for the marks around it."""
    group = 1 if found[1] is not None else 2
    return " " * (found.start(group) - found.start()) + found[group] + " " * (found.end() - found.end(group))
