"""units-begin-alike: the weights of two layers behind one another are one number each.

What it finds
    nn.init.constant_, zeros_ or ones_ for the weights of a linear layer or a convolution, and for those of the layer that takes its
    outputs, without Dropout in between.
Why it hurts
    All units of the first layer compute the same, and get the same gradient: they stay alike, and the layer is as good as one
    of a single unit. With zeros in both, nothing moves but the last bias. Nothing is raised.
Example
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.1)
Use instead
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.kaiming_normal_(m.weight)
Fix safety
    Unsafe: random weights, scaled for ReLU.
References
    torch.nn.init
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.evidence.operands import lineage
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_attribute
from torchsleuth.values import LibraryModule, Tensor

CODE = "TS561"
_CONSTANT = ("torch.nn.init.constant_", "torch.nn.init.zeros_", "torch.nn.init.ones_")
_BETWEEN = frozenset(
    "relu ReLU tanh Tanh sigmoid Sigmoid gelu GELU silu SiLU leaky_relu LeakyReLU flatten Flatten view reshape max_pool2d MaxPool2d "
    "avg_pool2d AvgPool2d BatchNorm1d BatchNorm2d".split()
)
"""Operations that treat all units alike."""


def find(analysis: Analysis) -> Iterator[Finding]:
    filled = _fills(analysis)
    if not filled or any(path.endswith(("load_state_dict", ".copy_")) for path in analysis.calls):
        return
    seen: set[Span] = set()
    for second in analysis.trace.operations if len(filled) > 1 else ():
        if _filled(second, filled) is not None and second.operands:
            first = _layer_before(analysis, second.operands[0])
            call = _filled(first, filled) if first is not None else None
            if first is not None and call is not None and _units(first) > 1 and call.site.span not in seen:
                seen.add(call.site.span)
                places = (
                    first.site.span.related(message("alike.first")),
                    second.site.span.related(message("alike.second")),
                )
                text = message("alike", layer=first.name)
                yield Finding(call.site.span, text, places, tuple(_random(call)))


def _fills(analysis: Analysis) -> dict[int, LibraryCall]:
    """The last filling of the weights of each layer, by the identity of the layer, where that is by one number."""
    calls = [call for path, given in analysis.calls.items() if path.startswith("torch.nn.init.") for call in given]
    last: dict[int, LibraryCall] = {}
    for call in calls:
        weight = argument_of(call.site.call, 0, "tensor") if call.site.call is not None else None
        layer = held(weight.value, call.site.scene) if is_attribute(weight, "weight") else None
        if isinstance(layer, LibraryModule):
            last[layer.identity] = call
    return {layer: call for layer, call in last.items() if call.path in _CONSTANT and call.certain}


def _filled(operation: Operation, filled: dict[int, LibraryCall]) -> LibraryCall | None:
    """The call that filled the weights of the layer that an operation is of."""
    module = operation.module
    known = module is not None and module.type_name.startswith(("Linear", "Conv"))
    return filled.get(module.identity) if module is not None and known else None


def _layer_before(analysis: Analysis, given: Tensor) -> Operation | None:
    for _, operation in lineage(analysis, given):
        if operation.module is not None and operation.module.type_name.startswith(("Linear", "Conv")):
            return operation
        if operation.name not in _BETWEEN:
            return None
    return None


def _units(operation: Operation) -> int:
    made = operation.module.given(1, "out_features") if operation.module is not None else None
    return made if isinstance(made, int) else 2


def _random(call: LibraryCall) -> Iterator[Candidate]:
    """``nn.init.kaiming_normal_(m.weight)``"""
    node, source = call.site.call, call.site.source
    if node is not None and node.args:
        function = source.segment(node.func)
        new = f"{function.removesuffix(call.path.rpartition('.')[2])}kaiming_normal_({source.segment(node.args[0])})"
        if function.endswith(call.name) and "." in function:
            title = message("fix.replace", old=source.segment(node), new=new)
            yield Candidate(title, (edits.replace(source, node, new),), safe=False)


RULE = Rule(FAULTS[CODE], find)
