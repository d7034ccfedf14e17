"""seed-set-again: random numbers that are the same in every step, or for every sample.

What it finds
    `torch.manual_seed(42)`, `random.seed(0)` and their like, with a number that is written there: in `__getitem__` of a dataset, in `forward`
    of a module, or in a loop that trains, next to its backward(). A generator that is made and seeded anew for each sample. A generator
    that is seeded again, always alike, in a function that draws the batch of each step.
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
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import any_are, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.changes import changed_attributes
from torchsleuth.syntax.forms import (
    argument_of,
    bindings_of,
    by_position,
    called,
    contains,
    is_binding,
    is_definition,
    is_dotted,
    is_function_call,
    is_method_call,
    is_reference,
    names_in,
    nodes_in,
    stored_in,
)
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.trees import Index

CODE = "TS555"
_SEEDS = frozenset(
    {"torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"}
    | {"random.seed", "numpy.random.seed"}
)
_MAKERS = frozenset({"default_rng", "Random", "RandomState"})
_DRAWS = frozenset("integers random normal uniform choice permutation randint randn rand".split())
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
    yield from _generators(analysis)
    yield from _of_steps(analysis)


def _generators(analysis: Analysis) -> Iterator[Finding]:
    """Generators that are made and seeded anew for each sample, with a seed that does not depend on which one it is."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for owner in index.of_type(ast.ClassDef):
        methods = {part.name: part for part in of_kind(owner.body, ast.FunctionDef)}
        bound, _ = changed_attributes(methods)
        for name, method in methods.items():
            if name == "__getitem__" or (name == "__call__" and _is_called_for_samples(index, owner)):
                for made in nodes_in(method, ast.Assign):
                    seed = _seed_of(made.value)
                    if is_binding(made) and seed is not None and not _varies(seed, method, bound):
                        key = "seed.sample" if name == "__getitem__" else "seed.transform"
                        text = message(key, call=source.segment(made.value))
                        fixes = tuple(_made_once(analysis, methods, method, made, seed))
                        yield Finding(source.span(made.value), text, (), fixes)


def _of_steps(analysis: Analysis) -> Iterator[Finding]:
    """Seeds that a function sets again, always alike, which is called in each step for what goes into the loss."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for call in index.of_type(ast.Call):
        seed, generator = _seeded(index, call)
        trail = index.trail(call) if seed is not None else []
        function = next((part for part in reversed(trail) if is_definition(part)), None)
        if seed is None or generator is None or function is None or function.name in _METHODS:
            continue
        inside = trail[trail.index(function) :]
        # What is counted may decide which part of the same numbers is taken.
        if any_are(inside, ast.With, ast.If, ast.Try, ast.Lambda) or contains(
            function, ast.Yield, ast.YieldFrom, ast.AugAssign
        ):
            continue
        if not _is_drawn_with(call, generator, function) or not _is_fixed(index, seed, function):
            continue
        each = _draws_for_each(generator, function)
        if any(_feeds_step(index, one, each) for one in _uses_of(index, function)):
            text = message("seed.batch", call=source.segment(call), name=function.name)
            fixes = tuple(_unseeded(analysis, call, trail[-2]))
            yield Finding(source.span(call), text, (), fixes)


def _seeded(index: Index, call: ast.Call) -> tuple[ast.expr | None, str | None]:
    """The seed that a call sets, and the generator by the name under which it is drawn with."""
    made = _seed_of(call)
    statement = index.parents.get(call)
    name = statement.targets[0].id if is_binding(statement) else ""
    if made is not None:
        return made, name
    if is_method_call(call, "manual_seed", "seed") and len(call.args) == 1 and not call.keywords:
        return call.args[0], ast.unparse(call.func.value)
    return None, None


def _is_drawn_with(call: ast.Call, generator: str, function: ast.AST) -> bool:
    """Whether a function draws with the generator that it seeds: a draw's argument is the call, or the generator."""
    for draw in nodes_in(function, ast.Call):
        given = argument_of(draw, None, "generator")
        if given is call or (given is not None and ast.unparse(given) == generator):
            return True
        if is_method_call(draw, *_DRAWS) and ast.unparse(draw.func.value) == generator:
            return True
    return False


def _draws_for_each(generator: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function draws with a generator for each sample of what it gets: ``torch.randn(x.shape, generator=g)``."""
    given = {part.arg for part in nodes_in(function.args, ast.arg)} - {"self", "cls"}
    for draw in nodes_in(function, ast.Call):
        used = argument_of(draw, None, "generator")
        if used is not None and ast.unparse(used) == generator and names_in(*draw.args) & given:
            return True
    return False


def _is_fixed(index: Index, seed: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a seed is a number, or a name that is bound to one once, outside of the function."""
    if isinstance(seed, ast.Constant):
        return True
    owner = index.parents.get(function)
    if isinstance(seed, ast.Attribute) and isinstance(owner, ast.ClassDef) and isinstance(function, ast.FunctionDef):
        methods = {part.name: part for part in of_kind(owner.body, ast.FunctionDef)}
        receiver = by_position(function.args)[0].arg if by_position(function.args) else ""
        of_object = is_reference(seed) and ast.unparse(seed).startswith(f"{receiver}.")
        return of_object and not _varies(seed, function, changed_attributes(methods)[0])
    own = stored_in(function) | {part.arg for part in nodes_in(function.args, ast.arg)}
    if not isinstance(seed, ast.Name) or seed.id in own:
        return False
    bound = bindings_of(seed.id, index.nodes[0])
    statement = index.parents.get(bound[0]) if len(bound) == 1 else None
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)


def _uses_of(index: Index, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    """The calls of a function, where no other one of the file has its name."""
    if sum(one.name == function.name for one in index.of_type(ast.FunctionDef)) == 1:
        yield from (one for one in index.of_type(ast.Call) if called(one) == function.name)


def _feeds_step(index: Index, call: ast.Call, each: bool) -> bool:
    """Whether a call stands in each round of a loop that trains, and the loss is computed from what it gives. `each`: it draws
    for the samples that it gets, which may be others each time."""
    trail = index.trail(call)
    loop = next((part for part in reversed(trail) if isinstance(part, ast.For | ast.While | ast.FunctionDef)), None)
    statement = first_of(reversed(trail), ast.stmt)
    if not isinstance(loop, ast.For | ast.While) or not isinstance(statement, ast.Assign) or statement not in loop.body:
        return False
    if not each and names_in(*call.args, *(one.value for one in call.keywords)) & stored_in(loop):
        return False
    known = {part.id for target in statement.targets for part in nodes_in(target, ast.Name)}
    for following in loop.body[loop.body.index(statement) + 1 :]:
        for part in nodes_in(following, ast.Assign):
            if names_in(part.value) & known:
                known |= {one.id for target in part.targets for one in nodes_in(target, ast.Name)}
        steps = (part for part in nodes_in(following, ast.Call) if is_method_call(part, "backward"))
        if any(names_in(part) & known for part in steps):
            return True
    return False


def _unseeded(analysis: Analysis, call: ast.Call, parent: ast.AST) -> Iterator[Candidate]:
    """The generator as it is, or the line removed."""
    source = analysis.source
    if isinstance(parent, ast.Expr) and parent.lineno == parent.end_lineno:
        edit = edits.remove_line(source, parent.lineno)
        yield Candidate(message("fix.remove", text=source.segment(call)), (edit,), safe=False)
    elif is_method_call(call) and not isinstance(call.func.value, ast.Call) and _seed_of(call) is None:
        yield replacement(source, call, source.segment(call.func.value), safe=False)


def _seed_of(made: ast.expr) -> ast.expr | None:
    """``seed`` of ``torch.Generator().manual_seed(seed)`` and ``np.random.default_rng(seed)``"""
    if is_method_call(made, "manual_seed") and called(made.func.value) == "Generator":
        return argument_of(made, 0, "seed")
    return argument_of(made, 0, "seed") if isinstance(made, ast.Call) and called(made) in _MAKERS else None


def _varies(seed: ast.expr, method: ast.FunctionDef, changed: set[str]) -> bool:
    """Whether a seed depends on an argument, on what is drawn or counted, or on an attribute that other methods change."""
    receiver, *parameters = [part.arg for part in by_position(method.args)] or [""]
    fixed: set[str] = {receiver}
    for statement in nodes_in(method, ast.Assign):
        if is_binding(statement) and isinstance(statement.value, ast.Attribute) and names_in(statement.value) <= fixed:
            fixed.add(statement.targets[0].id)
    names, attributes = names_in(seed), {part.attr for part in nodes_in(seed, ast.Attribute)}
    unknown = (names - fixed) & (stored_in(method) | set(parameters))
    return (
        bool(unknown)
        or bool(attributes & changed)
        or contains(seed, ast.Call)
        or any("epoch" in one for one in attributes)
    )


def _is_called_for_samples(index: Index, owner: ast.ClassDef) -> bool:
    """Whether a class is made in the file, and a data set calls an object that it holds for its samples."""
    made = any(is_function_call(part, owner.name) for part in index.of_type(ast.Call))
    for other in index.of_type(ast.ClassDef) if made else ():
        methods = {part.name: part for part in of_kind(other.body, ast.FunctionDef)}
        get = methods.get("__getitem__")
        for part in nodes_in(get, ast.Call) if get is not None else ():
            if is_dotted(part.func) and part.func.attr not in methods and part.args:
                return True
    return False


def _made_once(
    analysis: Analysis, methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, made: ast.Assign, seed: ast.expr
) -> Iterator[Candidate]:
    """The generator made at the end of the constructor, and kept."""
    constructor, source = methods.get("__init__"), analysis.source
    receiver = method.args.args[0].arg
    text = source.segment(made.value)
    for alias in nodes_in(method, ast.Assign):
        if is_binding(alias) and alias.targets[0].id in names_in(seed) and alias is not made:
            text = text.replace(f"({alias.targets[0].id}.", f"({source.segment(alias.value)}.")
    if constructor is not None and method.args.args and not names_in(ast.parse(text, mode="eval")) & stored_in(method):
        line = f"{receiver}.generator = {text}"
        changes = (
            edits.insert_line_after(source, constructor.body[-1], line),
            edits.replace(source, made.value, f"{receiver}.generator"),
        )
        yield Candidate(message("fix.insert", text=line), changes, safe=False)


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
