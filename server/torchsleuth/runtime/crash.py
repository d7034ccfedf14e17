"""The report of an uncaught exception: the innermost line of the user's, its operands, the layer that failed."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from torchsleuth.runtime.recorder import describe
from torchsleuth.runtime.registry import ConstructorRegistry, Span, _tree, code_position

_WORKER_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def report(
    error: BaseException, traceback: TracebackType | None, is_user_file: Callable[[str], bool], registry: ConstructorRegistry
) -> dict[str, Any]:
    """A JSON-able description of a crash; never raises for a strange object in a frame."""
    frames: list[tuple[FrameType, int, Span | None]] = []
    current = traceback
    while current is not None:
        frames.append((current.tb_frame, current.tb_lineno, code_position(current.tb_frame.f_code, current.tb_lasti)))
        current = current.tb_next
    user = [entry for entry in frames if is_user_file(entry[0].f_code.co_filename)]
    found: dict[str, Any] = {
        "type": type(error).__name__,
        "message": str(error).strip(),
        "frames": [_frame(*entry) for entry in reversed(user)],
        "operands": [],
        "module": None,
        "inputs": [],
    }
    worker = _worker_frames(str(error), is_user_file)
    if worker:
        found["frames"] = worker + found["frames"]
        found["message"] = str(error).strip().splitlines()[-1]
        return found
    if user:
        frame, line, span = user[-1]
        found["operands"] = operands(frame, line, span)
    after = frames[frames.index(user[-1]) :] if user else frames
    found["inputs"] = _library_inputs(after, is_user_file)
    module = _failing_module(after)
    if module is not None:
        found["module"] = {
            "type": type(module).__name__,
            "repr": repr(module)[:200],
            "path": _module_path(module, user),
            "constructor": registry.constructor(module),
            "input": _module_input(module, after),
        }
    return found


def _frame(frame: FrameType, line: int, span: Span | None) -> dict[str, Any]:
    return {
        "path": frame.f_code.co_filename,
        "line": line,
        "span": list(span) if span else _statement_span(frame.f_code.co_filename, line),
        "function": frame.f_code.co_name,
    }


def _statement_span(path: str, line: int) -> list[int]:
    text = linecache.getline(path, line).rstrip("\n")
    start = len(text) - len(text.lstrip())
    return [line, len(text[:start].encode()), line, len(text.encode())]


def _worker_frames(message: str, is_user_file: Callable[[str], bool]) -> list[dict[str, Any]]:
    """The user's frames inside "Original Traceback" of a loader's worker, innermost first."""
    if "Original Traceback" not in message:
        return []
    found = [
        {"path": path, "line": int(line), "span": _statement_span(path, int(line)), "function": name}
        for path, line, name in _WORKER_FRAME.findall(message)
        if is_user_file(path)
    ]
    return found[::-1]


def operands(frame: FrameType, line: int, span: Span | None) -> list[dict[str, Any]]:
    """Every tensor named in the failing expression (or line), with its description. Nothing of the user's is called."""
    found: dict[str, dict[str, Any]] = {}
    for node in ast.walk(_tree(frame.f_code.co_filename)):
        if not isinstance(node, ast.Name | ast.Attribute) or not hasattr(node, "lineno"):
            continue
        inside = (
            (span[0], span[1]) <= (node.lineno, node.col_offset) and (node.end_lineno, node.end_col_offset) <= (span[2], span[3])
            if span
            else node.lineno == line
        )
        if not inside:
            continue
        text = ast.unparse(node)
        value = _evaluate(node, frame)
        entry = _tensor_entry(value)
        if entry is not None and text not in found:
            found[text] = {"expression": text, "span": [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset], **entry}
    return list(found.values())


def _evaluate(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name or attribute chain, without running properties or functions."""
    if isinstance(node, ast.Name):
        if node.id in frame.f_locals:
            return frame.f_locals[node.id]
        return frame.f_globals.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _evaluate(node.value, frame)
        if owner is None:
            return None
        for store in ("__dict__", "_parameters", "_buffers", "_modules"):
            held = owner.__dict__ if store == "__dict__" and hasattr(owner, "__dict__") else None
            if store != "__dict__":
                held = getattr(owner, "__dict__", {}).get(store)
            if isinstance(held, dict) and node.attr in held:
                return held[node.attr]
        static = inspect.getattr_static(type(owner), node.attr, None)
        return None if static is None or isinstance(static, property) or callable(static) else static
    return None


def _tensor_entry(value: Any) -> dict[str, Any] | None:
    if value is None or not any(base.__name__ == "Tensor" and base.__module__ == "torch" for base in type(value).__mro__):
        return None
    try:
        return describe(value)
    except Exception:
        return None


def _is_module(value: Any) -> bool:
    return any(base.__name__ == "Module" and base.__module__ == "torch.nn.modules.module" for base in type(value).__mro__)


def _failing_module(frames: list[tuple[FrameType, int, Span | None]]) -> Any:
    """The innermost library module in whose forward the exception was raised."""
    for frame, _, _ in reversed(frames):
        owner = frame.f_locals.get("self")
        if owner is not None and _is_module(owner) and type(owner).__module__.startswith("torch.") and frame.f_code.co_name in ("forward", "_conv_forward"):
            return owner
    return None


def _module_input(module: Any, frames: list[tuple[FrameType, int, Span | None]]) -> dict[str, Any] | None:
    for frame, _, _ in frames:
        if frame.f_locals.get("self") is module and frame.f_code.co_name == "forward":
            for name, value in frame.f_locals.items():
                if name != "self" and (entry := _tensor_entry(value)) is not None:
                    return entry
    return None


def _library_inputs(frames: list[tuple[FrameType, int, Span | None]], is_user_file: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Tensors among the locals of the innermost library frame."""
    if not frames or is_user_file(frames[-1][0].f_code.co_filename):
        return []
    return [
        {"expression": name, **entry}
        for name, value in frames[-1][0].f_locals.items()
        if (entry := _tensor_entry(value)) is not None
    ][:6]


def _module_path(module: Any, user: list[tuple[FrameType, int, Span | None]]) -> str | None:
    """How the user reaches the module: ``model.classifier.2``."""
    for frame, _, _ in user:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if _is_module(value) and name != "self":
                    for path, part in value.named_modules():
                        if part is module:
                            return f"{name}.{path}" if path else name
    return None
