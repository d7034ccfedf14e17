"""Which layers compute something else in training than in evaluation."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.interp.library.hierarchy import descendants, named_children
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_simple, own_blocks, receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import any_are, as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, names_in, nodes_in, stores
from torchsleuth.values import Instance, LibraryModule, Site, Value
from torchsleuth.values.frames import Scene

_SWITCHED = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout BatchNorm1d BatchNorm2d BatchNorm3d "
    "SyncBatchNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d RReLU".split()
)
_DROPOUT_INSIDE = {
    "TransformerEncoderLayer": (3, 0.1),
    "TransformerDecoderLayer": (3, 0.1),
    "Transformer": (5, 0.1),
    "MultiheadAttention": (2, 0.0),
    "RNN": (5, 0.0),
    "LSTM": (5, 0.0),
    "GRU": (5, 0.0),
}
"""Where the rate of their dropout stands among the arguments, and what it is by default."""
_STACKS = frozenset({"TransformerEncoder", "TransformerDecoder"})
_FUNCTIONAL = "torch.nn.functional."
_MODE = re.compile("train|eval|infer|determin|test")
"""Names of arguments that say whether a model is trained or evaluated."""


@dataclass(frozen=True)
class ModeDependent:
    """`name`: what a message calls it. `site`: where it is made or called. `training`: its mode, None if not known."""

    name: str
    site: Site
    training: bool | None


def name_below(whole: Value, part: Value) -> str:
    """The name of a part within a module, empty where it is none, or the whole."""
    for name, child in named_children(whole):
        if child is part:
            return name
        below = name_below(child, part)
        if below:
            return f"{name}.{below}"
    return ""


def back_in_eval(analysis: Analysis, train: Event, name: str, safe: bool) -> Iterator[Candidate]:
    """``model.backbone.eval()`` behind ``model.train()``, for a part of this name."""
    statement, model, path = (
        statement_of(analysis, train.site),
        receiver_text(train.site),
        train.site.span.path,
    )
    if statement is None or not model or not name or not all(part.isidentifier() for part in name.split(".")):
        return
    others = [one.subject for one in analysis.events("train") if one.site.span == train.site.span]
    if all(_has_part(other, name) for other in others):
        if is_simple(statement, analysis, path):
            line = f"{model}.{name}.eval()"
            edit = edits.insert_line_after(analysis.source_of(path), statement, line)
            yield Candidate(message("fix.insert", text=line), (edit,), safe)
    elif isinstance(train.subject, Instance):
        yield from _kept_in_eval(analysis, train.subject, name)


def _has_part(module: Value, name: str) -> bool:
    """Whether a module has a part of this name, such as ``encoder.body``."""
    first, _, rest = name.partition(".")
    parts = dict(named_children(module))
    return first in parts and (not rest or _has_part(parts[first], rest))


def _kept_in_eval(analysis: Analysis, owner: Instance, name: str) -> Iterator[Candidate]:
    """A ``train()`` of the class itself that leaves the part in evaluation: other models are put into training mode at the same place."""
    node = analysis.index(owner.cls.path).same(owner.cls.node)
    methods = of_kind(node.body, ast.FunctionDef) if isinstance(node, ast.ClassDef) else []
    if not methods or any(one.name == "train" for one in methods):
        return
    source = analysis.source_of(owner.cls.path)
    indent = edits.indentation(source, methods[-1].lineno)
    lines = ("def train(self, mode=True):", "    super().train(mode)", f"    self.{name}.eval()", "    return self")
    edit = edits.insert_line_after(source, methods[-1], f"\n{indent}".join(lines))
    yield Candidate(message("fix.own_train", owner=owner.cls.name, part=name), (edit,))


def mode_dependent(analysis: Analysis, module: Value) -> Iterator[ModeDependent]:
    """The layers of a module, and the dropouts in its methods, that depend on its mode."""
    parts = list(descendants(module))
    for part in of_kind(parts, LibraryModule):
        if part.site is not None and _switched(part):
            inside = part.type_name not in _SWITCHED
            name = f"the dropout of {part.type_name}" if inside else part.type_name
            yield ModeDependent(name, part.site, part.slots["training"])
    instances = {id(part): part for part in of_kind(parts, Instance)}
    dropouts = [path for path in analysis.calls if path.startswith(_FUNCTIONAL) and "dropout" in path]
    for call in (call for path in dropouts for call in analysis.calls[path]):
        if call.given(1, "p", 0.5) != 0:
            owner = instances.get(id(call.site.scene.instance()))
            if owner is not None and _asks_for_mode(call.site.node):
                yield ModeDependent(call.name, call.site, owner.state["training"])


def _switched(module: LibraryModule) -> bool:
    name = module.type_name
    if name in _STACKS:
        layer = as_kind(
            module.kwargs.get("encoder_layer", module.kwargs.get("decoder_layer", (*module.args, None)[0])),
            LibraryModule,
        )
        return layer is not None and _switched(layer)
    if name in _DROPOUT_INSIDE:
        position, default = _DROPOUT_INSIDE[name]
        given = module.args[position] if position < len(module.args) else default
        rate = as_kind(module.kwargs.get("dropout", given), int, float)
        return rate is not None and rate > 0
    if name not in _SWITCHED:
        return False
    if "Norm" in name:
        return module.kwargs.get("track_running_stats") is not False
    return module.given(0, "p", None) != 0


def _asks_for_mode(node: ast.AST) -> bool:
    """Whether a call passes the mode on: ``F.dropout(x, training=self.training)``."""
    return any(is_attribute(part, "training") for part in ast.walk(node))


def depends_on_mode(analysis: Analysis, site: Site) -> bool:
    """Whether a call in a module stands where only one of the modes may lead: under a condition, or behind a return under
    one, that asks for the mode or for a switch that the callers set; or whether one on the way to it hands something over
    for the mode."""
    frame: Scene | None = site.scene
    node: ast.AST | None = site.node
    while frame is not None and isinstance(node, ast.Call) and (module := frame.instance()) and module.is_module:
        index = analysis.index(frame.source.path)
        trail = index.trail(index.same(node) or node)
        rates = {name for part in (*node.args[1:], *node.keywords) for name in names_in(part)}
        if _asks_for_mode(node) or any(_asks_for_mode(value) for value in _assigned(trail, rates)):
            return True
        if any(_asks_for_mode(test) or _is_switch(test, names_in(node)) for test in _tests(trail)):
            return True
        if any(_asks_for_mode(test) or any(map(_MODE.search, names_in(test))) for test in _returns_before(trail)):
            return True
        node, frame = frame.call, frame.caller
    return False


def _within(trail: list[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes from a function down to the last of these, each with the part of it that leads there."""
    functions = [place for place, part in enumerate(trail) if isinstance(part, ast.FunctionDef | ast.Lambda)]
    return itertools.pairwise(trail[functions[-1] :] if functions else [])


def _tests(trail: list[ast.AST]) -> Iterator[ast.expr]:
    """The conditions under which a node is reached."""
    for outer, part in _within(trail):
        if isinstance(outer, ast.If | ast.IfExp | ast.While) and part is not outer.test:
            yield outer.test
        if isinstance(outer, ast.BoolOp) and isinstance(part, ast.expr):
            yield from outer.values[: outer.values.index(part)]


def _returns_before(trail: list[ast.AST]) -> Iterator[ast.expr]:
    """The conditions under which a node is not reached, because the function or the iteration ends before it."""
    for outer, part in _within(trail):
        for block in own_blocks(outer):
            if isinstance(part, ast.stmt) and part in block:
                before = block[: block.index(part)]
                yield from (one.test for one in of_kind(before, ast.If) if _leaves(one))


def _leaves(statement: ast.If) -> bool:
    ends = (block[-1] for block in (statement.body, statement.orelse) if block)
    return any_are(ends, ast.Return, ast.Raise, ast.Continue, ast.Break)


def _is_switch(test: ast.expr, own: set[str]) -> bool:
    """Whether a condition is the truth of a variable that says nothing of what is computed (`own`)."""
    match test:
        case ast.BoolOp():
            return any(_is_switch(value, own) for value in test.values)
        case ast.UnaryOp(op=ast.Not()):
            return _is_switch(test.operand, own)
        case ast.Compare() if isinstance(test.comparators[0], ast.Constant):
            switch = isinstance(test.comparators[0].value, str | bool)
            return switch and isinstance(test.left, ast.Name) and test.left.id not in own
        case ast.Call():
            return ast.unparse(test.func).endswith("is_grad_enabled")
    return isinstance(test, ast.Name) and test.id not in own


def _assigned(trail: list[ast.AST], names: set[str]) -> Iterator[ast.expr]:
    """The assignments to these names in the function that leads to a node, and the conditions around it."""
    function = first_of(reversed(trail), ast.FunctionDef)
    for part in nodes_in(function, ast.If, ast.Assign) if function is not None else ():
        stored = nodes_in(part, ast.Name)
        if any(inner.id in names and stores(inner) for inner in stored):
            yield part.test if isinstance(part, ast.If) else part.value


__all__ = ["ModeDependent", "depends_on_mode", "mode_dependent"]
