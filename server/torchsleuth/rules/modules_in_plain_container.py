"""modules-in-plain-container: layers in a list or dict that nn.Module does not look into.

What it finds
    A module whose attribute is a list, tuple or dict of layers with parameters that it made itself and registered
    nowhere else.
Why it hurts
    parameters(), to() and state_dict() do not see these layers: they are not trained, not moved and not saved.
Example
    self.layers = [nn.Linear(64, 64) for _ in range(4)]
Use instead
    self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(4)])
Fix safety
    Safe: ModuleList and ModuleDict are used like a list and a dict.
References
    torch.nn.ModuleList, torch.nn.ModuleDict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.modules import descendants
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.interp.values import DictValue, Instance, LibraryModule, ListValue, Value, is_module
from torchsleuth.messages import message
from torchsleuth.rules.loops import modules_of, statement_of
from torchsleuth.rules.modules import named, trainable
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS511"


def find(analysis: Analysis) -> Iterator[Finding]:
    used = {
        event.subject.identity
        for event in analysis.trace.events
        if event.kind == "forward" and is_module(event.subject)
    }
    given = [module for optimizer in analysis.trace.optimizers for module in modules_of(optimizer)]
    elsewhere = {id(part) for module in given for part in descendants(module)}
    reported: set[object] = set()
    for item in analysis.trace.attributes:
        held = _layers(item.owner.slots.get(item.name))
        if not held or item.site.span in reported or item.owner.slots.get(item.name) is not item.value:
            continue
        registered = elsewhere | {id(part) for part in descendants(item.owner)}
        lost = [layer for layer in held if id(layer) not in registered and trainable(layer) and _own(layer, item.owner)]
        if len(lost) == len(held) and (used or item.owner.identity in used):
            reported.add(item.site.span)
            yield _finding(analysis, item, lost)


def _layers(value: Value) -> list[Value]:
    """The modules in a list, tuple or dict that holds nothing else."""
    items: list[Value] = []
    if isinstance(value, tuple):
        items = list(value)
    elif isinstance(value, ListValue):
        items = list(value.elements or ())
    elif isinstance(value, DictValue):
        items = list((value.items or {}).values())
    return items if items and all(is_module(item) for item in items) else []


def _own(layer: Value, owner: Instance) -> bool:
    """Whether the layer was made by the module itself; one that was handed in is often hidden on purpose."""
    site = layer.site if isinstance(layer, LibraryModule | Instance) else None
    frame = site.frame if site is not None else None
    while frame is not None:
        if frame.receiver is owner:
            return True
        frame = frame.caller
    return False


def _finding(analysis: Analysis, item: AttributeSet, lost: list[Value]) -> Finding:
    kind = "dict" if isinstance(item.value, DictValue) else "tuple" if isinstance(item.value, tuple) else "list"
    text = message("container.plain", name=f"`self.{item.name}`", kind=kind, count=len(lost), owner=item.owner.cls.name)
    return Finding(item.site.span, text, (), tuple(_registered(analysis, item, kind)))


def _registered(analysis: Analysis, item: AttributeSet, kind: str) -> Iterator[Candidate]:
    statement = statement_of(analysis, item.site)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(value, ast.expr):
        return
    path = item.site.span.path
    source = analysis.source_of(path)
    wrapper, imports = named(analysis, item.site, "torch.nn.ModuleDict" if kind == "dict" else "torch.nn.ModuleList")
    inner = source.segment(value)
    if isinstance(value, ast.List | ast.Dict) and not (value.elts if isinstance(value, ast.List) else value.keys):
        inner = ""
    edit = edits.replace(source, value, f"{wrapper}({inner})")
    yield Candidate(message("fix.wrap", text=wrapper), (*imports, edit))


RULE = Rule(
    CODE,
    "modules-in-plain-container",
    "warning",
    "training loop",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(3)]
#       ^^^^^^^^^^^ TS511: `self.layers` is a plain list: its 3 layers are not part of Net
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)

print(Net()(torch.randn(2, 8)))
""",
            fixed="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)

print(Net()(torch.randn(2, 8)))
""",
            good="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(3)]
        self.body = nn.Sequential(*self.layers)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x))

print(Net()(torch.randn(2, 8)))
""",
        ),
    ),
)
