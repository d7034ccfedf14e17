"""loader-options: options that a DataLoader refuses.

What it finds
    prefetch_factor or persistent_workers without worker processes; batch_size=None with drop_last; a batch size below 1; a
    random order of a dataset that is known to be empty.
Why it hurts
    The constructor raises ValueError.
Example
    DataLoader(dataset, batch_size=32, persistent_workers=True)
Use instead
    DataLoader(dataset, batch_size=32, num_workers=2, persistent_workers=True)
Fix safety
    Removing the option is safe: without workers it has nothing to act on. Adding workers is offered as unsafe.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import constructions, dataset_text, head
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.values import LibraryObject

CODE = "TS613"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call, loader, node in constructions(analysis):
        names, text = _refused(loader)
        if names and not call.guarded:
            path = call.site.span.path
            yield Finding(head(analysis, path, node), text, (), _repairs(analysis, path, node, names))
    for fault in analysis.trace.data:
        made = fault.at.call
        if fault.kind == "empty" and made is not None:
            text = message("data.empty", dataset=dataset_text(fault.dataset))
            yield Finding(head(analysis, fault.at.span.path, made), text)


def _refused(loader: LibraryObject) -> tuple[list[str], str]:
    """The options that the constructor refuses, with what is said of them."""
    batch, workers = option(loader, "batch_size"), option(loader, "num_workers")
    if workers == 0 and isinstance(workers, int):
        idle = [name for name in ("prefetch_factor", "persistent_workers") if option(loader, name) not in (None, False)]
        idle = [name for name in idle if isinstance(option(loader, name), int)]
        if idle:
            return idle, message("data.no_workers", option=" and ".join(idle))
    if isinstance(workers, int) and workers < 0:
        return ["num_workers"], message("data.workers", count=workers)
    if batch is None and option(loader, "drop_last") is True:
        return ["drop_last"], message("data.no_batches")
    if isinstance(batch, int) and batch < 1:
        return ["batch_size"], message("data.batch_size", size=batch)
    return [], ""


def _repairs(analysis: Analysis, path: str, node: ast.Call, names: list[str]) -> Iterator[Candidate]:
    source = analysis.source_of(path)
    parts = [part for part in (keyword_of(node, name) for name in names) if part is not None]
    if len(parts) == len(names):
        title = message("fix.remove", text=", ".join(source.segment(part) for part in parts))
        yield Candidate(title, tuple(edits.remove_keyword(source, node, part) for part in parts))
    if names[0] in ("prefetch_factor", "persistent_workers"):
        given = keyword_of(node, "num_workers")
        text = "num_workers=2"
        edit = edits.add_argument(source, node, text) if given is None else edits.replace(source, given.value, "2")
        yield Candidate(message("fix.add_argument", argument=text), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
