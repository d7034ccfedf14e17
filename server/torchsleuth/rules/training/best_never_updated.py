"""best-never-updated: a best value that begins at infinity, and is replaced where something is larger.

What it finds
    `best = float("inf")`, and an `if loss > best:` that alone gives it another value; the same from minus infinity with `<`, and
    from 0 with `<` where what is compared is a loss that is never negative, or an accuracy. Of variables, and of attributes.
Why it hurts
    The condition never holds: no checkpoint is saved, and early stopping stops after as many epochs as it is patient.
Example
    best = float("inf")
    if loss > best:
        best = loss
Use instead
    if loss < best:
        best = loss
Fix safety
    Safe: a comparison that never holds is turned round.
References
    math.inf
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_reference, is_unary, last_word, names_in

CODE = "TS554"
_TURNED = {ast.Gt: ("<", "larger", "inf"), ast.Lt: (">", "smaller", "-inf")}
"""By a comparison with what begins at an infinity: the one that is meant, what nothing is, and that infinity."""
_FROM_ZERO = frozenset(
    "cross_entropy CrossEntropyLoss mse_loss MSELoss l1_loss L1Loss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss "
    "binary_cross_entropy BCELoss binary_cross_entropy_with_logits BCEWithLogitsLoss".split()
)
"""Losses that are never negative."""
_SHARES = frozenset({"acc", "accuracy", "iou", "miou", "dice", "auc", "f1"})
"""Words for shares of one, of which the largest is the best."""
_MAX_STEPS = 60


def find(analysis: Analysis) -> Iterator[Finding]:
    index = analysis.index(analysis.source.path)
    begun = {
        last_word(target)
        for store in index.of_type(ast.Assign)
        for target, value in _pairs(store)
        if _is_zero(value) or any(_is_infinite(value, start) for _, _, start in _TURNED.values())
    }
    for node in index.of_type(ast.If) if begun else ():
        for test in of_kind(_all_of(node.test), ast.Compare):
            if len(test.ops) == 1 and type(test.ops[0]) in _TURNED:
                left, right, kind = test.left, test.comparators[0], type(test.ops[0])
                mirrored = ast.Lt if kind is ast.Gt else ast.Gt
                for value, best, way in ((left, right, kind), (right, left, mirrored)):
                    if is_reference(best) and last_word(best) in begun:
                        yield from _of_test(analysis, node, test, value, best, *_TURNED[way])


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The conditions that all have to hold for a test to."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _of_test(
    analysis: Analysis,
    node: ast.If,
    test: ast.Compare,
    value: ast.expr,
    best: ast.Name | ast.Attribute,
    turned: str,
    word: str,
    start: str,
) -> Iterator[Finding]:
    """`best`: the side that may begin at the infinity `start`, than which no `value` is `word`."""
    source = analysis.source
    name, tree = ast.unparse(best), analysis.tree(source.path)
    stores = _stores(best, tree if isinstance(best, ast.Attribute) else _scope(tree, node))
    if stores is None:
        return
    inside = [part for part in stores if any(part is one for then in node.body for one in ast.walk(then))]
    first = [part for part in stores if part not in inside]
    updated = bool(inside) and all(_text(_given(part, name)) == ast.unparse(value) for part in inside)
    if first and updated and start == "-inf" and all(_is_zero(_given(part, name)) for part in first):
        yield from _of_zero(analysis, test, value, best, first)
    elif first and updated and all(_is_infinite(_given(part, name), start) for part in first):
        new = f"{source.segment(value)} {turned} {source.segment(best)}"
        made = source.span(first[0]).related(message("related.origin.plain", tensor=f"`{name}`", shape=start))
        fix = replacement(source, test, new)
        yield Finding(source.span(test), message("best.never", best=name, start=start, word=word), (made,), (fix,))


def _of_zero(
    analysis: Analysis, test: ast.Compare, value: ast.expr, best: ast.expr, first: list[ast.Assign]
) -> Iterator[Finding]:
    """A value that is never negative has to be smaller than a best one which begins at zero."""
    source, name = analysis.source, ast.unparse(best)
    words = {word for name in _summed(analysis, value) for word in name.lower().split("_")}
    begun = _given(first[0], name)
    if "loss" in words and _never_negative(analysis) and begun is not None:
        fix = Candidate(
            message("fix.replace", old="0", new='float("inf")'), (edits.replace(source, begun, 'float("inf")'),)
        )
    elif words & _SHARES:
        new = f"{source.segment(value)} > {source.segment(best)}"
        fix = replacement(source, test, new)
    else:
        return
    made = source.span(first[0]).related(message("related.origin.plain", tensor=f"`{name}`", shape="0"))
    text = message("best.zero", best=name, value=f"`{source.segment(value)}`")
    yield Finding(source.span(test), text, (made,), (fix,))


def _summed(analysis: Analysis, value: ast.expr) -> set[str]:
    """The names in a value, and in what is added to them."""
    names = names_in(value)
    sums = analysis.index(analysis.source.path).of_type(ast.AugAssign)
    return names.union(*(names_in(part.value) for part in sums if names_in(part.target) & names))


def _never_negative(analysis: Analysis) -> bool:
    """Whether all that the script learns from are losses of PyTorch's that are zero at least, and sums of them."""
    pending = [event.tensor for event in analysis.events("backward") if event.tensor is not None]
    seen: set[int] = set()
    for _ in range(_MAX_STEPS) if pending else ():
        current = pending.pop() if pending else None
        origin = current.origin if current is not None else None
        if current is None:
            return True
        if origin is None:
            return False
        name = origin.name
        if id(origin) in seen or name in _FROM_ZERO:
            continue
        seen.add(id(origin))
        if name not in ("add", "mean", "sum", "iadd") or not origin.sources:
            return False
        pending += origin.sources
    return False


def _is_zero(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float) and value.value == 0


def _scope(tree: ast.Module, node: ast.AST) -> ast.AST:
    """The function around a node, or else the module."""
    around = edits.path_to(tree, node)
    return next((part for part in reversed(around) if isinstance(part, ast.FunctionDef)), tree)


def _stores(best: ast.Name | ast.Attribute, scope: ast.AST) -> list[ast.Assign] | None:
    """All assignments that give the name or attribute a value; None where something else may give it one."""
    found: list[ast.Assign] = []
    taken = 0
    for part in ast.walk(scope):
        if isinstance(part, ast.Global | ast.Nonlocal) or called(part) in ("setattr", "vars", "load_state_dict"):
            return None
        if isinstance(part, ast.Assign):
            mine = [one for target in part.targets for one in ast.walk(target) if _is_same(one, best)]
            found += [part] if mine else []
            taken += len(mine)
        elif _is_same(part, best):
            taken -= 1
    return found if taken == 0 else None


def _is_same(node: ast.AST, best: ast.Name | ast.Attribute) -> bool:
    """Whether a node binds the name, or the attribute of whatever object."""
    if isinstance(best, ast.Attribute):
        return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == best.attr
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == best.id


def _pairs(store: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment and what each gets, also as one of several: ``best, bad = inf, 0``."""
    for target in store.targets:
        yield target, store.value
        if isinstance(target, ast.Tuple) and isinstance(store.value, ast.Tuple):
            yield from zip(target.elts, store.value.elts)


def _given(store: ast.Assign, name: str) -> ast.expr | None:
    """The value that an assignment gives the name."""
    return next((value for target, value in _pairs(store) if ast.unparse(target) == name), None)


def _is_infinite(value: ast.expr | None, start: str) -> bool:
    """``float("inf")``, ``math.inf``, ``np.inf``, and what is below all numbers: ``-math.inf``, ``float("-inf")``."""
    if is_unary(value, ast.USub):
        return start == "-inf" and _is_infinite(value.operand, "inf")
    if isinstance(value, ast.Call) and called(value) == "float" and len(value.args) == 1:
        return str(getattr(value.args[0], "value", "")).lower().lstrip("+") in (start, f"{start}inity")
    return isinstance(value, ast.Attribute) and value.attr.lower() == start and isinstance(value.value, ast.Name)


def _text(value: ast.expr | None) -> str:
    return ast.unparse(value) if value is not None else ""


RULE = Rule(FAULTS[CODE], find)
