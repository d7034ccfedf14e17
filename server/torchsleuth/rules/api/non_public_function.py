"""non-public-function: something of torch with an underscore in its path, though it has a public name.

What it finds
    default_collate and default_convert taken from torch.utils.data._utils.collate, and _LRScheduler.
Why it hurts
    What is not public moves or goes without notice.
Example
    from torch.utils.data._utils.collate import default_collate
Use instead
    from torch.utils.data import default_collate
Fix safety
    Safe: both names are the same object.
References
    torch.utils.data.default_collate, torch.optim.lr_scheduler.LRScheduler
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.replacements import Old, outdated_imports, outdated_uses, renames
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS808"
_PUBLIC = {
    path: Old(public, moved=public)
    for path, public in {
        "torch.utils.data._utils.collate.default_collate": "torch.utils.data.default_collate",
        "torch.utils.data._utils.collate.default_convert": "torch.utils.data.default_convert",
        "torch.optim.lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    }.items()
}


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from outdated_uses(analysis, _PUBLIC, "private.use")
    yield from outdated_imports(analysis, _PUBLIC, "private.use")
    for use in analysis.names.uses:
        # A base class, or a function that is passed on; what is imported by name is found at its import.
        if use.path in _PUBLIC and use.call is None and use.imported.path != use.path:
            words = message("private.use", old=use.path, new=_PUBLIC[use.path].instead)
            yield Finding(analysis.source.span(use.node), words, (), renames(analysis, use, _PUBLIC[use.path]))


RULE = Rule(FAULTS[CODE], find)
