"""deprecated-autocast: mixed precision through torch.cuda.amp or torch.cpu.amp.

What it finds
    autocast, GradScaler, custom_fwd and custom_bwd of torch.cuda.amp, autocast and GradScaler of torch.cpu.amp.
Why it hurts
    They are deprecated since PyTorch 2.4 and print a warning at every use; torch.amp does the same on any device.
Example
    scaler = torch.cuda.amp.GradScaler()
    with torch.cuda.amp.autocast():
        loss = criterion(model(x), y)
Use instead
    scaler = torch.amp.GradScaler("cuda")
    with torch.amp.autocast("cuda"):
        loss = criterion(model(x), y)
Fix safety
    Safe: the old names call the new ones with this device.
References
    torch.amp.autocast, torch.amp.GradScaler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import renamed, text
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_spread
from torchsleuth.syntax.names import Imported, Use

CODE = "TS805"
_NEW: dict[str, tuple[str, str]] = {
    **{f"torch.cuda.amp.{name}": (f"torch.amp.{name}", "cuda") for name in ("autocast", "GradScaler")},
    **{f"torch.cpu.amp.{name}": (f"torch.amp.{name}", "cpu") for name in ("autocast", "GradScaler")},
    "torch.cuda.amp.autocast_mode.autocast": ("torch.amp.autocast", "cuda"),
    "torch.cuda.amp.grad_scaler.GradScaler": ("torch.amp.GradScaler", "cuda"),
    "torch.cuda.amp.custom_fwd": ("torch.amp.custom_fwd", 'device_type="cuda"'),
    "torch.cuda.amp.custom_bwd": ("torch.amp.custom_bwd", 'device_type="cuda"'),
}
"""Where each is now, and the device: a first argument, or a keyword as it is written."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for use in analysis.names.uses:
        if use.path in _NEW and (use.call is not None or use.path.endswith(("custom_fwd", "custom_bwd"))):
            new, device = _NEW[use.path]
            argument = device if "=" in device else f'"{device}"'
            words = message("autocast.deprecated", old=use.path, new=f"{new}({argument})")
            fixes = _fixes(analysis, use)
            yield Finding(analysis.source.span(use.call or use.node), words, (), fixes, "hint" if use.guarded else None)


def _fixes(analysis: Analysis, use: Use) -> Iterator[Candidate]:
    new, _ = _NEW[use.path]
    imported = use.imported
    if isinstance(imported.statement, ast.ImportFrom) and imported.path == use.path:
        changes = _from_torch_amp(analysis, imported.statement)
    else:
        device = _with_device(analysis, use)
        changes = (*renamed(analysis, use, new), *device) if device else ()
    if changes:
        yield Candidate(message("fix.replace", old=text(analysis, use.node), new=new), changes)


def _from_torch_amp(analysis: Analysis, statement: ast.ImportFrom) -> tuple[Edit, ...]:
    """The import from torch.amp, and the device at each call; nothing where one of the names is used otherwise."""
    names = [imported for imported in analysis.names.imports if imported.statement is statement]
    if any(imported.path not in _NEW or imported.guarded for imported in names):
        return ()
    changes: list[Edit] = []
    for use in analysis.names.uses:
        if any(use.imported is imported for imported in names):
            device = _with_device(analysis, use) if use.path in _NEW else ()
            if not device:
                return ()
            changes += device
    line = f"from torch.amp import {', '.join(_alias(imported) for imported in names)}"
    return (edits.replace(analysis.source, statement, line), *changes)


def _alias(imported: Imported) -> str:
    return f"{imported.alias.name} as {imported.alias.asname}" if imported.alias.asname else imported.alias.name


def _with_device(analysis: Analysis, use: Use) -> tuple[Edit, ...]:
    """The device given to the new function, as first argument or to a decorator; nothing where that is no small change."""
    _, device = _NEW[use.path]
    source, call = analysis.source, use.call
    if "=" in device:
        if call is None:
            return (edits.insert_after_node(source, use.node, f"({device})"),)
        # custom_fwd(function) would need a partial.
        return () if call.args else (edits.add_argument(source, call, device),)
    if call is None or is_spread(call.args):
        return ()
    if not call.args and not call.keywords:
        return (edits.add_argument(source, call, f'"{device}"'),)
    first = min([*call.args, *call.keywords], key=source.start_of)
    # The new autocast takes a dtype where the old one took `enabled`.
    names: tuple[str, ...] = ("enabled", "dtype", "cache_enabled") if use.path.endswith("autocast") else ()
    named = [edits.insert(source, source.start_of(part), f"{name}=") for part, name in zip(call.args, names)]
    prefix = f'"{device}", ' + (f"{names[0]}=" if named else "")
    return (edits.insert(source, source.start_of(first), prefix), *named[1:])


RULE = Rule(FAULTS[CODE], find)
