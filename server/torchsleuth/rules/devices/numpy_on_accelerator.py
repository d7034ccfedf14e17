"""numpy-on-accelerator: an array is asked of a tensor that is not in the memory of the CPU.

What it finds
    `numpy()`, `np.array`, other functions of NumPy and metrics of scikit-learn on a tensor that is on the accelerator, or on
    it when there is one.
Why it hurts
    PyTorch stops with "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()", but only on the machine that
    has the accelerator.
Example
    predictions = model(x.to(device)).argmax(1).numpy()
Use instead
    predictions = model(x.to(device)).argmax(1).cpu().numpy()
Fix safety
    Safe: cpu() copies the tensor, or does nothing where it is on the CPU already.
References
    torch.Tensor.cpu, torch.Tensor.numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, expression_text, origin_trail
from torchsleuth.rules.evidence.operands import append, short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.values import Tensor

CODE = "TS205"
_LIBRARIES = ("numpy.", "sklearn.metrics.", "scipy.")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    for call in analysis.trace.calls:
        for tensor, node in _converted(call):
            device = as_kind(tensor.spec.device, Device)
            if device is not None and device.symbolic and device.kind in call.unavailable:
                continue
            start = call.site.span.start
            key = (call.site.span.path, start.line, start.column)
            if device is not None and device != CPU and device.kind != "meta" and key not in seen:
                seen.add(key)
                yield _finding(call, tensor, node, device)


def _converted(call: LibraryCall) -> Iterator[tuple[Tensor, ast.expr | None]]:
    """The tensors that a call turns into arrays, with their expressions."""
    node = call.site.call
    if call.path == "Tensor.numpy" and isinstance(call.receiver, Tensor) and call.given(0, "force", False) is False:
        function = as_kind(node.func, ast.Attribute) if node is not None else None
        yield call.receiver, function.value if function is not None else None
    elif call.path.startswith(_LIBRARIES) and node is not None:
        for index, value in enumerate(call.args):
            if isinstance(value, Tensor):
                yield value, node.args[index] if index < len(node.args) else None


def _finding(call: LibraryCall, tensor: Tensor, node: ast.expr | None, device: Device) -> Finding:
    name = expression_text(node, "the tensor")
    source = call.site.source
    text = message("device.numpy", tensor=name, device=device.described, call=call.path.removeprefix("Tensor."))
    candidates: list[Candidate] = []
    if node is not None:
        title = message("fix.append", expression=short(source.segment(node)), suffix=".cpu()")
        candidates.append(Candidate(title, (append(source, node, ".cpu()"),)))
    places = (*origin_trail(tensor, name), *call_trail(call.site.scene, limit=1))
    own = call.site.span
    kept = tuple(place for place in places if place.span != own)
    return Finding(own, text, kept, tuple(candidates))


RULE = Rule(FAULTS[CODE], find)
