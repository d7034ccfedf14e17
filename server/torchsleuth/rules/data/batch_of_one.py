"""batch-of-one: BatchNorm meets a last batch of one sample.

What it finds
    A loader whose number of samples leaves one over, iterated without drop_last, and a BatchNorm in training mode that
    gets that batch with one value per channel.
Why it hurts
    The last step of an epoch raises "Expected more than 1 value per channel when training": one value has no variance.
Example
    loader = DataLoader(dataset, batch_size=32)            # 193 samples
Use instead
    loader = DataLoader(dataset, batch_size=32, drop_last=True)
Fix safety
    With drop_last=True one sample is left out of each epoch, another one each time if the loader shuffles.
References
    torch.nn.BatchNorm1d, torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import LOADER, Plan, option
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.evidence.loaders import construction_of, keyword, made_here
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject

CODE = "TS609"
_MESSAGE = "Expected more than 1 value per channel"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure in analysis.trace.failures:
        if failure.last_batch and failure.failure.message.startswith(_MESSAGE):
            loaders = _leaving_one(analysis)
            places = (*_layer(failure), *(place for loader in loaders for place in made_here(analysis, loader)))
            module = failure.operation.module
            name = layer_text(module) if module is not None else "batch_norm"
            text = message("data.batch_of_one", layer=name)
            yield Finding(failure.operation.site.span, text, places, _dropping(analysis, loaders))


def _leaving_one(analysis: Analysis) -> list[LibraryObject]:
    """The loaders whose last batch has one sample."""
    found: list[LibraryObject] = []
    for call in analysis.calls.get(LOADER, ()):
        plan = call.result.slots.get("plan") if isinstance(call.result, LibraryObject) else None
        if isinstance(plan, Plan) and plan.last == 1 and call.result not in found:
            found.append(call.result)
    return found


def _layer(failure: OperatorFailure) -> tuple[Related, ...]:
    module = failure.operation.module
    if module is None or module.site is None:
        return ()
    span = module.site.span
    return (Related(span.path, span.start, span.end, message("related.constructor.plain", layer=layer_text(module))),)


def _dropping(analysis: Analysis, loaders: list[LibraryObject]) -> Iterator[Candidate]:
    changes: list[Edit] = []
    for loader in loaders:
        call = construction_of(loader)
        if call is None or loader.site is None or isinstance(option(loader, "batch_sampler"), LibraryObject):
            return
        source = analysis.source_of(loader.site.span.path)
        given = keyword(call, "drop_last")
        changes.append(
            edits.replace(source, given.value, "True")
            if given is not None
            else edits.add_argument(source, call, "drop_last=True")
        )
    if changes:
        yield Candidate(message("fix.add_argument", argument="drop_last=True"), tuple(dict.fromkeys(changes)))


RULE = Rule(FAULTS[CODE], find)
