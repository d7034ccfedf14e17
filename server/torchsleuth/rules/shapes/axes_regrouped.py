"""axes-regrouped: a pattern of einops takes axes apart in another order than they were merged in.

What it finds
    `rearrange()` of what another one has made, that leads back to the axes of before, where a group in brackets has the same names as
    in the first pattern, in another order; no layer stands between the two.
Why it hurts
    The sizes fit, since their product is the same, and nothing is raised. Each element goes to a place of its patch that it
    did not come from.
Example
    tokens = rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=8, q=8)
    images = rearrange(tokens, "b (h w) (c p q) -> b c (h p) (w q)", h=4, w=4, p=8, q=8)
Use instead
    images = rearrange(tokens, "b (h w) (p q c) -> b c (h p) (w q)", h=4, w=4, p=8, q=8)
Fix safety
    Safe: the group in the order of the first pattern.
References
    "Einops tutorial, part 1: basics", composition and decomposition of axes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library import einops
from torchsleuth.interp.library.einops import Group, Pattern
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import steps
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of, is_text
from torchsleuth.values import Tensor

CODE = "TS126"
_REARRANGES = "einops.rearrange"


def find(analysis: Analysis) -> Iterator[Finding]:
    calls = analysis.calls.get(_REARRANGES, ())
    merging = {id(call.result.origin): call for call in calls if isinstance(call.result, Tensor)}
    seen: set[Span] = set()
    for call in calls:
        before = _merging(call, merging)
        pair = _regrouped(before, call) if before is not None else None
        if before is not None and pair is not None and call.site.span not in seen:
            seen.add(call.site.span)
            yield _finding(call, before, *pair)


def _pattern(call: LibraryCall) -> Pattern | None:
    text = as_kind(call.given(1, "pattern"), str)
    return einops.parsed(text) if text is not None else None


def _merging(call: LibraryCall, made: Mapping[int, LibraryCall]) -> LibraryCall | None:
    """The call of rearrange() whose result another one takes, with no layer in between."""
    given = as_kind(call.args[0], Tensor) if call.args else None
    for _, origin in steps(given) if given is not None else ():
        if id(origin) in made:
            return made[id(origin)]
        if origin.operator.startswith("torch.nn."):
            return None
    return None


def _regrouped(merging: LibraryCall, call: LibraryCall) -> tuple[Group, Group] | None:
    """A group as it was merged and as it is taken apart, where the second pattern leads back to the axes of the first one."""
    first, second = _pattern(merging), _pattern(call)
    if first is None or second is None or second.right != first.left or len(second.left) != len(first.right):
        return None
    pairs = list(zip(first.right, second.left))
    odd = [(old, new) for old, new in pairs if old != new]
    alike = all(sorted(old) == sorted(new) for old, new in pairs)
    return odd[0] if alike and odd else None


def _finding(call: LibraryCall, merging: LibraryCall, old: Group, new: Group) -> Finding:
    source, node = call.site.source, call.site.call
    words = {"old": " ".join(old), "new": " ".join(new)}
    pattern = argument_of(node, 1, "pattern") if node is not None else None
    place = merging.site.span.related(message("regrouped.merged", old=words["old"]))
    if not is_text(pattern) or f"({words['new']})" not in source.segment(pattern):
        return Finding(call.site.span, message("regrouped", **words), (place,))
    text = source.segment(pattern).replace(f"({words['new']})", f"({words['old']})", 1)
    return Finding(source.span(pattern), message("regrouped", **words), (place,), (replacement(source, pattern, text),))


RULE = Rule(FAULTS[CODE], find)
