"""misspelt-device: a device that PyTorch knows by another name.

What it finds
    `.to("gpu")`, `torch.device("CUDA:0")`, `device="Cpu"`: names of a device in a string that differ from PyTorch's own by their case, or
    are what people call it; and the name of a dtype (`.to("float32")`).
Why it hurts
    RuntimeError: "Expected one of cpu, cuda, … device type at start of device string: gpu".
Example
    model = model.to("gpu")
Use instead
    model = model.to("cuda")
Fix safety
    Safe: it names the same device.
References
    torch.device
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.kinds import DTYPES
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of
from torchsleuth.syntax.text import SourceText

CODE = "TS208"
_TAKING = ("torch.device", "Tensor.to", "torch.nn.Module.to")
_KINDS = ("cpu", "cuda", "mps", "xpu")
_CALLED = {"gpu": "cuda", "nvidia": "cuda", "cuda_device": "cuda", "metal": "mps"}


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for call in analysis.trace.calls:
        given, node = _given(call)
        if call.guarded or node is None or call.site.span in seen:
            continue
        source = call.site.source
        for part, name in ((node, given), *_options(node)):
            right = meant(name) if isinstance(name, str) else None
            if isinstance(name, str) and name.removeprefix("torch.") in DTYPES and call.path != "torch.device":
                seen.add(call.site.span)
                new, imports = spelled(analysis, source.path, f"torch.{name.removeprefix('torch.')}")
                change = (*imports, edits.replace(source, part, new))
                fix = Candidate(message("fix.replace", old=source.segment(part), new=new), change)
                yield Finding(source.span(part), message("device.dtype", name=name, right=new), (), (fix,))
            elif right is not None:
                seen.add(call.site.span)
                text = message("device.misspelt", name=name, right=right)
                yield Finding(source.span(part), text, (), tuple(_renamed(source, part, str(name), right)))
            elif isinstance(name, str) and _has_no_number(name):
                seen.add(call.site.span)
                text = message("device.index", name=name, kind=name.partition(":")[0])
                yield Finding(source.span(part), text)


def _has_no_number(name: str) -> bool:
    """``"cuda:x"``"""
    kind, colon, index = name.partition(":")
    # An option that nothing gives is None; what starts the script gives it.
    return kind in _KINDS and bool(colon) and index != "None" and not (index.isdigit() and index.isascii())


def _options(node: ast.expr) -> Iterator[tuple[ast.expr, object]]:
    """The names in ``"gpu" if torch.cuda.is_available() else "cpu"``."""
    if isinstance(node, ast.IfExp):
        for part in of_kind((node.body, node.orelse), ast.Constant):
            yield part, part.value


def _renamed(source: SourceText, node: ast.expr, name: str, right: str) -> Iterator[Candidate]:
    if isinstance(node, ast.Constant):
        old = source.segment(node)
        new = old.replace(name, right)
        yield Candidate(message("fix.replace", old=old, new=new), (edits.replace(source, node, new),))


def meant(name: str) -> str | None:
    """The device's name for PyTorch, None where it is one already, or none that is known."""
    kind, colon, index = name.partition(":")
    plain = kind.strip().casefold()
    right = _CALLED.get(plain, plain)
    return f"{right}{colon}{index}" if right in _KINDS and right != kind else None


def _given(call: LibraryCall) -> tuple[object, ast.expr | None]:
    """The argument for a device, and the place where it is written."""
    node = call.site.call
    if node is None or not call.path.startswith(("torch.", "Tensor.")):
        return None, None
    named = argument_of(node, None, "device")
    if named is not None:
        return call.kwargs.get("device"), named
    if call.path in _TAKING and call.args and node.args:
        return call.args[0], node.args[0]
    return None, None


RULE = Rule(FAULTS[CODE], find)
