"""stream-repeated-by-workers: every worker of a loader goes through the whole stream.

What it finds
    A loader with num_workers of 2 or more and without worker_init_fn over an IterableDataset whose `__iter__` goes through
    a range, a file or a list of its own, and asks nowhere which worker it runs in.
Why it hurts
    Each worker has a copy of the dataset, and yields all of it: an epoch has every sample num_workers times, in training as
    in an evaluation. Nothing is raised.
Example
    def __iter__(self):
        for line in open(self.path):
            yield parse(line)
Use instead
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info is not None else (0, 1)
        for line in itertools.islice(open(self.path), first, None, step):
            yield parse(line)
Fix safety
    Safe: together, the workers yield every sample once.
References
    torch.utils.data.IterableDataset, torch.utils.data.get_worker_info
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import ITERABLE, option
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import constructions, dataset_text, head, spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import contains, is_dotted, is_plain_call, last_word
from torchsleuth.values import Array, ClassValue, DictValue, Function, Instance, ListValue, Tensor, Value, is_native

CODE = "TS621"
_PASSING = frozenset("enumerate zip sorted reversed iter list tuple reader DictReader".split())
"""Functions that give as much as they are given."""
_DIVIDED = re.compile(r"worker|rank|shard|islice|part|dist", re.IGNORECASE)
_DRAWN = re.compile(r"rand|shuffle|sample|choice|uniform|normal", re.IGNORECASE)


def find(analysis: Analysis) -> Iterator[Finding]:
    for call, loader, node in constructions(analysis):
        workers, dataset = as_kind(option(loader, "num_workers"), int), as_kind(option(loader, "dataset"), Instance)
        if workers is None or workers < 2 or option(loader, "worker_init_fn") is not None:
            continue
        method = _iter_of(dataset) if dataset is not None else None
        if method is None or dataset is None or not _goes_through_all(dataset, method):
            continue
        source = analysis.source_of(method.path)
        loops = _loops(method)
        places = (source.span(loops[0].iter).related(message("data.stream.loop")),)
        text = message("data.stream", dataset=dataset_text(dataset), workers=workers)
        at = head(analysis, call.site.span.path, node)
        yield Finding(at, text, places, _divided(analysis, method.path, loops))


def _iter_of(dataset: Instance) -> Function | None:
    """The user's own ``__iter__`` of an IterableDataset."""
    bases = dataset.cls.mro() if not dataset.cls.opaque else []
    if not any(is_native(base, ITERABLE) for base in bases):
        return None
    found = as_kind(
        next((base.slots["__iter__"] for base in of_kind(bases, ClassValue) if "__iter__" in base.slots), None),
        Function,
    )
    return found if found is not None and isinstance(found.node, ast.FunctionDef) else None


def _loops(method: Function) -> list[ast.For]:
    body = method.node.body if isinstance(method.node, ast.FunctionDef) else []
    return of_kind(body, ast.For)


def _goes_through_all(dataset: Instance, method: Function) -> bool:
    """Whether the samples are known to be the same in each worker: nothing is drawn, and nothing asks for the worker."""
    for base in dataset.cls.mro():
        methods = base.slots.values() if isinstance(base, ClassValue) else ()
        for part in (part for held in methods for part in _nodes(held)):
            name = last_word(part)
            if _DIVIDED.search(name):
                return False
            if is_plain_call(part):
                called = last_word(part.func)
                if _DRAWN.search(called) and not any(word.arg == "generator" for word in part.keywords):
                    return False
    loops = _loops(method)
    plain = not contains(method.node, ast.While, ast.YieldFrom, ast.Return, ast.Break)
    return plain and len(loops) == 1 and contains(loops[0], ast.Yield) and _is_whole(dataset, loops[0].iter)


def _nodes(held: Value) -> Iterator[ast.AST]:
    if isinstance(held, Function) and held.name != "__init__":
        yield from ast.walk(held.node)


def _is_whole(dataset: Instance, node: ast.expr) -> bool:
    """A range, an open file, or what the dataset holds."""
    if is_plain_call(node):
        name = last_word(node.func)
        if name in ("range", "open"):
            return isinstance(node.func, ast.Name)
        return name in _PASSING and bool(node.args) and all(_is_whole(dataset, part) for part in node.args)
    if is_dotted(node, "self"):
        return isinstance(dataset.slots.get(node.attr), ListValue | DictValue | Tensor | Array | tuple)
    return False


def _divided(analysis: Analysis, path: str, loops: list[ast.For]) -> Iterator[Candidate]:
    """Every worker takes each num_workers-th part of what the loop goes through."""
    source, loop = analysis.source_of(path), loops[0]
    asked, imports = spelled(analysis, path, "torch.utils.data.get_worker_info")
    sliced, more = spelled(analysis, path, "itertools.islice")
    ending, indent = edits.line_ending(source), edits.indentation(source, loop.lineno)
    lines = [f"info = {asked}()", "first, step = (info.id, info.num_workers) if info is not None else (0, 1)"]
    changes = (
        *imports,
        *more,
        edits.insert_line_before(source, loop, f"{ending}{indent}".join(lines)),
        edits.replace(source, loop.iter, f"{sliced}({source.segment(loop.iter)}, first, None, step)"),
    )
    yield Candidate(message("fix.divide_stream"), changes)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
