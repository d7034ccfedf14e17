"""Repairs that belong to no single error: an argument too many, two that are exchanged, a key or a size that is written wrongly.

They come behind those of the error itself, and like these only a run shows whether they repair it.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from torchsleuth.errors import advice, calls, functions, lengths, optimizers, patches, rebound
from torchsleuth.errors.calls import Builder, by_message
from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.pieces import inside_of_whole, longest_of_batch, whole_pieces
from torchsleuth.errors.written import conflicting, divisible, made_for_another_batch, written_sizes
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.syntax import edits

_BUILDERS: tuple[tuple[str, Builder], ...] = (
    *calls.BUILDERS,
    *functions.BUILDERS,
    *optimizers.BUILDERS,
    *lengths.BUILDERS,
    *patches.BUILDERS,
    *rebound.BUILDERS,
    *advice.BUILDERS,
)
CLOSE = 0.7
"""How alike a key and the one that is meant are."""


def generally(case: Case) -> Iterator[Fix]:
    yield from by_message(case, _BUILDERS)
    if case.crash["type"] == "KeyError":
        yield from _closest_key(case)
        yield from _without_missing(case)
    if "must be divisible by" in case.crash["message"]:
        yield from divisible(case)
    of_sizes = bool(conflicting(case))
    if of_sizes or "is invalid for input of size" in case.crash["message"]:
        yield from whole_pieces(case)
        yield from inside_of_whole(case)
    if of_sizes:
        yield from _exchanged(case)
        yield from made_for_another_batch(case)
        yield from longest_of_batch(case)
        yield from written_sizes(case)
        yield from _lazy(case)


def _closest_key(case: Case) -> Iterator[Fix]:
    """``batch["labels"]`` → ``batch["label"]``, of the keys that the dictionary had."""
    node = case.frame.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return
    wrong, found = node.slice.value, case.frame.value(node.value) or {}
    if not isinstance(wrong, str):
        return
    for key in _closest(wrong, [key for key in found.get("keys", ()) if isinstance(key, str)]):
        yield replace(case.frame, node.slice, repr(key) if "'" in case.frame.text(node.slice) else f'"{key}"')


def _without_missing(case: Case) -> Iterator[Fix]:
    """``self.names = names`` → ``self.names = [key for key in names if key in LABELS]``, where a sample is looked up in ``LABELS``
    by its name, and has no entry."""
    frame, node = case.frame, case.frame.node
    method, key = frame.enclosing, node.slice if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or getattr(method, "name", "") != "__getitem__":
        return
    listed = key.value if isinstance(key, ast.Subscript) else None
    if not isinstance(node.value, ast.Name) or not isinstance(listed, ast.Attribute):
        return
    for cls in (part for part in ast.walk(frame.tree) if isinstance(part, ast.ClassDef) and method in part.body):
        stores = [part for part in ast.walk(cls) if isinstance(part, ast.Assign) and len(part.targets) == 1]
        for store in stores:
            if frame.text(store.targets[0]) == frame.text(listed):
                new = f"[key for key in {frame.text(store.value)} if key in {node.value.id}]"
                yield replace(frame, store.value, new, safe=False)


def _closest(wrong: str, keys: list[str]) -> list[str]:
    """The keys that are written alike, without regard to case, or that have one as a part of the other."""
    lower = {key.lower(): key for key in keys}
    alike = difflib.get_close_matches(wrong.lower(), sorted(lower), n=2, cutoff=CLOSE)
    parts = [key for key in sorted(lower) if key and (key in wrong.lower() or wrong.lower() in key)]
    return [lower[key] for key in dict.fromkeys([*alike, *parts])]


def _exchanged(case: Case) -> Iterator[Fix]:
    """``self.score(image, text)`` → ``self.score(text, image)``, ``a @ b`` → ``b @ a``: both tensors, of different sizes."""
    frame, node = case.frame, case.frame.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        pairs = [(node.left, node.right)]
    elif isinstance(node, ast.Call) and not any(isinstance(item, ast.Starred) for item in node.args):
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


def _lazy(case: Case) -> Iterator[Fix]:
    """``nn.Linear(width * 18, 1)`` → ``nn.LazyLinear(1)``, where the size is computed: it is then taken from the first input."""
    found = constructor_call(case)
    if found is None or case.module is None or case.module["type"] != "Linear":
        return
    site, call = found
    computed = len(call.args) >= 2 and not isinstance(call.args[0], ast.Constant | ast.Name | ast.Starred)
    if computed and isinstance(call.func, ast.Attribute) and call.func.attr == "Linear":
        rest = site.source.text[
            site.source.offset(site.source.start_of(call.args[1])) : site.source.offset(site.source.end_of(call))
        ]
        new = f"{site.source.segment(call.func.value)}.LazyLinear({rest}"
        title = message("fix.lazy", layer=case.layer)
        yield Fix(title, (edits.replace(site.source, call, new),), safe=False)


def _short(text: str) -> str:
    return " ".join(text.split())[:40]
