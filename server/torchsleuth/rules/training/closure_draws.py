"""closure-draws: the closure of L-BFGS draws other numbers each time that it is called.

What it finds
    `step(closure)` of `torch.optim.LBFGS`, where the closure, or a function of the file that it calls, draws from a generator or takes
    the next batch, without setting a seed.
Why it hurts
    L-BFGS calls its closure many times in one step: it compares losses at different parameters, and builds its picture of the
    curvature from differences of gradients. With other numbers in each call these differences are noise. The line search stops
    early or goes astray, and the loss falls far less than it could.
Example
    def closure():
        optimizer.zero_grad()
        points = torch.rand(64, 1)
        loss = residual(points).pow(2).mean()
        loss.backward()
        return loss
Use instead
    points = torch.rand(64, 1)


    def closure():
        optimizer.zero_grad()
        loss = residual(points).pow(2).mean()
        loss.backward()
        return loss
Fix safety
    There is none: draw in front of step(), once for each step or once for all.
References
    torch.optim.LBFGS
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_dotted,
    is_function_call,
    is_literal,
    is_method_call,
    last_word,
    nodes_in,
    plain_name,
)

CODE = "TS584"
_DRAWS = frozenset(
    "rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal_ uniform_ bernoulli_ "
    "random_ exponential_".split()
)
"""Functions and methods of torch that draw."""
_OTHERS = frozenset("rand randn randint permutation choice normal uniform integers random sample shuffle".split())
"""Those of NumPy and Python, which are called of a module, or of a generator."""
_SEEDS = frozenset("manual_seed seed set_rng_state setstate fork_rng default_rng".split())
_DEPTH = 2


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "LBFGS" not in source.text:
        return
    pairs = [pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one)]
    made = {last_word(target): value for target, value in pairs if called(value) == "LBFGS"}
    functions: dict[str, list[ast.FunctionDef]] = {}
    for one in index.of_type(ast.FunctionDef):
        functions.setdefault(one.name, []).append(one)
    seen: set[int] = set()
    for step in index.of_type(ast.Call):
        if not is_method_call(step, "step") or not step.args or not _searches(made.get(last_word(step.func.value))):
            continue
        closure = functions.get(last_word(step.args[0]), [])
        drawn = _drawn(closure[0], functions, _DEPTH) if len(closure) == 1 else None
        if drawn is not None and id(drawn) not in seen:
            seen.add(id(drawn))
            text = message("closure.draws", text=source.on_one_line(drawn))
            yield Finding(source.span(drawn), text, (source.span(step).related(message("closure.stepped")),))


def _searches(made: ast.expr | None) -> bool:
    """Whether an L-BFGS evaluates its closure more than once in a step."""
    return isinstance(made, ast.Call) and not is_literal(argument_of(made, 2, "max_iter"), 1)


def _drawn(function: ast.FunctionDef, functions: dict[str, list[ast.FunctionDef]], depth: int) -> ast.Call | None:
    """The first call in a function that draws, or calls a function of the file that does."""
    inside = list(nodes_in(function, ast.Call))
    if any(called(call) in _SEEDS for call in inside):
        return None
    for call in inside:
        if _draws(call) or is_function_call(call, "next"):
            return call
        known = functions.get(called(call), []) if isinstance(call.func, ast.Name) and depth else []
        if len(known) == 1 and known[0] is not function and _drawn(known[0], functions, depth - 1) is not None:
            return call
    return None


def _draws(call: ast.Call) -> bool:
    if not is_method_call(call):
        return False
    if call.func.attr in _DRAWS and (call.func.attr.endswith("_") or plain_name(call.func.value) == "torch"):
        return argument_of(call, None, "generator") is None
    owner = last_word(call.func.value).lower()
    generator = owner in ("random", "rng", "generator") or is_dotted(call.func.value, "np", "numpy")
    return call.func.attr in _OTHERS and generator


RULE = Rule(FAULTS[CODE], find)
