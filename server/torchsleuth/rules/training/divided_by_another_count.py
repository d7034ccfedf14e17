"""divided-by-another-count: a sum that is divided by a number of other things than were added.

What it finds
    Losses that are the mean over a batch, added up over a loader and divided by the number of its samples; hits that an object
    counts over all epochs, divided by the number of samples of one. Hits that are counted anew in each batch, and divided by
    the number of all samples; hits that are divided by it with `//`. Hits that are divided by the number of batches.
Why it hurts
    The loss is printed as many times too small as a batch has samples, and changes with the size of the batch; the accuracy
    passes 100 %. Curves are compared, and checkpoints chosen, by numbers that mean nothing. Nothing is raised.
Example
    for x, y in loader:
        total += nn.functional.cross_entropy(model(x), y).item()
    print(total / len(loader.dataset))
Use instead
    for x, y in loader:
        total += nn.functional.cross_entropy(model(x), y).item()
    print(total / len(loader))
Fix safety
    Safe where means are divided by the number of batches. Counts that begin anew at each pass are what is meant, mostly.
References
    torch.nn.CrossEntropyLoss, `reduction`
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LoopPoint, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import expression_text
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind, only
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    bindings_of,
    called,
    is_attribute,
    is_dotted,
    is_literal,
    is_method_call,
    is_reference,
    nodes_in,
    stores,
    targets_of,
)
from torchsleuth.syntax.trees import Index
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryObject

CODE = "TS546"
_LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss "
    "BCEWithLogitsLoss".split()
)
_SEEN_THROUGH = frozenset({"enumerate", "tqdm", "iter", "track"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Pass:
    """One pass over a loader: the loop, the function that it stands in, and the object that is iterated over."""

    index: Index
    loop: ast.For
    function: _Function
    path: str

    def divisions(self, total: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
        """Where a total is divided after the loop by the number of samples, and that number. Nothing if it is multiplied."""
        name = _name(total)
        later = [node for node in ast.walk(self.function) if getattr(node, "lineno", 0) > (self.loop.end_lineno or 0)]
        for node in later:
            parts: tuple[ast.expr, ast.operator, ast.expr] | None = None
            match node:
                case ast.AugAssign():
                    parts = node.target, node.op, node.value
                case ast.BinOp():
                    parts = node.left, node.op, node.right
            if parts is None or _name(parts[0]) != name or not isinstance(parts[1], ast.Div):
                continue
            if self._counts_samples(parts[2]) and not isinstance(self.index.parents.get(node), ast.BinOp):
                yield node, parts[2]

    def _counts_samples(self, number: ast.expr) -> bool:
        if isinstance(number, ast.Name):
            made = [
                node.value
                for node in nodes_in(self.function, ast.Assign)
                if any(_name(one) == number.id for one in node.targets)
            ]
            return len(made) == 1 and not isinstance(made[0], ast.Name) and self._counts_samples(made[0])
        return self.loader_of(number) is not None

    def loader_of(self, number: ast.expr) -> ast.expr | None:
        """The loader in ``len(loader.dataset)``, if it is the one that the loop goes over."""
        given = (
            as_kind(number.args[0], ast.Attribute) if isinstance(number, ast.Call) and len(number.args) == 1 else None
        )
        if not isinstance(number, ast.Call) or _name(number.func) != "len" or given is None:
            return None
        here = {ast.dump(node) for node in nodes_in(self.loop.iter, ast.expr)}
        return given.value if given.attr == "dataset" and ast.dump(given.value) in here else None

    def holds(self, operation: Operation) -> bool:
        """Whether an operation is written in the loop itself."""
        span, last = operation.site.span, self.loop.end_lineno or 0
        return span.path == self.path and self.loop.lineno <= span.start.line <= last

    def additions(self) -> Iterator[ast.AugAssign]:
        """The value that is added up in each iteration, without a condition."""
        for statement in self.loop.body:
            blocks = statement.body if isinstance(statement, ast.With) else [statement]
            yield from (one for one in of_kind(blocks, ast.AugAssign) if isinstance(one.op, ast.Add))

    def others(self, total: ast.expr) -> list[ast.AST]:
        """Where else in the function a total is changed."""
        changes = nodes_in(self.function, ast.AugAssign)
        return [node for node in changes if _name(node.target) == _name(total)]


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    passes: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for operation in analysis.trace.operations:
        point = operation.loops[-1] if operation.loops and operation.certain else None
        if point is None or not point.over_loader or point.joined:
            continue
        over = _pass(analysis, point)
        if over is None:
            continue
        source = analysis.source_of(over.path)
        owner = operation.site.scene.instance() if over.holds(operation) else None
        same = passes[id(over.loop), id(owner)]
        same.add(point.execution)
        for addition in over.additions():
            span = source.span(addition)
            if span in seen or len(over.others(addition.target)) != 1 + _divided_in_place(over, addition.target):
                continue
            division = next(over.divisions(addition.target), None)
            if division is None:
                continue
            if _makes_batches(point.loader) and _is_mean(operation) and _is_item_of(operation, addition.value, over):
                seen.add(span)
                yield _of_means(analysis, over, addition, *division)
            elif owner is not None and len(same) > 1 and _is_never_reset(over, addition.target):
                seen.add(span)
                yield _of_passes(analysis, over, addition, division[0])
    yield from _shares(analysis)
    yield from _hits_by_batches(analysis)


def _hits_by_batches(analysis: Analysis) -> Iterator[Finding]:
    """``correct / len(loader)``, where `correct` counts the hits of whole batches."""
    index, source = analysis.index(analysis.source.path), analysis.source
    for loop in index.of_type(ast.For):
        loader = next((part for part in nodes_in(loop.iter, ast.expr) if _gives_batches(analysis, part, loop)), None)
        scope = next((part for part in reversed(index.trail(loop)) if isinstance(part, _Function)), index.nodes[0])
        if loader is None:
            continue
        for hits in _batches_counted(loop):
            if not isinstance(hits, ast.AugAssign) or not _counts_hits(hits):
                continue
            for share in nodes_in(scope, ast.BinOp):
                later = share.lineno > (loop.end_lineno or 0) and isinstance(share.op, ast.Div)
                counted = ast.unparse(share.right) == f"len({ast.unparse(loader)})"
                if later and counted and _leads_to(share.left, str(_set_by(hits))):
                    new = f"len({source.segment(loader)}.dataset)"
                    text = message("share.batches", hits=str(_set_by(hits)), loader=source.segment(loader))
                    place = source.span(hits).related(message("count.added"))
                    yield Finding(source.span(share), text, (place,), (replacement(source, share.right, new),))


def _gives_batches(analysis: Analysis, iterated: ast.expr, loop: ast.For) -> bool:
    """Whether something is known for a loader of batches: elsewhere, its `dataset` is read."""
    if not is_reference(iterated) or not _is_gone_through(loop.iter, iterated):
        return False
    text = ast.unparse(iterated)
    reads = (part for part in analysis.index(analysis.source.path).of_type(ast.Attribute) if part.attr == "dataset")
    return any(ast.unparse(part.value) == text for part in reads)


def _is_gone_through(over: ast.expr, iterated: ast.expr) -> bool:
    """``for … in loader``, or ``in enumerate(loader)`` and its like."""
    while isinstance(over, ast.Call) and called(over) in _SEEN_THROUGH and over.args:
        over = over.args[0]
    return over is iterated


def _leads_to(value: ast.expr, name: str) -> bool:
    """``correct``, ``100 * correct``, ``float(correct)``"""
    match value:
        case ast.Name():
            return value.id == name
        case ast.BinOp(op=ast.Mult()):
            return _leads_to(value.left, name) or _leads_to(value.right, name)
        case ast.Call(func=ast.Name(id="float"), args=[inner]):
            return _leads_to(inner, name)
    return False


def _shares(analysis: Analysis) -> Iterator[Finding]:
    """Shares of hits among samples that are counted batch by batch: of the last batch alone, or as a whole number."""
    index = analysis.index(analysis.source.path)
    for loop in index.of_type(ast.For):
        counted = list(_batches_counted(loop))
        if len(counted) > 1:
            scope = next((part for part in reversed(index.trail(loop)) if isinstance(part, _Function)), index.nodes[0])
            behind = [node for node in nodes_in(scope, ast.BinOp) if node.lineno > (loop.end_lineno or 0)]
            for hits, total in ((one, other) for one in counted for other in counted if one is not other):
                shares = [
                    node for node in behind if _name(node.left) == _set_by(hits) and _name(node.right) == _set_by(total)
                ]
                if shares and _counts_hits(hits) and isinstance(total, ast.AugAssign):
                    yield from _of_share(analysis, scope, hits, total, shares[0])


def _batches_counted(loop: ast.For) -> Iterator[ast.Assign | ast.AugAssign]:
    """The statements of a loop that count what is in a batch, each the only one that sets its name and reads it."""
    for statement in loop.body:
        for part in statement.body if isinstance(statement, ast.With) else [statement]:
            if isinstance(part, ast.Assign | ast.AugAssign) and (name := _set_by(part)) is not None:
                met = [node for node in nodes_in(loop, ast.Name) if node.id == name]
                if len(met) == 1 and (isinstance(part, ast.Assign) or isinstance(part.op, ast.Add)):
                    yield part


def _set_by(statement: ast.Assign | ast.AugAssign) -> str | None:
    target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
    return target.id if isinstance(target, ast.Name) else None


def _counts_hits(statement: ast.Assign | ast.AugAssign) -> bool:
    """``(predicted == y).sum().item()``"""
    compared = any(isinstance(part.ops[0], ast.Eq) for part in nodes_in(statement.value, ast.Compare))
    return compared and any(called(part) == "sum" for part in nodes_in(statement.value, ast.Call))


def _of_share(
    analysis: Analysis, scope: ast.AST, hits: ast.Assign | ast.AugAssign, total: ast.AugAssign, share: ast.BinOp
) -> Iterator[Finding]:
    source, name = analysis.source, str(_set_by(hits))
    sizes = [part for part in ast.walk(total.value) if called(part) in ("size", "len") or is_attribute(part, "shape")]
    if not sizes:
        return
    if isinstance(hits, ast.Assign) and isinstance(share.op, ast.Div):
        stored = bindings_of(name, scope)
        begun = any(node.lineno < hits.lineno for node in stored)
        new = source.segment(hits).replace("=", "+=", 1)
        fix = Candidate(message("fix.replace", old="=", new="+="), (edits.replace(source, hits, new),))
        place = source.span(share).related(message("share.divided"))
        yield Finding(source.span(hits), message("share.last", hits=name), (place,), (fix,) if begun else ())
    elif isinstance(hits, ast.AugAssign) and isinstance(share.op, ast.FloorDiv):
        new = f"{source.segment(share.left)} / {source.segment(share.right)}"
        fix = Candidate(message("fix.replace", old="//", new="/"), (edits.replace(source, share, new),))
        text = message("share.whole", hits=name, total=str(_set_by(total)))
        yield Finding(source.span(share), text, (), (fix,))


def _divided_in_place(over: _Pass, total: ast.expr) -> int:
    return sum(1 for node, _ in over.divisions(total) if isinstance(node, ast.AugAssign))


def _pass(analysis: Analysis, point: LoopPoint) -> _Pass | None:
    if not isinstance(point.node, ast.For):
        return None
    index = analysis.index(point.span.path)
    loop = index.same(point.node)
    trail = index.trail(loop) if loop is not None else []
    around = next((node for node in reversed(trail) if isinstance(node, _Function)), None)
    return _Pass(index, loop, around, point.span.path) if loop is not None and around is not None else None


def _makes_batches(loader: LibraryObject | None) -> bool:
    """Whether a loader makes batches of several samples. Without automatic batches, a sample may be one."""
    size = as_kind(loader.given(1, "batch_size", 1), int) if loader is not None else None
    return size is not None and size > 1


def _name(node: ast.expr) -> str | None:
    """A variable, or an attribute of one, as it is written."""
    return ast.unparse(node) if is_reference(node) else None


def _is_mean(operation: Operation) -> bool:
    """Whether a loss is the mean over a batch of several samples."""
    if operation.name not in _LOSSES or not operation.specs:
        return False
    shape = operation.specs[0].shape
    if not shape or not is_number(shape[0]) or shape[0] < 2:
        return False
    made = as_kind(
        operation.site.node if operation.module is None else operation.module.site and operation.module.site.node,
        ast.Call,
    )
    given = made.keywords if made is not None else None
    return given is not None and all(_keeps_mean(keyword) for keyword in given)


def _keeps_mean(keyword: ast.keyword) -> bool:
    if keyword.arg == "reduction":
        return is_literal(keyword.value, "mean")
    return keyword.arg not in (None, "size_average", "reduce")


def _is_item_of(operation: Operation, value: ast.expr, over: _Pass) -> bool:
    """Whether ``loss.item()`` or ``float(loss)`` is added, and the loss is what was computed."""
    node: ast.expr | None = None
    if is_method_call(value, "item"):
        node = value.func.value
    elif isinstance(value, ast.Call) and _name(value.func) == "float" and len(value.args) == 1:
        node = value.args[0]
    loss = operation.site.node
    if isinstance(node, ast.Name):
        made = [
            part.value
            for part in ast.walk(over.loop)
            if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign)
            for target in targets_of(part)
            if _name(target) == node.id
        ]
        node = only(made)
    return node is not None and isinstance(loss, ast.expr) and over.index.same(loss) is node


def _is_never_reset(over: _Pass, total: ast.expr) -> bool:
    """Whether only the constructor of the class sets an attribute."""
    if not is_dotted(total):
        return False
    owner = as_kind(over.index.parents.get(over.function), ast.ClassDef)
    given = over.function.args.args
    if owner is None or not given or given[0].arg != total.value.id:
        return False
    setters: list[str] = []
    for node in over.index.nodes:
        stored = is_attribute(node, total.attr) and stores(node)
        parent = as_kind(over.index.parents.get(node), ast.AugAssign)
        if stored and not (parent is not None and isinstance(parent.op, ast.Add)):
            around = next((part for part in reversed(over.index.trail(node)) if isinstance(part, _Function)), None)
            setters.append(around.name if around is not None else "")
    named = any(node.value == total.attr for node in of_kind(over.index.nodes, ast.Constant))
    return setters == ["__init__"] and not named


def _of_means(analysis: Analysis, over: _Pass, addition: ast.AugAssign, division: ast.AST, number: ast.expr) -> Finding:
    source = analysis.source_of(over.path)
    loader = _loader(over, number)
    total = expression_text(addition.target, "the total")
    text = message("count.means", total=total, loader=loader)
    fix = replacement(source, number, f"len({loader})")
    place = source.span(addition).related(message("count.added"))
    return Finding(source.span(division), text, (place,), (fix,))


def _loader(over: _Pass, number: ast.expr) -> str:
    """The loader as the number of its samples names it."""
    nodes = [number, *(node.value for node in nodes_in(over.function, ast.Assign))]
    found = next((one for node in nodes if (one := over.loader_of(node)) is not None), number)
    return ast.unparse(found)


def _of_passes(analysis: Analysis, over: _Pass, addition: ast.AugAssign, division: ast.AST) -> Finding:
    source = analysis.source_of(over.path)
    total = ast.unparse(addition.target)
    text = message("count.passes", total=f"`{total}`")
    fix = Candidate(
        message("fix.add", text=f"{total} = 0"),
        (edits.insert_line_before(source, over.loop, f"{total} = 0"),),
        safe=False,
    )
    place = source.span(division).related(message("count.divided"))
    return Finding(source.span(addition), text, (place,), (fix,))


RULE = Rule(FAULTS[CODE], find)
