"""Reads and writes the scalars of TensorBoard's event files, without TensorBoard.

A file is a sequence of records: length, checksum, a message of protocol buffers, checksum. Of the messages, the fields that
scalars need are known: https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_RECORD = 64 << 20
"""Bytes of a record that is read; images may be large."""
_POLYNOMIAL = 0x82F63B78
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT, _DOUBLE, _INT32, _INT64 = 1, 2, 3, 9
"""Types of TensorProto's elements."""
_FORMATS = {_FLOAT: "<f", _DOUBLE: "<d", _INT32: "<i", _INT64: "<q"}


@dataclass(frozen=True)
class Scalar:
    """A number under a tag."""

    tag: str
    step: int
    value: float
    time: float = 0.0


def read(data: bytes) -> Iterator[Scalar]:
    """The scalars of a file, as far as it is whole. Raises ValueError for what is no event file."""
    position, first = 0, True
    while position + 12 <= len(data):
        length = struct.unpack_from("<Q", data, position)[0]
        if first and (length > 1 << 16 or struct.unpack_from("<I", data, position + 8)[0] != _masked(data[:8])):
            raise ValueError("no event file")
        if length > MAX_RECORD or position + 16 + length > len(data):
            return  # it is still being written, or was cut
        yield from _scalars(data[position + 12 : position + 12 + length])
        position += 16 + length
        first = False
    if first:
        raise ValueError("no event file")


def _scalars(message: bytes) -> Iterator[Scalar]:
    step, time, summaries = 0, 0.0, []
    for number, value in _fields(message):
        if number == 1 and isinstance(value, bytes) and len(value) == 8:
            time = struct.unpack("<d", value)[0]
        elif number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >> 63 else value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, value in _fields(summary):
            if number == 1 and isinstance(value, bytes):
                tag, scalar = _value(value)
                if scalar is not None:
                    yield Scalar(tag, step, scalar, time)


def _value(message: bytes) -> tuple[str, float | None]:
    """The tag of a value of a summary, and its number; None where it is a picture or the like."""
    tag, found = "", None
    for number, value in _fields(message):
        if number == 1 and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        elif number == 2 and isinstance(value, bytes) and len(value) == 4:
            found = float(struct.unpack("<f", value)[0])
        elif number == 8 and isinstance(value, bytes):
            found = _tensor(value)
    return tag, found


def _tensor(message: bytes) -> float | None:
    """The number of a tensor of one element."""
    kind, content, listed = 0, b"", b""
    for number, value in _fields(message):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 4 and isinstance(value, bytes):
            content = value
        elif number in (5, 6) and isinstance(value, bytes):
            listed = value
    form = _FORMATS.get(kind)
    data = content or listed
    if form is None or len(data) != struct.calcsize(form):
        return None
    return float(struct.unpack(form, data)[0])


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message by their number: integers, and bytes for all else. Ends where it makes no sense."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if kind == _BYTES:
            length, position = _varint(message, position)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            return
        if position + length > len(message):
            return
        yield number, message[position : position + length]
        position += length


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return value, position


# writing


def written(scalars: Iterable[Scalar]) -> bytes:
    """An event file with these scalars."""
    parts = [_record(_double(1, 0.0) + _text(3, b"brain.Event:2"))]
    for scalar in scalars:
        value = _text(1, scalar.tag.encode()) + bytes([(2 << 3) | _FIXED32]) + struct.pack("<f", scalar.value)
        event = _double(1, scalar.time) + bytes([(2 << 3) | _VARINT]) + _number(scalar.step)
        parts.append(_record(event + _text(5, _text(1, value))))
    return b"".join(parts)


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + struct.pack("<I", _masked(length)) + message + struct.pack("<I", _masked(message))


def _double(number: int, value: float) -> bytes:
    return bytes([(number << 3) | _FIXED64]) + struct.pack("<d", value)


def _text(number: int, value: bytes) -> bytes:
    return bytes([(number << 3) | _BYTES]) + _number(len(value)) + value


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _table() -> tuple[int, ...]:
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        rows.append(byte)
    return tuple(rows)


_ROWS = _table()


def _masked(data: bytes) -> int:
    """The checksum (CRC-32C) of a record, as it is kept."""
    found = 0xFFFFFFFF
    for byte in data:
        found = found >> 8 ^ _ROWS[(found ^ byte) & 0xFF]
    found ^= 0xFFFFFFFF
    return ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF
