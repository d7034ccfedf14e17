"""checkpoint-key: an entry that a checkpoint does not have.

What it finds
    `checkpoint["name"]` of what torch.load gives, where the script itself has written that file, under other names;
    `model.state_dict()["fc.weight"]` of a module that has no such parameter or buffer. The state of a module, loaded into an
    optimizer. An entry of a dict that the script has written itself, under other names.
Why it hurts
    KeyError, when training is resumed or the model is used.
Example
    torch.save({"model_state_dict": model.state_dict(), "epoch": epoch}, path)
    model.load_state_dict(torch.load(path)["model"])
Use instead
    model.load_state_dict(torch.load(path)["model_state_dict"])
Fix safety
    Unsafe: of the entries that there are, the most alike is offered first.
References
    torch.save, torch.load
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.values import DictValue, is_object

CODE = "TS531"
_TRIED = 3
_SHOWN = 4
"""Keys that are named; of more, the one that is most like the one that is not there."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.KEY):
        held, key = misuse.value
        names = of_kind(held.items or (), str)
        near = difflib.get_close_matches(key, names, 1) if len(names) > _SHOWN else []
        keys = ", ".join(f'"{one}"' for one in near or names[:_SHOWN]) + (
            ", …" if len(names) > _SHOWN and not near else ""
        )
        kind = "state.key" if held.from_file else "state.key.module" if "state" in held.slots else "state.key.dict"
        node, source = as_kind(misuse.site.node, ast.Subscript), misuse.site.source
        owner = source.on_one_line(node.value) if node is not None else "this"
        text = message(kind, owner=owner, key=f'"{key}"', keys=keys)
        yield Finding(misuse.site.span, text, (), tuple(_others(analysis, misuse)))
    yield from _of_modules(analysis)


def _of_modules(analysis: Analysis) -> Iterator[Finding]:
    """An optimizer that is given the state of a module."""
    seen: set[Span] = set()
    for path, calls in analysis.calls.items():
        if not path.startswith("torch.optim.") or not path.endswith(".load_state_dict") or "lr_scheduler" in path:
            continue
        for call in calls:
            given, node = call.given(0, "state_dict"), call.site.call
            state = given.slots.get("state") if isinstance(given, DictValue) else given
            of_module = is_object(state, STATE)
            if not of_module or node is None or not node.args or call.site.span in seen:
                continue
            seen.add(call.site.span)
            source = call.site.source
            text = message("state.key.optimizer", given=source.segment(node.args[0]))
            yield Finding(call.site.span, text, (), tuple(_of_optimizer(call, node.args[0])))


def _of_optimizer(call: LibraryCall, given: ast.expr) -> Iterator[Candidate]:
    """The entry of the same checkpoint whose name speaks of an optimizer."""
    if not isinstance(given, ast.Subscript) or not isinstance(given.value, ast.Name):
        return
    source = call.site.source
    held = as_kind(call.site.scene.names.get(given.value.id), DictValue)
    names = of_kind(held.items or () if held is not None else (), str)
    for name in names:
        if "opt" in name.lower():
            yield replacement(source, given.slice, f'"{name}"')


def _others(analysis: Analysis, misuse: Misuse[tuple[DictValue, str]]) -> Iterator[Candidate]:
    node, (held, key) = as_kind(misuse.site.node, ast.Subscript), misuse.value
    items = held.items or {}
    if node is None or not isinstance(node.slice, ast.Constant):
        return
    source = misuse.site.source
    same = analysis.index(misuse.site.span.path).same(node)
    around = as_kind(analysis.index(misuse.site.span.path).parents.get(same), ast.Call) if same is not None else None
    function = around.func if around is not None else None
    loads = is_attribute(function, "load_state_dict")
    names = of_kind(items, str)
    alike = {one: difflib.SequenceMatcher(None, one.lower(), key.lower()).ratio() for one in names}
    names.sort(key=lambda one: (loads and not isinstance(items[one], DictValue), -alike[one]))
    quote = source.segment(node.slice)[0]
    for one in names[:_TRIED]:
        new = f"{quote}{one}{quote}"
        yield replacement(source, node.slice, new, safe=False)


RULE = Rule(FAULTS[CODE], find)
