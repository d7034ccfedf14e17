"""Repairs that belong to no single error: an argument too many, two that are exchanged, a key or a size that is written wrongly.

They come behind those of the error itself, and like these only a run shows whether they repair it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchsleuth.errors import (
    absent,
    advice,
    asked,
    became,
    built,
    calls,
    carried,
    classes,
    converted,
    counted,
    demanded,
    drawn,
    exported,
    fields,
    functions,
    grown,
    hooked,
    inputs,
    inverse,
    joined,
    keys,
    left_empty,
    lengths,
    memoryless,
    once,
    optimizers,
    options,
    outlived,
    packed,
    patches,
    plain,
    prepared,
    rebound,
    recorded,
    resized,
    reversed_views,
    sent_back,
    several,
    sized,
    stateful,
    steps,
    switched,
    texts,
    too_short,
    traced,
    unpacked,
    wrapped,
    written_out,
)
from torchsleuth.errors.calls import Builder, by_message
from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.fixes import add_argument, loaders
from torchsleuth.errors.pieces import inside_of_whole, longest_of_batch, whole_pieces
from torchsleuth.errors.written import conflicting, divisible, made_for_another_batch, written_sizes
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_attribute, is_binary, is_spread

_FAR_AWAY: tuple[tuple[str, Builder], ...] = (
    *unpacked.BUILDERS,
    *hooked.BUILDERS,
    *became.BUILDERS,
    *counted.BUILDERS,
    *asked.BUILDERS,
    *packed.BUILDERS,
    *drawn.BUILDERS,
    *absent.BUILDERS,
    *resized.BUILDERS,
    *classes.BUILDERS,
    *options.BUILDERS,
    *inverse.BUILDERS,
    *too_short.BUILDERS,
    *written_out.BUILDERS,
    *reversed_views.BUILDERS,
    *demanded.BUILDERS,
    *texts.BUILDERS,
    *wrapped.BUILDERS,
    *once.BUILDERS,
    *sized.BUILDERS,
    *grown.BUILDERS,
    *exported.BUILDERS,
    *memoryless.BUILDERS,
    *carried.BUILDERS,
    *sent_back.BUILDERS,
    *outlived.BUILDERS,
    *joined.BUILDERS,
    *switched.BUILDERS,
    *left_empty.BUILDERS,
    *several.BUILDERS,
    *built.BUILDERS,
    *prepared.BUILDERS,
    *fields.BUILDERS,
    *steps.BUILDERS,
    *recorded.BUILDERS,
    *stateful.BUILDERS,
    *converted.BUILDERS,
    *inputs.BUILDERS,
    *traced.BUILDERS,
)
"""Those that know the cause, which stands elsewhere: they come in front of what only gets the failing line to run."""
_PLACES: tuple[tuple[str, Callable[[Case], Iterator[Related]]], ...] = (
    *unpacked.PLACES,
    *hooked.PLACES,
    *became.PLACES,
    *counted.PLACES,
    *asked.PLACES,
    *packed.PLACES,
    *drawn.PLACES,
    *absent.PLACES,
    *resized.PLACES,
    *classes.PLACES,
    *options.PLACES,
    *inverse.PLACES,
    *too_short.PLACES,
    *written_out.PLACES,
    *optimizers.PLACES,
    *reversed_views.PLACES,
    *demanded.PLACES,
    *functions.PLACES,
    *texts.PLACES,
    *wrapped.PLACES,
    *once.PLACES,
    *sized.PLACES,
    *grown.PLACES,
    *exported.PLACES,
    *memoryless.PLACES,
    *carried.PLACES,
    *sent_back.PLACES,
    *outlived.PLACES,
    *joined.PLACES,
    *switched.PLACES,
    *left_empty.PLACES,
    *several.PLACES,
    *built.PLACES,
    *prepared.PLACES,
    *fields.PLACES,
    *steps.PLACES,
    *recorded.PLACES,
    *stateful.PLACES,
    *converted.PLACES,
    *inputs.PLACES,
    *traced.PLACES,
)
_BUILDERS: tuple[tuple[str, Builder], ...] = (
    *calls.BUILDERS,
    *functions.BUILDERS,
    *optimizers.BUILDERS,
    *lengths.BUILDERS,
    *patches.BUILDERS,
    *rebound.BUILDERS,
    *plain.BUILDERS,
    *advice.BUILDERS,
)


def at_causes(case: Case) -> list[Related]:
    """The places far from the failing line that explain it, wherever the message belongs."""
    found = [note for expression, places in _PLACES if re.search(expression, _told(case)) for note in places(case)]
    return list(dict.fromkeys(found))[:MAX_CAUSES]


def causes_mended(case: Case) -> list[Fix]:
    """The fixes at such places."""
    return list(by_message(case, _FAR_AWAY))


def _told(case: Case) -> str:
    told: str = case.crash["message"]
    return told


MAX_CAUSES = 4


def generally(case: Case) -> Iterator[Fix]:
    yield from by_message(case, _BUILDERS)
    if case.crash["type"] == "KeyError":
        yield from keys.closest_key(case)
        yield from keys.without_missing(case)
    if "must be divisible by" in case.crash["message"]:
        yield from divisible(case)
    if "index out of range in self" in case.crash["message"]:
        yield from written_sizes(case)
    of_sizes = bool(conflicting(case)) and "index out of range" not in case.crash["message"]
    if of_sizes or "is invalid for input of size" in case.crash["message"]:
        yield from whole_pieces(case)
        yield from inside_of_whole(case)
    if of_sizes and not built.of_loaded_state(case):
        yield from _exchanged(case) if not carried.is_of_state(case) else ()
        yield from _whole_batches(case)
        yield from made_for_another_batch(case)
        yield from longest_of_batch(case)
        yield from written_sizes(case)
        yield from _lazy(case)


def _exchanged(case: Case) -> Iterator[Fix]:
    """``self.score(image, text)`` → ``self.score(text, image)``, ``a @ b`` → ``b @ a``: both tensors, of different sizes."""
    frame, node = case.frame, case.frame.node
    if is_binary(node, ast.MatMult):
        pairs = [(node.left, node.right)]
    elif isinstance(node, ast.Call) and not is_spread(node.args):
        pairs = list(zip(node.args, node.args[1:]))
    else:
        return
    for first, second in pairs:
        one, other = frame.tensor(first), frame.tensor(second)
        if one is None or other is None or one["shape"] == other["shape"] or one["dtype"] != other["dtype"]:
            continue
        if isinstance(node, ast.BinOp) and other["shape"][-1:] != one["shape"][-2:-1]:
            continue
        texts = frame.text(first), frame.text(second)
        title = message("fix.exchange", left=_short(texts[0]), right=_short(texts[1]))
        changes = (edits.replace(frame.source, first, texts[1]), edits.replace(frame.source, second, texts[0]))
        yield Fix(title, changes, safe=False)


def _whole_batches(case: Case) -> Iterator[Fix]:
    """``DataLoader(data, batch_size=8)`` → with ``drop_last=True``, where the last batch of it met a larger one."""
    sizes = {found["shape"][0] for _, found in case.frame.tensor_operands() if found["shape"]}
    for source, call in loaders(case, "drop_last") if len(sizes) == 2 and min(sizes) > 1 else ():
        size = argument_of(call, 1, "batch_size")
        if size is not None and getattr(size, "value", max(sizes)) == max(sizes):
            yield add_argument(source, call, "drop_last=True", safe=False)


def _lazy(case: Case) -> Iterator[Fix]:
    """``nn.Linear(width * 18, 1)`` → ``nn.LazyLinear(1)``, where the size is computed: it is then taken from the first input."""
    found = constructor_call(case)
    if found is None or case.module is None or case.module["type"] != "Linear":
        return
    site, call = found
    computed = len(call.args) >= 2 and not isinstance(call.args[0], ast.Constant | ast.Name | ast.Starred)
    if computed and is_attribute(call.func, "Linear"):
        rest = site.source.text[
            site.source.offset(site.source.start_of(call.args[1])) : site.source.offset(site.source.end_of(call))
        ]
        new = f"{site.source.segment(call.func.value)}.LazyLinear({rest}"
        title = message("fix.lazy", layer=case.layer)
        yield Fix(title, (edits.replace(site.source, call, new),), safe=False)


def _short(text: str) -> str:
    return " ".join(text.split())[:40]
