"""sample-changed-in-place: a data set that changes what it holds when a sample is taken.

What it finds
    `__getitem__` of a data set that computes in place on an element of an array, tensor or list that the data set holds:
    `row = self.x[i]; row -= row.mean()`, or of a cache that a method of its own keeps; or that gives it to a transform which
    writes into it. An element of a tensor or of an
    array of two dimensions is a view, and an element of a list or dict is the object itself.
Why it hurts
    Each epoch scales, masks or shifts what the one before has left. The data drift away, and nothing fails; with workers, it
    differs from one to the other.
Example
    row = self.x[index]
    row *= 2
    return row
Use instead
    row = self.x[index].clone()
    row *= 2
    return row
Fix safety
    Safe: the copy is what the code goes on with.
References
    torch.utils.data.Dataset, NumPy "Copies and views"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    contains,
    is_assignment,
    is_dotted,
    is_name,
    is_text,
    literal,
    names_in,
    nodes_in,
    parts_of_key,
    plain_name,
    stored_in,
    stores,
)
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import (
    Array,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Tensor,
    Value,
    is_unknown,
    items_of,
)

CODE = "TS624"
_LOADER = "torch.utils.data.DataLoader"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for call in analysis.calls.get(_LOADER, ()):
        dataset = call.given(0, "dataset")
        while isinstance(dataset, LibraryObject) and dataset.path.endswith(".Subset"):
            dataset = dataset.slots.get("dataset", dataset.given(0, "dataset"))
        if not isinstance(dataset, Instance) or call.given(5, "num_workers", 0) != 0:
            continue
        tree = analysis.index(dataset.cls.path)
        yield from _changed_by_others(analysis, dataset, reported)
        owner = tree.same(dataset.cls.node)
        methods = {one.name: one for one in of_kind(owner.body if owner is not None else [], ast.FunctionDef)}
        for taken, change in _changes(methods, dataset) if "__getitem__" in methods else ():
            source = analysis.source_of(dataset.cls.path)
            if source.span(taken.node) not in reported:
                reported.add(source.span(taken.node))
                span = source.span(change)
                held = source.segment(taken.element.value)
                places = (source.span(taken.node).related(message("sample.element")),)
                candidates = tuple(_copies(analysis, dataset, taken))
                yield Finding(span, message("sample.in_place", name=f"`{held}`"), places, candidates)


@dataclass(frozen=True)
class _Taken:
    """An element of what a data set holds. `node`: where the sample is taken, the element itself or the call of a method that
    returns it."""

    node: ast.expr
    element: ast.Subscript


def _changes(methods: Mapping[str, ast.FunctionDef], dataset: Instance) -> Iterator[tuple[_Taken, ast.AST]]:
    """Elements of what the data set holds, and where its ``__getitem__`` changes them in place."""
    getter = methods["__getitem__"]
    arguments = getter.args.args
    if len(arguments) < 2:
        return
    receiver, index = arguments[0].arg, arguments[1].arg
    named: dict[str, _Taken] = {}
    places = _places(getter, index)
    for statement in _straight(getter.body, index):
        changed = _changed(statement)
        match changed:
            case ast.Name() if changed.id in named:
                if _is_memory(_element(named[changed.id].element, dataset)):
                    yield named[changed.id], statement
            case ast.Subscript():
                base = as_kind(changed.value, ast.Name)
                if base is not None and base.id in named and _is_changed(statement, changed):
                    element = _element(named[base.id].element, dataset)
                    if _is_memory(element) or (isinstance(element, DictValue) and _is_part(element, changed)):
                        yield named[base.id], statement
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in (part.id for part in nodes_in(target, ast.Name)):
                    if stores(target) and not isinstance(target, ast.Subscript):
                        named.pop(name, None)
            target = statement.targets[0]
            taken = _taken(statement.value, receiver, places, methods)
            if isinstance(target, ast.Name) and taken is not None:
                named[target.id] = taken


def _changed_by_others(analysis: Analysis, dataset: Instance, reported: set[Span]) -> Iterator[Finding]:
    """Elements that a transform of the data set changes in place: an object in a list of its, or in an attribute."""
    tree, source = analysis.index(dataset.cls.path), analysis.source_of(dataset.cls.path)
    owner = tree.same(dataset.cls.node)
    for getter in of_kind(owner.body if owner is not None else [], ast.FunctionDef):
        if getter.name != "__getitem__" or len(getter.args.args) < 2:
            continue
        receiver, index = getter.args.args[0].arg, getter.args.args[1].arg
        named: dict[str, ast.Subscript] = {}
        for target, value in (pair for one in nodes_in(getter, ast.Assign) for pair in assigned_pairs(one)):
            taken = _taken(value, receiver, frozenset({index}), {})
            if taken is not None and isinstance(target, ast.Name) and target.id not in named:
                named[target.id] = taken.element
        for call in nodes_in(getter, ast.Call):
            for place, name in [(at, plain_name(part)) for at, part in enumerate(call.args)]:
                element = named.get(name or "")
                if element is None:
                    continue
                for function in _called_of(dataset, getter, receiver, call):
                    change = _written(function.node, place + 1, _held_in(element, dataset))
                    at = analysis.source_of(function.path).span(change) if change is not None else None
                    if at is not None and at not in reported:
                        reported.add(at)
                        held = f"`{source.segment(element.value)}`"
                        places = (source.span(element).related(message("sample.element")),)
                        fixes = tuple(_copies(analysis, dataset, _Taken(element, element)))
                        yield Finding(at, message("sample.in_place", name=held), places, fixes)


def _called_of(dataset: Instance, getter: ast.FunctionDef, receiver: str, call: ast.Call) -> Iterator[Function]:
    """The methods ``__call__`` of the objects that a call may be of: ``self.augment(x)``, ``for one in self.augmentations: one(x)``."""
    loops = [one for one in nodes_in(getter, ast.For) if is_name(call.func, plain_name(one.target))]
    node = loops[0].iter if loops else call.func
    held = dataset.slots.get(node.attr) if is_dotted(node, receiver) else None
    objects = (items_of(held) or ()) if loops else (held,)
    for one in of_kind(objects, Instance):
        method = one.cls.slots.get("__call__")
        if isinstance(method, Function):
            yield method


def _held_in(node: ast.Subscript, dataset: Instance) -> bool:
    """Whether the element is an array or a tensor of its own in a list, as far as that is known, or a view."""
    held = dataset.slots.get(node.value.attr) if isinstance(node.value, ast.Attribute) else None
    element = _element(node, dataset)
    return _is_memory(element) or isinstance(held, ListValue) and is_unknown(element)


def _written(function: ast.AST, place: int, known: bool) -> ast.stmt | None:
    """The statement that writes into a parameter of a function, in front of which nothing else is bound to its name."""
    if not isinstance(function, ast.FunctionDef) or not known or len(function.args.args) <= place:
        return None
    name = function.args.args[place].arg
    for statement in _straight(function.body, ""):
        changed = _changed(statement)
        base = changed.value if isinstance(changed, ast.Subscript) else changed
        if changed is not None and is_name(base, name):
            several = isinstance(changed, ast.Subscript) and isinstance(changed.slice, ast.Tuple)
            return statement if several or isinstance(statement, ast.Expr) else None
        if isinstance(statement, ast.Assign | ast.AugAssign) and name in stored_in(statement):
            return None
    return None


def _straight(body: list[ast.stmt], index: str) -> Iterator[ast.stmt]:
    """The statements of a body, in order, and of what is under conditions in it: not under those that ask about the sample,
    which may see to it that each is changed once."""
    for statement in body:
        yield statement
        test = getattr(statement, "test", None)
        if test is not None and index in names_in(test):
            continue
        for name in ("body", "orelse"):
            yield from _straight(getattr(statement, name, []), index)


def _places(getter: ast.FunctionDef, index: str) -> frozenset[str]:
    """The index of a sample, and the names of numbers that are computed from it: ``start = index * self.stride``."""
    found = {index}
    for statement in of_kind(getter.body, ast.Assign):
        for target, value in assigned_pairs(statement):
            if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and names_in(value) & found:
                found.add(target.id)
    return frozenset(found)


def _taken(
    node: ast.expr, receiver: str, places: frozenset[str], methods: Mapping[str, ast.FunctionDef]
) -> _Taken | None:
    """``self.x[index]`` or ``self.x[start:end]``, or a call ``self.load(index)`` of a method whose last statement returns such an
    element."""
    match node:
        case ast.Subscript(value=held) if is_dotted(held, receiver):
            first = parts_of_key(node)[0]
            if is_name(node.slice, *places) or (isinstance(first, ast.Slice) and names_in(first) & places):
                return _Taken(node, node)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[given], keywords=[]) if (
            is_name(given, *places) and is_name(owner, receiver) and name in methods
        ):
            method = methods[name]
            names = [argument.arg for argument in method.args.args]
            last = as_kind(method.body[-1], ast.Return)
            inner = last.value if last is not None and len(names) == 2 else None
            found = _taken(inner, names[0], frozenset({names[1]}), {}) if inner is not None else None
            return _Taken(node, found.element) if found is not None else None
    return None


def _changed(statement: ast.stmt) -> ast.expr | None:
    """The expressions that a statement changes in place, or may."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if is_assignment(statement):
        return as_kind(statement.targets[0], ast.Subscript)
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    function = as_kind(call.func, ast.Attribute) if call is not None else None
    if function is not None and is_in_place(function.attr):
        return function.value
    return None


def _is_changed(statement: ast.stmt, target: ast.Subscript) -> bool:
    """Whether a part is computed anew from itself, or an array written into; not where it is only replaced."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.Constant) and not contains(target.slice, ast.Name):
        return False  # the same value at the same place
    if isinstance(statement, ast.AugAssign | ast.Expr) or not is_text(target.slice):
        return True
    own = ast.unparse(target)
    return isinstance(value, ast.BinOp) and any(ast.unparse(p) == own for p in nodes_in(value, ast.expr))


def _element(node: ast.Subscript, dataset: Instance) -> Value:
    """The expression of an element that the data set holds; None where it is no view and no object of its own."""
    held = dataset.slots.get(node.value.attr) if isinstance(node.value, ast.Attribute) else None
    stretch = not isinstance(node.slice, ast.Name)
    match held:
        case Tensor():
            return held if held.spec.shape != () else None
        case Array():
            return held if held.spec.shape is not None and len(held.spec.shape) >= (1 if stretch else 2) else None
        case _ if stretch:
            return None
        case ListValue() if held.elements:
            return held.elements[0]
        case DictValue() if held.items:
            return next(iter(held.items.values()))
    return None


def _is_memory(value: Value) -> bool:
    return isinstance(value, Tensor | Array)


def _is_part(element: DictValue, target: ast.Subscript) -> bool:
    """Whether an entry of a dict is a number, an array or a tensor."""
    key = literal(target.slice)
    return isinstance((element.items or {}).get(key), Tensor | Array | int | float)


def _copies(analysis: Analysis, dataset: Instance, taken: _Taken) -> Iterator[Candidate]:
    """The element copied as it is taken."""
    path = dataset.cls.path
    source, value = analysis.source_of(path), _element(taken.element, dataset)
    text = source.segment(taken.node)
    if isinstance(value, DictValue):
        imports = edits.add_import(source, analysis.tree(path), "import copy")
        yield Candidate(message("fix.copy"), (*imports, edits.replace(source, taken.node, f"copy.deepcopy({text})")))
        return
    copied = f"{text}.clone()" if isinstance(value, Tensor) else f"{text}.copy()"
    yield Candidate(message("fix.replace", old=text, new=copied), (edits.replace(source, taken.node, copied),))


RULE = Rule(FAULTS[CODE], find)
