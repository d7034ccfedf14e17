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
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.returns import returned
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.values import Instance, ListValue, Tensor

CODE = "TS825"
_CHANGING = frozenset({"append", "extend", "insert", "sort", "reverse", "update", "add", "clear", "remove"})
"""Methods that change a list, a dict or a set, and give nothing."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses("kind"):
        how, what = misuse.value
        source, node = analysis.source_of(misuse.site.span.path), misuse.site.node
        match how, node:
            case "none", _:
                yield from _of_none(analysis, misuse, node, what[1])
            case "pair", ast.Attribute():
                yield _of_pair(analysis, source, misuse, node, what[0])
            case "lacking", ast.Attribute():
                yield _lacking(analysis, source, misuse, node, *what)
            case "grows", ast.Attribute():
                text = " ".join(source.segment(node.value).split())
                yield Finding(misuse.site.span, message("kind.grows", text=text, name=node.attr))
            case "changed", ast.Assign():
                text, alone = source.segment(node.targets[0]), source.segment(node.value)
                title = message("fix.replace", old=source.segment(node), new=alone)
                fix = Candidate(title, (edits.replace(source, node, alone),))
                yield Finding(misuse.site.span, message("kind.changed", text=text, method=what[1]), (), (fix,))
            case "entry", ast.Attribute():
                text = source.segment(node.value)
                fix = _replaced(source, node, f'{text}["{node.attr}"]')
                said = message("kind.entry", text=" ".join(text.split()), name=node.attr)
                yield Finding(misuse.site.span, said, (), (fix,))
            case "beyond", ast.Subscript():
                count, key = what
                text = " ".join(source.segment(node.value).split())
                said = message("kind.beyond", text=text, count=count, last=count - 1, key=key)
                yield Finding(misuse.site.span, said)
            case "trained", ast.expr():
                yield _of_trained(source, misuse, node, what[0])
            case "generators", ast.BinOp(left, _, right):
                parts = f"*{source.segment(left)}, *{source.segment(right)}"
                fix = _replaced(source, node, f"[{parts}]")
                yield Finding(misuse.site.span, message("kind.generators"), (), (fix,))
            case "tuple", ast.BinOp():
                yield _of_tuple(source, misuse, node, what)
            case "text", ast.BinOp():
                yield _of_text(source, misuse, node, what)
            case "number", ast.expr():
                yield _of_number(analysis, source, misuse, node, *what)
            case "state", ast.expr():
                yield _of_state(analysis, source, misuse, node, what[0])
            case "key", ast.Subscript():
                yield _of_key(source, misuse, node, what[0])
            case _, ast.expr():
                yield _refused(analysis, source, misuse, node, how, *what)


def _refused(
    analysis: Analysis, source: SourceText, misuse: Misuse, node: ast.expr, how: str, kind: str, value: object
) -> Finding:
    text = " ".join(source.segment(node).split())
    key = f"kind.{how}.{kind}" if f"kind.{how}.{kind}" in _SAID else f"kind.{how}"
    if how == "call" and kind == "bool" and text.endswith(".requires_grad"):
        key = "kind.call.grad"
    said = message(key, text=text, what=_what(kind, value))
    return Finding(misuse.site.span, said, (), list(_meant(analysis, source, node, how, kind)))


_SAID = frozenset(
    {"kind.iterate.int", "kind.index.generator", "kind.len.generator", "kind.next.loader", "kind.call.loader"}
)


_PLAIN_ALREADY = frozenset("item cpu detach numpy tolist float data to cuda clone".split())
"""What makes a plain number of a tensor, or takes it there."""


def _lacking(
    analysis: Analysis, source: SourceText, misuse: Misuse, node: ast.Attribute, kind: str, value: object
) -> Finding:
    """An attribute of tensors, of a number that is no tensor any more, or of what holds tensors."""
    text = " ".join(source.segment(node.value).split())
    number, parts = kind in ("int", "float", "bool") and node.attr in _PLAIN_ALREADY, kind in ("list", "dict")
    key = "kind.lacking.number" if number else "kind.lacking.parts" if parts else "kind.lacking"
    call = next(
        (part for part in analysis.index(source.path).nodes if isinstance(part, ast.Call) and part.func is node), None
    )
    whole: ast.expr = call or node
    fixes: list[Candidate] = []
    if number:
        fixes.append(_replaced(source, whole, source.segment(node.value)))
    elif kind == "list" and call is not None:
        rest = source.segment(call).removeprefix(source.segment(node.value))
        fixes.append(_replaced(source, whole, f"[one{rest} for one in {source.segment(node.value)}]", safe=False))
    elif kind == "dict" and call is not None:
        rest, held = source.segment(call).removeprefix(source.segment(node.value)), source.segment(node.value)
        fixes.append(_replaced(source, whole, f"{{name: one{rest} for name, one in {held}.items()}}", safe=False))
    return Finding(misuse.site.span, message(key, text=text, what=_what(kind, value), name=node.attr), (), fixes)


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
    if how == "call" and kind == "bool" and text.endswith(".requires_grad"):
        yield _replaced(source, node, f"{text}_")
    if how in ("times", "whole") and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield _replaced(source, node, f"{source.segment(node.left)} // {source.segment(node.right)}")
    meant = _MEANT.get(f"{how} {kind}", _MEANT.get(how))
    if how == "pairs" and text.endswith("parameters()"):
        meant = text.removesuffix("parameters()") + "named_parameters()"
    if meant is not None:
        yield _replaced(source, node, meant.replace("{}", text), safe=kind != "module")
    if how == "call":
        call = next(
            (
                part
                for part in analysis.index(source.path).nodes
                if isinstance(part, ast.Call) and source.span(part.func) == source.span(node)
            ),
            None,
        )
        if call is not None and not call.args and not call.keywords:
            yield _replaced(source, call, text)


def _of_key(source: SourceText, misuse: Misuse, node: ast.Subscript, kind: str) -> Finding:
    name, key = source.segment(node.value), " ".join(source.segment(node.slice).split())
    fixes: list[Candidate] = []
    if isinstance(node.slice, ast.BinOp) and isinstance(node.slice.op, ast.Div):
        new = f"{source.segment(node.slice.left)} // {source.segment(node.slice.right)}"
        fixes.append(_replaced(source, node.slice, new))
    text = message("kind.key", name=name, key=key, kind=message(f"kind.what.{kind}"))
    return Finding(misuse.site.span, text, (), fixes)


def _of_pair(
    analysis: Analysis, source: SourceText, misuse: Misuse, node: ast.Attribute, value: tuple[object, ...]
) -> Finding:
    """An attribute of a tuple: of a name and a parameter, where a loop does not take them apart."""
    text = source.segment(node.value)
    loops = [
        part
        for part in analysis.index(source.path).nodes
        if isinstance(part, ast.For)
        and isinstance(part.target, ast.Name)
        and part.target.id == text
        and part.lineno <= node.lineno <= (part.end_lineno or 0)
    ]
    fixes: list[Candidate] = []
    if loops and len(value) == 2:
        fixes.append(_replaced(source, loops[-1].target, f"_, {text}"))
    said = message("kind.pair", text=" ".join(text.split()), count=len(value), name=node.attr)
    return Finding(misuse.site.span, said, (), fixes)


def _of_trained(source: SourceText, misuse: Misuse, node: ast.expr, kind: str) -> Finding:
    """Arguments of an optimizer that are neither parameters nor groups of them."""
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
    return Finding(misuse.site.span, message(f"kind.trained.{kind}", text=" ".join(text.split())), (), fixes)


def _of_tuple(source: SourceText, misuse: Misuse, node: ast.BinOp, what: tuple[object, object]) -> Finding:
    """A tuple and something else in one sum: what a layer gives beside its output, or a shape that is to grow."""
    odd, other = (node.left, node.right) if type(what[0]) is tuple else (node.right, node.left)
    value = what[0] if odd is node.left else what[1]
    second = what[1] if odd is node.left else what[0]
    fixes: list[Candidate] = []
    if isinstance(second, ListValue) and isinstance(other, ast.List):
        inner = ", ".join(source.segment(part) for part in other.elts)
        fixes.append(_replaced(source, other, f"({inner}{',' if len(other.elts) == 1 else ''})"))
    elif isinstance(second, Tensor) and isinstance(value, tuple) and value and isinstance(value[0], Tensor):
        fixes.append(_replaced(source, odd, f"{source.segment(odd)}[0]", safe=False))
    text = " ".join(source.segment(odd).split())
    count = len(value) if isinstance(value, tuple) else 0
    said = message("kind.tuple", text=text, count=count, other=" ".join(source.segment(other).split()))
    return Finding(misuse.site.span, said, (), fixes)


def _of_text(source: SourceText, misuse: Misuse, node: ast.BinOp, what: tuple[str, object]) -> Finding:
    """A sum of a text and a number, and what is computed with a text that is made by ``%``."""
    operator, value = what
    left, right = (" ".join(source.segment(part).split()) for part in (node.left, node.right))
    given = f" {shape_text(value.spec)}" if isinstance(value, Tensor) and value.spec.shape is not None else ""
    fixes: list[Candidate] = []
    if operator == "add":
        fixes.append(_replaced(source, node.right, f"str({source.segment(node.right)})"))
    elif isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod):
        inner = node.left.right
        if not isinstance(inner, ast.Tuple):
            start, end = edits.insert(source, source.start_of(inner), "("), edits.insert_after_node(source, node, ")")
            title = message("fix.replace", old=source.segment(inner), new=f"({source.segment(inner)} …)")
            fixes.append(Candidate(title, (start, end)))
    return Finding(misuse.site.span, message(f"kind.text.{operator}", left=left, right=right, given=given), (), fixes)


def _of_number(
    analysis: Analysis, source: SourceText, misuse: Misuse, node: ast.expr, name: str, value: str
) -> Finding:
    """A text for a number: from an option without a type, or in quotation marks."""
    text = " ".join(source.segment(node).split())
    kind = "int" if re.fullmatch(r"-?\d+", value.strip()) else "float"
    fixes: list[Candidate] = []
    if isinstance(node, ast.Constant):
        fixes.append(_replaced(source, node, value.strip()))
    elif isinstance(node, ast.Attribute):
        for option in _options(analysis, source.path, node.attr):
            edit = edits.add_argument(source, option, f"type={kind}")
            fixes.append(Candidate(message("fix.add_argument", argument=f"type={kind}"), (edit,)))
    if not isinstance(node, ast.Constant):
        fixes.append(_replaced(source, node, f"{kind}({text})", safe=False))
    return Finding(misuse.site.span, message("kind.number", text=text, value=value, name=name), (), fixes)


def _options(analysis: Analysis, path: str, name: str) -> Iterator[ast.Call]:
    """``parser.add_argument("--lr")`` without a type."""
    for call in analysis.index(path).nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            flags = [part.value for part in call.args if isinstance(part, ast.Constant)]
            if any(str(flag).lstrip("-").replace("-", "_") == name for flag in flags):
                if not any(keyword.arg in ("type", "action") for keyword in call.keywords):
                    yield call


def _of_state(analysis: Analysis, source: SourceText, misuse: Misuse, node: ast.expr, kind: str) -> Finding:
    text = source.segment(node)
    load, imports = spelled(analysis, source.path, "torch.load")
    new = f"{text}.state_dict()" if kind == "module" else f"{load}({text}, weights_only=True)"
    change = (*(imports if kind == "str" else ()), edits.replace(source, node, new))
    fix = Candidate(message("fix.replace", old=text, new=new), change)
    return Finding(misuse.site.span, message(f"kind.state.{kind}", text=text), (), (fix,))


def _of_none(analysis: Analysis, misuse: Misuse, node: ast.AST, name: object) -> Iterator[Finding]:
    """The None of a function without a return: said only where there is such a function."""
    source = analysis.source_of(misuse.site.span.path)
    if not isinstance(node, ast.Attribute):
        return
    named = isinstance(node.value, ast.Name)
    given = last_assignment(analysis, node.value, misuse.site) if named else node.value
    if not isinstance(given, ast.Call):
        return
    text = " ".join(source.segment(node.value).split())
    if isinstance(given.func, ast.Attribute) and given.func.attr in _CHANGING and given is not node.value:
        target = next(
            part for part in analysis.index(source.path).nodes if isinstance(part, ast.Assign) and part.value is given
        )
        said = message("kind.none.changed", text=text, name=name, method=given.func.attr)
        edit = edits.replace(source, target, source.segment(given))
        fix = Candidate(message("fix.replace", old=source.segment(target), new=source.segment(given)), (edit,))
        yield Finding(misuse.site.span, said, (), (fix,))
        return
    fixes = list(returned(analysis, source.path))
    if fixes:
        yield Finding(misuse.site.span, message("kind.none", text=text, name=name), (), fixes)


def _replaced(source: SourceText, node: ast.expr, new: str, safe: bool = True) -> Candidate:
    change: Edit = edits.replace(source, node, new)
    old = " ".join(source.segment(node).split())
    return Candidate(message("fix.replace", old=old, new=" ".join(new.split())), (change,), safe)


RULE = Rule(FAULTS[CODE], find)
