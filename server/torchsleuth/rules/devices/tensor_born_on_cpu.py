"""tensor-born-on-cpu: a tensor made in forward without a device.

What it finds
    `torch.zeros`, `torch.arange`, `torch.tensor` and their like in a method of a module, without `device=`, that meet a
    tensor or a layer on the accelerator.
Why it hurts
    It is on the CPU wherever the model is. On a machine without an accelerator nothing is raised.
Example
    positions = torch.arange(x.size(1))
    return self.embedding(x) + self.positions(positions)
Use instead
    positions = torch.arange(x.size(1), device=x.device)
Fix safety
    Safe: the tensor is made where it is used.
References
    torch.arange, torch.Tensor.device
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import DeviceConflict
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.devices import device_expression, stray_of, strays
from torchsleuth.rules.evidence.operands import FACTORIES, Birth, birth, short, tensors_above
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.tensors.device import Device
from torchsleuth.values import Tensor
from torchsleuth.values.frames import Scene

CODE = "TS203"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for conflict in analysis.trace.conflicts:
        stray, _, home = stray_of(conflict)
        tensors = [stray] if isinstance(stray, Tensor) else []
        tensors += [used.tensor for used in strays(conflict) if used.tensor is not stray]
        found = [born for tensor in tensors if (born := birth(tensor)) is not None and _is_bare(born, conflict)]
        new = [born for born in found if born.site.span not in seen]
        seen.update(born.site.span for born in new)
        while new:
            # What one function makes is given its device by one repair.
            first = new[0]
            alike = [born for born in new if born.site.scene == first.site.scene]
            new = [born for born in new if born.site.scene != first.site.scene]
            yield _finding(conflict, alike, home)


def _is_bare(born: Birth, conflict: DeviceConflict) -> bool:
    """Whether a tensor is made without a device, anew in each call of a module."""
    given = any(keyword.arg == "device" or keyword.arg is None for keyword in born.call.keywords)
    return born.name in FACTORIES and not given and _in_method(born, conflict)


def _in_method(born: Birth, conflict: DeviceConflict) -> bool:
    """Whether the tensor is made anew in each call of a module, not once in its constructor."""
    frame: Scene | None = born.site.scene
    instance = frame.instance() if frame is not None else None
    if instance is None or not instance.is_module:
        return False
    function = born.site.scene.function
    return function is not None and function.name != "__init__" and conflict.operation.site.scene.function is not None


def _finding(conflict: DeviceConflict, alike: list[Birth], home: Device) -> Finding:
    born, *others = alike
    source = born.site.source
    text = message("device.factory", call=short(source.segment(born.call)), device=home.described)
    use = conflict.operation.site.span.related(message("device.met"))
    again = [other.site.source.span(other.call).related(message("device.factory.again")) for other in others]
    places = (use, *again, *call_trail(born.site.scene, limit=1))
    return Finding(born.site.span, text, places, _candidates(alike, home))


def _candidates(alike: list[Birth], home: Device) -> Iterator[Candidate]:
    frame = alike[0].site.scene
    tensors = ((name, frame.names[name]) for name in tensors_above(frame, alike[0].call))
    names = [name for name, one in tensors if isinstance(one, Tensor) and one.spec.device == home]
    expressions = [f"{name}.device" for name in names[:1]]
    named = device_expression(frame, home)
    expressions += [named] if named is not None else []
    if not expressions:
        first = frame.function.node.args.args[0].arg if frame.function is not None else "self"
        expressions.append(f"next({first}.parameters()).device")
    for expression in expressions:
        text = f"device={expression}"
        changes = {edits.add_argument(other.site.source, other.call, text) for other in alike}
        yield Candidate(message("fix.add_argument", argument=text), tuple(sorted(changes, key=lambda one: one.start)))


RULE = Rule(FAULTS[CODE], find)
