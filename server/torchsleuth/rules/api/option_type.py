"""option-type: an option of the command line whose type does not read what is written.

What it finds
    `add_argument(…, type=list)`, also tuple and set, which give the characters of the text; and `type=bool`, which gives True for
    every text but the empty one: a hint, since it works as long as nobody gives the option.
Why it hurts
    `--hidden 64,32` are the layers '6', '4', ',', '3', '2', and `--amp False` switches it on. Nothing is raised where it is read.
Example
    parser.add_argument("--hidden", type=list, default=[64, 32])
Use instead
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 32])
Fix safety
    Unsafe: several values are then given with spaces between them.
References
    argparse.ArgumentParser.add_argument, "type" and "nargs"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_constant, is_display, is_name, is_text, keyword_of, plain_name

CODE = "TS826"
_COLLECTIONS = ("list", "tuple", "set")
_TRUTH = 'lambda text: text.lower() in ("1", "true", "yes")'


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.index(analysis.source.path).of_type(ast.Call):
        given = keyword_of(call, "type") if called(call) == "add_argument" and call.args else None
        if given is None or not is_text(call.args[0]) or not analysis.names.is_free(plain_name(given.value) or ""):
            continue
        option, source = call.args[0].value, analysis.source
        if is_name(given.value, *_COLLECTIONS) and keyword_of(call, "nargs") is None:
            text = message("option.characters", option=option, type=given.value.id)
            yield Finding(source.span(given), text, (), tuple(_several(analysis, call, given)))
        elif is_name(given.value, "bool"):
            title = message("fix.replace", old="bool", new=_TRUTH)
            fix = Candidate(title, (edits.replace(source, given.value, _TRUTH),), safe=False)
            yield Finding(source.span(given), message("option.truth", option=option), (), (fix,), severity="hint")


def _several(analysis: Analysis, call: ast.Call, given: ast.keyword) -> Iterator[Candidate]:
    """``type=int, nargs="+"``, by the type of the default; parts of a text with commas where the default is one."""
    default = keyword_of(call, "default")
    value = default.value if default is not None else None
    first = value.elts[0] if is_display(value) and value.elts else None
    kind = type(first.value).__name__ if is_constant(first, int, float, str) else "int"
    written = as_kind(value.value, str) if isinstance(value, ast.Constant) else None
    if written is not None:
        kind = "float" if "." in written else "int" if any(map(str.isdigit, written)) else "str"
        new = f'type=lambda text: [{kind}(part) for part in text.split(",")]'
    else:
        new = f'type={kind}, nargs="+"'
    title = message("fix.replace", old=analysis.source.segment(given), new=new)
    yield Candidate(title, (edits.replace(analysis.source, given, new),), safe=False)


RULE = Rule(FAULTS[CODE], find)
