"""empty-cache-in-loop: the memory cache is emptied in every step.

What it finds
    torch.cuda.empty_cache() (or that of another accelerator), unconditionally in each iteration of a loop that calls a
    model or trains one. Once an epoch is not meant.
Why it hurts
    It gives memory back that the next step asks for again, and each time waits for the GPU: steps become slower, and no
    more memory is free for them than before.
Example
    for x, y in loader:
        train_step(x, y)
        torch.cuda.empty_cache()
Use instead
    for x, y in loader:
        train_step(x, y)
Fix safety
    Safe: PyTorch reuses the memory that it keeps.
References
    torch.cuda.empty_cache, "Memory management" in the notes on CUDA semantics
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.iterations import in_every_step
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits

CODE = "TS704"
_EMPTY = tuple(f"torch.{name}.empty_cache" for name in ("cuda", "mps", "xpu", "accelerator.memory", "accelerator"))


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in in_every_step(analysis, _EMPTY, ("forward", "backward", "step")):
        yield Finding(call.site.span, message("cache.loop"), (), _fixes(analysis, call))


def _fixes(analysis: Analysis, call: LibraryCall) -> Iterator[Candidate]:
    path = call.site.span.path
    statement = as_kind(statement_of(analysis, call.site), ast.Expr)
    if statement is not None and statement.lineno == statement.end_lineno:
        if is_simple(statement, analysis, path):
            edit = edits.remove_line(analysis.source_of(path), statement.lineno)
            yield Candidate(message("fix.remove", text=ast.unparse(statement)), (edit,))


RULE = Rule(FAULTS[CODE], find)
