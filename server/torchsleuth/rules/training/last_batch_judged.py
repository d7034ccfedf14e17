"""last-batch-judged: an evaluation that goes through all batches, and keeps the numbers of the last one alone.

What it finds
    A metric that a step of Lightning's logs batch by batch, and that is taken for the mean of the epoch at its end.
    A loop over batches without gradients that does nothing but set variables anew, one of which is read behind the loop; also what a
    metric of torchmetrics gives for a batch, where nothing asks it for all of them by `compute()`.
    `for X, y in loader:` where `X` and `y` are all the data of the loader, and the model is judged by both of them behind the loops.
Why it hurts
    What is printed is the accuracy or the loss of the last batch, often a smaller one. All others are computed for nothing.
Example
    for x, y in loader:
        correct = (model(x).argmax(1) == y).sum().item()
    print(correct / len(dataset))
Use instead
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
    print(correct / len(dataset))
Fix safety
    Unsafe: what is divided by behind the loop may have to be summed up as well.
References
    torch.no_grad
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import loop_statement
from torchsleuth.rules.evidence.schedules import iterations
from torchsleuth.rules.evidence.uses import subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    given_to,
    is_binding,
    is_definition,
    is_literal,
    is_method_call,
    is_name,
    last_word,
    literal,
    loads,
    names_in,
    nodes_in,
    plain_name,
    stored_in,
)
from torchsleuth.syntax.text import SourceText

CODE = "TS577"
_MEANS = re.compile(r"mean|avg|average")
_NUMBERS = frozenset({"item", "sum", "mean"})
_SHOWS = frozenset({"print", "len", "type"})


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_logs(analysis)
    seen: set[Span] = set()
    for event in analysis.events("forward"):
        point = event.loops[-1] if event.loops else None
        if event.grad is not False or not event.certain or point is None or point.loader is None or point.span in seen:
            continue
        seen.add(point.span)
        loop = loop_statement(analysis, point)
        if isinstance(loop, ast.For) and iterations(point) != 1 and _only_sets(loop):
            yield from _of_loop(analysis, analysis.source_of(point.span.path), loop)
    for scope in analysis.scopes:
        yield from _overwritten(analysis, scope)


def _overwritten(analysis: Analysis, scope: ast.Module | ast.FunctionDef) -> Iterator[Finding]:
    """``for X, y in loader:`` where `X` and `y` are all of the data of the loader, and both are used behind the loops as if they still
    were."""
    held = _held_by_loaders(scope)
    for place, outer in enumerate(scope.body) if held else ():
        for loop in nodes_in(outer, ast.For) if isinstance(outer, ast.For) else ():
            whole = [held[name] for name in names_in(loop.iter) if name in held]
            names = stored_in(loop.target)
            if len(whole) != 1 or len(whole[0]) < 2 or not set(whole[0]) <= names:
                continue
            used = _used_together(scope.body[place + 1 :], whole[0])
            if used is not None:
                source = analysis.source
                text = message("last_batch.overwrites", names=" and ".join(f"`{name}`" for name in whole[0]))
                places = (source.span(used).related(message("last_batch.used")),)
                fixes = tuple(_renamed(analysis, scope, loop, whole[0]))
                yield Finding(source.span(loop.target), text, places, fixes)


def _held_by_loaders(scope: ast.Module | ast.FunctionDef) -> dict[str, tuple[str, ...]]:
    """The names of the tensors that loaders go through, by those of the loaders: ``DataLoader(TensorDataset(X, y))``."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in of_kind(scope.body, ast.Assign):
        value = statement.value
        if not is_binding(statement) or called(value) not in ("TensorDataset", "DataLoader") or not given_to(value):
            continue
        if called(value) == "TensorDataset":
            held = tuple(part.id for part in of_kind(given_to(value), ast.Name))
        else:
            first = given_to(value)[0]
            inside = called(first) == "TensorDataset"
            held = tuple(part.id for part in of_kind(given_to(first), ast.Name)) if inside else ()
            held = held or found.get(plain_name(first) or "", ())
        found[statement.targets[0].id] = held
    return found


def _used_together(rest: list[ast.stmt], names: tuple[str, ...]) -> ast.stmt | None:
    """The first statement that calls something with the first of the names, and reads the others; None where they are bound anew
    before."""
    for statement in rest:
        if is_definition(statement):
            continue
        if stored_in(statement) & set(names):
            return None
        calls = [call for call in nodes_in(statement, ast.Call) if called(call) not in _SHOWS]
        if any(is_name(part, names[0]) for call in calls for part in call.args):
            read = {node.id for node in nodes_in(statement, ast.Name) if loads(node)}
            if set(names) <= read:
                return statement
    return None


def _renamed(
    analysis: Analysis, scope: ast.Module | ast.FunctionDef, loop: ast.For, names: tuple[str, ...]
) -> Iterator[Candidate]:
    """Other names for a batch, in its loop."""
    new = {name: f"{name}_batch" for name in names}
    if not {node.id for node in nodes_in(scope, ast.Name)} & set(new.values()):
        source = analysis.source
        parts = [loop.target, *loop.body]
        changes = [
            edits.replace(source, node, new[node.id])
            for part in parts
            for node in nodes_in(part, ast.Name)
            if node.id in new
        ]
        title = message("fix.replace", old=", ".join(names), new=", ".join(new.values()))
        yield Candidate(title, tuple(changes))


def _of_logs(analysis: Analysis) -> Iterator[Finding]:
    """``callback_metrics["loss"]`` at the end of an epoch of Lightning's, taken for a mean, of what the step logs batch by batch."""
    source = analysis.source
    for owner, _ in subclasses(analysis, lambda path: path.endswith(".LightningModule")):
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        step, end = methods.get("training_step"), methods.get("on_train_epoch_end")
        if step is None or end is None or not _MEANS.search(source.segment(end)):
            continue
        read = {
            literal(part.slice)
            for part in nodes_in(end, ast.Subscript)
            if isinstance(part.value, ast.Attribute) and part.value.attr == "callback_metrics"
        }
        for call in nodes_in(step, ast.Call):
            alone = is_method_call(call, "log") and call.args and literal(call.args[0]) in read
            if alone and not any(one.arg in (None, "on_epoch", "on_step") for one in call.keywords):
                fix = added_argument(source, call, "on_step=False, on_epoch=True")
                text = message("last_batch.logged", name=literal(call.args[0]))
                yield Finding(source.span(call), text, (), (fix,))


def _only_sets(loop: ast.For) -> bool:
    """Whether all that a loop does is to give plain names other values, none of them made of what they were before."""
    known: set[str] = stored_in(loop.target)
    own = stored_in(*loop.body)
    for statement in _statements(loop.body):
        if not isinstance(statement, ast.Assign) or not all(map(_is_plain, statement.targets)):
            return False
        if names_in(statement.value) & own - known:
            return False
        known |= stored_in(*statement.targets)
    return not loop.orelse


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _statements(statement.body)
        else:
            yield statement


def _is_plain(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or isinstance(target, ast.Tuple) and all(map(_is_plain, target.elts))


def _of_loop(analysis: Analysis, source: SourceText, loop: ast.For) -> Iterator[Finding]:
    around = analysis.trail(source.path, loop)
    scope = next((one for one in reversed(around[:-1]) if isinstance(one, ast.FunctionDef)), around[0])
    inside = {id(node) for node in nodes_in(loop, ast.Name)}
    read = [node for node in nodes_in(scope, ast.Name) if loads(node) and id(node) not in inside]
    behind = {node.id for node in read if (node.lineno, node.col_offset) > (loop.end_lineno or 0, 0)}
    made = [one for one in of_kind(list(_statements(loop.body)), ast.Assign) if isinstance(one.targets[0], ast.Name)]
    kept = [one for one in made if is_name(one.targets[0], *behind) and _is_number(one.value)] if behind else []
    metrics = _metrics(analysis) if source is analysis.source else set()
    asked = [one for one in made if is_name(one.targets[0], *behind) and called(one.value) in metrics] if behind else []
    if asked and not kept and not any(is_method_call(one, "compute") for one in nodes_in(scope, ast.Call)):
        name, metric = ast.unparse(asked[-1].targets[0]), called(asked[-1].value)
        line = f"{name} = {metric}.compute()"
        fix = Candidate(
            message("fix.insert", text=line),
            (edits.insert_line_after(source, _outermost(analysis, source, loop), line),),
        )
        place = source.span(loop.iter).related(message("last_batch.loop"))
        text = message("last_batch.metric", name=name, metric=metric)
        yield Finding(source.span(asked[-1].targets[0]), text, (place,), (fix,))
    if kept:
        target = kept[-1].targets[0]
        place = source.span(loop.iter).related(message("last_batch.loop"))
        text = message("last_batch.judged", name=ast.unparse(target))
        yield Finding(source.span(target), text, (place,), tuple(_summed(source, loop, kept, scope)))


def _metrics(analysis: Analysis) -> set[str]:
    """The names of the metrics of torchmetrics that the file makes."""
    made = {
        id(use.call) for use in analysis.names.uses if use.path.startswith("torchmetrics.") and use.call is not None
    }
    pairs = [pair for one in analysis.index(analysis.source.path).of_type(ast.Assign) for pair in assigned_pairs(one)]
    return {target.id for target, value in pairs if isinstance(target, ast.Name) and id(value) in made}


def _outermost(analysis: Analysis, source: SourceText, loop: ast.For) -> ast.stmt:
    """The loop, or the block around it that holds nothing else."""
    around = analysis.index(source.path).parents.get(loop)
    return around if isinstance(around, ast.With) and around.body == [loop] else loop


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is written as one number for the batch, rather than as its outputs."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) or _is_number(value.right)
    return isinstance(value, ast.Call) and last_word(value.func) in _NUMBERS and not value.args


def _summed(source: SourceText, loop: ast.For, kept: list[ast.Assign], scope: ast.AST) -> Iterator[Candidate]:
    """The numbers that are read behind the loop, summed up in it."""
    changes = []
    above = [one for one in nodes_in(scope, ast.Assign) if one.lineno < loop.lineno]
    begun = {name for one in above if is_literal(one.value, 0) for name in stored_in(*one.targets)}
    for one in kept:
        name = ast.unparse(one.targets[0])
        if name not in begun:
            changes.append(edits.insert_line_before(source, loop, f"{name} = 0"))
        changes.append(edits.replace(source, one, f"{name} += {source.segment(one.value)}"))
    names = ", ".join(ast.unparse(one.targets[0]) for one in kept)
    yield Candidate(message("last_batch.sum", names=names), tuple(changes), False)


RULE = Rule(FAULTS[CODE], find)
