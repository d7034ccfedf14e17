"""hard-coded-cuda: a script that runs on machines with CUDA only.

What it finds
    `.cuda()`, `.to("cuda")`, `device="cuda"` and `torch.device("cuda")` where the script never asks whether CUDA is
    available.
Why it hurts
    On another machine it stops with "Torch not compiled with CUDA enabled" or "Found no NVIDIA driver".
Example
    model = model.cuda()
Use instead
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device)
Fix safety
    Safe: with CUDA nothing changes.
References
    torch.cuda.is_available
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import package_name, replaced, short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.tensors.device import Device
from torchsleuth.values import Value

CODE = "TS207"
_CHECKS = ("is_available", "device_count", "current_accelerator", "current_device")
_MOVES = ("Tensor.cuda", "torch.nn.Module.cuda")


def find(analysis: Analysis) -> Iterator[Finding]:
    if any(path.rpartition(".")[2] in _CHECKS for path in analysis.calls):
        return
    if any(word in analysis.source.text for word in _CHECKS):
        return
    seen: set[tuple[str, int, int]] = set()
    for call in analysis.trace.calls:
        written = _cuda(call)
        start = call.site.span.start
        key = (call.site.span.path, start.line, start.column)
        if written is None or not call.certain or key in seen or call.site.span.path != analysis.source.path:
            continue
        seen.add(key)
        source = call.site.source
        text = message("device.cuda", call=short(source.segment(call.site.node)))
        yield Finding(call.site.span, text, (), _candidates(call, written))


def _cuda(call: LibraryCall) -> ast.expr | None:
    """The expression that names CUDA: the string, or the whole call of ``.cuda()``."""
    node = call.site.call
    if node is None:
        return None
    if call.path in _MOVES:
        return node
    given: list[tuple[Value, ast.expr]] = list(zip(call.args, node.args))
    given += [(call.kwargs[item.arg], item.value) for item in node.keywords if item.arg in call.kwargs]
    names = {id(item.value): item.arg for item in node.keywords}
    for value, part in given:
        named = call.path in ("torch.device", "Tensor.to", "torch.nn.Module.to") or names.get(id(part)) == "device"
        if named and isinstance(part, ast.Constant) and isinstance(value, str) and value.startswith("cuda"):
            return part
    return None


def _candidates(call: LibraryCall, written: ast.expr) -> Iterator[Candidate]:
    torch = package_name(call.site, "torch")
    if torch is None:
        return
    source = call.site.source
    choice = f'"cuda" if {torch}.cuda.is_available() else "cpu"'
    if is_method_call(written):
        receiver = source.segment(written.func.value)
        names = [name for name, value in call.site.scene.globals.items() if isinstance(value, Device)]
        yield replaced(call.site, written, f"{receiver}.to({names[0] if names else choice})")
    else:
        yield replaced(call.site, written, choice)


RULE = Rule(FAULTS[CODE], find)
