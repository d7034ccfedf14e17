"""average-without-norms: averaged weights with the batch statistics of the last model.

What it finds
    `AveragedModel` of a model with batch norms, called for evaluation in a program that neither calls `update_bn` nor averages
    the buffers.
Why it hurts
    Only parameters are averaged. The running mean and variance are copied from the model at each update: in evaluation each batch norm
    scales by statistics of other weights than its own. An average over the last few steps hardly notices, one over epochs does.
Example
    average = AveragedModel(model)
Use instead
    average = AveragedModel(model, use_buffers=True)
Fix safety
    Averaging the statistics comes close to computing them anew, as `update_bn(loader, average)` does; it changes results, and so it is not
    safe.
References
    torch.optim.swa_utils.AveragedModel, torch.optim.swa_utils.update_bn
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.norms import batch_norms
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.syntax.forms import called

CODE = "TS574"
_AVERAGE = "torch.optim.swa_utils.AveragedModel"
_OTHERWISE = frozenset({"update_bn", "buffers", "named_buffers", "load_state_dict"})
"""Functions by which a file brings the statistics in another way."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.calls.get(_AVERAGE, ()):
        source = call.site.source
        norm = next(batch_norms(call.given(0, "model")), None)
        names = {called(one) for one in analysis.index(source.path).of_type(ast.Call)}
        brought = call.given(4, "use_buffers", False) is not False or names & _OTHERWISE
        if norm is None or call.site.call is None or "update_parameters" not in names or brought:
            continue
        where = norm.site.span.related(message("average.norm.here")) if norm.site is not None else None
        text = message("average.norms", norm=norm.type_name)
        fix = added_argument(source, call.site.call, "use_buffers=True", safe=False)
        yield Finding(call.site.span, text, (where,) if where is not None else (), (fix,))


RULE = Rule(FAULTS[CODE], find)
