"""graph-kept-alive: a sum or a list that holds on to the graph of every iteration.

What it finds
    `total += loss`, or `outputs.append(out)`, in a loop where the value carries its graph, though no backward() goes
    through it: the backward() of the iteration has done its work, or there is none. Also in dicts and tuples that are
    appended; and averages of the weights in a dict, where autograd records.
Why it hurts
    Every iteration's graph, with what it saved, stays in memory as long as the sum or the list does. Memory grows step by
    step until it runs out, long after the line that causes it.
Example
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
Use instead
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
Fix safety
    Safe: item() is offered where the sum is only computed with and printed, detach() everywhere.
References
    torch.Tensor.item, torch.Tensor.detach, the PyTorch FAQ on memory
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall, LoopPoint, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.averages import averages
from torchsleuth.rules.evidence.iterations import next_iteration
from torchsleuth.rules.evidence.uses import operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_constant, is_display, is_method_call, is_reference, loads, names_in, nodes_in
from torchsleuth.values import DictValue, ListValue, Tensor, Value, tuple_of
from torchsleuth.values.frames import Scene
from torchsleuth.values.graph import GraphNode, node_of

CODE = "TS701"
_CARRIED = frozenset("add iadd sub isub mul imul truediv itruediv div".split())
"""Operators that a running sum or average goes through on its way to the next iteration."""
_MAX_STEPS = 6
_BACKWARD = {"Tensor.backward": "", "torch.autograd.backward": "tensors", "torch.autograd.grad": "outputs"}
"""Calls that run backward, and the name of what they start from."""
_KEPT = {"Tensor.backward": 1, "torch.autograd.backward": 2, "torch.autograd.grad": 3}
"""The position of their `retain_graph`, before that of `create_graph`."""


@dataclass(frozen=True)
class _Kept:
    """A tensor that is kept from one iteration of a loop (`point`) to the next. `term`: its expression, where it is written there.

    `holder`: the node of the sum so far, None for a list; `into`: what it is kept in, as written.
    """

    at: Span
    frame: Scene
    tensor: Tensor
    node: GraphNode
    term: ast.expr | None
    into: ast.expr | None
    point: LoopPoint
    holder: GraphNode | None


def find(analysis: Analysis) -> Iterator[Finding]:
    backwards = [one for path in _BACKWARD for call in analysis.calls.get(path, ()) for one in _passes(call)]
    wasted: dict[Span, dict[ast.expr | None, _Kept]] = {}
    for kept in (*_sums(analysis), *_lists(analysis)):
        here = wasted.get(kept.at, {})
        own = _is_own(analysis, kept.at.path) and not _may_be_another(kept)
        if kept.term not in here and own and _is_waste(analysis, kept, backwards):
            wasted[kept.at] = {**here, kept.term: kept}
    for at, terms in wasted.items():
        kept = next(iter(terms.values()))
        source = analysis.source_of(at.path)
        name = "the running value" if kept.into is None else f"`{source.segment(kept.into)}`"
        several = [term for term in terms if term]
        fixes = _fixes(analysis, kept) if len(terms) == 1 else _detached(analysis, at.path, several)
        yield Finding(at, message("graph.kept", name=name), (), fixes)
    yield from averages(analysis)


def _may_be_another(kept: _Kept) -> bool:
    """Whether it is one of several elements, of which the same function reads one: that may be what training goes back from."""
    into = as_kind(kept.into, ast.Subscript)
    if kept.holder is None or into is None or isinstance(into.slice, ast.Constant):
        return False
    held = ast.unparse(into.value)
    reads = (part for part in nodes_in(kept.frame.scope, ast.Subscript) if loads(part))
    return any(ast.unparse(part.value) == held for part in reads)


def _is_own(analysis: Analysis, path: str) -> bool:
    """Whether a file is the document, or one of the workspace that it uses."""
    return path == analysis.source.path or any(source.path == path for source in analysis.workspace.read)


@dataclass(frozen=True)
class _Pass:
    """A backward pass from `root`. `frees`: nothing asks for the graph to be kept."""

    call: LibraryCall
    root: GraphNode
    frees: bool


def _passes(call: LibraryCall) -> Iterator[_Pass]:
    roots: object = call.receiver if call.path == "Tensor.backward" else call.given(0, _BACKWARD[call.path])
    elements = roots.elements if isinstance(roots, ListValue) else tuple_of(roots)
    kept = call.given(_KEPT[call.path], "retain_graph")
    created = call.given(_KEPT[call.path] + 1, "create_graph", False)
    for root in elements or ():
        node = node_of(root)
        if node is not None:
            yield _Pass(call, node, kept in (None, False) and created is False)


# -- what is kept ----------------------------------------------------------------------------------


def _sums(analysis: Analysis) -> Iterator[_Kept]:
    """Additions to something that holds the result of the same addition in the iteration before."""
    before: dict[ast.AST, Operation] = {}
    for operation in analysis.trace.operations:
        node = operation.site.node
        if not operation.loops or not operation.certain or not isinstance(node, ast.AugAssign | ast.BinOp):
            continue
        if not isinstance(node.op, ast.Add | ast.Sub) or len(operation.args) != 2:
            continue
        last, before[node] = before.get(node), operation
        point = next_iteration(last.loops, operation.loops) if last is not None else None
        parts = (node.target, node.value) if isinstance(node, ast.AugAssign) else (node.left, node.right)
        if point is None or len(operation.nodes) != 2:
            continue
        for mine, other in ((0, 1), (1, 0)):
            holder, term = _carries(operation.nodes[mine], node), operation.nodes[other]
            if holder is None or term is None or holder in term.members:
                continue
            into = as_kind(parts[mine], ast.Name, ast.Attribute, ast.Subscript)
            tensor = as_kind(operation.args[other], Tensor)
            if tensor is None:
                continue
            yield _Kept(operation.site.span, operation.site.scene, tensor, term, parts[other], into, point, holder)
            break


def _lists(analysis: Analysis) -> Iterator[_Kept]:
    """Values appended, iteration after iteration, to one list."""
    before: dict[tuple[ast.AST, int], LibraryCall] = {}
    for call in analysis.calls.get("list.append", ()):
        if not call.loops or not call.certain or len(call.args) != 1:
            continue
        node, grown = call.site.node, as_kind(call.receiver, ListValue)
        if not is_method_call(node):
            continue
        if grown is None or grown.identity in analysis.trace.emptied:
            continue
        key = (node, grown.identity)
        last, before[key] = before.get(key), call
        point = next_iteration(last.loops, call.loops) if last is not None else None
        written = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
        for tensor, term in _parts(call.args[0], written, call.site.scene) if point is not None else ():
            kept = node_of(tensor)
            if kept is not None and point is not None:
                yield _Kept(call.site.span, call.site.scene, tensor, kept, term, node.func.value, point, None)


def _parts(value: Value, node: ast.expr | None, frame: Scene) -> Iterator[tuple[Tensor, ast.expr | None]]:
    """The tensors in what is appended, and how each is written, where that is in this file."""
    match value:
        case Tensor():
            yield value, node
        case tuple():
            written = node.elts if is_display(node) and len(node.elts) == len(value) else ()
            for position, part in enumerate(value):
                yield from _parts(part, written[position] if written else None, frame)
        case DictValue():
            entries = _entries(node, frame)
            for key, part in (value.items or {}).items():
                yield from _parts(part, entries.get(key), frame)


def _entries(node: ast.expr | None, frame: Scene) -> dict[object, ast.expr]:
    """How the entries of a dict are written: in a display, or as the keyword arguments of the call that made it."""
    if isinstance(node, ast.Dict):
        return {key.value: value for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant)}
    function = frame.function.node.args if frame.function is not None else None
    if isinstance(node, ast.Name) and function is not None and function.kwarg is not None and frame.caller is not None:
        if function.kwarg.arg == node.id and isinstance(frame.call, ast.Call) and frame.caller.path == frame.path:
            return {keyword.arg: keyword.value for keyword in frame.call.keywords if keyword.arg is not None}
    return {}


def _carries(node: GraphNode | None, addition: ast.AST) -> GraphNode | None:
    """The result of the same addition among what a value was computed from by plain arithmetic."""
    pending = [] if node is None else [node]
    for _ in range(_MAX_STEPS):
        if not pending:
            return None
        part = pending.pop(0)
        if part.site.node is addition:
            return part
        if part.operator in _CARRIED:
            pending += part.inputs
    return None


def _is_called(frame: Scene) -> bool:
    """Whether the analysis knows who called the function, and so what becomes of its results."""
    while frame.function is not None:
        if frame.call is None or frame.caller is None:
            return False
        frame = frame.caller
    return True


# -- whether it is of use --------------------------------------------------------------------------


def _is_waste(analysis: Analysis, kept: _Kept, backwards: list[_Pass]) -> bool:
    used = kept.holder if kept.holder is not None else kept.node
    done = False
    for one in backwards:
        here = kept.point in one.call.loops
        if (kept.holder is not None or not here) and used in one.root.members:
            return False  # it goes through what was kept
        done = done or (here and one.call.certain and one.frees and _is_done(kept.node, one.root))
    return done or _is_only_looked_at(analysis, kept)


def _is_done(node: GraphNode, root: GraphNode) -> bool:
    """Whether a backward from `root` went through everything that a value was computed from, or has freed a part of that, so
    that none can go through it any more."""
    passed = root.members
    if any(part.frees for part in node.members & passed):
        return True
    pending, seen = [node], {node}
    while pending:
        part = pending.pop()
        if part in passed:
            continue
        if part.open or part.module is not None or part.leaves or not part.inputs:
            return False
        fresh = [inner for inner in part.inputs if inner not in seen]
        seen.update(fresh)
        pending += fresh
    return True


def _is_only_looked_at(analysis: Analysis, kept: _Kept) -> bool:
    """Whether it is the result of a model, for each batch of a loader, in a script that trains nothing. A model in
    evaluation mode is TS506's."""
    trace = analysis.trace
    if not kept.point.over_loader or not _is_called(kept.frame) or trace.optimizers:
        return False
    if any(word in analysis.source.text for word in ("backward", "autograd", "torch.func")):
        return False
    parts = kept.node.members
    forwards = [event for event in trace.events if event.kind == "forward" and node_of(event.tensor) in parts]
    return bool(forwards) and all(event.training is True and kept.point in event.loops for event in forwards)


# -- repair ----------------------------------------------------------------------------------------


def _fixes(analysis: Analysis, kept: _Kept) -> Iterator[Candidate]:
    if kept.term is None:
        return
    is_number = kept.holder is not None and kept.tensor.spec.shape == () and _is_plain(analysis, kept)
    # A sum is best told of a number; what a list holds is what it was given.
    places = [] if kept.holder is None else list(_given(kept))
    for place in (*places, kept.term):
        source = analysis.source_of(kept.at.path)
        expression = operand(analysis, place, source)
        for suffix in (".item()", ".detach()") if is_number else (".detach()",):
            title = message("fix.append", expression=" ".join(expression.split()), suffix=suffix)
            yield Candidate(title, (edits.replace(source, place, f"{expression}{suffix}"),))


def _given(kept: _Kept) -> Iterator[ast.expr]:
    """The argument of the call in which a function was given what it adds: ``meter.update(loss)``."""
    frame, term = kept.frame, kept.term
    if frame.function is None or frame.caller is None or frame.caller.path != frame.path or term is None:
        return
    if not isinstance(frame.call, ast.Call):
        return
    names = [part.arg for part in frame.function.node.args.args][frame.function.owner is not None :]
    given = dict(zip(names, frame.call.args)) | {word.arg: word.value for word in frame.call.keywords if word.arg}
    used = names_in(term)
    kinds = {name: frame.names.get(name) for name in names if name in used}
    tensors = [name for name, value in kinds.items() if isinstance(value, Tensor) and value.spec.requires_grad]
    if len(tensors) == 1 and tensors[0] in given and not isinstance(given[tensors[0]], ast.Starred):
        yield given[tensors[0]]


def _detached(analysis: Analysis, path: str, terms: list[ast.expr]) -> Iterator[Candidate]:
    """Several values that are kept in one place, each without its graph."""
    source = analysis.source_of(path)
    texts = [operand(analysis, term, source) for term in terms]
    title = message("fix.append", expression=", ".join(" ".join(text.split()) for text in texts), suffix=".detach()")
    changes = [edits.replace(source, term, f"{text}.detach()") for term, text in zip(terms, texts)]
    if changes:
        yield Candidate(title, tuple(changes))


def _is_plain(analysis: Analysis, kept: _Kept) -> bool:
    """Whether a sum starts from a number and is only computed with and shown, so that it may as well be a number."""
    if kept.into is None:
        return False
    wanted, starts = ast.unparse(kept.into), False
    for node in analysis.index(kept.at.path).nodes:
        if isinstance(node, ast.Assign):
            starts = starts or any(_is_number(value) for value in _assigned(node, wanted))
        for part in ast.iter_child_nodes(node):
            if is_reference(part) and loads(part):
                if ast.unparse(part) == wanted and not _is_arithmetic(node):
                    return False
    return starts


def _assigned(node: ast.Assign, wanted: str) -> Iterator[ast.expr]:
    """The value that an assignment gives to a target, also as one of several."""
    for target in node.targets:
        if ast.unparse(target) == wanted:
            yield node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for part, value in zip(target.elts, node.value.elts):
                if ast.unparse(part) == wanted:
                    yield value


def _is_number(node: ast.expr) -> bool:
    return is_constant(node, int, float)


def _is_arithmetic(node: ast.AST) -> bool:
    shown = isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "round", "float", "str", "len")
    appended = is_method_call(node, "append")
    return shown or appended or isinstance(node, ast.BinOp | ast.AugAssign | ast.FormattedValue | ast.Compare)


RULE = Rule(FAULTS[CODE], find)
