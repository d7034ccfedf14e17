"""Finds, in the user's files, the line that made what a run has seen: where a graph is cut, a list is filled, a thing is made."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    argument_of,
    is_attribute,
    is_literal,
    is_method_call,
    is_reference,
    loads,
    names_in,
    nodes_in,
    plain_name,
    targets_of,
)
from torchsleuth.training import Module, Optimizer, Parameter, Place
from torchsleuth.verdicts.evidence import Evidence

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CUTTING_METHODS = frozenset(
    "detach detach_ item tolist numpy argmax argmin argsort sign round floor ceil long int bool byte sign_ round_"
    " bernoulli multinomial data".split()
)
_CUTTING_FUNCTIONS = frozenset(
    "tensor as_tensor from_numpy array asarray argmax argmin argsort one_hot sign round floor ceil bernoulli multinomial"
    " FloatTensor Tensor float int bool".split()
)
_FILLING = frozenset("append extend add insert put backward copy_ appendleft".split())
"""Methods that are called for what they keep, or do."""
_NUMBERS = frozenset({"item", "tolist", "float", "int", "numpy"})
_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_DEPTH = 4
_IN_A_ROW = 8
"""Calls without a backward() in between."""
HELD_OUT = re.compile(r"(?<![a-z])(val(?!u)|test|dev(?!ice)|held|hold|eval|unseen)", re.IGNORECASE)
"""Words for data that are kept from training."""


def place_of(path: str, node: ast.AST, function: str = "") -> Place:
    """The place of a node that has a position."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end, end_column = getattr(node, "end_lineno", line) or line, getattr(node, "end_col_offset", column)
    return Place(path, line, (line, column, end, end_column or column), function)


def name_of(node: ast.AST) -> str:
    """The last part of a dotted name; of a call, of what is called."""
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return plain_name(node) or ""


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in nodes_in(tree, ast.Call):
        if name_of(node.func) == name:
            yield node


def constructed(evidence: Evidence, name: str, near: Place | None) -> Place | None:
    """Where something of this type is made in a file: the only such call, else None."""
    if near is None:
        return None
    found = list(calls(evidence.tree(near.path), name))
    return place_of(near.path, found[0]) if len(found) == 1 else None


def loader_made(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the script itself makes a loader that a library makes again, as ``accelerator.prepare(model, loader)`` does."""
    if place is None or "DataLoader" in evidence.text(place):
        return place
    given = set(re.findall(r"\w+", evidence.text(place)))
    made = [
        node.value
        for node in nodes_in(evidence.tree(place.path), ast.Assign)
        if name_of(node.value) == "DataLoader"
        for name in names_in(*node.targets) & given
        if not HELD_OUT.search(name)
    ]
    return place_of(place.path, made[0]) if len(made) == 1 else place


def is_held_out(evidence: Evidence, place: Place) -> bool:
    """Whether the function or the line of a call is named as one of data that are kept from training."""
    function = function_around(evidence.tree(place.path), place.line)
    words = evidence.sources(place.path).line(place.line).replace(".eval()", "")
    return bool(HELD_OUT.search(words) or function is not None and HELD_OUT.search(function.name))


def loops_over(evidence: Evidence, place: Place) -> bool:
    """Whether the innermost loop around a call gives it an element of something that stays the same there: ``model(x[i])``."""
    for loop in reversed(list(ast.walk(evidence.tree(place.path)))):
        match loop:
            case ast.For():
                body: list[ast.AST] = [*loop.body]
                targets = _names_in(loop.target)
            case ast.ListComp() | ast.GeneratorExp():
                body, targets = [loop.elt], {name for part in loop.generators for name in _names_in(part.target)}
            case _:
                continue
        inside = [node for statement in body for node in ast.walk(statement)]
        at_place = _uses(set(), place)
        call = next((node for node in of_kind(inside, ast.Call) if at_place(node)), None)
        if call is None or not call.args:
            continue
        given = call.args[0]
        while is_method_call(given):  # x[i].unsqueeze(0)
            given = given.func.value
        changed = {name for node in of_kind(inside, ast.stmt) for one in _targets(node) for name in _names_in(one)}
        if isinstance(given, ast.Subscript):
            first = given.slice.elts[0] if isinstance(given.slice, ast.Tuple) and given.slice.elts else given.slice
            return bool(_names_in(first) & targets) and not _names_in(given.value) & changed
        return plain_name(given) in targets - changed
    return False


def _names_in(node: ast.AST) -> set[str]:
    return names_in(node)


def first_taken(evidence: Evidence, near: Place | None) -> Place | None:
    """Where a file takes the first element of a new iterator, ``next(iter(loader))``: the only such call, else None."""
    if near is None:
        return None
    found = [
        call
        for call in calls(evidence.tree(near.path), "next")
        if call.args and isinstance(call.args[0], ast.Call) and name_of(call.args[0]) == "iter"
    ]
    return place_of(near.path, found[0]) if len(found) == 1 else None


def made_by(evidence: Evidence, place: Place | None) -> tuple[str, Function] | None:
    """The function of a file that computes the argument of a call: a function, a method, the forward() of a module of its class."""
    if place is None or place.span is None:
        return None
    tree = evidence.tree(place.path)
    call = next((one for one in nodes_in(tree, ast.Call) if place_of(place.path, one).span == tuple(place.span)), None)
    if call is None or not call.args:
        return None
    found = _maker(tree, call.args[0], place.line, _DEPTH)
    return (place.path, found) if found is not None else None


def _maker(tree: ast.Module, node: ast.AST, line: int, depth: int) -> Function | None:
    """The function whose result an expression on a line is, as it is or rearranged."""
    if not depth:
        return None
    if isinstance(node, ast.Name):
        scope = function_around(tree, line) or tree
        given = [
            one
            for one in of_kind(statements(scope), ast.Assign)
            if one.lineno < line and any(plain_name(target) == node.id for target in one.targets)
        ]
        return _maker(tree, given[-1].value, given[-1].lineno, depth - 1) if given else None
    if not isinstance(node, ast.Call):
        return None
    name = name_of(node.func)
    functions = [one for one in nodes_in(tree, ast.FunctionDef) if one.name == name]
    if len(functions) == 1:
        return functions[0]
    classes = [
        name_of(one.value)
        for one in nodes_in(tree, ast.Assign)
        if isinstance(one.value, ast.Call) and any(is_attribute(target, name) for target in one.targets)
    ]
    forwards = [
        method
        for owner in nodes_in(tree, ast.ClassDef)
        if owner.name in classes
        for method in of_kind(owner.body, ast.FunctionDef)
        if method.name == "forward"
    ]
    if forwards:
        return forwards[0] if len(forwards) == 1 else None
    inner = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None
    return _maker(tree, inner or (node.args[0] if node.args else node.func), line, depth - 1)


def rounds_down(evidence: Evidence, place: Place | None) -> Place | None:
    """The only whole-number division in the function that computes the argument of a call."""
    found = made_by(evidence, place)
    quotients = (
        [one for one in nodes_in(found[1], ast.BinOp) if isinstance(one.op, ast.FloorDiv)] if found is not None else []
    )
    return place_of(found[0], quotients[0]) if found is not None and len(quotients) == 1 else None


def result_of(evidence: Evidence, place: Place | None) -> Place | None:
    """The only return of the function that computes the argument of a call."""
    found = made_by(evidence, place)
    returns = of_kind(statements(found[1]), ast.Return) if found is not None else []
    return place_of(found[0], returns[0]) if found is not None and len(returns) == 1 else None


def function_around(tree: ast.AST, line: int) -> Function | None:
    """The innermost function that a line is in."""
    found: Function | None = None
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.lineno <= line <= (node.end_lineno or 0):
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def handed_over(evidence: Evidence, made: Place) -> Place:
    """Where a scheduler is given to the library that steps it: the only ``return`` of the function of Lightning's that makes it."""
    function = function_around(evidence.tree(made.path), made.line)
    returns = of_kind(statements(function), ast.Return) if function is not None else []
    lightning = function is not None and function.name == "configure_optimizers"
    return place_of(made.path, returns[0]) if lightning and len(returns) == 1 else made


def statements(scope: ast.AST) -> list[ast.stmt]:
    """The simple statements of a function or module, in the order of their lines, without those of functions inside."""
    found: list[ast.stmt] = []

    def walk(body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, Function | ast.ClassDef):
                continue
            found.append(statement)
            for name in ("body", "orelse", "finalbody"):
                walk(getattr(statement, name, None) or [])
            for handler in getattr(statement, "handlers", None) or []:
                walk(handler.body)

    walk(getattr(scope, "body", []))
    return found


def own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of the statements in it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.excepthandler)
        ]


def assigned(evidence: Evidence, path: str, type_name: str, attribute: str) -> Place | None:
    """Where a class sets an attribute of itself."""
    for node in nodes_in(evidence.tree(path), ast.ClassDef):
        if node.name == type_name:
            for inner in ast.walk(node):
                targets = targets_of(inner)
                if any(is_attribute(one, attribute) for one in targets):
                    return place_of(path, inner)
    return None


INITIALISING = ("normal_", "uniform_", "constant_", "fill_", "ones_", "zeros_", "trunc_normal_", "eye_")


def initialised(evidence: Evidence, parameter: Parameter) -> Place | None:
    """Where its class sets the first numbers of a parameter, or the only call stands that does so for weights; where there are
    several or none, where the parameter is made, or its layer."""
    module = evidence.training.modules[parameter.module] if parameter.module is not None else None
    if module is None or module.place is None:
        return evidence.loss_place
    path, attribute = module.place.path, parameter.name.rpartition(".")[2]
    own = [
        place_of(path, call)
        for owner in nodes_in(evidence.tree(path), ast.ClassDef)
        for name in INITIALISING
        for call in (calls(owner, name) if owner.name == module.type else ())
        if any(is_attribute(part, attribute) for part in nodes_in(call, ast.Attribute))
    ]
    if len(own) == 1:
        return own[0]
    made = [
        place_of(path, call)
        for name in INITIALISING
        for call in calls(evidence.tree(path), name)
        if "weight" in evidence.text(place_of(path, call))
    ]
    if len(made) == 1:
        return made[0]
    return assigned(evidence, path, module.type, attribute) or module.place


def hooked(evidence: Evidence, parameter: Parameter) -> Place | None:
    """Where a hook is put on the gradient of a parameter, by its name."""
    near = evidence.loss_place
    if near is None:
        return None
    name = ".".join(parameter.name.split(".")[-2:])
    for call in calls(evidence.tree(near.path), "register_hook"):
        place = place_of(near.path, call)
        if f"{name}.register_hook" in evidence.text(place):
            return place
    return None


def filled(evidence: Evidence, path: str, holder: str, near: int) -> Place | None:
    """Where something is put into a list or dictionary that is known by a name such as ``history`` or ``self.losses``; where that
    is nowhere, where it is made."""
    found: list[tuple[bool, int, Place]] = []
    for node in ast.walk(evidence.tree(path)):
        held: ast.AST | None = None
        makes = isinstance(node, ast.Assign) and is_reference(node.targets[0])
        if is_method_call(node):
            if node.func.attr in ("append", "extend", "appendleft", "add", "insert", "update", "setdefault"):
                held = node.func.value
        elif isinstance(node, ast.Assign):
            held = node.targets[0]
        elif isinstance(node, ast.AugAssign):
            held = node.target
        while isinstance(held, ast.Subscript):
            held = held.value
        if held is not None and ast.unparse(held).rpartition(".")[2] == holder.rpartition(".")[2]:
            place = place_of(path, node)
            found.append((makes, abs(place.line - near), place))
    return min(found, key=lambda item: item[:2])[2] if found else None


_WRITING = frozenset("add_ sub_ addcmul_ addcdiv_ copy_".split())


def updated(evidence: Evidence, optimizer: Optimizer) -> Place | None:
    """Where an optimizer that the user has written changes its parameters: the last such line of its step()."""
    near = optimizer.place or optimizer.step_place
    for owner in nodes_in(evidence.tree(near.path), ast.ClassDef) if near is not None else ():
        for step in owner.body if owner.name == optimizer.type else ():
            if isinstance(step, ast.FunctionDef) and step.name == "step":
                changes = [
                    node
                    for statement in statements(step)
                    for node in own_parts(statement)
                    if is_method_call(node) and node.func.attr in _WRITING or isinstance(node, ast.AugAssign)
                ]
                if changes and near is not None:
                    return place_of(near.path, changes[-1])
    return None


def freezes(evidence: Evidence) -> Place | None:
    """The only line of the files with a loss that turns requires_grad off in a function, without a condition, where none turns it on."""
    paths = {course.loss.place.path for course in evidence.courses if course.loss.place is not None}
    found: list[Place] = []
    for path in sorted(paths):
        tree = evidence.tree(path)
        for node in nodes_in(tree, ast.Call, ast.Assign):
            if (given := _switched(node)) is None:
                continue
            if not is_literal(given, False):
                return None
            if function_around(tree, node.lineno) is not None and not _under_condition(tree, node.lineno):
                found.append(place_of(path, node))
    return found[0] if len(found) == 1 else None


def _switched(node: ast.Call | ast.Assign) -> ast.expr | None:
    """The expression that requires_grad is set to; None for other statements."""
    if isinstance(node, ast.Assign):
        return node.value if is_attribute(node.targets[0], "requires_grad") else None
    given = argument_of(node, 0, "requires_grad")
    return (given or ast.Constant(True)) if is_method_call(node, "requires_grad_") else None


def _under_condition(tree: ast.AST, line: int) -> bool:
    return any(node.lineno <= line <= (node.end_lineno or 0) for node in nodes_in(tree, ast.If))


def condition_of_step(evidence: Evidence) -> Place | None:
    """The condition under which the function of the only loss calls the step() of an optimizer; None where it does so without one."""
    near = evidence.loss_place if len(evidence.courses) == 1 else None
    if near is None:
        return None
    tree = evidence.tree(near.path)
    scope = function_around(tree, near.line) or tree
    steps = [
        call for statement in statements(scope) for call in of_kind(own_parts(statement), ast.Call) if _steps(call)
    ]
    around = [
        node
        for node in nodes_in(scope, ast.If)
        if steps and all(node.lineno <= call.lineno <= (node.body[-1].end_lineno or 0) for call in steps)
    ]
    return place_of(near.path, max(around, key=lambda node: node.lineno).test) if around else None


def _steps(call: ast.Call) -> bool:
    return is_method_call(call, "step") and not re.search(r"sched|lr", ast.unparse(call.func), re.IGNORECASE)


def repeated_alike(evidence: Evidence, place: Place) -> bool:
    """Whether a line is repeated by a comprehension, or by a loop of which no round reads what another one has computed."""
    tree = evidence.tree(place.path)
    at_place = _uses(set(), place)
    for node in (*nodes_in(tree, ast.ListComp, ast.GeneratorExp), *nodes_in(tree, ast.SetComp, ast.DictComp)):
        if node.lineno <= place.line <= (node.end_lineno or 0) and any(map(at_place, ast.walk(node))):
            return True
    loops = [node for node in nodes_in(tree, ast.For, ast.While) if node.lineno < place.line <= (node.end_lineno or 0)]
    return bool(loops) and not _carries(max(loops, key=lambda node: node.lineno))


def _carries(loop: ast.For | ast.While) -> bool:
    """Whether a round of a loop reads a name that it only gives a value afterwards."""
    given = {name for statement in statements(loop) for name in names_in(*_targets(statement))}
    known = set() if isinstance(loop, ast.While) else _names_in(loop.target)
    for statement in statements(loop):
        read = {name for part in own_parts(statement) for name in _read(part)}
        if isinstance(statement, ast.AugAssign) or read & given - known:
            return True
        known |= names_in(*_targets(statement))
    return False


_SEEDS = frozenset(
    "manual_seed seed seed_all manual_seed_all default_rng RandomState Random seed_everything set_seed".split()
)
_DRAWS = re.compile(r"\b(rand\w*|choice|choices|sample|shuffle|permutation|integers|normal|uniform|multinomial)\(")


def seeded_again(evidence: Evidence, path: str) -> Place | None:
    """The only call that sets a seed, beside one that draws, in a loop or in a function that a loop calls: else None."""
    tree = evidence.tree(path)
    loops = list(nodes_in(tree, ast.For, ast.While))
    found = []
    for name in sorted(_SEEDS):
        for call in calls(tree, name):
            scope = function_around(tree, call.lineno)
            inside = [loop for loop in loops if loop.body[0].lineno <= call.lineno <= (loop.end_lineno or 0)]
            within = scope if scope is not None and not inside else (inside[-1] if inside else None)
            if within is None or not _DRAWS.search(ast.unparse(within)):
                continue
            called = (
                inside
                or scope is not None
                and any(name_of(one) == scope.name for loop in loops for one in nodes_in(loop, ast.Call))
            )
            if called:
                found.append(place_of(path, call))
    return found[0] if len(found) == 1 else None


def averaged_without_buffers(evidence: Evidence, path: str) -> Place | None:
    """The only loop over the parameters of two modules at once, which leaves their buffers alone."""
    pairs = [
        call
        for call in calls(evidence.tree(path), "zip")
        if len(call.args) == 2 and all(name_of(one) == "parameters" for one in call.args)
    ]
    return place_of(path, pairs[0]) if len(pairs) == 1 else None


_SHORT = re.compile(r"float16|half|dtype|fp16|bf16")


def cast_to_short(evidence: Evidence, near: Place | None) -> Place | None:
    """The only call in a file that makes the numbers of something shorter: ``model.half()``, ``.to(torch.bfloat16)``."""
    if near is None:
        return None
    made = [
        place_of(near.path, call)
        for call in nodes_in(evidence.tree(near.path), ast.Call)
        if is_method_call(call, "half", "bfloat16")
        and not call.args
        or is_method_call(call, "to")
        and any(_SHORT.search(ast.unparse(one)) for one in (*call.args, *call.keywords))
    ]
    of_models = [
        one for one in made if re.search(r"net|model|\w+\(", evidence.text(one).rpartition(".")[0], re.IGNORECASE)
    ]
    return of_models[0] if len(of_models) == 1 else None


def rebound(evidence: Evidence, path: str) -> Place | None:
    """Where a loop over parameters gives its own variable, or what it has taken from a table, a value computed from it, and nothing
    reads that afterwards."""
    for loop in nodes_in(evidence.tree(path), ast.For):
        if not any(
            name_of(call) in ("parameters", "named_parameters", "state_dict", "zip")
            for call in nodes_in(loop.iter, ast.Call)
        ):
            continue
        for number, statement in enumerate(loop.body):
            taken = names_in(loop.target) | {
                name
                for other in of_kind(loop.body[:number], ast.Assign)
                if isinstance(other.value, ast.Subscript) and names_in(other.value) & names_in(loop.target)
                for name in filter(None, map(plain_name, other.targets))
            }
            given = names_in(*_targets(statement)) & taken if isinstance(statement, ast.Assign) else set()
            later = {name for other in loop.body[number + 1 :] for name in _read(other)}
            if given and given <= _read(statement) and not given & later:
                return place_of(path, statement)
    return None


def without_gradients(evidence: Evidence, place: Place, depth: int = _DEPTH) -> Place | None:
    """The ``with torch.no_grad():`` around a call, or around a call of the function that it is in."""
    tree = evidence.tree(place.path)
    function = function_around(tree, place.line)
    for node in nodes_in(tree, ast.With, ast.AsyncWith):
        if node.lineno <= place.line <= (node.end_lineno or 0):
            for item in node.items:
                if _turns_off(item.context_expr):
                    return place_of(place.path, item.context_expr)
    if function is None:
        return None
    for decorator in function.decorator_list:
        if _turns_off(decorator):
            return place_of(place.path, decorator)
    if depth:
        for call in calls(tree, function.name):
            found = without_gradients(evidence, place_of(place.path, call), depth - 1)
            if found is not None:
                return found
    return None


def _turns_off(node: ast.AST) -> bool:
    name = name_of(node)
    if name == "set_grad_enabled" and isinstance(node, ast.Call) and node.args:
        return is_literal(node.args[0], False)
    return name in _WITHOUT_GRADIENTS


def cut(evidence: Evidence, module: Module, backward: Place | None = None) -> Place | None:
    """The expression that cuts the graph behind a module: it gives something without a gradient for what the module gave.
    `backward`: where the loss goes backward that should reach the module."""
    # Calls in a row of a whole network without a gradient, fewer than there are steps, are an evaluation, which cuts nothing off.
    steps = evidence.training.steps
    evaluated = [
        site for site in module.sites if module.root and not site.grad and _IN_A_ROW <= site.streak < site.calls < steps
    ]
    sites = [site for site in module.sites if site.calls and site not in evaluated]
    for site in sites:
        if not site.grad:
            return without_gradients(evidence, site.place) or _re_entered(evidence, module) or site.place
        found = _cut_behind(evidence, site.place, module, backward, _DEPTH)
        if found is not None:
            return found
    if sites or module.parent is None:
        return None
    if module.calls and not module.grad and (found := _re_entered(evidence, module)) is not None:
        return found
    return cut(evidence, evidence.training.modules[module.parent], backward)


def _re_entered(evidence: Evidence, module: Module) -> Place | None:
    """The call that checkpoints a module, or one that it is a part of, by re-entering: without a gradient at its input, none
    comes to its parameters."""
    names = {part for part in module.name.split(".") if not part.isdigit()}
    for path in sorted({site.place.path for one in evidence.training.modules for site in one.sites}):
        tree = evidence.tree(path)
        for loop in nodes_in(tree, ast.For):
            if {name_of(part) for part in ast.walk(loop.iter)} & names:
                names |= names_in(loop.target)
        for call in calls(tree, "checkpoint"):
            option = argument_of(call, None, "use_reentrant")
            re_enters = option is None or getattr(option, "value", None) is not False
            if re_enters and call.args and {name_of(part) for part in ast.walk(call.args[0])} & names:
                return place_of(path, call)
    return None


def left_out(evidence: Evidence, module: Module) -> Place | None:
    """Where a loss is computed from what a module gave, in the function of its backward(), that nothing goes backward from."""
    for site in module.sites:
        found = _loss_behind(evidence, site.place, module, _DEPTH)
        if found is not None:
            return found
    return None


def _loss_behind(evidence: Evidence, place: Place, module: Module, depth: int) -> Place | None:
    tree = evidence.tree(place.path)
    function = function_around(tree, place.line)
    scope = function if function is not None else tree
    backward = [call for call in calls(scope, "backward") if isinstance(call.func, ast.Attribute)]
    if backward:
        taken = _backwards(scope, backward)
        made = _made_of(scope, place)
        lost = [
            place_of(place.path, node) for name, node in made.items() if "loss" in name.lower() and name not in taken
        ]
        return next((item for item in lost if without_gradients(evidence, item, 0) is None), None)
    if not depth or function is None:
        return None
    if function.name == "forward" and module.parent is not None:
        parent = evidence.training.modules[module.parent]
        behind = [(site.place, parent) for site in parent.sites]
    else:
        behind = [(place_of(place.path, call), module) for call in calls(tree, function.name)]
    found = (_loss_behind(evidence, other, owner, depth - 1) for other, owner in behind)
    return next((item for item in found if item is not None), None)


def _backwards(scope: ast.AST, backward: list[ast.Call]) -> set[str]:
    """The names that something is computed from on which backward() is called."""
    found = {name for call in backward for name in _read(call)}
    for statement in reversed(statements(scope)):
        targets = names_in(*_targets(statement))
        if targets & found:
            found |= {name for item in own_parts(statement) for name in _read(item)}
    return found


def _read(node: ast.AST) -> set[str]:
    return {part.id for part in nodes_in(node, ast.Name) if loads(part)}


def _made_of(scope: ast.AST, place: Place) -> dict[str, ast.stmt]:
    """The names that get something computed from the call at a place, with the statements that give it."""
    found: dict[str, ast.stmt] = {}
    for statement in statements(scope):
        if (statement.end_lineno or statement.lineno) >= place.line or found:
            uses = _uses(set(found), place)
            if any(map(uses, own_parts(statement))):
                for target in _targets(statement):
                    for node in nodes_in(target, ast.Name):
                        found.setdefault(node.id, statement)
    return found


def _cut_behind(evidence: Evidence, place: Place, module: Module, backward: Place | None, depth: int) -> Place | None:
    tree = evidence.tree(place.path)
    function = function_around(tree, place.line)
    names: set[str] = set()
    cuts: list[Place] = []
    returned = False
    for statement in statements(function if function is not None else tree):
        if (statement.end_lineno or statement.lineno) < place.line and not names:
            continue
        parts = list(own_parts(statement))
        uses = _uses(names, place)
        if not any(map(uses, parts)):
            continue
        found = _cutting(parts, uses)
        found = None if found is not None and _is_told(statement, found) else found
        if found is not None:
            cuts.append(place_of(place.path, found))
        returned = returned or isinstance(statement, ast.Return)
        for target in _targets(statement):
            names |= {ast.unparse(node) for node in nodes_in(target, ast.Name, ast.Attribute)} - {"self"}
    if cuts:
        return _of_loss(evidence, cuts, backward)
    if not returned or not depth or function is None:
        return None
    if function.name == "forward" and module.parent is not None:
        parent = evidence.training.modules[module.parent]
        behind = [(site.place, parent) for site in parent.sites]
    else:
        behind = [(place_of(place.path, call), module) for call in calls(tree, function.name)]
    for other, owner in behind:
        found_there = _cut_behind(evidence, other, owner, backward, depth - 1)
        if found_there is not None:
            return found_there
    return None


def _of_loss(evidence: Evidence, cuts: list[Place], backward: Place | None) -> Place:
    """The one of several cuts that stands between a backward() and the one before it: others may be meant, for another loss."""
    if backward is None or backward.path != cuts[0].path:
        return cuts[0]
    others = [call.lineno for call in calls(evidence.tree(backward.path), "backward") if call.lineno < backward.line]
    before = max(others, default=0)
    return next((place for place in cuts if before < place.line <= backward.line), cuts[0])


def _is_told(statement: ast.stmt, cutting: ast.AST) -> bool:
    """Whether a number is only told, or kept for that: ``print(loss.item())``, ``history.append(float(loss))``."""
    call = as_kind(statement.value, ast.Call) if isinstance(statement, ast.Expr) else None
    return call is not None and (name_of(call) not in _FILLING or name_of(cutting) in _NUMBERS)


def _uses(names: set[str], place: Place) -> Callable[[ast.AST], bool]:
    """Whether a node is the call at a place, or one of the names."""

    def uses(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            at = (node.lineno, node.col_offset)
            return at == (place.span[:2] if place.span is not None else (place.line, node.col_offset))
        return is_reference(node) and ast.unparse(node) in names

    return uses


def _cutting(parts: list[ast.AST], uses: Callable[[ast.AST], bool]) -> ast.AST | None:
    for node in parts:
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if is_attribute(node.func, *_CUTTING_METHODS):
                given.append(node.func.value)
            elif name_of(node.func) not in _CUTTING_FUNCTIONS:
                continue
        elif is_attribute(node, "data"):
            given = [node.value]
        else:
            continue
        if any(uses(inner) for one in given for inner in ast.walk(one)):
            return node
    return None


def _targets(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Assign():
            return list(statement.targets)
        case ast.AnnAssign() | ast.AugAssign():
            return [statement.target]
    return []
