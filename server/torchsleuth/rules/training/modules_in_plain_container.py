"""modules-in-plain-container: layers in a list or dict that nn.Module does not look into.

What it finds
    A module whose attribute is a list, tuple or dict of layers with parameters that it made itself and registered
    nowhere else. Metrics of torchmetrics in a plain list or dict of a LightningModule.
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

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, parts_of
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.messages import message
from torchsleuth.rules.evidence import metrics
from torchsleuth.rules.evidence.commas import by_comma, without_comma
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.modules import named, trainable
from torchsleuth.rules.evidence.uses import written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, nodes_in
from torchsleuth.values import DictValue, Instance, LibraryModule, ListValue, Parameters, Site, Tensor, Value, is_module

CODE = "TS511"
_OF_PARAMETERS = frozenset({"torch.nn.ParameterList", "torch.nn.ParameterDict"})


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_metrics(analysis)
    used = {event.identity for event in analysis.events("forward") if is_module(event.subject)}
    given = {id(part) for optimizer in analysis.trace.optimizers for part in trained_parts(optimizer)}
    params = of_kind((optimizer.given(0, "params") for optimizer in analysis.trace.optimizers), Parameters)
    trained = [module for value in params for module in value.modules]
    reported: set[object] = set()
    for item in analysis.trace.attributes:
        held = _held(item.owner.slots.get(item.name))
        if (
            not held
            or not reported.isdisjoint((item.site.span, id(item.value)))
            or item.owner.slots.get(item.name) is not item.value
        ):
            continue
        registered = {id(part) for part in (*descendants(item.owner), *parts_of(item.owner))}
        held = [part for part in held if _trains(part)]
        own = [part for part in held if id(part) not in registered and _own(part, item.owner)]
        lost = [part for part in own if not any(id(inner) in given for inner in (part, *parts_of(part)))]
        if lost and len(lost) == len(held) and (used or item.owner in trained) and not _are_listed(item.owner):
            reported |= {item.site.span, id(item.value)}
            yield _finding(analysis, item, lost)


def _of_metrics(analysis: Analysis) -> Iterator[Finding]:
    """Metrics of torchmetrics, which the trainer neither moves nor finds in a plain container."""
    source = analysis.source
    for owner, target, held in metrics.in_containers(analysis):
        if any(is_method_call(call, "to") for call in nodes_in(owner, ast.Call)):
            continue
        kind, new = ("dict", "torch.nn.ModuleDict") if isinstance(held, ast.Dict) else ("list", "torch.nn.ModuleList")
        name, imports = written(analysis, new)
        text = message("container.metrics", name=f"`self.{target.attr}`", kind=kind, owner=owner.name)
        changes = (edits.replace(source, held, f"{name}({source.segment(held)})"), *imports)
        yield Finding(source.span(held), text, (), (Candidate(message("fix.wrap", text=name), changes),))


def _are_listed(owner: Instance) -> bool:
    """Whether a module has a container of parameters, which may be those of the layers."""
    return any(module.path in _OF_PARAMETERS for module in of_kind(owner.slots.values(), LibraryModule))


def _held(value: Value) -> list[Value]:
    """The modules, or the parameters, in a list, tuple or dict that holds nothing else."""
    items: list[Value] = []
    match value:
        case tuple():
            items = list(value)
        case ListValue():
            items = list(value.elements or ())
        case DictValue() if all_are(value.items or (), str):
            items = list((value.items or {}).values())
    alike = all(is_module(item) for item in items) or all(_is_parameter(item) for item in items)
    return items if alike else []


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Tensor) and value.parameter and value.owner is None


def _trains(item: Value) -> bool:
    return item.spec.requires_grad is True if isinstance(item, Tensor) else trainable(item)


def _own(item: Value, owner: Instance) -> bool:
    """Whether it was made by the module itself; one that was handed in is often hidden on purpose."""
    site = as_kind(item.origin.site if isinstance(item, Tensor) and item.origin else getattr(item, "site", None), Site)
    frame = site.scene if site is not None else None
    while frame is not None:
        if frame.receiver is owner:
            return True
        frame = frame.caller
    return False


def _finding(analysis: Analysis, item: AttributeSet, lost: list[Value]) -> Finding:
    kind = "dict" if isinstance(item.value, DictValue) else "tuple" if isinstance(item.value, tuple) else "list"
    what = "parameter" if _is_parameter(lost[0]) else "layer"
    values = {"name": f"`self.{item.name}`", "kind": kind, "what": what, "owner": item.owner.cls.name}
    if len(lost) == 1:
        text = message("container.plain.one", **values)
    else:
        text = message("container.plain.several", count=len(lost), **values)
    return Finding(item.site.span, text, (), _registered(analysis, item, kind, what))


def _registered(analysis: Analysis, item: AttributeSet, kind: str, what: str) -> Iterator[Candidate]:
    statement = statement_of(analysis, item.site)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(value, ast.expr):
        return
    path = item.site.span.path
    source = analysis.source_of(path)
    comma = by_comma(analysis, path, f"self.{item.name}")
    if comma is not None:
        yield without_comma(source, comma)
    family = "Parameter" if what == "parameter" else "Module"
    wrapper, imports = named(analysis, item.site, f"torch.nn.{family}{'Dict' if kind == 'dict' else 'List'}")
    inner = source.segment(value)
    if isinstance(value, ast.List | ast.Dict) and not (value.elts if isinstance(value, ast.List) else value.keys):
        inner = ""
    edit = edits.replace(source, value, f"{wrapper}({inner})")
    yield Candidate(message("fix.wrap", text=wrapper), (*imports, edit))


RULE = Rule(FAULTS[CODE], find, of_absence=True)
