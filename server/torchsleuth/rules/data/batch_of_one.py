"""batch-of-one: BatchNorm meets a batch of one sample.

What it finds
    A loader whose number of samples leaves one over, iterated without drop_last, and a BatchNorm in training mode that
    gets that batch with one value per channel. Or a tensor of one sample that is passed to a model in training mode.
Why it hurts
    The last step of an epoch, or the call, raises "Expected more than 1 value per channel when training": one value has no variance.
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
from torchsleuth.rules.evidence.describe import call_trail, layer_text, origin_trail
from torchsleuth.rules.evidence.loaders import construction_of, made_here
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.operands import Operand, lineage, operand, resized
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_plain_call, keyword_of
from torchsleuth.values import LibraryObject

CODE = "TS609"
_MESSAGE = "Expected more than 1 value per channel"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure in analysis.trace.failures:
        if not failure.failure.message.startswith(_MESSAGE):
            continue
        if not failure.last_batch:
            yield from _alone(analysis, failure)
        else:
            loaders = _leaving_one(analysis)
            places = (*_layer(failure), *(place for loader in loaders for place in made_here(analysis, loader)))
            module = failure.operation.module
            name = layer_text(module) if module is not None else "batch_norm"
            text = message("data.batch_of_one", layer=name)
            yield Finding(failure.operation.site.span, text, places, _dropping(loaders))


def _alone(analysis: Analysis, failure: OperatorFailure) -> Iterator[Finding]:
    """A batch that nothing is left over of: one sample was made."""
    operation = failure.operation
    given = operand(operation, 0, "input")
    if given is None:
        return
    layer = layer_text(operation.module) if operation.module is not None else "batch_norm"
    text = message("data.batch_of_one.only", layer=layer, tensor=given.described())
    places = (*_layer(failure), *origin_trail(given.tensor, given.text()), *call_trail(operation.site.scene))
    yield Finding(operation.site.span, text, places, _more_or_eval(analysis, failure, given))


def _more_or_eval(analysis: Analysis, failure: OperatorFailure, given: Operand) -> Iterator[Candidate]:
    """``model.eval()`` before the call that leads here, or two samples where the one is made."""
    site, node = failure.operation.site, failure.operation.site.node
    scene = site.scene
    while scene.call is not None and scene.caller is not None:
        node, scene = scene.call, scene.caller
        site = scene.site(node)
    if is_plain_call(node):
        source, statement = site.source, statement_of(analysis, site)
        if statement is not None:
            line = f"{source.segment(node.func)}.eval()"
            yield Candidate(message("fix.insert", text=line), (edits.insert_line_before(source, statement, line),))
    for tensor in (given.tensor, *(made for made, _ in lineage(analysis, given.tensor))):
        yield from resized(tensor, 0, 2)


def _leaving_one(analysis: Analysis) -> list[LibraryObject]:
    """The loaders whose last batch has one sample."""
    found: list[LibraryObject] = []
    for call in analysis.calls.get(LOADER, ()):
        loader = as_kind(call.result, LibraryObject)
        plan = as_kind(loader.slots.get("plan"), Plan) if loader is not None else None
        if loader is not None and plan is not None and plan.last == 1 and loader not in found:
            found.append(loader)
    return found


def _layer(failure: OperatorFailure) -> tuple[Related, ...]:
    module = failure.operation.module
    if module is None or module.site is None:
        return ()
    span = module.site.span
    return (span.related(message("related.constructor.plain", layer=layer_text(module))),)


def _dropping(loaders: list[LibraryObject]) -> Iterator[Candidate]:
    changes: list[Edit] = []
    for loader in loaders:
        call = construction_of(loader)
        if call is None or loader.site is None or isinstance(option(loader, "batch_sampler"), LibraryObject):
            return
        source = loader.site.source
        given = keyword_of(call, "drop_last")
        changes.append(
            edits.replace(source, given.value, "True")
            if given is not None
            else edits.add_argument(source, call, "drop_last=True")
        )
    if changes:
        yield Candidate(message("fix.add_argument", argument="drop_last=True"), tuple(dict.fromkeys(changes)))


RULE = Rule(FAULTS[CODE], find)
