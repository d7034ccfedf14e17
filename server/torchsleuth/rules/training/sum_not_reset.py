"""sum-not-reset: a mean over one pass of a loader, of a sum that goes on from pass to pass.

What it finds
    `running += loss.item()` in a loop over a loader, inside of a loop over epochs, and `running / len(loader)` behind it, where
    `running` is set to zero before the epochs and nowhere else. Or an object that counts, whose class can `reset()` what its other
    methods add to, made before the epochs, filled in each pass and read behind it, where nothing ever calls `reset()`. A list of a
    LightningModule that its steps append to and the end of each epoch reads, where nothing empties it;
    a metric of torchmetrics likewise, which it does not log as it is.
Why it hurts
    What is reported for each epoch is the sum of the means of all epochs so far: the loss seems to rise while it falls, and a
    comparison with the best one never holds again. Nothing is raised.
Example
    running = 0.0
    for epoch in range(10):
        for x, y in loader:
            running += step(x, y)
        print(running / len(loader))
Use instead
    for epoch in range(10):
        running = 0.0
        for x, y in loader:
            running += step(x, y)
        print(running / len(loader))
Fix safety
    Safe: the sum begins anew where the pass does.
References
    "Training with PyTorch" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence import metrics
from torchsleuth.rules.evidence.loops import gone_through
from torchsleuth.rules.evidence.uses import subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    bindings_of,
    called,
    is_assignment,
    is_attribute,
    is_binding,
    is_literal,
    is_method_call,
    is_name,
    is_reference,
    names_in,
    nodes_in,
    stored_in,
)

CODE = "TS557"
_AROUND = ("enumerate", "tqdm", "trange", "track")
"""Functions that go through what they are given first."""


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_meters(analysis)
    yield from _of_steps(analysis)
    yield from _of_metrics(analysis)
    index = analysis.index(analysis.source.path)
    for epochs in index.of_type(ast.For):
        for place, inner in enumerate(epochs.body):
            if isinstance(inner, ast.For) and not names_in(inner.iter) & stored_in(epochs):
                for added in of_kind(inner.body, ast.AugAssign):
                    mean = _mean(epochs, epochs.body[place + 1 :], inner, added)
                    begun = _begun(index.trail(epochs), added) if mean is not None else None
                    if mean is not None and begun is not None and _grows_alone(epochs, added):
                        yield _finding(analysis, inner, added, mean, begun)


def _mean(epochs: ast.For, behind: list[ast.stmt], inner: ast.For, added: ast.AugAssign) -> ast.BinOp | None:
    """``running / len(loader)`` behind the loop over the loader, which is not divided by the number of epochs as well."""
    if not isinstance(added.op, ast.Add) or not isinstance(added.target, ast.Name):
        return None
    loader = gone_through(inner, _AROUND)
    ends = ("", ".dataset") if is_reference(loader) else ()
    lengths = {f"len({ast.unparse(loader)}{end})" for end in ends}
    changing = stored_in(epochs) - {added.target.id}
    for statement in behind:
        for whole in nodes_in(statement, ast.BinOp):
            parts = list(nodes_in(whole, ast.BinOp))
            if isinstance(statement, ast.AugAssign) or names_in(whole) & changing:
                break  # it begins with the outermost
            for part in parts:
                if isinstance(part.op, ast.Div) and is_name(part.left, added.target.id):
                    if ast.unparse(part.right) in lengths:
                        return part
    return None


def _begun(trail: list[ast.AST], added: ast.AugAssign) -> ast.Assign | None:
    """The statement that sets the sum to zero, in the block of the loop over epochs and in front of it."""
    loop = trail[-1]
    block = next((body for name in ("body", "orelse") if loop in (body := getattr(trail[-2], name, []))), [])
    for part in block[: block.index(loop)] if loop in block else ():
        if is_assignment(part) and is_name(part.targets[0], _name(added)):
            return part if is_literal(part.value, 0) or is_literal(part.value, 0.0) else None
    return None


def _name(added: ast.AugAssign) -> str:
    return added.target.id if isinstance(added.target, ast.Name) else ""


def _grows_alone(epochs: ast.For, added: ast.AugAssign) -> bool:
    """Whether nothing else in the loop gives the sum a value."""
    return bindings_of(_name(added), epochs) == [added.target] and not any(nodes_in(epochs, ast.Global, ast.Nonlocal))


def _finding(analysis: Analysis, inner: ast.For, added: ast.AugAssign, mean: ast.BinOp, begun: ast.Assign) -> Finding:
    source = analysis.source
    text = message("sum.not_reset", name=_name(added), line=begun.lineno)
    places = (source.span(begun).related(message("sum.begun")),)
    line = source.segment(begun)
    edit = edits.insert_line_before(source, inner, line)
    fix = Candidate(message("fix.insert", text=line), (edit,))
    return Finding(source.span(mean), text, places, (fix,))


# -- objects that count --------------------------------------------------------------------------------


def _of_meters(analysis: Analysis) -> Iterator[Finding]:
    """Objects of a class with a ``reset()`` that nothing calls, which go on counting from epoch to epoch."""
    index = analysis.index(analysis.source.path)
    resets = [node.func.value for node in index.of_type(ast.Call) if is_method_call(node, "reset")]
    counting = {node.name: adding for node in index.of_type(ast.ClassDef) if (adding := _adding(node))}
    made_of = (called(use.call) for use in analysis.names.uses if use.call and use.path.startswith("torchmetrics."))
    counting |= dict.fromkeys(made_of, frozenset({"update"}))
    if not counting or any(not is_name(owner, "self") for owner in resets):
        return
    functions = {node.name: node for node in index.of_type(ast.FunctionDef)}
    for made in index.of_type(ast.Assign):
        name = made.targets[0].id if is_binding(made) else ""
        known = counting.get(called(made.value)) if name and isinstance(made.value, ast.Call) else None
        block = next((body for body in _blocks(index.trail(made)[-2]) if made in body), [])
        behind = block[block.index(made) + 1 :] if block else []
        if known is None or name in stored_in(*behind):
            continue
        found = (_read_after_pass(epochs, name, known, functions) for epochs in of_kind(behind, ast.For))
        read = next((call for call in found if call is not None), None)
        if read is not None:
            yield _meter(analysis, made, name, read)


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    return [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]


def _adding(owner: ast.ClassDef) -> frozenset[str]:
    """The methods of a class that add to what its ``reset()`` sets to zero, where nothing of its own but the constructor calls that."""
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    reset = methods.get("reset")
    if reset is None:
        return frozenset()
    calling = {
        name for name, node in methods.items() if any(is_method_call(one, "reset") for one in nodes_in(node, ast.Call))
    }
    zeroed = {part.attr for part in nodes_in(reset, ast.Attribute) if is_name(part.value, "self")}
    adding = {
        name
        for name, node in methods.items()
        if name not in ("reset", "__init__")
        for one in nodes_in(node, ast.AugAssign)
        if isinstance(one.op, ast.Add) and is_attribute(one.target, *zeroed) and is_name(one.target.value, "self")
    }
    return frozenset() if calling - {"__init__"} or not zeroed else frozenset(adding)


def _read_after_pass(
    epochs: ast.For, name: str, adding: frozenset[str], functions: dict[str, ast.FunctionDef]
) -> ast.Call | None:
    """The call in a loop over epochs that fills an object in a pass, and gives what it has counted then."""
    for statement in epochs.body:
        for call in nodes_in(statement, ast.Call):
            function = functions.get(called(call)) if isinstance(call.func, ast.Name) else None
            places = [place for place, given in enumerate(call.args) if is_name(given, name)]
            if function is None or len(places) != 1 or places[0] >= len(function.args.args):
                continue
            own = function.args.args[places[0]].arg
            fills = [loop for loop in of_kind(function.body, ast.For) if _calls_on(loop, own, adding)]
            gives = any(_reads(part, own, adding) for part in of_kind(function.body, ast.Return))
            if fills and gives:
                return call
        if isinstance(statement, ast.For) and _calls_on(statement, name, adding):
            behind = epochs.body[epochs.body.index(statement) + 1 :]
            read = next((call for part in behind for call in _reads(part, name, adding)), None)
            if read is not None:
                return read
    return None


def _calls_on(tree: ast.AST, name: str, methods: frozenset[str]) -> bool:
    """Whether an object is filled: by one of its methods, or by a call of itself."""
    calls = list(nodes_in(tree, ast.Call))
    itself = any(is_name(call.func, name) for call in calls)
    return itself or any(is_method_call(call, *methods) and is_name(call.func.value, name) for call in calls)


def _reads(tree: ast.AST, name: str, adding: frozenset[str]) -> list[ast.Call]:
    """Calls of the other methods of an object."""
    return [
        call
        for call in nodes_in(tree, ast.Call)
        if is_method_call(call) and is_name(call.func.value, name) and call.func.attr not in (*adding, "to", "forward")
    ]


def _meter(analysis: Analysis, made: ast.Assign, name: str, read: ast.Call) -> Finding:
    source = analysis.source
    text = message("sum.meter", name=name, type=called(made.value), line=made.lineno)
    statement = next(part for part in reversed(analysis.index(source.path).trail(read)) if isinstance(part, ast.stmt))
    fix = Candidate(
        message("fix.insert", text=f"{name}.reset()"), (edits.insert_line_before(source, statement, f"{name}.reset()"),)
    )
    return Finding(source.span(read), text, (source.span(made).related(message("sum.made")),), (fix,))


# -- lists of a LightningModule ------------------------------------------------------------------------

_BASE = "LightningModule"
_ENDS = re.compile(r"(?:on_)?(train(?:ing)?|validation|test|predict)_epoch_end$")
_WHOLE = frozenset("cat stack concatenate concat vstack hstack mean sum tensor array asarray".split())
"""Functions that take all that a list holds."""


def _of_steps(analysis: Analysis) -> Iterator[Finding]:
    for owner, _ in subclasses(analysis, lambda path: path.endswith(f".{_BASE}")):
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        for name, end in methods.items():
            phase = _ENDS.match(name)
            step = methods.get({"train": "training"}.get(phase[1], phase[1]) + "_step") if phase is not None else None
            kept = _kept_whole(owner, step, end) if step is not None else {}
            if kept:
                yield _outputs(analysis, kept, end)


def _kept_whole(owner: ast.ClassDef, step: ast.FunctionDef, end: ast.FunctionDef) -> dict[str, ast.Call]:
    """The lists that a step appends to and the end of the epoch reads as a whole, and where, if nothing but the constructor sets
    them and nothing else is done with them."""
    uses: dict[str, list[ast.Attribute]] = {}
    for part in nodes_in(owner, ast.Attribute):
        if is_name(part.value, "self"):
            uses.setdefault(part.attr, []).append(part)
    found: dict[str, ast.Call] = {}
    constructor = next((one for one in of_kind(owner.body, ast.FunctionDef) if one.name == "__init__"), None)
    begun = {name for one in nodes_in(constructor, ast.Assign) for name in _lists_of(one)} if constructor else set()
    for name in sorted(begun):
        added = [
            call
            for call in nodes_in(step, ast.Call)
            if is_method_call(call, "append", "extend") and _is_own(call.func.value, name)
        ]
        read = [part for part in _taken_whole(end) if _is_own(part, name)]
        # One use in the constructor, one for each call that adds, one for each that reads.
        if added and read and len(uses[name]) == 1 + len(added) + len(read):
            found[name] = added[0]
    return found


def _taken_whole(end: ast.FunctionDef) -> Iterator[ast.expr]:
    """Expressions that are taken with all that they hold: by a function, by ``zip(*pairs)``, by a loop."""
    for part in nodes_in(end, ast.AST):
        if isinstance(part, ast.Call) and called(part) in _WHOLE:
            yield from part.args[:1]
        elif isinstance(part, ast.Starred):
            yield part.value
        elif isinstance(part, ast.comprehension | ast.For):
            yield part.iter


def _lists_of(statement: ast.Assign) -> list[str]:
    """The attributes that are set to empty lists: ``self.a, self.b = [], []``."""
    return [
        target.attr
        for target, value in assigned_pairs(statement)
        if isinstance(value, ast.List)
        and not value.elts
        and isinstance(target, ast.Attribute)
        and is_name(target.value, "self")
    ]


def _is_own(node: ast.expr, name: str) -> bool:
    return is_attribute(node, name) and is_name(node.value, "self")


def _outputs(analysis: Analysis, kept: dict[str, ast.Call], end: ast.FunctionDef) -> Finding:
    source, (name, added) = analysis.source, next(iter(kept.items()))
    text = message("sum.outputs", name=f"self.{name}", hook=end.name)
    lines = [f"self.{one}.clear()" for one in kept]
    changes = tuple(edits.insert_line_after(source, end.body[-1], line) for line in reversed(lines))
    fix = Candidate(message("fix.insert", text="; ".join(lines)), (*changes,))
    related = [source.span(call).related(message("sum.outputs.too")) for call in list(kept.values())[1:]]
    related.append(source.span(end.body[0]).related(message("sum.outputs.read")))
    return Finding(source.span(added), text, tuple(related), (fix,))


# -- metrics of torchmetrics ----------------------------------------------------------------------------


def _of_metrics(analysis: Analysis) -> Iterator[Finding]:
    """Metrics of a LightningModule that its steps fill and the end of each epoch computes, where nothing resets them."""
    source = analysis.source
    for owner, held in metrics.held(analysis):
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        for name in held:
            uses = metrics.uses(owner, name)
            if uses is None or uses.reset or uses.logged or not uses.filled:
                continue
            ends = [hook for hook in uses.computed if _ENDS.match(hook)]
            if len(uses.computed) == len(ends) == 1:
                end, call = methods[ends[0]], uses.computed[ends[0]]
                line = f"self.{name}.reset()"
                fix = Candidate(
                    message("fix.insert", text=line), (edits.insert_line_after(source, end.body[-1], line),)
                )
                yield Finding(source.span(call), message("sum.metric", name=f"self.{name}"), (), (fix,))


RULE = Rule(FAULTS[CODE], find)
