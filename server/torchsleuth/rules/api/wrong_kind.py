"""wrong-kind: a value with which Python refuses what is done, for what it is.

What it finds
    A loop over a number (`for epoch in epochs`), an index into `model.parameters()` or its length, a model with an index,
    next() of a loader instead of its iterator, a loader or a list that is called, a list with a name for an index, pairs out of
    `model.parameters()`, a text and a number in one sum, an attribute of None.
Why it hurts
    TypeError, such as "'int' object is not iterable"; AttributeError "'NoneType' object has no attribute 'backward'".
Example
    for epoch in epochs:
Use instead
    for epoch in range(epochs):
Fix safety
    Safe where there is one thing that can be meant: range() of a number, list() of a generator, iter() of a loader.
References
    https://docs.python.org/3/library/stdtypes.html#iterator-types
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.evidence.returns import returned
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Edit
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_binary,
    is_method_call,
    is_name,
    names_in,
    nodes_in,
    plain_name,
    stands_on,
    stores,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.values import DictValue, Instance, LibraryObject, ListValue, Record, Tensor

CODE = "TS825"
_METHODS = frozenset(
    "train eval parameters named_parameters buffers modules children state_dict apply to cuda cpu float half double forward".split()
)
"""Methods of nn.Module that a name for an option may hide."""
_CHANGING = frozenset({"append", "extend", "insert", "sort", "reverse", "update", "add", "clear", "remove", "shuffle"})
"""The methods that change a list, a dict or a set, and give nothing."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.KIND):
        how, what = misuse.value
        source, node = misuse.site.source, misuse.site.node
        if how in _SAID_BY:
            wanted, said_by = _SAID_BY[how]
            if isinstance(node, wanted):
                yield from said_by(_Place(analysis, source, misuse, node, what))
        elif isinstance(node, ast.expr) and isinstance(what, tuple):
            yield _refused(analysis, source, misuse, node, how, *what)


@dataclass(frozen=True)
class _Place:
    """A misuse and where it stands. `what`: what the interpreter has told of it."""

    analysis: Analysis
    source: SourceText
    misuse: Misuse[object]
    node: Any
    what: Any

    def text(self, node: ast.AST | None = None) -> str:
        """The source of a node, of the whole if there is none, on one line."""
        return self.source.on_one_line(node or self.node)

    def found(self, said: str, *fixes: Candidate) -> Finding:
        return Finding(self.misuse.site.span, said, (), fixes)

    def replaced(self, node: Any, new: str, safe: bool = True) -> Candidate:
        return _replaced(self.source, node, new, safe)


def _of_growth(place: _Place) -> Iterator[Finding]:
    yield place.found(message("kind.grows", text=place.text(place.node.value), name=place.node.attr))


def _of_change(place: _Place) -> Iterator[Finding]:
    node, alone = place.node, place.source.segment(place.node.value)
    title = message("fix.replace", old=place.text(), new=" ".join(alone.split()))
    fix = Candidate(title, (edits.replace(place.source, node, alone),))
    yield place.found(message("kind.changed", text=place.text(node.targets[0]), method=place.what[1]), fix)


def _of_entry(place: _Place) -> Iterator[Finding]:
    node, text = place.node, place.source.segment(place.node.value)
    fix = place.replaced(node, f'{text}["{node.attr}"]')
    yield place.found(message("kind.entry", text=place.text(node.value), name=node.attr), fix)


def _of_position(place: _Place) -> Iterator[Finding]:
    count, key = place.what
    excess = key - count + 1 if key >= count else key + count
    numbers = [part for part in nodes_in(place.node.slice, ast.Constant) if type(part.value) is int]
    computed = not isinstance(place.node.slice, ast.Constant | ast.UnaryOp)
    near = [(part, part.value + step) for part in numbers for step in (excess, -excess) if computed]
    fixes = [*_shorter_range(place, excess), *(place.replaced(part, str(new), False) for part, new in near if new >= 0)]
    said = message("kind.beyond", text=place.text(place.node.value), count=count, last=count - 1, key=key)
    yield place.found(said, *fixes)


def _shorter_range(place: _Place, excess: int) -> Iterator[Candidate]:
    """``range(len(items) - 1)`` for a loop that looks one further."""
    around = edits.path_to(place.analysis.tree(place.source.path), place.node)
    for loop in of_kind(around, ast.For):
        call = as_kind(loop.iter, ast.Call)
        if call is not None and called(call) == "range" and len(call.args) == 1:
            if plain_name(loop.target) in names_in(place.node.slice):
                yield place.replaced(call.args[0], f"{place.source.segment(call.args[0])} - {excess}", safe=False)


def _of_generators(place: _Place) -> Iterator[Finding]:
    parts = f"*{place.source.segment(place.node.left)}, *{place.source.segment(place.node.right)}"
    yield place.found(message("kind.generators"), place.replaced(place.node, f"[{parts}]"))


def _refused(
    analysis: Analysis, source: SourceText, misuse: Misuse[object], node: ast.expr, how: str, kind: str, value: object
) -> Finding:
    text = source.on_one_line(node)
    key = f"kind.{how}.{kind}" if f"kind.{how}.{kind}" in _SAID else f"kind.{how}"
    if how == "call" and kind == "bool" and text.endswith(".requires_grad"):
        key = "kind.call.grad"
    said = message(key, text=text, what=_what(kind, value))
    hidden = _hides_method(analysis, source, node) if how == "call" else []
    if hidden:
        method = hidden[0].attr
        place = source.span(hidden[0]).related(message("kind.call.hidden", name=method))
        new = f"{method}_option"
        changes = tuple(
            Edit(source.path, replace(end, column=end.column - len(method)), end, new)
            for end in map(source.end_of, hidden)
        )
        fix = Candidate(message("fix.rename_option", name=f"self.{new}", old=f"self.{method}"), changes, safe=False)
        return Finding(misuse.site.span, said, (place,), [fix])
    return Finding(misuse.site.span, said, (), list(_meant(analysis, source, node, how, kind)))


def _hides_method(analysis: Analysis, source: SourceText, called: ast.expr) -> list[ast.Attribute]:
    """Where modules of the file give an attribute the name of a method of nn.Module, and read it: ``self.train = train``."""
    name = called.attr if isinstance(called, ast.Attribute) else ""
    if name not in _METHODS:
        return []
    index = analysis.index(source.path)
    own = [node for node in index.of_type(ast.Attribute) if node.attr == name and is_name(node.value, "self")]
    functions = {id(call.func) for call in index.of_type(ast.Call)}
    return [node for node in own if id(node) not in functions] if any(map(stores, own)) else []


_SAID = frozenset(
    {"kind.iterate.int", "kind.index.generator", "kind.len.generator", "kind.next.loader", "kind.call.loader"}
)


_PLAIN_ALREADY = frozenset("item cpu detach numpy tolist float data to cuda clone".split())
"""Methods that make a plain number of a tensor, or take it there."""


def _of_tensors(place: _Place) -> Iterator[Finding]:
    """An attribute of tensors, of a number that is no tensor any more, or of what holds tensors."""
    source, node, (kind, value) = place.source, place.node, place.what
    text = place.text(node.value)
    number, parts = kind in ("int", "float", "bool") and node.attr in _PLAIN_ALREADY, kind in ("list", "dict")
    key = "kind.lacking.number" if number else "kind.lacking.parts" if parts else "kind.lacking"
    call = next((one for one in place.analysis.index(source.path).of_type(ast.Call) if one.func is node), None)
    whole: ast.expr = call or node
    fixes: list[Candidate] = []
    if number:
        fixes.append(_replaced(source, whole, source.segment(node.value)))
    elif kind == "list" and call is not None:
        held = source.segment(node.value)
        rest = source.segment(call).removeprefix(held)
        each = _replaced(source, whole, f"[one{rest} for one in {held}]", safe=False)
        last = _replaced(source, node.value, f"{held}[-1]", safe=False)
        fixes += [last, each] if _differ(value) else [each]
    elif kind == "dict" and call is not None:
        rest, held = source.segment(call).removeprefix(source.segment(node.value)), source.segment(node.value)
        fixes.append(_replaced(source, whole, f"{{name: one{rest} for name, one in {held}.items()}}", safe=False))
    yield place.found(message(key, text=text, what=_what(kind, value), name=node.attr), *fixes)


def _differ(value: object) -> bool:
    """Whether a list holds tensors of several sizes, as the stages of a network are."""
    parts = (value.items or ()) if isinstance(value, ListValue) else ()
    return len({shape_text(part.spec) for part in of_kind(parts, Tensor)}) > 1


def _what(kind: str, value: object) -> str:
    if kind == "int":
        return (
            message("kind.what.number", number=dims.text(value)) if isinstance(value, int) else message("kind.what.int")
        )
    if kind == "module":
        name = value.cls.name if isinstance(value, Instance) else getattr(value, "type_name", "")
        return message("kind.what.module", name=name)
    return message(f"kind.what.{kind}")


_MEANT = {
    "iterate int": "range({})",
    "iterate module": "{}.parameters()",
    "index generator": "list({})",
    "len generator": "list({})",
    "unpack": "next(iter({}))",
    "next": "iter({})",
}
"""The expressions that are meant instead, by what is done, or what is done with which kind of value."""


def _meant(analysis: Analysis, source: SourceText, node: ast.expr, how: str, kind: str) -> Iterator[Candidate]:
    text = source.segment(node)
    if how == "applied" and isinstance(node, ast.Call):
        yield _replaced(source, node, source.segment(node.func))
    if is_binary(node, ast.Div) and how in ("times", "whole"):
        yield _replaced(source, node, f"{source.segment(node.left)} // {source.segment(node.right)}")
    meant = _MEANT.get(f"{how} {kind}", _MEANT.get(how))
    if how == "pairs" and text.endswith("parameters()"):
        meant = text.removesuffix("parameters()") + "named_parameters()"
    if meant is not None:
        yield _replaced(source, node, meant.replace("{}", text), safe=kind != "module")
    if how == "call":
        yield from _uncalled(analysis, source, node, kind)


def _uncalled(analysis: Analysis, source: SourceText, node: ast.expr, kind: str) -> Iterator[Candidate]:
    """The expression without its call, or the method that is meant."""
    text, span = source.segment(node), source.span(node)
    if kind == "bool" and text.endswith(".requires_grad"):
        yield _replaced(source, node, f"{text}_")
    calls = (part for part in analysis.index(source.path).of_type(ast.Call))
    call = next((part for part in calls if source.span(part.func) == span), None)
    if call is not None and not call.args and not call.keywords:
        yield _replaced(source, call, text)


def _of_key(place: _Place) -> Iterator[Finding]:
    source, node, kind = place.source, place.node, place.what[0]
    name, key = source.segment(node.value), source.on_one_line(node.slice)
    fixes: list[Candidate] = []
    if is_binary(node.slice, ast.Div):
        new = f"{source.segment(node.slice.left)} // {source.segment(node.slice.right)}"
        fixes.append(_replaced(source, node.slice, new))
    text = message("kind.key", name=name, key=key, kind=message(f"kind.what.{kind}"))
    yield place.found(text, *fixes)


def _of_pair(place: _Place) -> Iterator[Finding]:
    """An attribute of a tuple: of a name and a parameter, where a loop does not take them apart."""
    analysis, source, node, value = place.analysis, place.source, place.node, place.what[0]
    text = source.segment(node.value)
    loops = [
        part
        for part in analysis.index(source.path).of_type(ast.For)
        if is_name(part.target, text) and stands_on(part, node.lineno)
    ]
    fixes: list[Candidate] = []
    if loops and len(value) == 2:
        fixes.append(_replaced(source, loops[-1].target, f"_, {text}"))
    said = message("kind.pair", text=" ".join(text.split()), count=len(value), name=node.attr)
    yield place.found(said, *fixes)


def _of_trained(place: _Place) -> Iterator[Finding]:
    """Arguments of an optimizer that are neither parameters nor groups of them."""
    source, node, kind = place.source, place.node, place.what[0]
    text, new = source.segment(node), ""
    if kind in ("tensor", "group"):
        new = f"[{text}]"
    elif kind == "generators" and isinstance(node, ast.List):
        new = f"[{', '.join(f'*{source.segment(part)}' for part in node.elts)}]"
    elif kind == "dict" and text.endswith(".state_dict()"):
        new = f"{text.removesuffix('.state_dict()')}.parameters()"
    elif kind == "dict" and text.startswith("dict(") and text.endswith(".named_parameters())"):
        new = text.removeprefix("dict(").removesuffix(".named_parameters())") + ".parameters()"
    fixes = (_replaced(source, node, new),) if new else ()
    yield place.found(message(f"kind.trained.{kind}", text=" ".join(text.split())), *fixes)


def _of_tuple(place: _Place) -> Iterator[Finding]:
    """A tuple and something else in one sum: what a layer gives beside its output, or a shape that is to grow."""
    source, node, what = place.source, place.node, place.what
    odd, other = (node.left, node.right) if type(what[0]) is tuple else (node.right, node.left)
    value = as_kind(what[0] if odd is node.left else what[1], tuple)
    second = what[1] if odd is node.left else what[0]
    fixes: list[Candidate] = []
    match second:
        case ListValue() if isinstance(other, ast.List):
            inner = ", ".join(source.segment(part) for part in other.elts)
            fixes.append(_replaced(source, other, f"({inner}{',' if len(other.elts) == 1 else ''})"))
        case Tensor() if value is not None and value and isinstance(value[0], Tensor):
            fixes.append(_replaced(source, odd, f"{source.segment(odd)}[0]", safe=False))
    text = source.on_one_line(odd)
    count = len(value) if value is not None else 0
    said = message("kind.tuple", text=text, count=count, other=source.on_one_line(other))
    yield place.found(said, *fixes)


def _of_text(place: _Place) -> Iterator[Finding]:
    """A sum of a text and a number, and what is computed with a text that is made by ``%``."""
    source, node, what = place.source, place.node, place.what
    operator, value = what
    left, right = (source.on_one_line(part) for part in (node.left, node.right))
    given = f" {shape_text(value.spec)}" if isinstance(value, Tensor) and value.spec.shape is not None else ""
    fixes: list[Candidate] = []
    if operator == "add":
        fixes.append(_replaced(source, node.right, f"str({source.segment(node.right)})"))
    elif is_binary(node.left, ast.Mod):
        inner = node.left.right
        if not isinstance(inner, ast.Tuple):
            start, end = edits.insert(source, source.start_of(inner), "("), edits.insert_after_node(source, node, ")")
            title = message("fix.replace", old=source.segment(inner), new=f"({source.segment(inner)} …)")
            fixes.append(Candidate(title, (start, end)))
    yield place.found(message(f"kind.text.{operator}", left=left, right=right, given=given), *fixes)


def _of_number(place: _Place) -> Iterator[Finding]:
    """A text for a number: from an option without a type, or in quotation marks."""
    analysis, source, node, (name, value) = place.analysis, place.source, place.node, place.what
    text = source.on_one_line(node)
    kind = "int" if re.fullmatch(r"-?\d+", value.strip()) else "float"
    fixes: list[Candidate] = []
    around = analysis.index(source.path).parents.get(node)
    if isinstance(around, ast.keyword) and around.arg is None:
        entry = f'{text}["{name}"]'
        new = f'{{**{text}, "{name}": {kind}({entry})}}'
        yield place.found(message("kind.number", text=entry, value=value, name=name), _replaced(source, node, new))
        return
    match node:
        case ast.Constant():
            fixes.append(_replaced(source, node, value.strip()))
        case ast.Attribute():
            for option in _options(analysis, source.path, node.attr):
                fixes.append(added_argument(source, option, f"type={kind}"))
    if not isinstance(node, ast.Constant):
        fixes.append(_replaced(source, node, f"{kind}({text})", safe=False))
    yield place.found(message("kind.number", text=text, value=value, name=name), *fixes)


def _options(analysis: Analysis, path: str, name: str) -> Iterator[ast.Call]:
    """``parser.add_argument("--lr")`` without a type."""
    for call in analysis.index(path).nodes:
        if is_method_call(call, "add_argument"):
            flags = [part.value for part in of_kind(call.args, ast.Constant)]
            if any(str(flag).lstrip("-").replace("-", "_") == name for flag in flags):
                if not any(keyword.arg in ("type", "action") for keyword in call.keywords):
                    yield call


def _of_state(place: _Place) -> Iterator[Finding]:
    """An argument of `load_state_dict()` that is no state. An entry of a tuple may be the one that is meant."""
    source, node, (kind, value) = place.source, place.node, place.what
    text = source.segment(node)
    match kind:
        case "module":
            yield place.found(message("kind.state.module", text=text), place.replaced(node, f"{text}.state_dict()"))
        case "str":
            load, imports = spelled(place.analysis, source.path, "torch.load")
            new = f"{load}({text}, weights_only=True)"
            fix = Candidate(message("fix.replace", old=text, new=new), (*imports, edits.replace(source, node, new)))
            yield place.found(message("kind.state.str", text=text), fix)
        case _:
            parts = enumerate(value) if kind == "tuple" else ()
            entries = [place.replaced(node, f"{text}[{number}]") for number, part in parts if _is_state(part)]
            said = message("kind.state.other", text=place.text(), what=_what(kind, value))
            yield place.found(said, *(entries if len(entries) == 1 else ()))


def _is_state(value: object) -> bool:
    return isinstance(value, DictValue) or isinstance(value, LibraryObject) and value.path == hierarchy.STATE


def _of_none(place: _Place) -> Iterator[Finding]:
    """The None of a function without a return: said only where there is such a function."""
    analysis, misuse, node = place.analysis, place.misuse, place.node
    source = misuse.site.source
    used = node.func if isinstance(node, ast.Call) and place.what[1] == "call" else node
    used = node.value if isinstance(node, ast.Attribute | ast.Subscript) else used
    held = last_assignment(analysis, used, misuse.site) if isinstance(used, ast.Name) else used
    if held is not None and (record := analysis.trace.left_empty.get(source.span(held))) is not None:
        yield _of_field(analysis, misuse, held, record)
        return
    given = as_kind(held, ast.Call)
    if given is None:
        return
    text = source.on_one_line(used)
    if called(given) in _CHANGING and given is not used:
        said = message("kind.none.changed", text=text, method=called(given))
        yield Finding(misuse.site.span, said, (), _changed_alone(analysis, source, given))
        return
    fixes = list(returned(analysis, source.path)) if isinstance(node, ast.Attribute) else []
    if fixes:
        yield Finding(misuse.site.span, message("kind.none", text=text), (), fixes)


_OPTIONS = ("hidden_states", "attentions")
"""Ends of the names of what a model of transformers gives with an option alone, ``output_`` and that."""


def _of_field(analysis: Analysis, misuse: Misuse[object], held: ast.expr, record: Record) -> Finding:
    """A field that a model gives only when it is asked for it, by an option of its call or by labels."""
    source = misuse.site.source
    name = held.attr if isinstance(held, ast.Attribute) else ""
    option = next((f"output_{one}" for one in _OPTIONS if name.endswith(one)), "")
    key = "option" if option else "loss" if name == "loss" else "never"
    said = message(
        "kind.none.field", text=short(source.segment(held)), condition=message(f"kind.none.{key}", option=option)
    )
    owner = held.value if isinstance(held, ast.Attribute) else held
    call = as_kind(last_assignment(analysis, owner, misuse.site) if isinstance(owner, ast.Name) else owner, ast.Call)
    asked = option or ("return_loss" if name == "loss" else "")
    fixes = [added_argument(source, call, f"{asked}=True")] if call is not None and asked else []
    return Finding(misuse.site.span, said, (), fixes)


def _changed_alone(analysis: Analysis, source: SourceText, call: ast.Call) -> Iterator[Candidate]:
    """``x = items.sort()`` as what it does, with the name for what was changed: ``items.sort()``, ``x = items``."""
    statement = next(part for part in analysis.index(source.path).of_type(ast.Assign) if part.value is call)
    inside = isinstance(call.func, ast.Attribute) and call.func.attr != "shuffle"
    whole = call.func.value if isinstance(call.func, ast.Attribute) and inside else next(iter(call.args), None)
    if whole is None or len(statement.targets) != 1:
        return
    target, changed, done = (source.segment(part) for part in (statement.targets[0], whole, call))
    start = edits.next_line(source, statement.lineno)
    more = "" if target == changed else f"{start}{target} = {changed}"
    title = message("fix.replace", old=source.on_one_line(statement), new=done)
    yield Candidate(title, (edits.replace(source, statement, done + more),))


def _replaced(source: SourceText, node: ast.expr, new: str, safe: bool = True) -> Candidate:
    change: Edit = edits.replace(source, node, new)
    old = source.on_one_line(node)
    return Candidate(message("fix.replace", old=old, new=" ".join(new.split())), (change,), safe)


def _of_property(place: _Place) -> Iterator[Finding]:
    owner = place.what.owner
    yield place.found(
        message("kind.read_only", name=place.node.attr, owner=owner.name if owner is not None else "its class")
    )


_SAID_BY: dict[str, tuple[type[ast.AST], Callable[[_Place], Iterator[Finding]]]] = {
    "none": (ast.expr, _of_none),
    "pair": (ast.Attribute, _of_pair),
    "lacking": (ast.Attribute, _of_tensors),
    "grows": (ast.Attribute, _of_growth),
    "entry": (ast.Attribute, _of_entry),
    "changed": (ast.Assign, _of_change),
    "beyond": (ast.Subscript, _of_position),
    "key": (ast.Subscript, _of_key),
    "generators": (ast.BinOp, _of_generators),
    "tuple": (ast.BinOp, _of_tuple),
    "text": (ast.BinOp, _of_text),
    "trained": (ast.expr, _of_trained),
    "number": (ast.expr, _of_number),
    "state": (ast.expr, _of_state),
    "read_only": (ast.Attribute, _of_property),
}
"""The functions that tell of a misuse, each with the kind of node that it is about; `_refused` tells of all others."""

RULE = Rule(FAULTS[CODE], find)
