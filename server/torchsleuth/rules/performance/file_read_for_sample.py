"""file-read-for-sample: a whole file that is read anew for each sample.

What it finds
    `np.load`, `torch.load`, `pd.read_csv` and their like in `__getitem__` of a data set, or in a method that it calls, of a file that is
    the same for all samples, from which one element is taken by the index.
Why it hurts
    Everything is read, and unpacked, for one sample, and then thrown away: an epoch over n samples reads the file n times. Training waits
    for data, with workers, too.
Example
    def __getitem__(self, index):
        with np.load(self.path) as archive:
            return archive["images"][index]
Use instead
    def __init__(self, path):
        with np.load(path) as archive:
            self.images = archive["images"]
Fix safety
    There is none: read once in the constructor, or keep a file from which parts can be read (`np.load(path, mmap_mode="r")` of a `.npy`, HDF5).
References
    numpy.load, torch.utils.data.Dataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax.changes import changed_attributes
from torchsleuth.syntax.forms import (
    by_position,
    called,
    is_definition,
    is_dotted,
    is_method_call,
    is_name,
    keyword_of,
    names_in,
    nodes_in,
    parts_of_key,
    stored_in,
)
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.trees import Index

CODE = "TS708"
_READERS = frozenset(
    {"numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "torch.load"}
    | {f"pandas.read_{kind}" for kind in ("csv", "parquet", "pickle", "json", "excel", "feather", "table")}
)
_PARTS = ("mmap_mode", "nrows", "skiprows", "chunksize", "usecols", "columns", "mmap")
"""Options by which a part of a file is read."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    owners = [
        one
        for one in index.of_type(ast.ClassDef)
        if any(is_definition(part) and part.name == "__getitem__" for part in one.body)
    ]
    uses = Names(analysis.tree(source.path)).uses if owners else ()
    reads = {id(use.call): use.call for use in uses if use.path in _READERS and use.call is not None}
    for owner in owners if reads else ():
        methods = {part.name: part for part in of_kind(owner.body, ast.FunctionDef)}
        bound, _ = changed_attributes(methods)
        for method, chosen, asked in _for_samples(methods):
            for call in nodes_in(method, ast.Call):
                takes = not chosen or _takes_one(method, chosen)
                if id(call) in reads and takes and _is_whole(index, call, method, bound):
                    text = message("file.for_sample", call=source.on_one_line(call.func))
                    places = (source.span(call).related(message("file.for_sample.here")),) if asked is not None else ()
                    yield Finding(source.span(asked or call), text, places)


def _for_samples(methods: dict[str, ast.FunctionDef]) -> Iterator[tuple[ast.FunctionDef, str, ast.Call | None]]:
    """The methods that give a sample, each with the name of the index: ``__getitem__``, and what it hands its index to; and
    a method that gives all of them, of which ``__getitem__`` takes one, with the call of it."""
    getter = methods.get("__getitem__")
    names = [one.arg for one in by_position(getter.args)] if getter is not None else []
    if getter is None or len(names) != 2:
        return
    yield getter, names[1], None
    for call in nodes_in(getter, ast.Call):
        method = methods.get(called(call)) if is_method_call(call) and is_name(call.func.value, names[0]) else None
        if method is not None and not call.args and not call.keywords and _takes_one_of(getter, call, names[1]):
            yield method, "", call
        places = [place for place, given in enumerate(call.args) if is_name(given, names[1])]
        parameters = [one.arg for one in by_position(method.args)][1:] if method is not None else []
        if method is not None and places and places[0] < len(parameters) and method is not getter:
            yield method, parameters[places[0]], None


def _is_whole(index: Index, call: ast.Call, method: ast.FunctionDef, bound: set[str]) -> bool:
    """Whether a call reads all of one file, in each call of the method, and keeps it nowhere."""
    inside = index.trail(call)[index.trail(call).index(method) + 1 :]
    kept = any(
        is_dotted(part) and isinstance(part.ctx, ast.Store)
        for one in of_kind(inside, ast.Assign)
        for part in ast.walk(one)
    )
    conditional = any_are(inside, ast.If, ast.IfExp, ast.Try, ast.Lambda, ast.BoolOp) or any(map(is_definition, inside))
    given = call.args[0] if call.args else None
    if given is None or kept or conditional or method.decorator_list or any(keyword_of(call, name) for name in _PARTS):
        return False
    receiver = by_position(method.args)[0].arg
    own = stored_in(method) | {one.arg for one in by_position(method.args)} - {receiver}
    plain = not any_are(ast.walk(given), ast.Call, ast.Subscript)
    changed = {part.attr for part in nodes_in(given, ast.Attribute)} & bound
    return plain and not names_in(given) & own and not changed


def _takes_one(method: ast.FunctionDef, chosen: str) -> bool:
    """Whether an element is taken by the index."""
    return any(is_name(part, chosen) for one in nodes_in(method, ast.Subscript) for part in parts_of_key(one)[:1])


def _takes_one_of(getter: ast.FunctionDef, call: ast.Call, chosen: str) -> bool:
    """Whether an element of what a call gives is taken by the index."""
    given = {name for one in nodes_in(getter, ast.Assign) if one.value is call for name in stored_in(*one.targets)}
    return any(
        is_name(part, chosen) and (names_in(one.value) & given or call in ast.walk(one.value))
        for one in nodes_in(getter, ast.Subscript)
        for part in parts_of_key(one)[:1]
    )


RULE = Rule(FAULTS[CODE], find)
