"""functional-dropout-always-on: F.dropout in forward without training=.

What it finds
    F.dropout and its like in a method of a module without `training=`, whose default is True;
    scaled_dot_product_attention with a dropout_p that does not depend on self.training; nn.Dropout that is made in
    forward instead of __init__.
Why it hurts
    model.eval() does not switch it off: predictions are random and worse than they could be.
Example
    x = F.dropout(x, p=0.5)
Use instead
    x = F.dropout(x, p=0.5, training=self.training)
Fix safety
    Safe: training is as before.
References
    torch.nn.functional.dropout
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.modes import depends_on_mode
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, contains, is_spread, names_in, nodes_in
from torchsleuth.values import Site
from torchsleuth.values.frames import Scene

CODE = "TS516"
_DROPOUTS = frozenset(f"torch.nn.functional.dropout{suffix}" for suffix in ("", "1d", "2d", "3d"))
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[object] = set()
    for call in (call for path in (*sorted(_DROPOUTS), _ATTENTION) for call in analysis.calls.get(path, ())):
        node = call.site.call
        module = call.site.scene.instance()
        if module is None or not module.is_module or node is None or call.site.span in reported:
            continue
        if is_spread(node.args) or any(k.arg is None for k in node.keywords):
            continue
        receiver = _self_name(call.site.scene)
        fix = _always_on(call, node, receiver)
        if fix is not None and not depends_on_mode(analysis, call.site):
            reported.add(call.site.span)
            name = call.name
            yield Finding(call.site.span, message("dropout.always", function=name), (), fix)

    yield from _made_anew(analysis)


def _made_anew(analysis: Analysis) -> Iterator[Finding]:
    """Dropout layers that are made where they are used: eval() of the model does not reach them."""
    reported: set[object] = set()
    kept = {id(item.value) for item in analysis.trace.attributes}
    for operation in analysis.trace.operations:
        layer = operation.module
        site = layer.site if layer is not None and "Dropout" in layer.type_name else None
        instance = operation.site.scene.instance()
        if layer is None or site is None or instance is None or not instance.is_module or site.span in reported:
            continue
        if site.scene != operation.site.scene or layer.slots["training"] is not True:
            continue
        registered = id(layer) in kept or any(part is layer for part in descendants(instance))
        switched = any(analysis.events_of(layer, mode) for mode in ("train", "eval"))
        receiver = _self_name(site.scene)
        if registered or switched or receiver is None or depends_on_mode(analysis, site):
            continue
        reported.add(site.span)
        candidates = _made_once(analysis, site, receiver)
        yield Finding(site.span, message("dropout.anew", layer=layer.type_name), (), candidates)


def _made_once(analysis: Analysis, site: Site, receiver: str) -> Iterator[Candidate]:
    """The layer made in __init__, where its arguments are to be had there; or switched where it is made."""
    source, index = site.source, analysis.index(site.span.path)
    node = index.same(site.node)
    owner = first_of(reversed(index.trail(node)), ast.ClassDef) if node else None
    methods = of_kind(owner.body, ast.FunctionDef) if owner is not None else []
    maker = next((part for part in methods if part.name == "__init__" and part.args.args), None)
    if maker is not None and isinstance(node, ast.Call) and maker.body[-1].lineno > maker.lineno:
        own = maker.args.args[0].arg
        names = names_in(*node.args, *node.keywords)
        taken = {part.attr for method in methods for part in nodes_in(method, ast.Attribute)}
        free = next(name for name in ("dropout", "drop", *map("dropout{}".format, range(2, 99))) if name not in taken)
        if names <= {receiver} and own == receiver and not contains(maker, ast.Return):
            made = edits.insert_line_after(source, maker.body[-1], f"{own}.{free} = {source.segment(node)}")
            title = message("fix.make_in_init", name=f"{own}.{free}")
            yield Candidate(title, (made, edits.replace(source, node, f"{own}.{free}")))
    text = f".train({receiver}.training)"
    yield Candidate(message("fix.add", text=text), (edits.insert_after_node(source, site.node, text),))


def _self_name(frame: Scene) -> str | None:
    """The name of the module in its method, None in a static one."""
    function = frame.function
    arguments = function.node.args.args if function is not None and isinstance(function.node, ast.FunctionDef) else []
    return arguments[0].arg if arguments and function is not None and function.kind == "function" else None


def _always_on(call: LibraryCall, node: ast.Call, receiver: str | None) -> tuple[Candidate, ...] | None:
    """Repairs of a dropout that evaluation does not switch off, None where it is no such."""
    source = call.site.source
    if call.path in _DROPOUTS:
        if "training" in call.kwargs or len(node.args) > 2 or call.given(1, "p", 0.5) == 0:
            return None
        if receiver is None:
            return ()
        text = f"training={receiver}.training"
        return (Candidate(message("fix.add", text=text), (edits.add_argument(source, node, text),)),)
    if call.path != _ATTENTION:
        return None
    given = argument_of(node, None, "dropout_p")
    rate = as_kind(call.kwargs.get("dropout_p"), int, float)
    if given is None or rate is None or rate == 0 or "training" in source.segment(given):
        return None
    if not isinstance(given, ast.Constant | ast.Attribute) or receiver is None:
        return None
    text = f"{source.segment(given)} if {receiver}.training else 0.0"
    return (replacement(source, given, text),)


RULE = Rule(FAULTS[CODE], find)
