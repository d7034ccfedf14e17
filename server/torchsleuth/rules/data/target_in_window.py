"""target-in-window: a target that is the last value of its own input.

What it finds
    A window `series[i:i + n]` and, as its target, `series[i + n - 1]`, where both are returned as a sample, or are appended to
    the inputs and the targets.
Why it hurts
    A slice ends before its second number, so its last value is that of place i + n - 1: the model has only to copy it. The loss
    falls to nothing, and nothing is predicted. Nothing is raised.
Example
    x = self.series[i : i + self.length]
    y = self.series[i + self.length - 1]
    return x, y
Use instead
    x = self.series[i : i + self.length]
    y = self.series[i + self.length]
    return x, y
Fix safety
    Unsafe: the number of samples may have to be one less.
References
    "Common Sequence Operations" in the Python library reference
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binary, is_method_call, is_reference, parts_of_key, plain_name

CODE = "TS631"


def find(analysis: Analysis) -> Iterator[Finding]:
    index = analysis.index(analysis.source.path)
    for block in _blocks(index.nodes):
        for (window, name), (target, other) in pairwise(_given(block)):
            if _is_last(window, target) and _is_sample(block, name, other):
                yield _finding(analysis, window, target)


def _blocks(nodes: list[ast.AST]) -> Iterator[list[ast.stmt]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.For):
            yield node.body


def _given(block: list[ast.stmt]) -> Iterator[tuple[ast.Subscript, str]]:
    """The items that are named, returned or appended in a block, and what they are called: a name, a list, or nothing."""
    for statement in block:
        match statement:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Subscript() as item):
                yield item, name.id
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=items)) if len(names) == len(items):
                yield from (
                    (item, name.id)
                    for name, item in zip(names, items)
                    if isinstance(item, ast.Subscript) and isinstance(name, ast.Name)
                )
            case ast.Return(value=ast.Tuple(elts=[ast.Subscript() as one, ast.Subscript() as other])):
                yield from ((one, "return"), (other, "return"))
            case ast.Expr(value=ast.Call(args=[ast.Subscript() as item]) as call) if is_method_call(call, "append"):
                yield item, f"{ast.unparse(call.func.value)}.append"


def _is_last(window: ast.Subscript, target: ast.Subscript) -> bool:
    """Whether the target is the item in front of the end of the window, of all its columns or of some of them."""
    if ast.dump(window.value) != ast.dump(target.value) or not is_reference(window.value):
        return False
    [stretch, *columns], [place, *column] = parts_of_key(window), parts_of_key(target)
    span = as_kind(stretch, ast.Slice)
    if (
        span is None
        or span.upper is None
        or span.lower is None
        or span.step is not None
        or isinstance(place, ast.Slice)
    ):
        return False
    last = _terms(span.upper)
    last[""] -= 1
    whole = not columns or [*map(ast.dump, columns)] == [*map(ast.dump, column)]
    inside = {key: count for key, count in last.items() if count} == {k: n for k, n in _terms(place).items() if n}
    return inside and whole and not isinstance(span.upper, ast.Constant)


def _terms(node: ast.expr, sign: int = 1) -> Counter[str]:
    """The terms of a sum, and how often each is there; numbers under an empty text."""
    if is_binary(node, ast.Add, ast.Sub):
        terms = _terms(node.left, sign)
        terms.update(_terms(node.right, -sign if isinstance(node.op, ast.Sub) else sign))
        return terms
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Counter({"": sign * node.value})
    return Counter({ast.unparse(node): sign})


def _is_sample(block: list[ast.stmt], name: str, other: str) -> bool:
    """Whether two items make a sample: both are returned, or are appended, in this order."""
    if name == other == "return" or (name.endswith(".append") and other.endswith(".append") and name != other):
        return True
    for statement in block:
        match statement:
            case ast.Return(value=ast.Tuple(elts=[one, two])):
                return name in _inside(one) and other in _inside(two)
            case ast.Expr(value=ast.Call(args=[ast.Tuple(elts=[one, two])]) as call) if is_method_call(call, "append"):
                return name in _inside(one) and other in _inside(two)
    appended = [
        statement.value.args[0]
        for statement in block
        if isinstance(statement, ast.Expr) and is_method_call(statement.value, "append") and statement.value.args
    ]
    return [plain_name(part) for part in appended] == [name, other]


def _inside(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _finding(analysis: Analysis, window: ast.Subscript, target: ast.Subscript) -> Finding:
    source = analysis.source
    place, span = parts_of_key(target)[0], parts_of_key(window)[0]
    text = message("window.target", target=source.on_one_line(target))
    fixes: tuple[Candidate, ...] = ()
    if isinstance(span, ast.Slice) and span.upper is not None:
        new = source.segment(span.upper)
        title = message("fix.replace", old=source.segment(place), new=new)
        fixes = (Candidate(title, (edits.replace(source, place, new),), safe=False),)
    return Finding(source.span(target), text, (source.span(window).related(message("window.input")),), fixes)


RULE = Rule(FAULTS[CODE], find)
