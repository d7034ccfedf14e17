"""Datasets and loaders: batches that cannot be made, samples that are none, options that exclude each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument, loaders, remove_keyword, replace
from torchsleuth.errors.shapes import _collating
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_display,
    is_literal,
    last_word,
    nodes_in,
    parts_of_tuple,
    returned_by,
    stores,
)


def _shuffle_fixes(case: Case) -> Iterator[Fix]:
    if case.frame.call is not None:
        yield from remove_keyword(case.frame.source, case.frame.call, "shuffle")


def _drop_keyword(name: str) -> object:
    def build(case: Case) -> Iterator[Fix]:
        if case.frame.call is not None:
            yield from remove_keyword(case.frame.source, case.frame.call, name)

    return build


def _next_fixes(case: Case) -> Iterator[Fix]:
    """``it.next()`` → ``next(it)``, ``loader[0]`` → ``next(iter(loader))``."""
    node = case.frame.node
    if isinstance(node, ast.Attribute):
        for call in case.frame.all(ast.Call):
            if case.frame.text(call.func) == case.frame.text(node) and call.lineno == node.lineno:
                yield replace(case.frame, call, f"next({case.frame.text(node.value)})")
                return
    if isinstance(node, ast.Subscript):
        yield replace(case.frame, node, f"next(iter({case.frame.text(node.value)}))")


def _split_fixes(case: Case) -> Iterator[Fix]:
    """The last part takes what the others leave."""
    lengths = case.frame.argument(1, "lengths")
    dataset = case.frame.argument(0, "dataset")
    if is_display(lengths) and len(lengths.elts) == 2 and dataset is not None:
        first = case.frame.text(lengths.elts[0])
        rest = f"len({case.frame.text(dataset)}) - {first if isinstance(lengths.elts[0], ast.Name | ast.Constant | ast.Call) else f'({first})'}"
        yield replace(case.frame, lengths.elts[1], rest)


def _drop_none_fixes(case: Case) -> Iterator[Fix]:
    """A collate_fn that leaves out samples that are None, at a loader of the script."""
    if "NoneType" not in case.match[0]:
        return
    keep = "torch.utils.data.default_collate([sample for sample in samples if sample is not None])"
    for source, call in loaders(case, "collate_fn")[:2]:
        title = message("fix.drop_none")
        yield add_argument(source, call, f"collate_fn=lambda samples: {keep}", title, safe=False)


def _samples_here(case: Case) -> list[Related]:
    """Where the only data set of the files that were running gives its samples."""
    given = [
        [frame.source.span(node) for node in nodes_in(method, ast.Return)]
        for frame in files_of(case)
        for method in frame.all(ast.FunctionDef)
        if method.name == "__getitem__"
    ]
    spans = given[0][:2] if len(given) == 1 else []
    return [Related(span.path, span.start, span.end, message("error.samples_here")) for span in spans]


def _parts_without_number(case: Case) -> list[Related]:
    """The parts of a sample whose name is given None somewhere, or is said to be None at times; else where samples are given."""
    files = files_of(case)
    maybe = {name for file in files for name in _at_times_none(file)}
    spans = [
        file.source.span(part)
        for file in files
        for method in file.all(ast.FunctionDef)
        if method.name == "__getitem__"
        for result in returned_by(method)
        for part in (result.values if isinstance(result, ast.Dict) else parts_of_tuple(result))
        if last_word(part) in maybe
    ]
    found = [Related(span.path, span.start, span.end, message("error.sample_none_here")) for span in spans[:2]]
    return found or _samples_here(case)


def _at_times_none(file: CrashFrame) -> Iterator[str]:
    """Names and fields that a condition gives None, or whose annotation admits it."""
    for node in file.all(ast.Assign):
        if isinstance(node.value, ast.IfExp) and any(
            is_literal(one, None) for one in (node.value.body, node.value.orelse)
        ):
            yield from filter(None, map(last_word, node.targets))
    for field in file.all(ast.AnnAssign):
        words = ast.unparse(field.annotation)
        if "Optional" in words or "None" in words:
            yield last_word(field.target)


def _without_gradients(case: Case) -> Iterator[Fix]:
    """``@torch.no_grad()`` above the method that makes samples."""
    for frame in files_of(case):
        imported = any("torch" in (item.asname or item.name) for node in frame.tree.body for item in _imports(node))
        for node in frame.all(ast.FunctionDef) if imported else ():
            if node.name == "__getitem__":
                edit = edits.insert_line_before(frame.source, node, "@torch.no_grad()")
                yield Fix(message("fix.without_gradients"), (edit,))


def _imports(node: ast.stmt) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import) else []


def _samplers(case: Case) -> list[Related]:
    """The loaders of the script that are given a sampler."""
    given = [
        source.span(call)
        for source, call in loaders(case, "")
        if any(keyword.arg in ("sampler", "batch_sampler") for keyword in call.keywords)
    ]
    return [Related(span.path, span.start, span.end, message("error.sampler_here")) for span in given]


def _own_samplers(case: Case) -> Iterator[tuple[CrashFrame, ast.ClassDef]]:
    """The classes of the script whose objects loaders are given as samplers."""
    names = {
        called(keyword.value)
        for _, call in loaders(case, "")
        for keyword in call.keywords
        if keyword.arg in ("sampler", "batch_sampler")
    }
    for frame in files_of(case):
        yield from ((frame, kind) for kind in frame.all(ast.ClassDef) if kind.name in names)


def _samplers_with_indices(case: Case) -> list[Related]:
    """The loaders that are given a sampler, and where one of the script's own gives its indices."""
    spans = [frame.source.span(given) for frame, kind in _own_samplers(case) for given in nodes_in(kind, ast.Yield)]
    found = [Related(span.path, span.start, span.end, message("error.sampler_gives")) for span in spans]
    return [*found[:2], *_samplers(case)]


def _one_less(case: Case) -> Iterator[Fix]:
    """``range(n // width + 1)`` → ``range(n // width)``, in a sampler of the script's own."""
    for frame, kind in _own_samplers(case):
        counts = [node.args[-1] for node in nodes_in(kind, ast.Call) if called(node) in _COUNTING and node.args]
        for count in of_kind(counts, ast.BinOp):
            if isinstance(count.op, ast.Add) and getattr(count.right, "value", None) == 1:
                yield replace(frame, count, frame.text(count.left), safe=False)


_COUNTING = ("range", "arange", "randperm")


def _draws_too_far(case: Case) -> bool:
    """Whether a dataset of PyTorch's own was asked by a loader for a sample that it has not."""
    path = (case.crash["library"] or {}).get("path", "").replace("\\", "/")
    return case.crash["type"] == "IndexError" and path.endswith("torch/utils/data/dataset.py") and bool(_samplers(case))


def _lacks_key(case: Case) -> bool:
    """Whether samples that are dictionaries were batched, and one has not the keys of the first one."""
    path = (case.crash["library"] or {}).get("path", "").replace("\\", "/")
    return bool(case.crash["type"] == "KeyError" and path.endswith("torch/utils/data/_utils/collate.py"))


def _keys_here(case: Case) -> list[Related]:
    """Where the key is put into some of the samples."""
    spans = [
        frame.source.span(node)
        for frame in files_of(case)
        for node in frame.all(ast.Subscript)
        if stores(node) and isinstance(node.slice, ast.Constant) and repr(node.slice.value) == case.crash["message"]
    ]
    return [Related(span.path, span.start, span.end, message("error.key_here")) for span in spans]


_DATA = "from torch.utils.data import DataLoader, Dataset, TensorDataset\n"

ENTRIES = (
    entry(
        "TS601",
        r"stack expects each tensor to be equal size, but got \[(.*?)\] at entry (\d+) and \[(.*?)\] at entry (\d+)|each element in list of batch should be of equal size",
        "error.ragged",
        applies=_collating,
        related=_samples_here,
        example=_DATA
        + "rows = [torch.zeros(3), torch.zeros(4)]\nfor batch in DataLoader(rows, batch_size=2):\n    pass",
    ),
    entry(
        "TS602",
        r"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class '(.+?)'>|"
        r"object of type '(NoneType)' has no len\(\)",
        lambda case: "error.sample_none" if "NoneType" in case.match[0] else "error.sample_type",
        _drop_none_fixes,
        applies=_collating,
        related=_samples_here,
        example=_DATA + "rows = [None, None]\nfor batch in DataLoader(rows, batch_size=2):\n    pass",
    ),
    entry(
        "TS602",
        r"must be real number, not (\w+)",
        "error.sample_number",
        applies=_collating,
        related=_parts_without_number,
        example=_DATA + "rows = [0.5, None]\nfor batch in DataLoader(rows, batch_size=2):\n    pass",
    ),
    entry(
        "TS603",
        r"object of type '(\w+)' has no len\(\)|Subclasses of Dataset should implement __getitem__",
        "error.dataset_methods",
        applies=lambda case: case.is_below("torch/utils/data/"),
        example=_DATA
        + "class Rows(Dataset):\n    def __getitem__(self, index):\n        return index\nDataLoader(Rows(), shuffle=True)",
    ),
    entry(
        "TS605",
        r"sampler option is mutually exclusive with shuffle|expected unspecified shuffle option",
        "error.shuffle_sampler",
        _shuffle_fixes,
        example=_DATA
        + "from torch.utils.data import SequentialSampler\nrows = [1, 2]\nDataLoader(rows, sampler=SequentialSampler(rows), shuffle=True)",
    ),
    entry(
        "TS605",
        r"batch_sampler option is mutually exclusive with|sampler option is mutually exclusive",
        "error.sampler_options",
    ),
    entry(
        "TS602",
        r"^(.+)$",
        "error.ragged_keys",
        applies=_lacks_key,
        related=_keys_here,
        example=_DATA + "rows = [{'x': 1, 'y': 2}, {'x': 1}]\nfor batch in DataLoader(rows, batch_size=2):\n    pass",
    ),
    entry(
        "TS602",
        r"The batch received was empty.* keys expected by the model: ([\w,]+)",
        "error.no_columns",
        related=_samples_here,
    ),
    entry(
        "TS310",
        r"index out of range|out of bounds",
        "error.sampler_index",
        _one_less,
        applies=_draws_too_far,
        related=_samplers_with_indices,
        example=_DATA
        + "from torch.utils.data import Subset\nrows = Subset([1, 2, 3], [0, 1])\nfor batch in DataLoader(rows, sampler=[0, 1, 2]):\n    pass",
    ),
    entry(
        "TS613",
        r"prefetch_factor option could only be specified",
        "error.needs_workers",
        _drop_keyword("prefetch_factor"),  # type: ignore[arg-type]
        example=_DATA + "DataLoader([1, 2], prefetch_factor=2)",
    ),
    entry(
        "TS613",
        r"persistent_workers option needs num_workers > 0",
        "error.needs_workers",
        _drop_keyword("persistent_workers"),  # type: ignore[arg-type]
        example=_DATA + "DataLoader([1, 2], persistent_workers=True)",
    ),
    entry(
        "TS613",
        r"num_samples should be a positive integer value, but got num_samples=0",
        "error.empty_dataset",
        example=_DATA + "DataLoader([], shuffle=True)",
    ),
    entry(
        "TS614",
        r"'DataLoader' object is not subscriptable|DataLoader\w*(?:Iter)?' object has no attribute 'next'",
        "error.loader_access",
        _next_fixes,
        example=_DATA + "loader = DataLoader([1, 2])\nloader[0]",
    ),
    entry(
        "TS611",
        r"^Size mismatch between tensors",
        "error.dataset_lengths",
        example=_DATA + "TensorDataset(torch.zeros(3), torch.zeros(4))",
    ),
    entry(
        "TS612",
        r"Sum of input lengths does not equal the length of the input dataset",
        "error.split_lengths",
        _split_fixes,
        example=_DATA + "from torch.utils.data import random_split\nrows = list(range(5))\nrandom_split(rows, [2, 2])",
    ),
    entry(
        "TS602",
        r"stack\(\): functions with out=\.\.\. arguments don't support automatic differentiation|"
        r"Cowardly refusing to serialize non-leaf tensor which requires_grad",
        "error.sample_graph",
        _without_gradients,
        applies=_collating,
    ),
    entry(
        "TS199",
        r"DataLoader worker \(pid\(?s?\)? [\d, ]+\) (?:is killed by signal|exited unexpectedly)",
        "error.worker_died",
    ),
)
