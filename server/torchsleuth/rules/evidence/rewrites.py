"""Repairs of a cut graph that take several places: numbers that were taken out of tensors on the way to a loss, and a
loss of predicted classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.modules import named
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.schema import Edit, Span
from torchsleuth.sifting import of_kind, only
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    is_attribute,
    is_method_call,
    is_name,
    is_place,
    is_primary,
    is_reference,
    names_in,
    nodes_in,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import ListValue, Site
from torchsleuth.values.graph import AutogradFault, Cut

_TAKEN_OUT = frozenset({"detach", "cpu", "numpy", "item", "tolist", "data"})
_MAKERS = frozenset({"tensor", "from_numpy", "as_tensor", "Tensor", "FloatTensor"})
_IN_TORCH = {
    **{name: name for name in "mean sum abs exp log sqrt square maximum minimum where sin cos tanh max min".split()},
    **{name: name for name in "sign log1p expm1 stack dot matmul".split()},
    **{"power": "pow", "clip": "clamp", "concatenate": "cat", "absolute": "abs"},
}
"""Functions of NumPy, and what computes the same of tensors."""
OF_NUMBERS = {name: f"torch.{name}" for name in "sqrt exp log log1p sin cos tanh pow".split()} | {
    "fabs": "torch.abs", "fsum": "sum",
}  # fmt: skip
"""Functions of Python's math, and what computes the same of tensors."""
_IN_LINALG = frozenset("norm det inv pinv solve eigh eigvalsh cholesky matrix_rank".split())
_CASTS = frozenset("float long int double to squeeze view_as".split())
_DISTANCES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss"})


@dataclass(frozen=True)
class _Chain:
    """The assignments of one block that a backward() starts from: the last one first."""

    statements: tuple[ast.Assign, ...]

    def value_of(self, name: str) -> ast.expr | None:
        """The value of a name that is assigned once."""
        found = [part for part in self.statements if any(name == target for target in _targets(part))]
        if len(found) != 1 or not isinstance(found[0].targets[0], ast.Name):
            return None
        return found[0].value


def _targets(statement: ast.Assign) -> list[str]:
    return [part.id for target in statement.targets for part in nodes_in(target, ast.Name)]


def _chain(analysis: Analysis, at: Site) -> _Chain:
    """The assignments before a backward() of which its tensor is made, in the blocks around it."""
    statement = statement_of(analysis, at)
    if statement is None:
        return _Chain(())
    trail = analysis.trail(at.span.path, statement)
    before: list[ast.Assign] = []
    for block in trail:
        for part in of_kind(getattr(block, "body", []) if isinstance(block, ast.stmt | ast.Module) else (), ast.Assign):
            if part.lineno < statement.lineno:
                before.append(part)
        if isinstance(block, ast.For | ast.FunctionDef):
            before = [part for part in before if part.lineno > block.lineno]
    needed = names_in(statement)
    found: list[ast.Assign] = []
    for part in sorted(before, key=lambda one: -one.lineno):
        if needed & set(_targets(part)):
            found.append(part)
            needed |= names_in(part.value)
    return _Chain(tuple(found))


# -- numbers for tensors ---------------------------------------------------------------------------


def as_tensors(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """Computes of tensors what is computed of their numbers or arrays on the way to the loss."""
    path = fault.at.span.path
    cuts = [cut for cut in (fault.cut, fault.cut.before if fault.cut is not None else None) if cut is not None]
    if any(cut.site.span.path != path for cut in cuts) or not _takes_out(cuts):
        return
    if path != analysis.source.path:
        return
    paths = {id(use.call): use.path for use in analysis.names.uses if use.call is not None}
    changes: list[Edit] = []
    values: list[ast.AST] = [statement.value for statement in _chain(analysis, fault.at).statements]
    lists = {call.site.span for call in analysis.trace.calls if call.args and isinstance(call.args[0], ListValue)}
    for node in [part for value in (*values, *_computed(analysis, fault, cuts)) for part in ast.walk(value)]:
        made = isinstance(node, ast.Call) and paths.get(id(node), "").rpartition(".")[2] in _MAKERS
        if made and isinstance(node, ast.Call) and _filled_before(node) and analysis.source.span(node) in lists:
            return  # of numbers or of tensors: a list is not what a tensor is
        changes += _of_tensors(analysis.source, paths.get(id(node), ""), node)
    if len(changes) > 1:
        yield Candidate(message("fix.as_tensors"), tuple(sorted(changes, key=lambda one: (one.start, one.end))))


def _filled_before(maker: ast.Call) -> bool:
    """Whether the data of a new tensor are not written in its call."""
    return bool(maker.args) and is_place(maker.args[0])


def _computed(analysis: Analysis, fault: AutogradFault, cuts: list[Cut]) -> Iterator[ast.AST]:
    """The assignments and results of the function that takes the numbers out, where that is not the one of backward()."""
    functions = {cut.site.scene.function for cut in cuts} - {None, fault.at.scene.function}
    for function in functions if len(functions) == 1 else ():
        node = analysis.index(fault.at.span.path).same(function.node) if function is not None else None
        for part in nodes_in(node, ast.Assign, ast.Return) if node is not None else ():
            if part.value is not None:
                yield part.value


def _takes_out(cuts: list[Cut]) -> bool:
    return any(cut.kind in _TAKEN_OUT for cut in cuts)


def _of_tensors(source: SourceText, path: str, node: ast.AST) -> Iterator[Edit]:
    """The replacement of a call on numbers: `path` is the name of a library's function."""
    if not is_method_call(node):
        return
    name = path.rpartition(".")[2]
    if path.startswith("math.") and name in OF_NUMBERS:
        yield edits.replace(source, node.func, OF_NUMBERS[name])
    elif path.startswith("numpy.linalg.") and name in _IN_LINALG:
        yield edits.replace(source, node.func, f"torch.linalg.{name}")
    elif path.startswith("numpy.") and name in _IN_TORCH:
        yield edits.replace(source, node.func, f"torch.{_IN_TORCH[name]}")
    elif path.startswith("torch.") and name in _MAKERS and node.args:
        data = node.args[0]
        listed = isinstance(data, ast.List | ast.ListComp)
        before, behind = ("torch.stack(", ")") if listed else ("(", ")") if isinstance(data, ast.BinOp) else ("", "")
        yield Edit(source.path, source.start_of(node), source.start_of(data), before)
        yield Edit(source.path, source.end_of(data), source.end_of(node), behind)
    elif not path and node.func.attr in _TAKEN_OUT and not node.args:
        yield Edit(source.path, source.end_of(node.func.value), source.end_of(node), "")


# -- a loss of predicted classes -------------------------------------------------------------------


def as_loss(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """Cross entropy of the scores, for a loss that compares the classes that they predict: ``(x.argmax(1) != y)``, also
    where it is made of an accuracy."""
    path, chain = fault.at.span.path, _chain(analysis, fault.at)
    if fault.cut is None or fault.cut.kind != "integers" or fault.cut.site.span.path != path or not chain.statements:
        return
    loss, source = chain.statements[0], analysis.source_of(path)
    for statement in chain.statements:
        for left, right in _compared(statement.value):
            for predicted, target in ((left, right), (right, left)):
                for name, scores in _scores(chain, predicted):
                    inside = any(part is scores for part in ast.walk(statement.value))
                    if not inside and not is_reference(scores):
                        continue  # what computes them would be called twice
                    call, imports = named(analysis, fault.at, f"torch.nn.functional.{name}")
                    text = f"{call}({source.segment(scores)}, {source.segment(_uncast(target))}"
                    plain = is_reference(scores)
                    for end in (")",) if name == "cross_entropy" else (")", ".float())"):
                        made = _loss_of(source, loss, loss if plain else statement, text + end)
                        title = message(
                            "fix.replace",
                            old=short(source.segment(loss.value)),
                            new=short(text + end),
                        )
                        yield Candidate(title, (*imports, *made), safe=False)


def _loss_of(source: SourceText, loss: ast.Assign, place: ast.Assign, text: str) -> Iterator[Edit]:
    """The loss computed in one of the statements that it is made of."""
    yield edits.replace(source, place.value, text)
    if place is not loss:
        yield edits.replace(source, loss.value, source.segment(place.targets[0]))


def without_term(analysis: Analysis, backward: Site, dead: Site) -> Iterator[Candidate]:
    """A sum without the term that trains nothing."""
    chain, source = _chain(analysis, backward), backward.source
    names = {name for part in chain.statements if _holds(source, part.value, dead) for name in _targets(part)}
    for statement in chain.statements:
        for part in nodes_in(statement.value, ast.BinOp):
            if not isinstance(part.op, ast.Add | ast.Sub):
                continue
            used = names_in(part.right)
            if _holds(source, part.right, dead) or used & names:
                text = source.segment(part.left)
                title = message("fix.remove", text=short(source.segment(part.right)))
                yield Candidate(title, (edits.replace(source, part, text),), safe=False)


def _holds(source: SourceText, node: ast.expr, site: Site) -> bool:
    return any(isinstance(part, ast.expr) and source.span(part) == site.span for part in ast.walk(node))


def _compared(value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The two sides of an equality, or of a distance."""
    for node in ast.walk(value):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            yield node.left, node.comparators[0]
        elif is_method_call(node) and len(node.args) >= 2:
            if node.func.attr in _DISTANCES:
                yield node.args[0], node.args[1]


def _uncast(node: ast.expr) -> ast.expr:
    while is_method_call(node, *_CASTS):
        node = node.func.value
    return node


def _scores(chain: _Chain, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The scores that classes were predicted from, and the losses that may take them."""
    for _ in range(5):
        node = _uncast(node)
        value = chain.value_of(node.id) if isinstance(node, ast.Name) else None
        if value is None:
            break
        node = value
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        node = node.value  # x.max(1)[1]
    elif is_attribute(node, "indices") and isinstance(node.value, ast.Call):
        node = node.value
    if is_method_call(node):
        method = not (is_name(node.func.value, "torch", "th"))
        operand = node.func.value if method else node.args[0] if node.args else None
        if operand is not None and node.func.attr in ("argmax", "max"):
            yield "cross_entropy", operand
        elif operand is not None and node.func.attr == "round":
            yield "binary_cross_entropy", operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE):
        yield "binary_cross_entropy", node.left
        yield "binary_cross_entropy_with_logits", node.left


def stored_without_graph(fault: AutogradFault, around: list[ast.stmt]) -> Iterator[Candidate]:
    """Keeps a value from before a loop without its graph: ``old = torch.stack(log_probs).detach()``.

    `around`: the statements before the loop."""
    source = fault.at.source
    made: list[Span] = [part.site.span for part in fault.node.reachable()] if fault.node is not None else []
    for statement in reversed(around):
        for node in ast.walk(statement):
            kept: ast.expr | None = None
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                kept = node.value
            elif is_method_call(node, "append"):
                kept = only(node.args)
            if kept is not None and source.span(kept) in made:
                plain = is_primary(kept)
                text = source.segment(kept) if plain else f"({source.segment(kept)})"
                title = message("fix.append", expression=short(text), suffix=".detach()")
                yield Candidate(title, (edits.replace(source, kept, f"{text}.detach()"),), safe=False)


__all__ = ["OF_NUMBERS", "as_loss", "as_tensors", "stored_without_graph", "without_term"]
