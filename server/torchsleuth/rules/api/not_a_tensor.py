"""not-a-tensor: a module, an array of NumPy or an object of a class, where PyTorch computes with tensors.

What it finds
    `F.relu(self.conv)` for `F.relu(self.conv(x))`; a layer that is called with an array; `F.softmax(output)` of an object
    that has the logits in it.
Why it hurts
    TypeError: "relu(): argument 'input' (position 1) must be Tensor, not Conv2d".
Example
    x = F.relu(self.conv)
Use instead
    x = F.relu(self.conv(x))
Fix safety
    Safe where the module gets what the line gives a new value; what an array is made into is a choice.
References
    torch.from_numpy, torch.as_tensor
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence import kinds
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operators import reported
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, appended
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import Array, Instance, ListValue, Tensor, Value

CODE = "TS823"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.UNTENSOR):
        path, value = misuse.value
        call = misuse.site.call
        if call is not None and call.args:
            source = misuse.site.source
            name = f"`{' '.join(source.segment(call.args[0]).split())}`"
            kind, repairs = ("untensor.array", _converted) if isinstance(value, Array) else ("untensor.module", _called)
            if isinstance(value, ListValue):
                kind, repairs = "untensor.list", _made
            elif isinstance(value, Instance) and not value.is_module:
                kind, repairs = "untensor.object", _read
            elif path.startswith("torch.nn.init."):
                kind = "untensor.layer"
            cls = value.cls.name if isinstance(value, Instance) else ""
            text = message("untensor", made=path.rpartition(".")[2], name=name, kind=message(kind, cls=cls))
            yield Finding(source.span(call.args[0]), text, (), list(repairs(analysis, misuse, call)))
    for failure, finding in reported(analysis, CODE):
        yield replace(finding, candidates=kinds.converted(analysis, failure))


def _made(analysis: Analysis, misuse: Misuse[object], call: ast.Call) -> Iterator[Candidate]:
    """The tensor of the numbers in a list."""
    path = misuse.site.span.path
    source, given = analysis.source_of(path), call.args[0]
    made, imports = spelled(analysis, path, "torch.tensor")
    new = f"{made}({source.segment(given)})"
    title = message("fix.replace", old=source.segment(given), new=new)
    yield Candidate(title, (*imports, edits.replace(source, given, new)))


def _read(analysis: Analysis, misuse: Misuse[tuple[str, Value]], call: ast.Call) -> Iterator[Candidate]:
    """The tensors in an object: those in floating point first."""
    source, given = misuse.site.source, call.args[0]
    fields = [(name, held) for name, held in getattr(misuse.value[1], "slots", {}).items() if isinstance(held, Tensor)]
    for name, _ in sorted(fields, key=lambda field: "float" not in (field[1].spec.dtype or ""))[:3]:
        yield appended(source, given, f".{name}")


def _called(analysis: Analysis, misuse: Misuse[tuple[str, Value]], call: ast.Call) -> Iterator[Candidate]:
    """With the tensors that are there: first that which the line gives a new value. Of what is initialised, the weight."""
    if misuse.value[0].startswith("torch.nn.init."):
        weight = edits.insert_after_node(misuse.site.source, call.args[0], ".weight")
        text = misuse.site.source.segment(call.args[0])
        yield Candidate(message("fix.append", expression=text, suffix=".weight"), (weight,))
        return
    frame, source = misuse.site.scene, misuse.site.source
    statement = as_kind(edits.enclosing_statement(analysis.tree(source.path), call), ast.Assign)
    targets = statement.targets if statement is not None else []
    names = [target.id for target in of_kind(targets, ast.Name)]
    names += [name for name, value in frame.names.items() if isinstance(value, Tensor) and name not in names]
    for name in names[:3]:
        edit = edits.insert_after_node(source, call.args[0], f"({name})")
        text = source.segment(call.args[0])
        yield Candidate(
            message("fix.replace", old=text, new=f"{text}({name})"), (edit,), safe=name in names[: len(targets)]
        )


def _converted(analysis: Analysis, misuse: Misuse[object], call: ast.Call) -> Iterator[Candidate]:
    path = misuse.site.span.path
    source, given = analysis.source_of(path), call.args[0]
    text = source.segment(given)
    if is_method_call(given, "numpy"):
        inner = source.segment(given.func.value)
        yield Candidate(message("fix.replace", old=text, new=inner), (edits.replace(source, given, inner),), safe=False)
    made, imports = spelled(analysis, path, "torch.as_tensor")
    dtype, _ = spelled(analysis, path, "torch.float32")
    for new in (f"{made}({text})", f"{made}({text}, dtype={dtype})"):
        change = edits.replace(source, given, new)
        yield Candidate(message("fix.replace", old=text, new=new), (*imports, change), safe=False)


RULE = Rule(FAULTS[CODE], find)
