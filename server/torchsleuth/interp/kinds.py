"""Values of a kind with which Python refuses what is done: a loop over a number, an index into a generator, a text and a
number in a sum."""

from __future__ import annotations

import ast

from torchsleuth.interp import misuse, misuses
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.models import of_class
from torchsleuth.interp.pipeline import LOADER
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_attribute, is_method_call, is_name, is_read, is_spread, stores
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import Parameter
from torchsleuth.values import (
    Bound,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    NamedResult,
    Parameters,
    Scalar,
    Tensor,
    Value,
    is_int,
    is_module,
    is_native_kind,
    is_of,
    is_tuple,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_OF_SEQUENCES = frozenset({"iterate", "index", "len", "next"})
_REFUSED: dict[str, frozenset[str]] = {
    "bool": frozenset({"call", "len", "next"}),
    "int": _OF_SEQUENCES | {"call"},
    "float": _OF_SEQUENCES | {"call"},
    "module": _OF_SEQUENCES | {"enter"},
    "generator": frozenset({"index", "len", "call"}),
    "loader": frozenset({"next", "call"}),
    "optimizer": _OF_SEQUENCES | {"call", "enter"},
    "schedule": _OF_SEQUENCES | {"call", "enter"},
    "list": frozenset({"next", "call"}),
    "str": frozenset({"call"}),
}
"""The operations that Python refuses with values of each kind."""
_TYPES: dict[str, type] = {"int": int, "float": float, "str": str, "list": list, "dict": dict}
"""Kinds that have none of the attributes of tensors."""
_SCALARS = {"float": "float", "bool": "bool"}
"""Kinds of numbers that are not known."""
_GROWING = frozenset({"append", "extend", "insert"})
"""Methods of lists that tensors have not."""
_SEQUENCES = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList"})
_ELEMENTS = ("__getitem__", "__iter__", "__len__", "__next__", "__enter__", "__getattr__")
_CHANGING = frozenset({"requires_grad_", "cuda", "cpu", "half", "float", "double", "share_memory", "eval", "train"})
"""Methods that are called for what they do to a model; of others, the rules about training loops say that they are not
called."""
_NUMBERS = frozenset(
    "in_features out_features in_channels out_channels hidden_size input_size num_layers num_embeddings embedding_dim "
    "num_features d_model nhead embed_dim num_heads kernel_size stride p lr momentum weight_decay eps batch_size num_workers "
    "step_size gamma T_max range".split()
)
"""Parameters of the library's that take numbers alone."""


_NO_STATES = frozenset({"str", "module", "int", "float", "bool", "tuple", "list"})
"""The kinds of values that `load_state_dict()` refuses: it takes a dict."""


def kind_of(interp: Interpreter, value: Value) -> str | None:
    """The kind of a value for Python, None where it is not known."""
    match value:
        case bool():
            return "bool"
        case Scalar():
            return _SCALARS.get(value.type)
    if is_int(value):
        return "int"
    if isinstance(value, float):
        return "float"
    if type(value) is DictValue and value.items and not value.from_file and "state" not in value.slots:
        return "dict" if value.type_name == "dict" else None
    match value:
        case str():
            return "str"
        case Parameters():
            return None if value.once is None else "generator"  # What a loop over them gives is one as well.
        case ListValue():
            kind = {"list": "list", "generator": "generator"}.get(value.type_name)
            return None if kind == "list" and value.once is not None else kind
        case LibraryObject():
            loader = value.path == LOADER and not value.iterates
            return "loader" if loader else of_class(value.path).kind
        case LibraryModule():
            plain = value.path.startswith("torch.nn.") and value.path not in _SEQUENCES and value.children is None
            return "module" if plain else None
        case Instance(native=None) if value.is_module and not value.cls.opaque:
            own = any(interp.class_attribute(value.cls, name) is not MISSING for name in _ELEMENTS)
            return None if own else "module"
    return None


def uses(interp: Interpreter, value: Value, how: str, node: ast.AST | None, frame: Frame) -> None:
    """Something is done with a value. `how`: iterate, index, len, next or call; `node`: the expression of the value."""
    if value is None and how == "iterate" and isinstance(node, ast.expr):
        _report(interp, "none", ("none", how), node, frame)
    kind = kind_of(interp, value)
    if kind == "list" and how == "next" and isinstance(value, ListValue) and value.items is None:
        return  # It may be what iter() makes of one.
    if kind is not None and how in _REFUSED.get(kind, ()) and isinstance(node, ast.expr):
        _report(interp, how, (kind, value), node, frame)


def calls(interp: Interpreter, callee: Value, node: ast.Call | None, frame: Frame) -> None:
    """``callee(…)``"""
    if callee is None and node is not None:
        _report(interp, "none", ("none", "call"), node, frame)
    uses(interp, callee, "call", node and node.func, frame)


def goes_through(
    interp: Interpreter, value: Value, parts: tuple[Value, ...], target: ast.AST, node: ast.AST, frame: Frame
) -> None:
    """A loop, or a comprehension. `parts`: the parameters, where it goes through those."""
    uses(interp, value, "iterate", node, frame)
    if isinstance(value, Parameters) and not value.named and isinstance(target, ast.Tuple):
        first = as_kind(next(iter(parts), None), Tensor)
        shape = interp.resolved_spec(first.spec).shape if first is not None else None
        if shape and isinstance(shape[0], int) and shape[0] != len(target.elts):
            _report(interp, "pairs", ("generator", value), node, frame)


def picks(interp: Interpreter, container: Value, key: Value, node: ast.AST, frame: Frame) -> None:
    """``container[key]``"""
    if not isinstance(node, ast.Subscript):
        return
    if container is None:
        _report(interp, "none", ("none", "index"), node, frame)
    uses(interp, container, "index", node.value, frame)
    if isinstance(container, ListValue) and container.type_name == "list" and isinstance(key, str | float):
        _report(interp, "key", ("str" if isinstance(key, str) else "float", container), node, frame)
    named = is_attribute(node.value, "shape") and isinstance(node.value.value, ast.Name)
    count = len(container) if is_tuple(container) and not named else _count(interp, container)
    grows = isinstance(container, ListValue) and not misuse.is_certain(
        interp, frame
    )  # a branch may be for when it has grown
    if (
        count is not None
        and type(key) is int
        and not -count <= key < count
        and not grows
        and not _ends_iteration(frame)
    ):
        _report(interp, "beyond", (count, key), node, frame)


def _ends_iteration(frame: Frame) -> bool:
    """Whether an IndexError may be what ends a loop over an object: that goes by its ``__getitem__`` until there is one."""
    current: Frame | None = frame
    while current is not None:
        if current.function is not None and current.function.name == "__getitem__":
            return True
        current = current.caller
    return False


def _count(interp: Interpreter, container: Value) -> int | None:
    """The number of parts of a result that is a pair, of a list, or of a container of modules, where nothing that is not known
    added one or took one away."""
    match container:
        case NamedResult():
            return len(container.fields) if container.of is None else None
        case ListValue() if container.type_name == "list" and container.once is None:
            return (
                None if container.items is None or container.identity in interp.trace.handed else len(container.items)
            )
    if not isinstance(container, LibraryModule) or container.path not in _SEQUENCES or container.broken:
        return None
    known = container.children is not None and container.identity not in interp.trace.escaped
    return len(container.children or ()) if known else None


def looks_up(interp: Interpreter, owner: Value, name: str, node: ast.AST, frame: Frame) -> None:
    """An attribute of None that tensors, modules and lists have; any that a tuple has not; one of tensors that a number, a text,
    a list or a dict has not."""
    kind = kind_of(interp, owner)
    if isinstance(owner, Tensor) and name in _GROWING and is_read(node) and owner.argument is None:
        _report(interp, "grows", ("tensor", owner), node, frame)
    if kind == "dict" and isinstance(owner, DictValue) and is_read(node) and not hasattr(dict, name):
        if name in (owner.items or ()):
            _report(interp, "entry", (kind, name), node, frame)
            return
    told = name == "backward" or (isinstance(owner, ListValue) and "collated" in owner.slots)  # by rules of their own
    if kind in _TYPES and is_read(node) and not told:
        if f"Tensor.{name}" in interp.oracle and not hasattr(_TYPES[kind], name):
            _report(interp, "lacking", (kind, owner), node, frame)
    if is_tuple(owner) and not hasattr(owner, name) and owner and isinstance(node, ast.Attribute):
        if name not in misuse.MOVES | {"numel", "backward"}:
            _report(interp, "pair", (owner, name), node, frame)
    if owner is None and isinstance(node, ast.Attribute) and not stores(node):
        if (hasattr(list, name) or f"Tensor.{name}" in interp.oracle) and not name.startswith("__"):
            _report(interp, "none", ("none", name), node, frame)


def joins(interp: Interpreter, operator: str, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
    """``"loss: " + loss``, ``"%d" % n / 2``, ``[0] * (n / 2)``, and ``nn.ReLU() + x``."""
    if isinstance(node, ast.BinOp):
        for one, other, part, second in ((left, right, node.left, node.right), (right, left, node.right, node.left)):
            _computes(interp, one, other, part, frame)
            if operator == "mul":
                _repeats(interp, one, other, second, frame)
    if operator in ("add", "sub", "truediv"):
        _adds(interp, operator, left, right, node, frame)


def _computes(interp: Interpreter, module: Value, other: Value, node: ast.expr, frame: Frame) -> None:
    """A module, which is not called, and a tensor or a number."""
    if isinstance(module, LibraryModule) and kind_of(interp, module) == "module":
        if isinstance(other, Tensor | float | int | Dim):
            _report(interp, "computes", ("module", module), node, frame)


def _repeats(interp: Interpreter, sequence: Value, count: Value, node: ast.expr, frame: Frame) -> None:
    """A sequence, times a fraction."""
    if isinstance(sequence, str) or is_tuple(sequence) or kind_of(interp, sequence) == "list":
        if kind_of(interp, count) == "float":
            _report(interp, "times", ("float", count), node, frame)


def _adds(interp: Interpreter, operator: str, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
    """Sums and fractions of what is no number."""
    text = is_of(left, str)
    number = isinstance(right, Tensor | int | Dim) or is_of(right, float)
    if operator == "add" and {kind_of(interp, left), kind_of(interp, right)} == {"generator"}:
        _report(interp, "generators", ("generator", left), node, frame)
    sides = [side for side in (left, right) if is_tuple(side)]
    if operator == "add" and len(sides) == 1 and isinstance(node, ast.BinOp):
        other, written = (right, node.right) if sides[0] is left else (left, node.left)
        # A list whose elements are not all known may be a tuple.
        known = isinstance(other, int | float | Dim) or (isinstance(other, ListValue) and isinstance(written, ast.List))
        if known or (isinstance(other, Tensor) and other is right):
            _report(interp, "tuple", (left, right), node, frame)
    if text and number and isinstance(node, ast.BinOp):
        _report(interp, "text", (operator, right), node, frame)


def compares(interp: Interpreter, left: Value, right: Value, node: ast.Compare, frame: Frame) -> None:
    """``x > None``, ``x < "a"``: no order stands between a tensor and those. `node`: of the two alone."""
    others = [one for one in (left, right) if not isinstance(one, Tensor)]
    if len(node.ops) == 1 and len(others) == 1 and (others[0] is None or isinstance(others[0], str)):
        if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            _report(interp, "order", ("none" if others[0] is None else "str", others[0]), node, frame)


def read_as_number(interp: Interpreter, value: Value, call: Arguments) -> None:
    """``int(x.shape)``"""
    kind = "tuple" if is_tuple(value) else kind_of(interp, value)
    node = call.expression.args[0] if call.expression is not None and len(call.expression.args) == 1 else None
    if kind in ("tuple", "list", "module", "generator", "loader") and node is not None:
        _report(interp, "as_number", (kind, value), node, call.frame)


def keeps_nothing(interp: Interpreter, held: Value, value: Value, node: ast.Assign, frame: Frame) -> None:
    """``outs = outs.append(x)`` in a loop: the next iteration meets None. `held`: what the name refers to before."""
    call, target = node.value, node.targets[0]
    if value is not None or not interp.loop_points or not isinstance(held, ListValue) or len(node.targets) != 1:
        return
    if is_method_call(call) and isinstance(call.func.value, ast.Name):
        if is_name(target, call.func.value.id):
            _report(interp, "changed", ("list", call.func.attr), node, frame)


def applied(interp: Interpreter, value: Value, call: Arguments) -> None:
    """``model.apply(init(model))``: what the function has given is None."""
    node = as_kind(call.expression.args[0], ast.Call) if call.expression is not None and call.expression.args else None
    if value is None and node is not None:
        _report(interp, "applied", ("none", value), node, call.frame)


def unpacks(interp: Interpreter, value: Value, count: Value, target: ast.AST, node: ast.AST, frame: Frame) -> None:
    """``x, y = loader``. `count`: the batches that it gives."""
    if isinstance(target, ast.Tuple) and isinstance(count, int) and count != len(target.elts):
        starred = is_spread(target.elts)
        if kind_of(interp, value) == "loader" and not starred:
            _report(interp, "unpack", ("loader", value), node, frame)


def numbers(interp: Interpreter, parameters: tuple[Parameter, ...], call: Arguments) -> None:
    """Texts for what has to be a number: ``lr=args.lr`` of an option without a type, or an entry of ``**config["optimizer"]``."""
    node = as_kind(call.node, ast.Call)
    if node is None or is_spread(node.args):
        return
    given = [(one.name, part, value) for one, part, value in zip(parameters, node.args, call.args)]
    given += [(part.arg or "", part.value, call.kwargs.get(part.arg or "")) for part in node.keywords]
    written = {part.arg for part in node.keywords}
    spread = [part.value for part in node.keywords if part.arg is None]
    if len(spread) == 1:
        given += [(name, spread[0], value) for name, value in call.kwargs.items() if name not in written]
    for name, part, value in given:
        if name == "range" and kind_of(interp, value) == "float":
            _report(interp, "whole", ("float", value), part, call.frame)
        if isinstance(value, str) and name in _NUMBERS:
            _report(interp, "number", (name, value), part, call.frame)


def trained(interp: Interpreter, value: Value, call: Arguments) -> None:
    """Report what an optimizer is given that is neither parameters nor groups of them: a tensor, a group alone, generators in a
    list."""
    node = getattr(call.node, "args", [])
    items = value.items if isinstance(value, ListValue) and value.type_name == "list" else None
    if is_tuple(value):
        items = value
    groups = of_kind(items or (), DictValue)
    match value:
        case Tensor():
            kind = "tensor" if value.spec.shape is not None else None
        case DictValue():
            kind = "group" if value.items and "params" in value.items else "dict" if value.items else None
        case LibraryObject() if value.path == hierarchy.STATE:
            kind = "dict"
        case _ if (
            groups
            and len(groups) == len(items or ())
            and any(one.items and "params" not in one.items for one in groups)
        ):
            kind = "keyless"
        case _:
            generators = [item for item in of_kind(items or (), Parameters) if item.once is not None]
            kind = "generators" if generators and len(generators) == len(items or ()) else None
    if kind is not None and node:
        _report(interp, "trained", (kind, value), node[0], call.frame)


def state(interp: Interpreter, value: Value, call: Arguments) -> None:
    """``load_state_dict()`` of a model or an optimizer that is given a file's name, a model, or an entry that is no state."""
    node = getattr(call.node, "args", [])
    kind = "module" if is_module(value) else "tuple" if is_tuple(value) else kind_of(interp, value)
    if kind in _NO_STATES and node:
        _report(interp, "state", (kind, value), node[0], call.frame)


def stands_alone(interp: Interpreter, value: Value, node: ast.Expr, frame: Frame) -> None:
    """``model.eval`` as a statement: nothing is called."""
    match node.value:
        case ast.Attribute() if isinstance(value, Bound) and node.value.attr in _CHANGING:
            plain = not isinstance(value.function, Function) or value.function.kind == "function"
            if plain:
                misuse.report(interp, Misuse(misuses.UNCALLED, interp.site(node.value, frame), value))
        case ast.Attribute() if isinstance(value, Bound) and node.value.attr == "step":
            receiver = as_kind(value.receiver, LibraryObject)
            if receiver is not None and receiver.path.startswith("torch.optim.lr_scheduler."):
                misuse.report(interp, Misuse(misuses.UNCALLED, interp.site(node.value, frame), value))


def decides(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> None:
    """``if torch.cuda.is_available:``, which always holds."""
    if is_native_kind(value, "function") and value.name.startswith("is_"):
        misuse.report(interp, Misuse(misuses.UNCALLED, interp.site(node, frame), value))


def _report(interp: Interpreter, how: str, what: object, node: ast.AST, frame: Frame) -> None:
    """Nothing is said of what nothing calls: its callers may give something else."""
    if not interp.entry and misuse.is_certain(interp, frame):
        misuse.report(interp, Misuse(misuses.KIND, interp.site(node, frame), (how, what)))


__all__ = [
    "applied",
    "calls",
    "compares",
    "read_as_number",
    "decides",
    "goes_through",
    "keeps_nothing",
    "joins",
    "kind_of",
    "looks_up",
    "numbers",
    "picks",
    "stands_alone",
    "state",
    "trained",
    "unpacks",
    "uses",
]
