"""Where the values came from that are no numbers, for a crash that is about them: the division or logarithm whose operands were finite.

The run has looked at the values of the expressions that it recorded. Only the first ones are to blame: whatever is computed
from them is not finite either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchsleuth.errors.case import Sources, enclosing_function
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Json, Related, TensorFact
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import given_to, is_binary, is_method_call, keyword_of, names_in, stands_on
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText

_ABOUT = re.compile(r"\b(?:nan|inf)\b|non-?finite", re.IGNORECASE)
_OF_POSITIVE = frozenset({"log", "sqrt", "rsqrt", "log2", "log10", "reciprocal"})
_OF_SEVERAL = frozenset({"std", "var"})
"""Functions that need two elements at least, unless they are told that these are all there are."""
_SMALL = "1e-8"
MAX_NOTES = 2
MAX_FIXES = 4


def with_source(diagnostic: Diagnostic, crash: Json, facts: Iterable[TensorFact], sources: Sources) -> Diagnostic:
    """A crash that is about values which are not finite, with the expressions that made the first ones, and their repairs."""
    if _ABOUT.search(crash["message"]) is None:
        return diagnostic
    bad = [fact for fact in facts if fact.values is not None and fact.values.bad]
    notes: list[Related] = []
    fixes: list[Fix] = []
    for fact in bad:
        source = sources(fact.path)
        tree = parse(source)
        node = next((item for item in ast.walk(tree) if _is_at(source, item, fact)), None)
        if (
            isinstance(node, ast.expr)
            and _finite_operands(source, tree, node, bad)
            and (made := _repaired(source, node, _divides(tree, node)))
        ):
            text = message("error.not_finite_here", expression=source.on_one_line(node)[:60])
            notes.append(Related(fact.path, fact.start, fact.end, text))
            fixes.append(made)
    related = (*notes[:MAX_NOTES], *diagnostic.related)
    return replace(diagnostic, related=related, fixes=(*fixes[:MAX_NOTES], *diagnostic.fixes)[:MAX_FIXES])


def _is_at(source: SourceText, node: ast.AST, fact: TensorFact) -> bool:
    if not isinstance(node, ast.BinOp | ast.Call):
        return False
    return (source.start_of(node), source.end_of(node)) == (fact.start, fact.end)


def _finite_operands(source: SourceText, tree: ast.Module, node: ast.expr, bad: list[TensorFact]) -> bool:
    """Whether nothing that the expression is computed from was bad: no part of it, and no variable that is set elsewhere."""
    function = enclosing_function(tree, node.lineno)
    names = names_in(node)
    start, end = source.start_of(node), source.end_of(node)
    for fact in bad:
        inside = fact.path == source.path and start <= fact.start and fact.end <= end
        if inside and (fact.start, fact.end) != (start, end):
            return False
        same = fact.path == source.path and enclosing_function(tree, fact.start.line) is function
        own = stands_on(node, fact.start.line)
        if same and not own and fact.binding in names:
            return False
    return True


def _repaired(source: SourceText, node: ast.expr, divided: bool) -> Fix | None:
    """``x / x.std()`` → ``x / (x.std() + 1e-8)``; the same for logarithms and roots. ``x.std()`` → ``x.std(unbiased=False)``, which one
    element has, too (with a small number added where something is divided by it); ``x[mask].mean()`` → the sum by the number of elements, which may be none."""
    if is_method_call(node, *_OF_SEVERAL):
        if keyword_of(node, "unbiased") is None and keyword_of(node, "correction") is None:
            text = "unbiased=False"
            if divided:
                inside = source.text[source.offset(source.start_of(node)) : source.offset(source.end_of(node)) - 1]
                new = f"({inside}{', ' if given_to(node) else ''}{text}) + {_SMALL})"
                title = message("fix.replace", old=source.on_one_line(node)[:60], new=new[:60])
                return Fix(title, (edits.replace(source, node, new),), safe=False)
            title = message("fix.add_argument", argument=text)
            return Fix(title, (edits.add_argument(source, node, text),), safe=False)
        return None
    if is_method_call(node, "mean") and not given_to(node) and isinstance(node.func.value, ast.Subscript):
        whole = source.segment(node.func.value)
        new = f"({whole}.sum() / max({whole}.numel(), 1))"
        title = message("fix.replace", old=source.on_one_line(node)[:60], new=new[:60])
        return Fix(title, (edits.replace(source, node, new),), safe=False)
    for place, text in _places(source, node):
        title = message("fix.replace", old=source.on_one_line(place)[:60], new=text[:60])
        return Fix(title, (edits.replace(source, place, text),), safe=False)
    return None


def _divides(tree: ast.Module, node: ast.expr) -> bool:
    """Whether something is divided by an expression as it is, with nothing added."""
    trail = edits.path_to(tree, node)
    return len(trail) > 1 and is_binary(trail[-2], ast.Div) and trail[-2].right is node


def _places(source: SourceText, node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if is_binary(node, ast.Div) and not isinstance(node.right, ast.Constant):
        yield node.right, f"({source.segment(node.right)} + {_SMALL})"
    elif is_method_call(node, *_OF_POSITIVE):
        if node.args:
            yield node.args[0], f"{source.segment(node.args[0])} + {_SMALL}"
        else:
            yield node.func.value, f"({source.segment(node.func.value)} + {_SMALL})"
