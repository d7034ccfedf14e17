"""numpy-rng-in-workers: every worker draws the same random numbers.

What it finds
    A loader with num_workers > 0 over a dataset that keeps a generator of its own, or whose transform does, a
    numpy.random.Generator, a random.Random or a torch.Generator, and draws from it in __getitem__; without worker_init_fn, or with one
    that seeds only global generators. Those of NumPy, Python and torch are seeded in each worker by torch itself, since 1.9.
Why it hurts
    Each worker gets a copy of the dataset with the generator in the same state, at the start of every epoch: augmentations
    repeat from worker to worker and from epoch to epoch.
Example
    self.rng = np.random.default_rng(0)        # in __init__; __getitem__ calls self.rng.normal()
    DataLoader(dataset, num_workers=4)
Use instead
    def seed_worker(worker_id):
        torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())

    DataLoader(dataset, num_workers=4, worker_init_fn=seed_worker)
Fix safety
    Safe: torch.initial_seed() differs from worker to worker and from epoch to epoch, and follows torch.manual_seed.
References
    torch.utils.data.get_worker_info, torch.initial_seed
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.interp.library.numpy import GENERATORS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import (
    below_subsets,
    constructions,
    dataset_text,
    free_name,
    head,
    spelled,
    with_function,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import contains, is_dotted, nodes_in
from torchsleuth.values import Function, Instance, LibraryObject, Value, is_object

CODE = "TS607"
_SEEDS = re.compile(r"(?:\w+\.)*(?:manual_seed|manual_seed_all|seed|initial_seed|get_worker_info)|int|print")
"""What seeds the generators that everything in a process shares, and what is called to know with which number."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for call, loader, node in constructions(analysis):
        workers = as_kind(option(loader, "num_workers"), int)
        if workers is None or workers < 1 or not _leaves_dataset(option(loader, "worker_init_fn")):
            continue
        dataset, above = below_subsets(option(loader, "dataset"))
        drawn = _drawn_from(dataset) if isinstance(dataset, Instance) else None
        if drawn is None or not isinstance(dataset, Instance):
            continue
        name, use, generator, holder = drawn
        source = analysis.source_of(holder.cls.path)
        places: tuple[Related, ...] = (source.span(use).related(message("data.rng.used")),)
        begins = option(loader, "worker_init_fn")
        if isinstance(begins, Function):
            body = begins.node.body
            seeds = analysis.source_of(begins.path).span(body[-1] if isinstance(body, list) else body)
            places = (seeds.related(message("data.rng.begins")), *places)
        text = message("data.rng", dataset=dataset_text(dataset), name=name, workers=workers)
        path = call.site.span.path
        candidates = _seeded(analysis, path, loader, f"dataset{'.dataset' * above}.{name}", generator)
        yield Finding(head(analysis, path, node), text, places, candidates)


def _leaves_dataset(begins: Value) -> bool:
    """Whether what a worker begins with does not touch the data set: nothing, or a function that calls only what seeds globally."""
    if begins is None:
        return True
    if not isinstance(begins, Function) or not isinstance(begins.node, ast.FunctionDef):
        return False
    called = {ast.unparse(call.func) for call in nodes_in(begins.node, ast.Call)}
    return not contains(begins.node, ast.Global) and bool(called) and all(_SEEDS.fullmatch(name) for name in called)


def _drawn_from(dataset: Instance) -> tuple[str, ast.AST, LibraryObject, Instance] | None:
    """The attribute that holds a generator which the samples are drawn with, a place where that happens, the generator, and the
    object that has it: the data set, or a transform of its own that it calls."""
    for part in _attributes_used(dataset):
        held = dataset.slots.get(part.attr)
        if isinstance(held, LibraryObject) and _is_generator(held):
            return part.attr, part, held, dataset
        if not isinstance(held, Instance) or held.is_module:
            continue
        for inner in _attributes_used(held):
            generator = held.slots.get(inner.attr)
            if isinstance(generator, LibraryObject) and _is_generator(generator):
                return f"{part.attr}.{inner.attr}", inner, generator, held
    return None


def _attributes_used(owner: Instance) -> Iterator[ast.Attribute]:
    """``self.name`` in the methods of an object other than its constructor."""
    for cls in owner.cls.mro():
        for method in of_kind(getattr(cls, "slots", {}).values(), Function):
            if method.name != "__init__":
                yield from (part for part in ast.walk(method.node) if is_dotted(part, "self"))


def _is_generator(value: Value) -> bool:
    return is_object(value, *GENERATORS, "random.Random", "torch.Generator")


def _seeded(
    analysis: Analysis, path: str, loader: LibraryObject, way: str, generator: LibraryObject
) -> Iterator[Candidate]:
    info, imports = spelled(analysis, path, "torch.utils.data.get_worker_info")
    seed, more = spelled(analysis, path, "torch.initial_seed")
    worker = f"{info}().{way}"
    if generator.path == "torch.Generator":
        body, extra = f"{worker}.manual_seed({seed}())", tuple[Edit, ...]()
    else:
        makers = {"numpy.random.Generator": "numpy.random.default_rng", "random.Random": "random.Random"}
        maker, extra = spelled(analysis, path, makers.get(generator.path, generator.path))
        limit = " % 2**32" if generator.path == "numpy.random.RandomState" else ""
        body = f"{worker} = {maker}({seed}(){limit})"
    name = free_name(analysis, path, "seed_worker")
    needed = tuple(dict.fromkeys((*imports, *more, *extra)))
    begins = option(loader, "worker_init_fn")
    if isinstance(begins, Function) and isinstance(begins.node, ast.FunctionDef):
        below = edits.insert_line_after(analysis.source_of(begins.path), begins.node.body[-1], body)
        yield Candidate(message("fix.insert", text=body), (*needed, below))
        return
    changes = with_function(analysis, [loader], name, "worker_id", [body], needed, "worker_init_fn")
    if changes:
        yield Candidate(message("fix.add_argument", argument=f"worker_init_fn={name}"), changes)


RULE = Rule(FAULTS[CODE], find)
