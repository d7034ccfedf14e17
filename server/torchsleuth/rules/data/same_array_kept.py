"""same-array-kept: steps that are kept, all of which are one array.

What it finds
    A method that returns an array or a tensor of its object, which another method changes in place, while the caller keeps what is
    returned in a list or a deque, again and again, as it is or through `torch.from_numpy()`.
Why it hurts
    All entries are the same memory: those that were kept earlier change along, and in the end each is the last one. A replay
    buffer holds transitions from a state to itself, and nothing can be learned from them.
Example
    def step(self, action):
        self.state[0] += action
        return self.state, self.reward()
Use instead
    def step(self, action):
        self.state[0] += action
        return self.state.copy(), self.reward()
Fix safety
    Safe: who gets a copy sees the same numbers.
References
    NumPy, "Copies and views"; torch.Tensor.clone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, appended
from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    called,
    is_dotted,
    is_function_call,
    is_literal,
    is_method_call,
    is_name,
    nodes_in,
    parts_of_tuple,
    returned_by,
    stores,
    targets_of,
)
from torchsleuth.syntax.trees import Index
from torchsleuth.tensors.operators import is_in_place

CODE = "TS633"
_ARRAYS = {"np": ".copy()", "numpy": ".copy()", "torch": ".clone()"}
"""Packages whose functions make arrays, and how these are copied."""
_MAKERS = frozenset(
    "zeros ones empty full array zeros_like ones_like empty_like full_like arange linspace tensor rand randn".split()
)
_LISTS = frozenset({"list", "deque"})
_KEEPING = frozenset({"append", "appendleft"})
_MAX_DEPTH = 3
_VIEWS = frozenset("unsqueeze squeeze view reshape transpose permute t numpy detach".split())
"""Methods whose result shares the memory of what they are called on."""
_SHARING = frozenset({"from_numpy", "as_tensor", "asarray"})
"""Functions whose result shares the memory of what they are given."""

_STEPPERS = ("opt", "sched", "scaler")
"""Parts of the names of what has a step() of its own."""
Methods = Mapping[str, ast.FunctionDef]
_Key = tuple[str, int | None]
"""A method, and the place in what it returns: None where that is not a tuple."""


@dataclass
class _Owner:
    """A class whose methods hand out arrays that others of them change.

    `copying`: by the attribute, how it is copied. `making`: the methods that make such an array anew. `given`: by the method and the
    place in what it returns, the expression with the attribute.
    """

    methods: Methods
    copying: dict[str, str]
    making: set[str]
    given: dict[_Key, ast.Attribute] = field(default_factory=dict)


@dataclass(frozen=True)
class _Handing:
    """A method of a class that hands out an array. `keys`: this and the others that hand out the same one."""

    owner: str
    method: str
    keys: set[_Key]

    def gives(self, index: Index, node: object, place: int | None) -> bool:
        """Whether an expression is a call of one of the methods, and what is at a place of its result the array."""
        if not is_method_call(node) or (node.func.attr, place) not in self.keys:
            return False
        receiver = ast.unparse(node.func.value)
        pairs = (pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one))
        made = [called(value) for target, value in pairs if ast.unparse(target) == receiver]
        return self.owner in made if made else not any(part in receiver.lower() for part in _STEPPERS)


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    classes = {
        one.name: {part.name: part for part in of_kind(one.body, ast.FunctionDef)}
        for one in index.of_type(ast.ClassDef)
    }
    reported: set[ast.Attribute] = set()
    for name, methods in classes.items():
        copying = _changed_arrays(methods)
        made = any(is_function_call(part, name) for part in index.of_type(ast.Call)) if copying else False
        owner = _owner(methods, copying) if made else None
        if owner is None or any(
            key[0] in others for key in owner.given for others in classes.values() if others is not methods
        ):
            continue
        for (method, _), attribute in owner.given.items():
            keys = {key for key, other in owner.given.items() if other.attr == attribute.attr}
            handing = _Handing(name, method, keys)
            kept = _kept(index, classes, handing) if method not in owner.making else None
            if kept is not None and attribute not in reported:
                reported.add(attribute)
                text = message("array.kept", attribute=source.segment(attribute), line=kept.lineno)
                places = [source.span(kept).related(message("array.kept.here"))]
                ways = (_written(one, attribute.attr) for one in methods.values())
                places += [source.span(one).related(message("array.kept.changed")) for one in ways if one is not None]
                fix = appended(source, attribute, owner.copying[attribute.attr])
                yield Finding(source.span(attribute), text, tuple(places), (fix,))


# -- what is handed out ----------------------------------------------------------------------------


def _changed_arrays(methods: Methods) -> dict[str, str]:
    """The attributes that are always arrays and that a method writes into without making them anew, and how they are copied."""
    made: dict[str, set[str]] = {}
    makers: dict[str, set[str]] = {}
    for name, method in methods.items():
        for node in nodes_in(method, ast.Assign):
            for target in node.targets:
                for part in nodes_in(target, ast.Attribute):
                    if stores(part) and is_dotted(part, _receiver(method)):
                        whole = target is part
                        made.setdefault(part.attr, set()).add(_copy_of(node.value) if whole else "")
                        makers.setdefault(part.attr, set()).add(name)
    found: dict[str, str] = {}
    for attribute, ways in made.items():
        way = next(iter(ways)) if len(ways) == 1 else ""
        reaching = {name for name in methods if _calls(methods, name) & makers[attribute]}
        if way and any(_written(method, attribute) for name, method in methods.items() if name not in reaching):
            found[attribute] = way
    return found


def _copy_of(value: ast.expr) -> str:
    """How the array is copied that an expression makes; nothing where it is not known to make one."""
    if isinstance(value, ast.BinOp):
        return _copy_of(value.left) or _copy_of(value.right)
    if not is_method_call(value):
        return ""
    package = value.func.value
    if isinstance(package, ast.Name) and package.id in _ARRAYS:
        return _ARRAYS[package.id] if value.func.attr in _MAKERS else ""
    if value.func.attr == "astype" or argument_of(value, None, "size") is not None:  # drawn: rng.uniform(size=2)
        return _ARRAYS["np"]
    return ""


def _calls(methods: Methods, name: str) -> set[str]:
    """A method, and those of the same object that it calls."""
    found, pending = set[str](), [name]
    while pending:
        current = pending.pop()
        if current in methods and current not in found:
            found.add(current)
            calls = (part.func for part in nodes_in(methods[current], ast.Call))
            pending += [
                part.attr for part in of_kind(calls, ast.Attribute) if is_dotted(part, _receiver(methods[current]))
            ]
    return found


def _written(method: ast.FunctionDef, attribute: str) -> ast.AST | None:
    """Where a method changes elements of an attribute in place."""
    receiver = _receiver(method)
    for node in ast.walk(method):
        changed = [
            target
            for target in targets_of(node)
            if isinstance(node, ast.AugAssign) or isinstance(target, ast.Subscript)
        ]
        if is_method_call(node) and is_in_place(node.func.attr):
            changed = [node.func.value]
        changed += [node.value] if isinstance(node, ast.keyword) and node.arg == "out" else []
        for target in changed:
            while isinstance(target, ast.Subscript):
                target = target.value
            if is_dotted(target, receiver) and target.attr == attribute:
                return node
    return None


def _owner(methods: Methods, copying: dict[str, str]) -> _Owner:
    """The class with what each of its methods hands out."""
    bound = {
        name
        for name, method in methods.items()
        for one in nodes_in(method, ast.Assign)
        for target, _ in assigned_pairs(one)
        if is_dotted(target, _receiver(method)) and target.attr in copying
    }
    owner = _Owner(methods, copying, {name for name in methods if _calls(methods, name) & bound})
    for name in methods:
        owner.given.update({(name, place): node for place, node in _returned(owner, name).items()})
    return owner


def _returned(owner: _Owner, name: str, depth: int = 0) -> dict[int | None, ast.Attribute]:
    """The arrays that each return of a method hands out, by their places in it."""
    method, found = owner.methods[name], list[dict[int | None, ast.Attribute]]()
    receiver = _receiver(method)
    for value in returned_by(method):
        parts = list(enumerate(value.elts)) if isinstance(value, ast.Tuple) else [(None, value)]
        here: dict[int | None, ast.Attribute] = {}
        for place, part in parts:
            if is_dotted(part, receiver) and part.attr in owner.copying:
                here[place] = part
            elif is_method_call(part) and is_name(part.func.value, receiver) and part.func.attr in owner.methods:
                inner = _returned(owner, part.func.attr, depth + 1) if depth < _MAX_DEPTH else {}
                here |= {place: inner[None]} if None in inner else {}
        found.append(here)
    return {place: node for place, node in found[0].items() if all(place in one for one in found)} if found else {}


def _receiver(method: ast.FunctionDef) -> str:
    names = by_position(method.args)
    return names[0].arg if names else ""


# -- where it is kept ------------------------------------------------------------------------------


def _kept(index: Index, classes: Mapping[str, Methods], handing: _Handing) -> ast.Call | None:
    """Where what a method returns is kept in a list, in each round of a loop."""
    for scope in (index.nodes[0], *index.of_type(ast.FunctionDef)):
        names = _names_of(index, scope, handing)
        for call in nodes_in(scope, ast.Call):
            loop = next((one for one in reversed(index.trail(call)) if isinstance(one, ast.For | ast.While)), None)
            again = loop is not None and any(is_method_call(part, handing.method) for part in ast.walk(loop))
            if again and _scope_of(index, call) is scope and _keeps(index, classes, call, names, handing):
                return call
    return None


def _scope_of(index: Index, node: ast.AST) -> ast.AST:
    around = of_kind(index.trail(node), ast.FunctionDef, ast.ClassDef)
    return around[-1] if around else index.nodes[0]


def _names_of(index: Index, scope: ast.AST, handing: _Handing) -> set[str]:
    """The variables of a scope that are bound to what these methods return, and to nothing else."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in nodes_in(scope, ast.Name):
        if not stores(node) or _scope_of(index, node) is not scope or any_are(index.trail(node), ast.comprehension):
            continue  # A comprehension has variables of its own.
        bound.setdefault(node.id, []).append(_bound_to(index, node, handing))
    found: set[str] = set()
    for _ in range(_MAX_DEPTH):
        found |= {
            name for name, values in bound.items() if all(is_method_call(one) or is_name(one, *found) for one in values)
        }
    return found


def _bound_to(index: Index, node: ast.Name, handing: _Handing) -> ast.expr | None:
    """The call of a method, or the other variable, that a variable is bound to."""
    statement = index.parents.get(node)
    target: ast.expr = node
    at: int | None = None
    if isinstance(statement, ast.Tuple):
        target, at = statement, statement.elts.index(node)
        statement = index.parents.get(statement)
    if not isinstance(statement, ast.Assign) or target not in statement.targets:
        return None
    value = statement.value
    if at is not None and isinstance(value, ast.Tuple):
        value, at = (value.elts[at], None) if len(value.elts) == len(parts_of_tuple(target)) else (value, at)
    value = value if at is not None else _viewed(index, value)
    if at is None and isinstance(value, ast.Name):
        return value
    return value if handing.gives(index, value, at) else None


def _viewed(index: Index, node: ast.expr, depth: int = 0) -> ast.expr:
    """The expression whose memory another one shares: ``x`` of ``torch.from_numpy(x).unsqueeze(0)``, also by way of a function of
    the file that returns that, and of ``None if done else x``."""
    match node:
        case ast.IfExp():
            parts = [part for part in (node.body, node.orelse) if not is_literal(part, None)]
            return _viewed(index, parts[0], depth) if len(parts) == 1 else node
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _VIEWS:
            return _viewed(index, inner, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[place]) if "device" in ast.unparse(place):
            return _viewed(index, inner, depth)
        case ast.Call(args=[given, *_]) if called(node) in _SHARING:
            return _viewed(index, given, depth)
        case ast.Call(func=ast.Name(id=name), args=[given], keywords=[]) if depth < _MAX_DEPTH:
            made = [one for one in index.of_type(ast.FunctionDef) if one.name == name]
            results = returned_by(made[0]) if len(made) == 1 else []
            parameters = by_position(made[0].args) if len(results) == 1 else []
            if len(parameters) == 1 and is_name(_viewed(index, results[0], depth + 1), parameters[0].arg):
                return _viewed(index, given, depth)
    return node


def _keeps(index: Index, classes: Mapping[str, Methods], call: ast.Call, names: set[str], handing: _Handing) -> bool:
    """Whether a call puts one of these variables itself into a list, or what the method returns."""
    if not is_method_call(call):
        return False
    if call.func.attr in _KEEPING and _is_list(index, call.func.value):
        stored = list(_stored(index, call.args))
        seen = [_viewed(index, part) for part in stored]
        return any((names and is_name(part, *names)) or _hands(index, part, handing) for part in seen)
    methods = [one[call.func.attr] for one in classes.values() if call.func.attr in one]
    if len(methods) != 1:
        return False
    parameters = [one.arg for one in by_position(methods[0].args)][1:]
    passed = {name for name, value in zip(parameters, call.args) if isinstance(value, ast.Name) and value.id in names}
    rest = methods[0].args.vararg
    given = call.args[len(parameters) :]
    if rest is not None and any(isinstance(value, ast.Name) and value.id in names for value in given):
        passed.add(rest.arg)
    passed -= {part.id for part in nodes_in(methods[0], ast.Name) if stores(part)}
    for inner in nodes_in(methods[0], ast.Call) if passed else ():
        if is_method_call(inner, *_KEEPING) and _is_list(index, inner.func.value):
            if any(isinstance(part, ast.Name) and part.id in passed for part in _stored(index, inner.args)):
                return True
    return False


def _hands(index: Index, node: ast.expr, handing: _Handing) -> bool:
    """Whether an expression is a call whose result is the array, or a tuple with it."""
    return any(handing.gives(index, node, place) for _, place in handing.keys)


def _stored(index: Index, values: list[ast.expr]) -> Iterator[ast.expr]:
    """The expressions whose values are kept as they are: in tuples, lists and dicts, and in named tuples of the file."""
    for value in values:
        match value:
            case ast.Tuple() | ast.List():
                yield from _stored(index, value.elts)
            case ast.Dict():
                yield from _stored(index, value.values)
            case ast.Starred():
                yield value.value
            case ast.Call() if _is_record(index, called(value)):
                yield from _stored(index, [*value.args, *(one.value for one in value.keywords)])
            case _:
                yield value


def _is_record(index: Index, name: str) -> bool:
    """Whether a name is one of a named tuple or a dataclass."""
    for node in index.of_type(ast.Assign):
        if any(is_name(target, name) for target in node.targets) and called(node.value) in ("namedtuple", "NamedTuple"):
            return True
    return any(
        one.name == name
        and (
            any(ast.unparse(base).endswith("NamedTuple") for base in one.bases)
            or any("dataclass" in ast.unparse(decorator) for decorator in one.decorator_list)
        )
        for one in index.of_type(ast.ClassDef)
    )


def _is_list(index: Index, node: ast.expr) -> bool:
    """Whether a variable or an attribute is bound to lists and deques alone."""
    text, values = ast.unparse(node), list[ast.expr]()
    for statement in index.of_type(ast.Assign):
        values += [value for target, value in assigned_pairs(statement) if ast.unparse(target) == text]
    annotated = (one for one in index.of_type(ast.AnnAssign) if ast.unparse(one.target) == text)
    values += [one.value for one in annotated if one.value is not None]
    return bool(values) and all(isinstance(one, ast.List) or called(one) in _LISTS for one in values)


RULE = Rule(FAULTS[CODE], find)
