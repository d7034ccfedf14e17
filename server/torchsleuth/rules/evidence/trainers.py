"""Where it is written that a trainer was set up as it was: an argument of the call that made it, a method of its module."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchsleuth.interp.misuses import Misuse, Rejection
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.uses import name_span
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import argument_of, keyword_of, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import ClassValue, Function, Instance, Tensor
from torchsleuth.values.join import MISSING

Written = tuple[SourceText, ast.Call, ast.keyword]
"""A keyword that is given, the call that it stands in, and the file."""
_OF_RESULT = ("optimizers", "plateau", "divided_twice")
"""The reasons that lie in what a method gives."""


def finding(analysis: Analysis, misuse: Misuse[Rejection], fixes: Iterable[Candidate] = ()) -> Finding:
    """The finding, at the place to blame."""
    rejection = misuse.value
    subject = as_kind(rejection.subject, Instance)
    told = [shape_text(one.spec) if isinstance(one, Tensor) else str(one) for one in rejection.told]
    text = message(
        f"trainer.{rejection.reason}",
        owner=subject.cls.name if subject is not None else "",
        part=rejection.part,
        told=told[0] if told else "",
        also=told[1] if len(told) > 1 else "",
    )
    return Finding(_place(analysis, misuse), text, (), tuple(fixes))


def method_of(misuse: Misuse[Rejection]) -> tuple[str, ast.FunctionDef] | None:
    """The method to blame, in the user's class of an object, and its file."""
    subject = as_kind(misuse.value.subject, Instance)
    classes = of_kind(subject.cls.mro(), ClassValue) if subject is not None else ()
    held = as_kind(
        next((one.slots[misuse.value.part] for one in classes if misuse.value.part in one.slots), MISSING), Function
    )
    return (held.path, held.node) if held is not None and isinstance(held.node, ast.FunctionDef) else None


def written(misuse: Misuse[Rejection]) -> Written | None:
    """The keyword to blame: of the user's call, or of that which made the subject."""
    subject = misuse.value.subject
    site = subject.site if isinstance(subject, Instance) else misuse.site
    keyword = keyword_of(site.call, misuse.value.part) if site is not None and site.call is not None else None
    return (
        (site.source, site.call, keyword)
        if site is not None and site.call is not None and keyword is not None
        else None
    )


def _place(analysis: Analysis, misuse: Misuse[Rejection]) -> Span:
    method, keyword = method_of(misuse), written(misuse)
    if method is not None:
        path, node = method
        returned = [one.value for one in nodes_in(node, ast.Return) if one.value is not None]
        gives = misuse.value.reason in _OF_RESULT and len(returned) == 1
        return analysis.source_of(path).span(returned[0]) if gives else name_span(analysis.source_of(path), node)
    if keyword is not None:
        return keyword[0].span(keyword[2])
    call = misuse.site.call
    given = argument_of(call, 1, "value") if call is not None and misuse.value.part == "value" else None
    return misuse.site.source.span(given) if given is not None else misuse.site.span
