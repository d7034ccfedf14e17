"""Messages between the worker and its client: one JSON object a line, on a pipe of their own."""

from __future__ import annotations

import json
from typing import IO, Any

from torchsleuth.sifting import as_kind

Message = dict[str, Any]
SYNTAX = "--syntax"
"""Argument of a worker that is to need no PyTorch."""
MAX_LINE = 1 << 26
"""Bytes of a message; what does not end by then is none."""


def write(stream: IO[bytes], message: Message) -> None:
    """Send one message. Raises OSError when the other side is gone."""
    stream.write(json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
    stream.flush()


def read(stream: IO[bytes]) -> Message | None:
    """The next message, None at the end of the stream or on a line that is no message."""
    line = stream.readline(MAX_LINE)
    if not line.endswith(b"\n"):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return as_kind(message, dict)
