"""load-without-weights-only: torch.load that leaves open whether a file may run code.

What it finds
    torch.load without weights_only. A warning where it unpickles anything: with torch before 2.6, or with a
    pickle_module. With a newer torch it is a hint, for weights_only=True is the default there, but not for those who
    run the script with an older one. An error where the program has written an object of a class into the file, which is refused then.
Why it hurts
    A pickle is a program. A checkpoint from somebody else can run any code on the machine that loads it.
Example
    state = torch.load("model.pt")
Use instead
    state = torch.load("model.pt", weights_only=True)
Fix safety
    Safe with torch 2.6 or newer, where it is the default. Unsafe with an older one: a file that holds more than tensors
    and plain containers is refused then.
References
    torch.load, torch.serialization.add_safe_globals
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import calls, is_exact, text
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Severity
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, keyword_of
from torchsleuth.values import Array, Instance, LibraryObject, Value, is_module

CODE = "TS803"
_DEFAULT_SINCE = (2, 6)


def find(analysis: Analysis) -> Iterator[Finding]:
    allows = any(path.endswith("safe_globals") for path in analysis.calls)
    refused = {misuse.site.span: misuse.value for misuse in analysis.misuses(misuses.PICKLED) if not allows}
    for use, call in calls(analysis, "torch.load"):
        saved = refused.get(analysis.source.span(call))
        if saved is not None and (analysis.torch >= _DEFAULT_SINCE or argument_of(call, None, "weights_only")):
            yield _of_object(analysis, use.node, call, saved)
            continue
        if argument_of(call, None, "weights_only") is not None:
            continue
        name, span = text(analysis, use.node), analysis.source.span(call)
        if argument_of(call, 2, "pickle_module") is not None:
            yield Finding(span, message("load.pickle_module", call=name), (), _restricted(analysis, call))
            continue
        # What `**options` holds may be just this.
        safe = analysis.torch >= _DEFAULT_SINCE or not is_exact(call)
        fix = added_argument(analysis.source, call, "weights_only=True", safe and is_exact(call))
        severity: Severity | None = "hint" if safe else None
        yield Finding(span, message("load.version" if safe else "load.unsafe", call=name), (), (fix,), severity)


def _of_object(analysis: Analysis, function: ast.AST, call: ast.Call, saved: LibraryObject) -> Finding:
    """A file that holds an object of a class: it is read with ``weights_only=False``, or not at all."""
    given = keyword_of(call, "weights_only")
    new = "weights_only=False"
    edit = edits.replace(analysis.source, given, new) if given else edits.add_argument(analysis.source, call, new)
    title = message("fix.add_argument", argument=new)
    if given is not None:
        title = message("fix.replace", old=text(analysis, given), new=new)
    told = message("load.object", call=text(analysis, function), what=_what(saved.args[0]))
    places = () if saved.site is None else (saved.site.span.related(message("load.object.saved")),)
    return Finding(analysis.source.span(call), told, places, (Candidate(title, (edit,), safe=False),), "error")


def _what(saved: Value) -> str:
    if is_module(saved):
        return "a whole module"
    if isinstance(saved, Array):
        return "an array of NumPy"
    name = (
        saved.cls.name if isinstance(saved, Instance) else saved.type_name if isinstance(saved, LibraryObject) else ""
    )
    return f"an object of {name}"


def _restricted(analysis: Analysis, call: ast.Call) -> Iterator[Candidate]:
    """``weights_only=True`` in the place of the pickle module: the two exclude each other."""
    given = keyword_of(call, "pickle_module")
    if given is not None:
        title = message("fix.replace", old=text(analysis, given), new="weights_only=True")
        yield Candidate(title, (edits.replace(analysis.source, given, "weights_only=True"),), safe=False)


RULE = Rule(FAULTS[CODE], find)
