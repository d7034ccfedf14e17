"""no-batches: a loader that has no batch to give.

What it finds
    A loop over a loader with drop_last=True whose dataset is known to be smaller than one batch.
Why it hurts
    The body of the loop never runs: nothing is trained or measured, and a mean over the batches divides by zero.
Example
    loader = DataLoader(dataset, batch_size=64, drop_last=True)            # 48 samples
Use instead
    loader = DataLoader(dataset, batch_size=64)
Fix safety
    Safe: the only batch is no longer dropped.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import construction_of, made_here
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of

CODE = "TS616"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        call = construction_of(fault.loader)
        if fault.kind != "no_batches" or fault.loader is None or fault.loader.site is None or call is None:
            continue
        source = fault.loader.site.source
        given = keyword_of(call, "drop_last")
        candidates: tuple[Candidate, ...] = ()
        if given is None:  # It comes out of a dictionary of options.
            written = [one for one in analysis.index(source.path).of_type(ast.keyword) if one.arg == "drop_last"]
            edit = edits.replace(source, written[0].value, "False") if len(written) == 1 else None
            candidates = (Candidate(message("fix.replace", old="True", new="False"), (edit,)),) if edit else ()
        else:
            title = message("fix.remove", text=source.segment(given))
            candidates = (Candidate(title, (edits.remove_keyword(source, call, given),)),)
        text = message("data.none_left", samples=fault.values[0], batch=fault.values[1])
        yield Finding(fault.at.span, text, made_here(analysis, fault.loader), candidates)


RULE = Rule(FAULTS[CODE], find)
