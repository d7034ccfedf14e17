"""index-not-used: a Dataset whose samples are all the same.

What it finds
    A `__getitem__` that never reads its index and only picks from attributes, in a Dataset that is as long as one of these.
Why it hurts
    Every sample of every batch is the same one, or all of the data at once. The model learns one sample by heart, and
    nothing is raised.
Example
    def __getitem__(self, index):
        return self.images[0], self.labels[0]
Use instead
    def __getitem__(self, index):
        return self.images[index], self.labels[index]
Fix safety
    Safe: the parts that have the length of the dataset are picked from by the index.
References
    torch.utils.data.Dataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import below_subsets
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_dotted, is_method_call, is_name, nodes_in, stores
from torchsleuth.values import Array, Instance, ListValue, Tensor

CODE = "TS620"
_CONVERSIONS = frozenset(
    "float double half long int clone detach contiguous unsqueeze squeeze view reshape flatten permute transpose to item "
    "astype copy tensor as_tensor from_numpy".split()
)
"""Methods that are called on data without choosing among them."""


_HELD = (Tensor, Array, ListValue, str, int, float)
"""Calls that give the same whenever they are made."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for call in analysis.calls.get("torch.utils.data.DataLoader", ()):
        dataset, _ = below_subsets(call.given(0, "dataset"))
        if not isinstance(dataset, Instance) or dataset.cls.opaque or id(dataset.cls.node) in seen:
            continue
        seen.add(id(dataset.cls.node))
        methods = {part.name: part for part in of_kind(dataset.cls.node.body, ast.FunctionDef)}
        getitem, counted = methods.get("__getitem__"), _counted(methods.get("__len__"))
        if getitem is None or counted is None or not _is_constant(getitem):
            continue
        used = [dataset.slots.get(name) for name in _attributes(getitem)]
        if counted in _attributes(getitem) and all_are(used, *_HELD):
            source = analysis.source_of(dataset.cls.path)
            index = getitem.args.args[1]
            text = message("index.unused", index=f"`{index.arg}`", counted=f"`self.{counted}`")
            fix = Candidate(message("fix.pick_by", index=index.arg), tuple(_picked(analysis, dataset, getitem)))
            yield Finding(source.span(index), text, (), (fix,))


def _counted(function: ast.FunctionDef | None) -> str | None:
    """The attribute whose length ``__len__`` gives, as ``len(self.x)`` or ``self.x.shape[0]``."""
    last = as_kind(function.body[-1], ast.Return) if function is not None else None
    value = last.value if last is not None else None
    match value:
        case ast.Call(func=ast.Name(id="len")) if value.args:
            return _attribute(value.args[0])
        case _ if is_method_call(value, "size"):
            return _attribute(value.func.value)
        case ast.Subscript() if is_attribute(value.value, "shape"):
            return _attribute(value.value.value)
    return None


def _attribute(node: ast.AST) -> str | None:
    own = is_dotted(node, "self")
    return node.attr if own and isinstance(node, ast.Attribute) else None


def _attributes(function: ast.FunctionDef) -> list[str]:
    return [name for node in ast.walk(function) if (name := _attribute(node)) is not None]


def _is_constant(getitem: ast.FunctionDef) -> bool:
    """Whether a method gives the same each time: it reads no index, draws nothing, and changes nothing."""
    given = [argument.arg for argument in getitem.args.args]
    if len(given) != 2 or getitem.decorator_list or given[0] != "self":
        return False
    for statement in getitem.body:
        if not isinstance(statement, ast.Return | ast.Assign | ast.Expr):
            return False
        if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
            return False
        for node in ast.walk(statement):
            if is_name(node, given[1]):
                return False
            match node:
                case ast.Attribute() | ast.Subscript() if stores(node):
                    return False
                case ast.Call():
                    function = node.func
                    if not is_attribute(function, *_CONVERSIONS):
                        return False
            if isinstance(node, ast.Lambda | ast.Yield | ast.Await | ast.comprehension | ast.NamedExpr):
                return False
    return True


def _picked(analysis: Analysis, dataset: Instance, getitem: ast.FunctionDef) -> Iterator[Edit]:
    """The index in the place of another, or behind what has none."""
    source, index = analysis.source_of(dataset.cls.path), getitem.args.args[1].arg
    inner = {id(node.value): node for node in nodes_in(getitem, ast.Subscript)}
    for node in nodes_in(getitem, ast.Attribute):
        if _attribute(node) is not None:
            outer = inner.get(id(node))
            if outer is None:
                yield edits.insert_after_node(source, node, f"[{index}]")
            elif isinstance(outer.slice, ast.Name | ast.Constant):
                yield edits.replace(source, outer.slice, index)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
