"""parameter-rebound: an update of parameters that only changes what a name stands for.

What it finds
    A loop over the parameters of a module, or over tensors side by side, that assigns to the loop's own variable, and does
    nothing with it afterwards: averages of weights, soft updates of target networks, steps of gradient descent by hand.
Why it hurts
    The name then stands for a new tensor, and the parameter keeps its values: nothing is updated, and nothing is raised.
Example
    for target, source in zip(slow.parameters(), fast.parameters()):
        target = 0.99 * target + 0.01 * source
Use instead
    with torch.no_grad():
        for target, source in zip(slow.parameters(), fast.parameters()):
            target.copy_(0.99 * target + 0.01 * source)
Fix safety
    Safe: the new values are written into the parameter.
References
    torch.Tensor.copy_
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import own_blocks
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    is_assignment,
    is_definition,
    is_function_call,
    is_method_call,
    is_name,
    loads,
    nodes_in,
    stores,
)
from torchsleuth.syntax.text import SourceText

CODE = "TS528"
_COMPUTING = frozenset(
    "add sub mul div lerp clamp clip sign abs where addcmul addcdiv maximum minimum round zeros_like ones_like full_like "
    "rand_like randn_like".split()
)
_COPYING = ("clone", "detach", "to", "cpu", "cuda")
_CALLS = tuple(f"torch.nn.Module.{name}" for name in ("parameters", "named_parameters"))


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for call in (call for path in _CALLS for call in analysis.calls.get(path, ())):
        loop = loop_over(analysis, call)
        if loop is None or loop in seen:
            continue
        seen.add(loop)
        source = call.site.source
        for name in _variables(loop):
            for assignment in _last_uses(analysis, call.site.span.path, loop, name):
                yield _finding(source, loop, name, assignment)
    for path in sorted({place[0] for place in analysis.trace.facts}):
        for loop in analysis.index(path).of_type(ast.For):
            for name, assignment in _taken_over(analysis, path, loop) if loop not in seen else ():
                yield _finding(analysis.source_of(path), loop, name, assignment)


def _finding(source: SourceText, loop: ast.For, name: str, assignment: ast.Assign) -> Finding:
    text = message("parameter.rebound", name=f"`{name}`")
    place = source.span(loop.target).related(message("parameter.rebound.loop", name=f"`{name}`"))
    value = source.segment(assignment.value)
    edit = edits.replace(source, assignment, f"{name}.data.copy_({value})")
    fix = Candidate(message("fix.replace", old=f"{name} = …", new=f"{name}.data.copy_(…)"), (edit,))
    return Finding(source.span(assignment), text, (place,), (fix,))


def _taken_over(analysis: Analysis, path: str, loop: ast.For) -> Iterator[tuple[str, ast.Assign]]:
    """``for a, b in zip(…): a = b`` of tensors, where nothing reads the name afterwards."""
    if not isinstance(loop.iter, ast.Call) or ast.unparse(loop.iter.func) != "zip":
        return
    targets = {part.id: part for part in nodes_in(loop.target, ast.Name)}
    for statement in loop.body:
        made = as_kind(statement.targets[0], ast.Name) if is_assignment(statement) else None
        if not isinstance(statement, ast.Assign) or made is None or made.id not in targets:
            continue
        given = _copied(statement.value)
        if given is None or given.id not in targets or given.id == made.id:
            continue
        tensor = any(_is_tensor(analysis, path, targets[one]) for one in (made.id, given.id))
        if tensor and not _is_read(analysis, path, statement, made.id):
            yield made.id, statement


def _copied(value: ast.expr) -> ast.Name | None:
    """The name of the tensor that an expression is, or copies: ``new``, ``new.data``, ``new.detach().clone()``."""
    while not isinstance(value, ast.Name):
        if is_method_call(value, *_COPYING):
            value = value.func.value
        elif isinstance(value, ast.Attribute):
            value = value.value
        else:
            return None
    return value


def _is_tensor(analysis: Analysis, path: str, name: ast.Name) -> bool:
    place = (path, name.lineno, name.col_offset, name.end_lineno or 0, name.end_col_offset or 0)
    seen = analysis.trace.facts.get(place)
    return seen is not None and bool(seen.specs or seen.shapeless)


def loop_over(analysis: Analysis, call: LibraryCall) -> ast.For | None:
    """The loop over these parameters, alone or side by side with others."""
    node = call.site.node
    same = analysis.index(call.site.span.path).same(node) if isinstance(node, ast.expr) else None
    trail = analysis.index(call.site.span.path).trail(same)[:-1] if same is not None else []
    inner: ast.AST | None = same
    for part in reversed(trail):
        if isinstance(part, ast.For):
            return part if part.iter is inner else None
        plain = is_function_call(part, "zip", "list", "enumerate")
        if not plain:
            return None
        inner = part
    return None


def _variables(loop: ast.For) -> list[str]:
    return [part.id for part in nodes_in(loop.target, ast.Name) if part.id != "_"]


def _last_uses(analysis: Analysis, path: str, loop: ast.For, name: str) -> Iterator[ast.Assign]:
    """The assignments to a name that are computed from its old value, if nothing below reads the new one."""
    inside = [part for statement in loop.body for part in ast.walk(statement)]
    stored = [part for part in _named(inside, name) if stores(part)]
    found = [part for part in of_kind(inside, ast.Assign) if part.targets[0] in stored]
    nested = any_are(inside, ast.For, ast.While, ast.Lambda, ast.FunctionDef)
    if nested or len(stored) != len(found):
        return
    if all(_is_new(one, name) and not _is_read(analysis, path, one, name) for one in found):
        yield from found


def _named(nodes: Iterable[ast.AST], name: str) -> list[ast.Name]:
    return [part for part in nodes if is_name(part, name)]


def _is_new(assignment: ast.Assign, name: str) -> bool:
    own = _named(ast.walk(assignment.value), name)
    return len(assignment.targets) == 1 and bool(own) and _computes(assignment.value)


def _is_read(analysis: Analysis, path: str, statement: ast.stmt, name: str) -> bool:
    """Whether a statement that runs after this one may read the name, in its block or below one of the blocks around it,
    up to the end of the function."""
    trail = analysis.trail(path, statement)
    for around, part in zip(reversed(trail[:-1]), reversed(trail)):
        last = around.orelse if isinstance(around, ast.For | ast.While) else []
        for block in own_blocks(around):
            for later in [*block[block.index(part) + 1 :], *last] if part in block else ():
                first = _set_first(later, name)
                if _reads(first or later, name):
                    return True
                if first is not None:
                    return False
        if is_definition(around):
            break
    return False


def _set_first(statement: ast.stmt, name: str) -> ast.expr | None:
    """The expressions that are evaluated before a statement gives the name another value."""
    match statement:
        case ast.For() if _named(ast.walk(statement.target), name):
            return statement.iter
        case ast.Assign() if any(_named(ast.walk(target), name) for target in statement.targets):
            return statement.value
    return None


def _reads(node: ast.AST, name: str) -> bool:
    """Whether the name is read, and not as the variable of a comprehension."""
    generators = getattr(node, "generators", ())
    if any(_named(ast.walk(one.target), name) for one in generators):
        return any(_reads(one.iter, name) for one in generators[:1])
    if isinstance(node, ast.Name):
        return node.id == name and loads(node)
    return any(_reads(part, name) for part in ast.iter_child_nodes(node))


def _computes(value: ast.expr) -> bool:
    """Whether an expression gives new values, and does nothing to the old ones by the way."""
    calls = [part.func for part in nodes_in(value, ast.Call)]
    names = [part.attr for part in of_kind(calls, ast.Attribute)]
    written = any(isinstance(part, ast.keyword) and part.arg == "out" for part in ast.walk(value))
    if len(names) < len(calls) or written or any(name.endswith("_") for name in names):
        return False
    return isinstance(value, ast.BinOp) or any(name in _COMPUTING for name in names)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
