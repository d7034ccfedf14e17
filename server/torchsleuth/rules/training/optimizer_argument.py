"""optimizer-argument: a number in the place of another one, in what makes an optimizer or a schedule.

What it finds
    StepLR and its like with a fraction for what counts steps, such as the learning rate for `step_size`; a learning rate,
    momentum or weight decay, by its name, that is given for another one of these. A `gamma` of zero, or of more than two for StepLR and MultiStepLR. LambdaLR with a function
    that gives the learning rate itself, or a whole number of warm-ups, where the factor of the learning rate is wanted.
    SequentialLR with another number of milestones than one for each schedule but the first, which raises.
Why it hurts
    `StepLR(optimizer, 0.001)` multiplies the learning rate in steps that nobody meant, or in each of them; SGD with a momentum
    for its learning rate diverges. With a gamma of zero, and until a warm-up with `//` is over, the learning rate is zero, and
    with LambdaLR that gives the learning rate, it is its square. Nothing is raised.
Example
    scheduler = StepLR(optimizer, args.lr, gamma=0.9)
Use instead
    scheduler = StepLR(optimizer, 1, gamma=0.9)
Fix safety
    Safe where two arguments change places; how many steps a schedule counts is yours to say.
References
    torch.optim.lr_scheduler.StepLR, torch.optim.SGD
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import given_to
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    is_binary,
    is_display,
    is_name,
    is_reference,
    is_spread,
    last_word,
    returned_by,
)
from torchsleuth.values import UNKNOWN, DictValue, Function, Instance, LibraryObject, items_of

CODE = "TS544"
_COUNTS = {"StepLR": "step_size", "CosineAnnealingLR": "T_max", "CosineAnnealingWarmRestarts": "T_0"}
_SCHEDULES = {name: (count, "gamma") if name == "StepLR" else (count,) for name, count in _COUNTS.items()}
_OPTIMIZERS = {
    "SGD": ("lr", "momentum", "dampening", "weight_decay"),
    "RMSprop": ("lr", "alpha", "eps", "weight_decay", "momentum"),
    "Adagrad": ("lr", "lr_decay", "weight_decay"),
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "NAdam", "RAdam"), ("lr", "betas", "eps", "weight_decay")),
}
"""Parameters behind the first one, in order."""
_FALLING = {"StepLR": 2, "MultiStepLR": 2, "ExponentialLR": 1}
"""Schedules that multiply the learning rate by `gamma`, and its place among their arguments."""
_PARAMETERS = {**_SCHEDULES, **_OPTIMIZERS}
_MEANINGS = {
    "lr": "lr",
    "learning_rate": "lr",
    "momentum": "momentum",
    "weight_decay": "weight_decay",
    "gamma": "gamma",
    "step_size": "step_size",
}
"""Names that say which parameter is meant."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for path, calls in analysis.calls.items():
        name = path.rpartition(".")[2]
        if not path.startswith("torch.optim."):
            continue
        for call in calls:
            if call.site.span in seen or call.site.call is None:
                continue
            seen.add(call.site.span)
            if name in _PARAMETERS:
                yield from _of_call(call, call.site.call, name)
            if name == "SGD":
                yield from _of_decay(call, call.site.call)
            if name in _FALLING:
                yield from _of_gamma(call, call.site.call, name)
            if name == "LambdaLR":
                yield from _of_factor(analysis, call)
            if name == "SequentialLR":
                yield from _of_milestones(call, call.site.call)


def _of_call(call: LibraryCall, node: ast.Call, name: str) -> Iterator[Finding]:
    written = _written(node, _PARAMETERS[name])
    places = tuple(call_trail(call.site.scene, limit=1))
    source = call.site.source
    wrong = {parameter: part for parameter, part in written.items() if _is_another(parameter, part, name)}
    for parameter, part in wrong.items():
        text = message("argument.another", given=source.on_one_line(part), parameter=parameter, callee=name)
        yield Finding(source.span(part), text, places, tuple(_exchanged(call, written, parameter)))
        return
    counted = _COUNTS.get(name)
    value = call.given(1, counted) if counted is not None else None
    if counted in written and type(value) is float and not value.is_integer():
        part = written[counted]
        text = message("argument.fraction", parameter=counted, callee=name, value=f"{value:g}")
        yield Finding(source.span(part), text, places, tuple(_counting(call, written, counted)))


def _of_decay(call: LibraryCall, node: ast.Call) -> Iterator[Finding]:
    """Momentum and weight decay in each other's place, by their numbers."""
    one, other = argument_of(node, 2, "momentum"), argument_of(node, 4, "weight_decay")
    momentum, decay = as_kind(call.given(2, "momentum"), float), as_kind(call.given(4, "weight_decay"), float)
    if one is None or other is None or momentum is None or decay is None:
        return
    if 0 < momentum <= 0.01 and 0.5 <= decay < 1:
        source = call.site.source
        texts = source.segment(one), source.segment(other)
        title = message("fix.exchange", left=texts[0], right=texts[1])
        fix = Candidate(title, (edits.replace(source, one, texts[1]), edits.replace(source, other, texts[0])))
        text = message("argument.exchanged", one=texts[0], other=texts[1])
        yield Finding(source.span(one), text, (), (fix,))


def _of_gamma(call: LibraryCall, node: ast.Call, name: str) -> Iterator[Finding]:
    """A factor of zero, which is no way to leave the learning rate what it is."""
    written = argument_of(node, _FALLING[name], "gamma")
    gamma = call.given(_FALLING[name], "gamma")
    if written is not None and isinstance(gamma, int | float) and gamma > 2 and name != "ExponentialLR":
        fix = replaced(call.site, written, f"{1 / gamma:g}", safe=False)
        yield Finding(call.site.span, message("argument.rising", callee=name, gamma=f"{gamma:g}"), (), (fix,))
    if written is not None and gamma == 0:
        fix = replaced(call.site, written, "1", safe=False)
        yield Finding(call.site.span, message("argument.gamma", callee=name), (), (fix,))


def _of_milestones(call: LibraryCall, node: ast.Call) -> Iterator[Finding]:
    """Schedules in a row, of which each but the first one begins at a milestone."""
    schedules, milestones = items_of(call.given(1, "schedulers")), items_of(call.given(2, "milestones"))
    written = argument_of(node, 2, "milestones")
    if schedules and milestones is not None and written is not None and len(milestones) != len(schedules) - 1:
        text = message(
            "argument.milestones", schedules=len(schedules), wanted=len(schedules) - 1, given=len(milestones)
        )
        fixes = []
        if len(milestones) >= len(schedules) > 1 and is_display(written):
            kept = [call.site.source.segment(item) for item in written.elts[: len(schedules) - 1]]
            fixes = [replaced(call.site, written, f"[{', '.join(kept)}]", safe=False)]
        yield Finding(call.site.source.span(written), text, (), fixes, severity="error")


def _of_factor(analysis: Analysis, call: LibraryCall) -> Iterator[Finding]:
    """The function of a LambdaLR, which gives the factor of the learning rate."""
    given = as_kind(call.given(1, "lr_lambda"), Function)
    if given is None or len(given.node.args.args) != 1:
        return
    step, source = given.node.args.args[0].arg, analysis.source_of(given.path)
    results = _results(given.node)
    rate = _rate(call)
    for factor in (part for result in results for part in _choices(result)):
        if is_binary(factor, ast.FloorDiv) and is_name(factor.left, step):
            text = message("argument.whole", factor=source.segment(factor), over=source.segment(factor.right))
            new = f"{source.segment(factor.left)} / {source.segment(factor.right)}"
            fix = Candidate(message("fix.replace", old="//", new="/"), (edits.replace(source, factor, new),))
            yield Finding(source.span(factor), text, (), (fix,))
        for product, part, rest in _factors(factor):
            same = rate is not None and ast.unparse(part) == ast.unparse(rate) and _means_the_rate(part, given, call)
            if same or _is_of_group(part, given, call):
                text = message("argument.rate", rate=source.segment(part))
                yield Finding(source.span(part), text, (), (replacement(source, product, source.segment(rest)),))


def _results(function: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return returned_by(function)


def _means_the_rate(part: ast.expr, given: Function, call: LibraryCall) -> bool:
    """Whether a name of the rate is that one in the function, too, and no variable of another one around it."""
    held = (
        next((scope[part.id] for scope in given.closure if part.id in scope), None)
        if isinstance(part, ast.Name)
        else None
    )
    optimizer = as_kind(call.given(0, "optimizer"), LibraryObject)
    return held is None or (optimizer is not None and held == optimizer.given(1, "lr"))


def _is_of_group(part: ast.expr, given: Function, call: LibraryCall) -> bool:
    """Whether a name, or an attribute, is the rate of a group of the schedule's optimizer, and is called so."""
    if not is_reference(part) or _MEANINGS.get(last_word(part)) != "lr":
        return False
    optimizer = as_kind(call.given(0, "optimizer"), LibraryObject)
    groups = of_kind(items_of(optimizer.given(0, "params")) or (), DictValue) if optimizer is not None else []
    rates = {as_kind((group.items or {}).get("lr"), float) for group in groups} - {None, 1.0}
    owner, _, name = ast.unparse(part).rpartition(".")
    held = next((scope[owner or name] for scope in given.closure if (owner or name) in scope), None)
    holder = as_kind(held, Instance, LibraryObject) if owner else None
    value = as_kind(held if holder is None else holder.slots.get(name), float)
    return value is not None and value in rates


def _rate(call: LibraryCall) -> ast.expr | None:
    """How the learning rate of a schedule's optimizer is written, unless it is one."""
    optimizer = as_kind(call.given(0, "optimizer"), LibraryObject)
    given = given_to(optimizer) if optimizer is not None else ()
    groups = items_of(optimizer.given(0, "params")) if optimizer is not None else None
    if UNKNOWN in given or any("lr" in (one.items or {}) for one in of_kind(groups or (), DictValue)):
        return None  # its groups may have rates of their own
    if optimizer is None or optimizer.site is None or optimizer.kwargs.get("lr") == 1:
        return None
    made = optimizer.site.call
    return argument_of(made, 1, "lr") if made is not None else None


def _choices(result: ast.expr) -> Iterator[ast.expr]:
    """The values among which a result is chosen: the branches of a condition, what min() is given."""
    match result:
        case ast.IfExp():
            yield from (*_choices(result.body), *_choices(result.orelse))
        case ast.Call() if called(result) == "min":
            yield from (part for given in result.args for part in _choices(given))
        case _:
            yield result


def _factors(product: ast.expr) -> Iterator[tuple[ast.BinOp, ast.expr, ast.expr]]:
    """The products in an expression, with one of their sides and the other one."""
    if is_binary(product, ast.Mult):
        for one, other in ((product.left, product.right), (product.right, product.left)):
            yield product, one, other
            yield from _factors(one)


def _written(node: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr]:
    """The arguments as they are written, by their parameters."""
    if is_spread(node.args):
        return {}
    found = dict(zip(parameters, node.args[1:]))
    found.update({word.arg: word.value for word in node.keywords if word.arg in parameters})
    return found


def _meaning(part: ast.expr) -> str | None:
    """The parameter that the name of a value speaks of: ``args.lr``, ``config["momentum"]``."""
    name: object = None
    match part:
        case ast.Name():
            name = part.id
        case ast.Attribute():
            name = part.attr
        case ast.Subscript() if isinstance(part.slice, ast.Constant):
            name = part.slice.value
    return _MEANINGS.get(name.lower()) if isinstance(name, str) else None


def _is_another(parameter: str, part: ast.expr, callee: str) -> bool:
    meaning = _meaning(part)
    known = parameter in _MEANINGS.values() or parameter == _COUNTS.get(callee)
    if meaning == "step_size" and parameter == "lr":
        return False  # what optimisation calls the step size is the learning rate
    return meaning is not None and known and meaning != parameter


def _exchanged(call: LibraryCall, written: dict[str, ast.expr], parameter: str) -> Iterator[Candidate]:
    """The two arguments in each other's place, or what counts steps."""
    mine = written[parameter]
    meant = _meaning(mine)
    other = written.get(meant) if meant is not None else None
    if other is not None and meant is not None and _meaning(other) == parameter:
        source = call.site.source
        one, two = source.segment(mine), source.segment(other)
        title = message("fix.replace", old=f"{one}, {two}", new=f"{two}, {one}")
        yield Candidate(title, (edits.replace(source, mine, two), edits.replace(source, other, one)))
    elif parameter in _COUNTS.values():
        yield from _counting(call, written, parameter)


def _counting(call: LibraryCall, written: dict[str, ast.expr], parameter: str) -> Iterator[Candidate]:
    """Two whole numbers that are exchanged, or one step."""
    mine, gamma = written[parameter], written.get("gamma")
    factor = as_kind(call.given(2, "gamma"), int, float)
    source = call.site.source
    if gamma is not None and factor is not None and factor > 1:
        one, two = source.segment(mine), source.segment(gamma)
        title = message("fix.replace", old=f"{one}, {two}", new=f"{two}, {one}")
        yield Candidate(title, (edits.replace(source, mine, two), edits.replace(source, gamma, one)))
        return
    for candidate in (replaced(call.site, mine, "1"),):
        yield candidate.unsafe()


RULE = Rule(FAULTS[CODE], find)
