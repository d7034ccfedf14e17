"""seed-set-again: random numbers that are the same in every step, or for every sample.

What it finds
    `torch.manual_seed(42)`, `random.seed(0)` and their like, with a number that is written there: in `__getitem__` of a dataset, in `forward`
    of a module, or in a loop that trains, next to its backward().
Why it hurts
    Each sample is disturbed in the same way, each step drops the same units and draws the same noise: augmentation and
    dropout teach nothing. Nothing is raised.
Example
    def __getitem__(self, index):
        torch.manual_seed(42)
        return self.x[index] + 0.1 * torch.randn(6)
Use instead
    torch.manual_seed(42)  # once, where the script begins
Fix safety
    Unsafe: the line goes; where a run has to be repeatable, set the seed once where it begins.
References
    torch.manual_seed; "Reproducibility" in the PyTorch notes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_definition, is_method_call, nodes_in
from torchsleuth.syntax.names import Names

CODE = "TS555"
_SEEDS = frozenset(
    {"torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"}
    | {"random.seed", "numpy.random.seed"}
)
_METHODS = {"__getitem__": "seed.sample", "forward": "seed.forward"}


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    statements = [one for one in index.of_type(ast.Expr) if isinstance(one.value, ast.Call) and _may_seed(one.value)]
    uses = Names(analysis.tree(source.path)).uses if statements else ()
    seeds = {id(use.call) for use in uses if use.path in _SEEDS}
    for statement in statements:
        call = statement.value
        if id(call) not in seeds:
            continue
        trail = index.trail(statement)
        repeated = _repeated(trail[:-1]) if not any_are(trail, ast.With) else None
        if repeated is not None:
            text = message(repeated, call=source.segment(call))
            alone = _is_alone(trail[-2], statement)
            edit = edits.replace(source, statement, "pass") if alone else edits.remove_line(source, statement.lineno)
            fix = Candidate(message("fix.remove", text=source.segment(call)), (edit,), safe=False)
            yield Finding(source.span(call), text, (), (fix,) if statement.lineno == statement.end_lineno else ())


def _may_seed(call: ast.Call) -> bool:
    """Whether a call is named like one that sets a seed, with a number that is written there."""
    if "seed" not in called(call):
        return False
    return len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Constant)


def _repeated(trail: list[ast.AST]) -> str | None:
    """The message about what the innermost of the nodes around a statement does again and again."""
    for place, part in reversed(list(enumerate(trail))):
        if is_definition(part):
            method = place > 0 and isinstance(trail[place - 1], ast.ClassDef)
            return _METHODS.get(part.name) if method else None
        match part:
            case ast.For() | ast.While():
                inner = {
                    id(node)
                    for loop in nodes_in(part, ast.For, ast.While)
                    if loop is not part
                    for node in ast.walk(loop)
                }
                steps = [node for node in nodes_in(part, ast.Call) if is_method_call(node, "backward")]
                return "seed.step" if any(id(node) not in inner for node in steps) else None
            case ast.If() | ast.Try() | ast.ClassDef():
                return None
    return None


def _is_alone(block: ast.AST, statement: ast.stmt) -> bool:
    """Whether nothing is left of a block without a statement."""
    bodies = [getattr(block, name, []) for name in ("body", "orelse", "finalbody")]
    return any(body == [statement] for body in of_kind(bodies, list))


RULE = Rule(FAULTS[CODE], find)
