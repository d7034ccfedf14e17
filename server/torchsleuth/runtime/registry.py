"""Remembers where each module, optimizer and loader was constructed: the exact characters of ``nn.Linear(10, h)``, also in a
Sequential.

One function that ``nn.Module.__init__`` calls is exchanged. Per module it keeps code objects and instruction offsets only; columns are looked
up after a crash.
"""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from torchsleuth.runtime.rewrite import Span

MAX_FRAMES = 8
"""Calls kept around a construction: enough to follow a size through helper functions."""
MAX_NAMES = 40
"""Integer variables kept of the function that constructs a module."""
_WITHOUT_SIZES = ("builtins", "types", "torch", "typing", "collections")


def file_of(code: CodeType) -> str:
    """The path of the file that code comes from: ``python ./train.py`` leaves the dot in it."""
    return os.path.normpath(code.co_filename)


def code_span(code: CodeType, instruction: int) -> Span | None:
    """The span of the expression at an instruction; None before Python 3.11 and where the compiler kept none."""
    if instruction < 0 or not hasattr(code, "co_positions"):
        return None
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if index * 2 == instruction:
            if line is None or end_line is None or column is None or end_column is None:
                return None
            return (line, column, end_line, end_column)
    return None


_MADE = ("python.optimizer", "python.data_loader")
_COMPILERS = ("torch.compile", "torch._dynamo.optimize", "torch._dynamo.export")


class _Construction:
    """The user's frames around one construction, innermost first."""

    __slots__ = ("direct", "frames", "names", "__weakref__")

    def __init__(self, frames: list[tuple[CodeType, int, int]], direct: bool, names: dict[str, int]) -> None:
        self.frames = frames
        self.direct = direct
        self.names = names


class ConstructorRegistry:
    """Filled while the script runs; asked after a crash."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self._known: dict[int, tuple[weakref.ref[Any], _Construction]] = {}
        self._torch: Any = None
        self._original: Any = None
        self._built: Counter[tuple[int, int]] = Counter()
        """How often each place has built something: by the identity of its code, and its instruction."""
        self.on_made: Callable[[str, Any], None] | None = None
        """Called with an optimizer or a loader and the name of that kind."""
        self.on_compile: Callable[[], None] | None = None
        """Called when the script turns to PyTorch's compiler."""

    def install(self, torch: Any) -> None:
        """Nothing is wrapped, so that no frame of ours stands between a constructor and that of ``nn.Module``: what the latter
        calls first is exchanged."""
        self._torch, self._original = torch._C, torch._C._log_api_usage_once
        original, remember, compiling = self._original, self._remember, torch.compiler.is_compiling
        code = torch.nn.Module.__init__.__code__

        def _log_api_usage_once(event: str) -> None:
            if not compiling():
                frame = sys._getframe(1)
                if event == "python.nn_module":
                    if frame.f_code is code:
                        remember(frame.f_locals["self"], frame.f_back)
                elif event in _MADE and frame.f_code.co_name == "__init__":
                    made = frame.f_locals["self"]
                    remember(made, frame, sizes=False)
                    if self.on_made is not None:
                        self.on_made(event, made)
                elif event in _COMPILERS and self.on_compile is not None:
                    self.on_compile()
            original(event)

        torch._C._log_api_usage_once = _log_api_usage_once

    def remove(self) -> None:
        if self._torch is not None:
            self._torch._log_api_usage_once = self._original
            self._torch = None

    def _remember(self, module: Any, frame: FrameType | None, *, sizes: bool = True) -> None:
        """Skips the module's own constructors, the user's included: wanted is the call that made it. `sizes`: whether it has some
        that may come from integers around it."""
        frames: list[tuple[CodeType, int, int]] = []
        names: dict[str, int] = {}
        direct, own = True, True
        while frame is not None and len(frames) < MAX_FRAMES:
            code = frame.f_code
            own = own and _constructs(frame, module)
            if not own:
                if self._owns(code.co_filename):
                    if not frames and sizes:
                        names = _integers(frame)
                    frames.append((code, frame.f_lasti, frame.f_lineno))
                elif not frames:
                    direct = False
            frame = frame.f_back
        if frames:
            self._built[_at(frames)] += 1
            self._known[id(module)] = (weakref.ref(module), _Construction(frames, direct, names))

    def alive(self) -> list[Any]:
        """The modules, optimizers and loaders that there still are."""
        return [found for reference, _ in list(self._known.values()) if (found := reference()) is not None]

    def constructor(self, module: Any) -> dict[str, Any] | None:
        """Where a module was constructed: the user's frames, whether the innermost one names the class itself (rather
        than a library function that builds it), how often that place built one, and its integer variables."""
        reference, construction = self._known.get(id(module), (None, None))
        if reference is None or construction is None or reference() is not module:
            return None
        return {
            "direct": construction.direct,
            "count": self._built[_at(construction.frames)],
            "names": construction.names,
            "frames": [
                {
                    "path": file_of(code),
                    "line": line,
                    "span": code_span(code, instruction),
                    "function": code.co_name,
                    "first_line": code.co_firstlineno,
                }
                for code, instruction, line in construction.frames
            ],
        }


def _at(frames: list[tuple[CodeType, int, int]]) -> tuple[int, int]:
    code, instruction, _ = frames[0]
    return id(code), instruction


def _constructs(frame: FrameType, module: Any) -> bool:
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is module


def _integers(frame: FrameType) -> dict[str, int]:
    """Integers in a frame: its variables, and the fields of its plain objects (``cfg.d_model``)."""
    found: dict[str, int] = {}
    for name, value in frame.f_locals.items():
        if type(value) is int:
            found[name] = value
        elif name != "self" and type(value).__module__ not in _WITHOUT_SIZES:
            fields = getattr(type(value), "__dict__", {}).get("__dict__") and object.__getattribute__(value, "__dict__")
            if isinstance(fields, dict) and "_modules" not in fields:
                sizes = ((f"{name}.{field}", held) for field, held in fields.items() if type(held) is int)
                found.update(itertools.islice(sizes, MAX_NAMES))
        if len(found) >= MAX_NAMES:
            break
    return found
