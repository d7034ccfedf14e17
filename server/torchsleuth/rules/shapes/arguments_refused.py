"""arguments-refused: a module or function is called with sizes that its own checks refuse.

What it finds
    A call in the program after which `assert n_embd % n_head == 0`, or `if x.shape[1] != self.channels: raise ValueError(...)`,
    certainly raises, as the numbers and sizes are known.
Why it hurts
    AssertionError or ValueError, often only where the whole model is built or in the first step.
Example
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            assert dim % heads == 0
    layer = Attention(64, heads=6)
Use instead
    layer = Attention(64, heads=8)
Fix safety
    Unsafe: another number, where it was written, with which the check holds.
References
    The Python Language Reference, "The assert statement"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse, Refusal
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import computed, held, written_for
from torchsleuth.rules.evidence.operands import replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.comparisons import COMPARED
from torchsleuth.syntax.forms import by_position, is_binary, is_reference
from torchsleuth.syntax.substitution import substituted
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Value, is_object_named
from torchsleuth.values.frames import Scene

CODE = "TS123"
_FARTHEST = 4096
"""Numbers up to this one are tried in the place of one that is refused."""
_CHOICES = 2
"""Numbers that are offered where one is to divide another: the nearest to either side."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.REFUSED):
        scene, refusal = misuse.site.scene, misuse.value
        called = _call(scene)
        if called is None or called.call is None or called.caller is None or _is_of_options(refusal, scene):
            continue
        names = list(_names(refusal, scene))
        text = message(
            "refused",
            callee=ast.unparse(called.call.func),
            condition=f"{ast.unparse(refusal.left)} {refusal.operator} {ast.unparse(refusal.right)}",
            values=", ".join(f"{name} is {_text(value)}" for name, value in _values(refusal, names, scene)),
        )
        places = (misuse.site.span.related(message("refused.here")), *_places(names, scene))
        yield Finding(called.caller.source.span(called.call), text, places, tuple(_renumbered(misuse, names)))


def _call(scene: Scene) -> Scene | None:
    """The scene of the call that chooses the arguments: further out where it only passes on what its own function is given."""
    while scene.call is not None and scene.caller is not None:
        function = scene.caller.function
        own = {one.arg for one in by_position(function.node.args)} if function is not None else set()
        given = [*scene.call.args, *(one.value for one in scene.call.keywords)]
        if function is None or not given or not all(isinstance(one, ast.Name) and one.id in own for one in given):
            return scene
        scene = scene.caller
    return None


def _is_of_options(refusal: Refusal, scene: Scene) -> bool:
    """Whether it is about an option of the command line, whose default may be there to be refused."""
    parts = (one for side in (refusal.left, refusal.right) for one in ast.walk(side))
    return any(isinstance(one, ast.Attribute) and is_object_named(held(one.value, scene), "Namespace") for one in parts)


def _names(refusal: Refusal, scene: Scene) -> Iterator[ast.expr]:
    """The names and attributes in a comparison that hold numbers."""
    seen: set[str] = set()
    for side in (refusal.left, refusal.right):
        for node in ast.walk(side):
            if is_reference(node) and is_number(held(node, scene)) and ast.unparse(node) not in seen:
                seen.add(ast.unparse(node))
                yield node


def _values(refusal: Refusal, names: list[ast.expr], scene: Scene) -> Iterator[tuple[str, Value]]:
    """The values that are told: those of the names that a side computes with, and of a side that is no computation."""
    for side, value in zip((refusal.left, refusal.right), refusal.values):
        within = [name for name in names if any(name is one for one in ast.walk(side))]
        if isinstance(side, ast.BinOp) and within:
            yield from ((ast.unparse(name), held(name, scene)) for name in within)
        elif not isinstance(side, ast.Constant):
            yield ast.unparse(side), value


def _text(value: Value) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def _places(names: list[ast.expr], scene: Scene) -> Iterator[Related]:
    """Where the numbers were written, other than in the call itself."""
    for name in names:
        written = written_for(name, scene)
        if written is not None and isinstance(written[0], ast.Constant):
            span = written[1].source.span(written[0])
            yield span.related(message("refused.written", name=ast.unparse(name), value=written[0].value))


def _renumbered(misuse: Misuse[Refusal], names: list[ast.expr]) -> Iterator[Candidate]:
    """The nearest numbers with which the comparison holds, where one is written down."""
    refusal, scene = misuse.value, misuse.site.scene
    for name in reversed(names):
        written, given = written_for(name, scene), as_kind(held(name, scene), int)
        if written is None or given is None or not isinstance(written[0], ast.Constant):
            continue
        wanted = sorted(range(1, min(4 * given, _FARTHEST) + 1), key=lambda number: abs(number - given))
        fitting = (number for number in wanted if _holds(refusal, ast.unparse(name), number, scene))
        for number in islice(fitting, _CHOICES if _is_of_division(refusal) else 1):
            yield replaced(written[1].site(written[0]), written[0], str(number), safe=False)


def _is_of_division(refusal: Refusal) -> bool:
    return is_binary(refusal.left, ast.Mod) or is_binary(refusal.right, ast.Mod)


def _holds(refusal: Refusal, name: str, number: int, scene: Scene) -> bool:
    """Whether a comparison holds with another number for one of its names."""
    sides = []
    for side, value in zip((refusal.left, refusal.right), refusal.values):
        changed = substituted(side, name, ast.Constant(number))
        sides.append(value if ast.unparse(changed) == ast.unparse(side) else computed(changed, scene))
    return None not in sides and COMPARED[refusal.operator](*sides)


RULE = Rule(FAULTS[CODE], find)
