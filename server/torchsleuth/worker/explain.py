"""Explains expressions: what is known of them, and why the rest is not, for `torchsleuth explain` and hovers."""

from __future__ import annotations

import ast
import textwrap

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.reasons import Watch, dotted, is_obscure
from torchsleuth.messages import message
from torchsleuth.schema import Cause, Explanation
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import Reason, Tensor, Unknown, Value
from torchsleuth.values.description import NAMED, describe
from torchsleuth.values.frames import Frame

LONGEST = 60
"""Characters of an expression that are shown."""


def explanations(interpreter: Interpreter, watch: Watch, source: SourceText) -> tuple[Explanation, ...]:
    """One for each expression that was watched and has something to say: names, attributes, calls, operators; no constants,
    and nothing that a library or Python defines."""
    found = []
    for node, values in watch.expressions():
        if isinstance(node, ast.Constant):
            continue
        settled = [_settled(interpreter, value) for value in values]
        causes = next((causes for value in settled if (causes := _causes(value))), ())
        if not causes and not any(map(_is_telling, settled)):
            continue
        span = source.span(node)
        known = tuple(dict.fromkeys(map(describe, settled)))
        found.append(Explanation(span.path, span.start, span.end, _text(node), known, causes))
    return tuple(found)


def _is_telling(value: Value) -> bool:
    """Whether a value is worth a line: what stands there is not, such as a function, a class or a module by its name."""
    return not isinstance(value, NAMED)


def _settled(interpreter: Interpreter, value: Value) -> Value:
    """A value with everything that was found out later put in."""
    if isinstance(value, Tensor):
        settled = value.copy()
        settled.slots["spec"] = interpreter.resolved_spec(value.spec)
        settled.obscured = value.obscured
        return settled
    return interpreter.resolved(value) if isinstance(value, Dim) else value


def _causes(value: Value) -> tuple[Cause, ...]:
    """Why a value is unknown, or the shape of a tensor."""
    unknown = as_kind(value.obscured if isinstance(value, Tensor) and is_obscure(value.spec) else value, Unknown)
    return chain(unknown) if unknown is not None else ()


def chain(unknown: Unknown) -> tuple[Cause, ...]:
    """The chain of reasons of an unknown, the first cause last."""
    causes: list[Cause] = []
    told = ""
    for link in unknown.chain():
        site = link.site
        if site is None:
            continue
        last = link.cause is None
        name = _name(link.reason, site.node, site.frame)
        identifier = "incomplete" if last and link.reason is Reason.DERIVED else link.reason.value.replace(" ", "_")
        text = message(f"why.{identifier}", name=name)
        if text == told:
            continue
        told = text
        causes.append(Cause(site.span.path, site.span.start, site.span.end, text, link.reason.value, name))
    return tuple(causes)


def _name(reason: Reason, node: ast.AST, frame: Frame) -> str:
    """The name under which the user would look for the cause."""
    if isinstance(node, ast.arg):
        return node.arg
    if reason is Reason.CALL and isinstance(node, ast.Call):
        return textwrap.shorten(dotted(node.func, frame), LONGEST, placeholder="…")
    return _text(node)


def _text(node: ast.AST) -> str:
    return textwrap.shorten(" ".join(ast.unparse(node).split()), LONGEST, placeholder="…")
