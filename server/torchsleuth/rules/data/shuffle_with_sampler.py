"""shuffle-with-sampler: options of a DataLoader that exclude each other.

What it finds
    A DataLoader with shuffle=True and a sampler; with a batch_sampler and any of batch_size, shuffle, sampler and
    drop_last; with shuffle=True, a sampler or a batch_sampler over an IterableDataset.
Why it hurts
    The constructor raises ValueError. Both options decide the order of the samples, and only one of them can.
Example
    DataLoader(train_set, batch_size=64, sampler=sampler, shuffle=True)
Use instead
    DataLoader(train_set, batch_size=64, sampler=sampler)
Fix safety
    Safe: the sampler is the more specific of the two, and it stays. WeightedRandomSampler, SubsetRandomSampler and
    RandomSampler draw in random order already; DistributedSampler takes a shuffle argument of its own.
References
    torch.utils.data.DataLoader, torch.utils.data.Sampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import ITERABLE, option
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import constructions, dataset_text, head
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of, plain_name
from torchsleuth.values import Instance, LibraryObject, Value, is_native, is_unknown

CODE = "TS605"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call, loader, node in constructions(analysis):
        excluded, text = _excluded(loader)
        if not excluded:
            continue
        path = call.site.span.path
        at = head(analysis, path, node)
        yield Finding(
            at, text, (), chain(_without(analysis, path, node, excluded), _not_passed(analysis, call, excluded))
        )


def _excluded(loader: LibraryObject) -> tuple[list[str], str]:
    """The options that have to go, with what is said of them; none where the constructor accepts the rest."""
    dataset, shuffle = option(loader, "dataset"), option(loader, "shuffle")
    sampler, batch_sampler = option(loader, "sampler"), option(loader, "batch_sampler")
    if _is_iterable(dataset):
        given = ["shuffle"] if shuffle is True else []
        given += [name for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)) if _is_given(value)]
        name = f"{given[0]}=True" if given[:1] == ["shuffle"] else " ".join(given[:1])
        return given, message("data.iterable", dataset=dataset_text(dataset), option=name)
    if _is_given(batch_sampler):
        given = [name for name in ("batch_size", "drop_last", "shuffle", "sampler") if _clashes(loader, name)]
        return given, message("data.batch_sampler", option=", ".join(given))
    if _is_given(sampler) and shuffle is True:
        return ["shuffle"], message("data.sampler")
    return [], ""


def _clashes(loader: LibraryObject, name: str) -> bool:
    """Whether an option is known to have another value than the one that a batch_sampler allows."""
    value = option(loader, name)
    if name == "batch_size":
        return (isinstance(value, int) and value != 1) or value is None
    return _is_given(value) if name == "sampler" else value is True


def _is_given(value: Value) -> bool:
    """Whether a sampler is known to be there."""
    return value is not None and not is_unknown(value)


def _is_iterable(dataset: Value) -> bool:
    bases = dataset.cls.mro() if isinstance(dataset, Instance) and not dataset.cls.opaque else []
    return any(is_native(base, ITERABLE) for base in bases)


def _without(analysis: Analysis, path: str, node: ast.Call, names: list[str]) -> Iterator[Candidate]:
    parts = [keyword_of(node, name) for name in names]
    source = analysis.source_of(path)
    changes = tuple(edits.remove_keyword(source, node, part) for part in parts if part is not None)
    if len(changes) == len(names):
        text = ", ".join(source.segment(part) for part in parts if part is not None)
        yield Candidate(message("fix.remove", text=text), changes)
    elif len(names) == 1 and not changes:
        yield from _without_entry(analysis, path, node, names[0])


def _not_passed(analysis: Analysis, made: LibraryCall, names: list[str]) -> Iterator[Candidate]:
    """An option that comes with the ``**options`` of a function, left out where that function is called."""
    node, frame = made.site.call, made.site.scene
    function, call = frame.function, as_kind(frame.call, ast.Call)
    if len(names) != 1 or node is None or function is None or frame.caller is None:
        return
    rest = function.node.args.kwarg
    spread = {part.value.id for part in node.keywords if part.arg is None and isinstance(part.value, ast.Name)}
    part = keyword_of(call, names[0]) if call is not None else None
    if rest is not None and rest.arg in spread and call is not None and part is not None:
        source = analysis.source_of(frame.caller.path)
        text = source.segment(part)
        yield Candidate(message("fix.remove", text=text), (edits.remove_keyword(source, call, part),))


def _without_entry(analysis: Analysis, path: str, node: ast.Call, name: str) -> Iterator[Candidate]:
    """An option that comes with ``**options``, taken out of the dict that these are."""
    spread = {part.value.id for part in node.keywords if part.arg is None and isinstance(part.value, ast.Name)}
    source = analysis.source_of(path)
    for statement in of_kind(analysis.statements(path), ast.Assign):
        if not isinstance(statement.value, ast.Call | ast.Dict):
            continue
        if not any(plain_name(target) in spread for target in statement.targets):
            continue
        given = statement.value
        if isinstance(given, ast.Call):
            part = keyword_of(given, name) if ast.unparse(given.func) == "dict" else None
            changes = [] if part is None else [edits.remove_keyword(source, given, part)]
        else:
            changes = [
                edits.remove_entry(source, given, index)
                for index, key in enumerate(given.keys)
                if isinstance(key, ast.Constant) and key.value == name
            ]
        if changes:
            yield Candidate(message("fix.remove", text=name), tuple(changes), safe=False)


RULE = Rule(FAULTS[CODE], find)
