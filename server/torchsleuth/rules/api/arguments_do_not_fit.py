"""arguments-do-not-fit: a call of a layer, an optimizer, a loader or a model with arguments that it does not take.

What it finds
    A parameter without default that is left out (`nn.Conv2d(3, 8)` without its kernel_size), a keyword that there is not
    (`nn.LSTM(8, 16, num_layer=2)`), too many arguments (`nn.Linear(8, 4)(x, y)`), or one that is given twice; of the
    installed PyTorch's layers, losses, optimizers, schedules, datasets, functionals and operators (`x.sum(dims=1)`,
    `torch.randint(0, 10, 5)`), and of modules of one's own, made or called. Keywords that come out of a dictionary, such as
    the options in a configuration file beside the script, are looked at, too.
Why it hurts
    TypeError as soon as the line is reached, often only after the data were loaded.
Example
    layer = nn.LSTM(8, 16, num_layer=2)
Use instead
    layer = nn.LSTM(8, 16, num_layers=2)
Fix safety
    A keyword that is a slip for another is safe to rename. Where the name is another altogether (`learning_rate`), it is not.
References
    https://docs.python.org/3/reference/expressions.html#calls
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.signatures import ALIKE, Misfit
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Edit, Related, Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    by_position,
    called,
    defaults_of,
    every_parameter,
    is_display,
    is_primary,
    keyword_of,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import Native, plain_name
from torchsleuth.values import Bound, ClassValue, Function, Instance, LibraryModule

CODE = "TS820"
_SHOWN = 8
_OTHER_WORDS = {
    "learning_rate": "lr",
    "learningrate": "lr",
    "axis": "dim",
    "axes": "dim",
    "shape": "size",
    "ord": "p",
    "num_classes": "out_features",
    "units": "out_features",
    "input_dim": "in_features",
    "output_dim": "out_features",
    "filters": "out_channels",
    "kernel": "kernel_size",
    "strides": "stride",
    "rate": "p",
    "input_shape": "in_features",
    "drop": "dropout",
    "batch": "batch_size",
    "class_weight": "weight",
    "decay": "weight_decay",
    "l2": "weight_decay",
    "gamma_decay": "gamma",
}
"""Names that other libraries have for these, and people therefore."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.MISFIT):
        callee, found = misuse.value
        if misuse.site.call is not None:
            yield _finding(analysis, misuse, misuse.site.call, callee, found)
    for callback in analysis.misuses(misuses.CALLBACK):
        yield from _callback(analysis, callback)


def _callback(analysis: Analysis, misuse: Misuse[misuses.Callback]) -> Iterator[Finding]:
    """A function that PyTorch is given to call, and that takes other arguments than it calls it with."""
    callee, function, given, written = misuse.value
    call, source = misuse.site.call, misuse.site.source
    assert call is not None
    spec, bound = function.node.args, isinstance(callee, Bound)
    own = [argument.arg for argument in by_position(spec)]
    taken = own[int(bound) :]
    name = "the lambda" if isinstance(function.node, ast.Lambda) else f"`{function.name}`"
    text = message("misfit.callback", callee=name, given=", ".join(given), taken=", ".join(taken))
    fixes: list[Candidate] = []
    if len(taken) == len(given) + 1 and "kwargs" not in given and given[0] == "module" and given[-1] != "grad_output":
        fixes.append(added_argument(source, call, "with_kwargs=True", safe=False))
    first, last = (taken[:1] if len(taken) > 1 else []), taken[-1:]
    plain = not (spec.vararg or spec.kwonlyargs or spec.kwarg or spec.defaults or spec.posonlyargs)
    if len(taken) < len(given) and len(taken) <= 2 and plain:
        new = [*own[: int(bound)], *first, *given[len(first) : len(given) - len(last)], *last]
        fixes += _with_parameters(analysis, function, own, new)
    yield Finding(source.span(written), text, _defined(analysis, function, name), fixes)


def _with_parameters(analysis: Analysis, function: Function, old: list[str], new: list[str]) -> Iterator[Candidate]:
    """A function with other parameters; those that it has keep their names."""
    source, spec = analysis.source_of(function.path), function.node.args
    if len(set(new)) < len(new) or any(argument.annotation for argument in spec.args):
        return
    title = message("fix.replace", old=f"({', '.join(old)})", new=f"({', '.join(new)})")
    if spec.args:
        edit = Edit(source.path, source.start_of(spec.args[0]), source.end_of(spec.args[-1]), ", ".join(new))
        yield Candidate(title, (edit,), safe=False)


def _finding(analysis: Analysis, misuse: Misuse[object], call: ast.Call, callee: object, found: Misfit) -> Finding:
    source = misuse.site.source
    name = _name(callee)
    written = _written(source, call, name)
    subject = f"{written} ({name})" if isinstance(callee, LibraryModule | Instance) and name not in written else written
    keyword = keyword_of(call, found.name)
    near, safe = _meant(found, {one.arg for one in call.keywords})
    fixes: list[Candidate] = []
    if found.kind == "unexpected" and keyword is not None and near:
        start = source.start_of(keyword)
        edit = Edit(source.path, start, replace(start, column=start.column + len(found.name)), near)
        fixes.append(Candidate(message("fix.replace", old=found.name, new=near), (edit,), safe=safe))
    if found.kind == "unexpected" and keyword is None:
        fixes += _left_out(source, call, found.name)
    if found.kind == "kinds":
        fixes += _sizes(source, call, found)
    placed = _overriding(analysis, source, call, callee, found)
    if placed is None and found.kind == "many":
        placed = _without_self(analysis, callee)
    if placed is not None:
        return placed
    text = message(
        f"misfit.{found.kind}",
        callee=subject,
        name=found.name,
        near=message("misfit.unexpected.near", near=near) if near else "",
        most=sum(one.kind in ("place", "either") for one in found.parameters),
        given=found.given,
        signature=_signature(
            name if not isinstance(callee, LibraryModule | Instance) else source.segment(call.func), found
        ),
    )
    return Finding(source.span(keyword or call), text, _defined(analysis, callee, subject), fixes)


def _written(source: SourceText, call: ast.Call, name: str) -> str:
    """The name that a call is written with; of one that partial() keeps, that of the function."""
    return f"`{name if called(call) == 'partial' else ' '.join(source.segment(call.func).split())}`"


def _left_out(source: SourceText, call: ast.Call, name: str) -> Iterator[Candidate]:
    """A dictionary of arguments without one of its keys."""
    unpacked = [keyword.value for keyword in call.keywords if keyword.arg is None]
    if len(unpacked) == 1:
        given = unpacked[0]
        left = f'{{key: value for key, value in {source.segment(given)}.items() if key != "{name}"}}'
        if is_primary(given):
            title = message("fix.remove_argument", argument=name)
            yield Candidate(title, (edits.replace(source, given, left),), safe=False)


def _sizes(source: SourceText, call: ast.Call, found: Misfit) -> Iterator[Candidate]:
    """``torch.randint(0, 10, (5,))``: one size is a tuple of one."""
    for parameter, given in zip(found.parameters, call.args):
        if parameter.name == "size" and not is_display(given):
            text = source.segment(given)
            yield Candidate(
                message("fix.replace", old=text, new=f"({text},)"), (edits.replace(source, given, f"({text},)"),)
            )


def _meant(found: Misfit, given: set[str | None]) -> tuple[str, bool]:
    """The parameter that an unknown keyword is meant for, by its name or as the only one left, and whether it is only misspelt."""
    placed = [one.name for one in found.parameters if one.kind in ("place", "either")][: found.given]
    free = [
        one.name
        for one in found.parameters
        if one.kind in ("either", "name") and one.name not in given and one.name not in placed
    ]
    other = _OTHER_WORDS.get(found.name)
    if other in free:
        return other or "", False
    plain = {plain_name(name): name for name in free}
    alike = difflib.get_close_matches(plain_name(found.name), plain, 1, ALIKE)
    if alike:
        return plain[alike[0]], True
    required = {one.name for one in found.parameters if one.required}
    left = [name for name in free if name not in required] or free
    return (left[0] if len(left) == 1 else ""), False


def _overriding(
    analysis: Analysis, source: SourceText, call: ast.Call, callee: object, found: Misfit
) -> Finding | None:
    """A method that takes other arguments than the one that it overrides, where the class of that calls it as its own."""
    bound = as_kind(callee, Bound)
    override = as_kind(bound.function, Function) if bound is not None else None
    made = as_kind(bound.receiver, Instance) if bound is not None else None
    if override is None or made is None or isinstance(override.node, ast.Lambda):
        return None
    name = override.name
    classes = [cls for cls in of_kind(made.cls.mro(), ClassValue) if isinstance(cls.slots.get(name), Function)]
    written = (
        cls for cls in classes[1:] if cls.path == source.path and any(node is call for node in ast.walk(cls.node))
    )
    caller = next(written, None)
    if caller is None or classes[0].slots[name] is not override:
        return None
    overridden, spec = as_kind(caller.slots[name], Function), override.node.args
    own = analysis.source_of(override.path)
    if overridden is None or not every_parameter(spec):
        return None
    taken, given = ([one.arg for one in every_parameter(method.node.args)[1:]] for method in (override, overridden))
    subject = f"`{classes[0].name}.{name}`"
    text = message(
        "misfit.override",
        callee=subject,
        taken=", ".join(taken),
        given=", ".join(given),
        base=caller.name,
    )
    last = every_parameter(spec)[-1]
    more = [one for one in given if one not in taken]
    fixes: list[Candidate] = []
    if given[: len(taken)] == taken and not (spec.vararg or spec.kwarg or spec.kwonlyargs or spec.defaults):
        added = "".join(f", {_with_default(analysis.source_of(overridden.path), overridden, one)}" for one in more)
        fix = edits.insert(own, own.end_of(last), added)
        fixes.append(Candidate(message("fix.insert", text=added.lstrip(", ")), (fix,), safe=False))
    calls = Related(source.path, source.start_of(call), source.end_of(call), message("misfit.override.call"))
    place = Span(own.path, own.start_of(every_parameter(spec)[0]), own.end_of(last))
    return Finding(place, text, (calls,), fixes)


def _with_default(source: SourceText, function: Function, name: str) -> str:
    """A parameter as it is written, with its default."""
    defaults = defaults_of(function.node.args)
    return f"{name}={source.segment(defaults[name])}" if name in defaults else name


def _without_self(analysis: Analysis, callee: object) -> Finding | None:
    """``def forward(x):`` in a class."""
    cls = callee.cls if isinstance(callee, Instance) else None
    method = as_kind(cls.slots.get("forward"), Function) if cls is not None else None
    if cls is None or method is None or isinstance(method.node, ast.Lambda):
        return None
    named = [argument.arg for argument in by_position(method.node.args)]
    if not named or named[0] in ("self", "this", "cls", "module") or method.kind != "function":
        return None
    source = analysis.source_of(method.path)
    first = method.node.args.args[0]
    text = message("misfit.self", name=method.name, cls=cls.name, first=named[0])
    fix = Candidate(message("fix.insert", text="self"), (edits.insert(source, source.start_of(first), "self, "),))
    return Finding(source.span(first), text, (), [fix])


def _signature(name: str, found: Misfit) -> str:
    """``Conv2d(in_channels, out_channels, kernel_size, …)``"""
    shown = [one for one in found.parameters if one.kind in ("place", "either", "name") and one.name[0] != "_"]
    needed = [one.name for one in shown if one.required]
    listed = [one.name for one in shown][: max(_SHOWN, len(needed))]
    more = ["…"] if len(listed) < len(shown) else []
    return f"{name}({', '.join(listed + more)})"


def _name(callee: object) -> str:
    match callee:
        case Native():
            return callee.name
        case LibraryModule():
            return callee.type_name
        case Bound():
            callee = callee.function
    match callee:
        case str():
            return callee
        case Function():
            return callee.name
    cls = as_kind(callee.cls if isinstance(callee, Instance) else callee, ClassValue)
    return cls.name if cls is not None else ""


def _defined(analysis: Analysis, callee: object, subject: str) -> tuple[Related, ...]:
    """Where a method of the user's has its parameters."""
    method = callee.function if isinstance(callee, Bound) else callee
    cls, name = (callee.cls, "forward") if isinstance(callee, Instance) else (callee, "__init__")
    if isinstance(cls, ClassValue):
        own = of_kind(cls.mro(), ClassValue)
        method = next((base.slots[name] for base in own if name in base.slots), None)
    if not isinstance(method, Function) or isinstance(method.node, ast.Lambda):
        return ()
    source, spec = analysis.source_of(method.path), method.node.args
    listed = every_parameter(spec)
    if not listed:
        return ()
    start, end = source.start_of(listed[0]), source.end_of(listed[-1])
    return (Related(method.path, start, end, message("misfit.definition", callee=subject)),)


RULE = Rule(FAULTS[CODE], find)
