"""parameter-as-number: a parameter that the model only uses as a plain number.

What it finds
    `.item()` or `.tolist()` of a parameter in a forward(), where an optimizer was given the parameter and no backward()
    ever reaches it: temperatures, scales, weights of losses.
Why it hurts
    Nothing is raised. The parameter has no gradient, and keeps the value that it was made with.
Example
    scale = self.logit_scale.exp().item()
    return scale * image @ text.t()
Use instead
    scale = self.logit_scale.exp()
    return scale * image @ text.t()
Fix safety
    Safe: the tensor is used in the place of its value.
References
    torch.Tensor.item
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, Tensor
from torchsleuth.values.frames import Scene
from torchsleuth.values.graph import node_of

CODE = "TS414"


def find(analysis: Analysis) -> Iterator[Finding]:
    backwards = [event.node for event in analysis.events("backward")]
    if not backwards or any(node is None or not node.reached[1] for node in backwards):
        return
    reached = {one for node in backwards if node is not None for one in node.reached[0]}
    stepping = [event.subject for event in analysis.events("step")]
    trained = {id(part) for one in of_kind(stepping, LibraryObject) for part in trained_parts(one)}
    seen: set[object] = set()
    for name in ("item", "tolist"):
        for call in analysis.calls.get(f"Tensor.{name}", ()):
            starved = [part for part in _parameters(call) if id(part) in trained and id(part) not in reached]
            if not starved or call.site.span in seen or not _in_forward(call.site.scene) or changes_gradients(analysis):
                continue
            seen.add(call.site.span)
            yield _finding(call, starved[0], name)


def _parameters(call: LibraryCall) -> list[Tensor]:
    """The parameters that a tensor is, or was computed from."""
    receiver = as_kind(call.receiver, Tensor)
    if receiver is None or call.grad is not True:
        return []
    node = node_of(receiver)
    leaves = [receiver]
    if node is not None:
        leaves = [leaf for part in node.reachable() for leaf in part.leaves]
        if any(part.module is not None for part in node.reachable()):
            return []  # what a layer has computed: a statistic, not a parameter
    return [leaf for leaf in leaves if leaf.parameter and leaf.owner is None and leaf.spec.requires_grad is True]


def _in_forward(place: Scene) -> bool:
    frame: Scene | None = place
    while frame is not None:
        if frame.function is not None and frame.function.name == "forward":
            return True
        frame = frame.caller
    return False


def _finding(call: LibraryCall, parameter: Tensor, method: str) -> Finding:
    source, instance = call.site.source, call.site.scene.instance()
    held = instance.slots if instance is not None else {}
    name = next((f"self.{key}" for key, value in held.items() if value is parameter), "the parameter")
    text = message("grad.number", name=name, text=source.on_one_line(call.site.node))
    edit = edits.without_attribute(source, call.site.call, method) if call.site.call is not None else None
    fixes = (Candidate(message("fix.remove", text=f".{method}()"), (edit,)),) if edit is not None else ()
    return Finding(call.site.span, text, (), fixes)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
