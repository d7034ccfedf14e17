"""checkpoint-key: an entry that a checkpoint does not have.

What it finds
    `checkpoint["name"]` of what torch.load gives, where the script itself has written that file, under other names;
    `model.state_dict()["fc.weight"]` of a module that has no such parameter or buffer.
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
from torchsleuth.interp.trace import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.values import DictValue

CODE = "TS531"
_TRIED = 3
_SHOWN = 4
"""Keys that are named; of more, the one that is most like the one that is not there."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses("key"):
        held, key = misuse.value
        names = [one for one in held.items if isinstance(one, str)]
        near = difflib.get_close_matches(key, names, 1) if len(names) > _SHOWN else []
        keys = ", ".join(f'"{one}"' for one in near or names[:_SHOWN]) + (
            ", …" if len(names) > _SHOWN and not near else ""
        )
        text = message("state.key" if held.from_file else "state.key.module", key=f'"{key}"', keys=keys)
        yield Finding(misuse.site.span, text, (), tuple(_others(analysis, misuse)))


def _others(analysis: Analysis, misuse: Misuse) -> Iterator[Candidate]:
    node, (held, key) = misuse.site.node, misuse.value
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return
    source = analysis.source_of(misuse.site.span.path)
    same = analysis.index(misuse.site.span.path).same(node)
    around = analysis.index(misuse.site.span.path).parents.get(same) if same is not None else None
    function = around.func if isinstance(around, ast.Call) else None
    loads = isinstance(function, ast.Attribute) and function.attr == "load_state_dict"
    names = [one for one in held.items if isinstance(one, str)]
    alike = {one: difflib.SequenceMatcher(None, one.lower(), key.lower()).ratio() for one in names}
    names.sort(key=lambda one: (loads and not isinstance(held.items[one], DictValue), -alike[one]))
    quote = source.segment(node.slice)[0]
    for one in names[:_TRIED]:
        new = f"{quote}{one}{quote}"
        title = message("fix.replace", old=source.segment(node.slice), new=new)
        yield Candidate(title, (edits.replace(source, node.slice, new),), safe=False)


RULE = Rule(FAULTS[CODE], find)
