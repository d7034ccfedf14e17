"""Tensors and layers on different devices, and devices that are not there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument, append, convert_receiver, replace
from torchsleuth.errors.origin import made_at
from torchsleuth.messages import message
from torchsleuth.numbers import size
from torchsleuth.schema import Fix, Json, Related
from torchsleuth.syntax.forms import is_attribute, is_method_call, is_name, is_text, last_word, nodes_in

_AVAILABLE = '"cuda" if torch.cuda.is_available() else "cpu"'


def _is_accelerator(tensor: Json) -> bool:
    return not tensor["device"].startswith("cpu")


def device_expression(frame: CrashFrame) -> str | None:
    """How the failing line can name the device: the variable or attribute that the code already has."""
    for node in ast.walk(frame.enclosing):
        if isinstance(node, ast.arg) and node.arg == "device":
            return "device"
        if is_attribute(node, "device") and is_name(node.value, "self"):
            return "self.device"
    for statement in frame.all(ast.Assign):
        if any(is_name(target, "device") for target in statement.targets):
            return "device"
    return None


def _weight(case: Case) -> Json | None:
    tensors: dict[str, Json] = (case.module or {}).get("tensors", {})
    return next(iter(tensors.values()), None)


def _move_fixes(case: Case) -> Iterator[Fix]:
    """Moves what is left on the CPU to the others' device, in the failing line or, for a loss's target, in its call."""
    frame = case.frame
    found = frame.tensor_operands() or list(frame.tensors())
    weight = _weight(case)
    elsewhere = next((node for node, tensor in found if _is_accelerator(tensor)), None)
    device = device_expression(frame) or (f"{frame.text(elsewhere)}.device" if elsewhere is not None else None)
    if weight is not None and _is_accelerator(weight) and device is None:
        device = f'"{weight["device"].split(":")[0]}"'
    if device is not None:
        for node, tensor in found:
            if not _is_accelerator(tensor) and device != '"meta"':
                yield append(frame, node, f".to({device})")
    if weight is not None and not _is_accelerator(weight) and elsewhere is not None and frame.call is not None:
        yield append(frame, frame.call.func, f".to({frame.text(elsewhere)}.device)", safe=False)


def _cuda_fixes(case: Case) -> Iterator[Fix]:
    """``.cuda()`` and ``"cuda"`` → whatever device there is."""
    node = case.frame.node
    if is_method_call(node, "cuda") and not node.args:
        receiver = case.frame.text(node.func.value)
        yield replace(case.frame, node, f"{receiver}.to({_AVAILABLE})")
        return
    places = ast.walk(case.frame.node) if case.frame.node is not None else ()
    for part in [*places, *ast.walk(case.frame.tree)]:
        if is_text(part) and part.value.partition(":")[0] == "cuda":
            yield replace(case.frame, part, _AVAILABLE)
            return


def _device_name_fixes(case: Case) -> Iterator[Fix]:
    for part in nodes_in(case.frame.node, ast.Constant) if case.frame.node is not None else ():
        if part.value in ("gpu", "GPU"):
            yield replace(case.frame, part, '"cuda"')
            return


def _map_location_fixes(case: Case) -> Iterator[Fix]:
    node = case.frame.call
    if node is not None and case.frame.method() == "load":
        text = f"map_location={device_expression(case.frame) or chr(34) + 'cpu' + chr(34)}"
        yield add_argument(case.frame.source, node, text)


def _held(case: Case) -> list[Related]:
    """Where the names that keep most of the memory got it."""
    found = []
    for held in case.holders:
        frame = case.frames[held["frame"]] if held["frame"] < len(case.frames) else None
        span = made_at(case.frames, held["frame"], held["name"]) if frame is not None else None
        if span is not None:
            kind = "error.held.graph" if held["graph"] else "error.held"
            text = message(kind, name=held["name"], size=size(held["bytes"]), count=held["tensors"])
            found.append(Related(span.path, span.start, span.end, text))
    return found


_INDEXING = {
    *("Embedding", "EmbeddingBag", "CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss", "embedding", "one_hot"),
    *("gather", "scatter", "scatter_", "scatter_add_", "index_select", "index_add_", "take_along_dim", "BCELoss"),
}
"""Calls that assert on the device that indices, classes or probabilities are within their range."""
MAX_ASSERTING = 4


def _asserting(case: Case) -> list[Related]:
    """Where the files that were running use indices or classes: the launch that failed was one of these, and earlier than
    the line where the error arrived."""
    found: list[Related] = []
    for frame in {frame.path: frame for frame in case.frames}.values():
        calls = list(frame.all(ast.Call))
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            name = last_word(call.func)
            if name in _INDEXING:
                span = frame.source.span(call)
                found.append(Related(span.path, span.start, span.end, message("error.device_assert.here")))
    return found[:MAX_ASSERTING]


ENTRIES = (
    entry(
        "TS201",
        r"[Ee]xpected all tensors to be on the same device|is not on the expected device|"
        r"Input type \(.*cuda.*\) and (?:bias|weight) type \(.*\) should be the same|"
        r"Input type \(.*\) and (?:bias|weight) type \(.*cuda.*\) should be the same|"
        r"Input and parameter tensors are not at the same device|indices should be either on cpu or on the same device",
        "error.device",
        _move_fixes,
    ),
    entry(
        "TS205",
        r"can't convert (?:cuda|mps|xpu)\S*(?: \w+)? device type tensor to numpy",
        "error.numpy_device",
        convert_receiver(".cpu()"),
    ),
    entry(
        "TS207",
        r"Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available|not linked with support for mps",
        "error.no_cuda",
        _cuda_fixes,
    ),
    entry(
        "TS208",
        r"Expected one of cpu, cuda, .* device type at start of device string: (\w+)",
        "error.device_name",
        _device_name_fixes,
        example="torch.device('gpu')",
    ),
    entry(
        "TS206",
        r"Attempting to deserialize object on a?n? ?\w+ device",
        "error.map_location",
        _map_location_fixes,
    ),
    entry("TS914", r"out of memory\. Tried to allocate ([\d.]+) (\w+)", "error.memory", related=_held),
    entry(
        "TS914",
        r"DefaultCPUAllocator: (?:can't allocate memory: )?(?:not enough memory: )?you tried to allocate (\d+) bytes",
        "error.memory_cpu",
        related=_held,
        example="a = torch.zeros(1).expand(1 << 50)\na.clone()",
    ),
    entry("TS310", r"device-side assert triggered", "error.device_assert", related=_asserting),
)
