"""state-dict-mismatch: weights that do not fit the module they are loaded into.

What it finds
    load_state_dict() with a dict whose keys or shapes differ from those of the module: the state of a model of another
    width or with another head, a whole checkpoint instead of the state in it, another model's state, that of a wrapper
    (DataParallel, torch.compile), whose names have a prefix. With ``strict=False``, a state of which no name fits. An
    optimizer's, with other groups of parameters.
Why it hurts
    RuntimeError "Error(s) in loading state_dict for Net: Missing key(s) … Unexpected key(s) … size mismatch for …". With
    ``strict=False`` nothing is raised, and the module keeps the weights that it was born with.
Example
    checkpoint = {"epoch": 3, "model": net.state_dict()}
    net.load_state_dict(checkpoint)
Use instead
    net.load_state_dict(checkpoint["model"])
Fix safety
    Unsafe: the entry that fits, the module that is built as the other one, or ``strict=False`` where the rest fits.
References
    torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.trace import StateFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operators import generic
from torchsleuth.rules.evidence.wrapped import of_wrapped
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.synthesis.names import renamed, renaming
from torchsleuth.values import DictValue, Instance, LibraryModule, Value, is_object

CODE = "TS530"
_SHOWN = 2
_TRIED = 3


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.states:
        if fault.loads_nothing:
            text = message("state.nothing", given=_listed(fault.keys[:1]), own=_listed(fault.missing[:1]))
            places, fixes = tuple(_places(fault)), tuple(_placed(fault))
            yield Finding(fault.site.span, text, places, fixes, severity="warning")
            continue
        wrong = []
        for key, got, own in fault.sizes[:1]:
            wrong.append(message("state.size", key=f"`{key}`", got=str(list(got)), own=str(list(own))))
        if fault.missing:
            wrong.append(message("state.missing", keys=_listed(fault.missing)))
        if fault.unexpected:
            wrong.append(message("state.unexpected", keys=_listed(fault.unexpected)))
        text = message("state.misfit", wrong="; ".join(wrong))
        yield Finding(fault.site.span, text, tuple(_places(fault)), tuple(_repairs(analysis, fault)))
    yield from generic(analysis, CODE)
    yield from of_wrapped(analysis)


def _placed(fault: StateFault) -> Iterator[Candidate]:
    """The state loaded into the part of the module that it is of, or without what its names begin with."""
    call = fault.site.node
    if not is_method_call(call) or not call.args:
        return
    source, own, keys = fault.site.source, set(fault.missing), fault.keys
    for part in dict.fromkeys(
        name.removesuffix(f".{keys[0]}") for name in fault.missing if name.endswith(f".{keys[0]}")
    ):
        if all(f"{part}.{key}" in own for key in keys) and all(name.isidentifier() for name in part.split(".")):
            receiver = source.segment(call.func.value)
            edit = edits.insert_after_node(source, call.func.value, f".{part}")
            yield Candidate(message("fix.replace", old=receiver, new=f"{receiver}.{part}"), (edit,))
    ends = [keys[0].removesuffix(name) for name in fault.missing if keys[0].endswith(f".{name}")]
    for prefix in dict.fromkeys(ends):
        if all(key.startswith(prefix) and key.removeprefix(prefix) in own for key in keys):
            given = source.segment(call.args[0])
            new = f'{{name.removeprefix("{prefix}"): value for name, value in {given}.items()}}'
            title = message("fix.without_prefix", prefix=prefix)
            yield Candidate(title, (edits.replace(source, call.args[0], new),))


def _listed(keys: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{key}`" for key in keys[:_SHOWN])
    return shown if len(keys) <= _SHOWN else message("state.more", keys=shown, count=len(keys) - _SHOWN)


def _places(fault: StateFault) -> Iterator[Related]:
    for module, text in ((fault.module, "state.misfit.module"), (_source(fault.given), "state.misfit.given")):
        site = module.site if isinstance(module, Instance | LibraryModule) else None
        if site is not None:
            yield site.span.related(message(text))


def _source(given: Value) -> Value:
    """The module that a state is of, also where it was read from a file."""
    of = given.slots.get("state") if isinstance(given, DictValue) else given
    return of.args[0] if is_object(of, STATE) else None


def _repairs(analysis: Analysis, fault: StateFault) -> Iterator[Candidate]:
    call = fault.site.call
    source = fault.site.source
    if call is None or not call.args:
        return
    held = fault.given.items if isinstance(fault.given, DictValue) else None
    for key, value in (held or {}).items():
        if isinstance(value, DictValue) or is_object(value, STATE):
            edit = edits.insert_after_node(source, call.args[0], f'["{key}"]')
            yield Candidate(message("fix.entry", key=f'["{key}"]'), (edit,), safe=False)
    yield from _renamed(fault, call.args[0])
    yield from _built_alike(analysis, fault)
    if (
        not fault.sizes
        and len(call.args) == 1
        and not call.keywords
        and not (held and len(held) == len(fault.unexpected))
    ):
        yield added_argument(source, call, "strict=False", safe=False)


def _renamed(fault: StateFault, state: ast.expr) -> Iterator[Candidate]:
    """The state with the names that the module has now, where one part of them was changed."""
    both = set(fault.keys) - set(fault.unexpected)
    found = renaming(fault.unexpected, fault.missing, both) if not fault.sizes else None
    if found is not None:
        source = fault.site.source
        title = message("fix.names", old=found[0].strip("."), new=found[1].strip("."))
        yield Candidate(title, (edits.replace(source, state, renamed(source.segment(state), *found)),))


def _built_alike(analysis: Analysis, fault: StateFault) -> Iterator[Candidate]:
    """The module with other arguments that it is made with elsewhere: best those of the module whose state it gets."""
    site = fault.module.site if isinstance(fault.module, Instance | LibraryModule) else None
    own = as_kind(site.node, ast.Call) if site is not None else None
    if site is None or own is None:
        return
    source = site.source
    other = as_kind(_source(fault.given), Instance, LibraryModule)
    best = other.site.node if other is not None and other.site is not None else None
    alike = [best, *analysis.index(site.span.path).of_type(ast.Call)]
    texts = [ast.unparse(one) for one in of_kind(alike, ast.Call) if ast.dump(one.func) == ast.dump(own.func)]
    for text in list(dict.fromkeys(texts))[:_TRIED]:
        if text != ast.unparse(own):
            yield replacement(source, own, text, safe=False)


RULE = Rule(FAULTS[CODE], find)
