"""Graphs that are kept, sent, computed again or changed where autograd cannot have it: the line that made the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.fixes import append_in, remove_keyword, replace
from torchsleuth.errors.reached import Filled, Function, around, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    given_to,
    is_method_call,
    is_name,
    last_word,
    literal,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
    returned_by,
    stands_on,
)

_WITHOUT = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False\)")


_LAYER = re.compile(r"Sequential|(?:torch\.)?nn\.(?!Parameter)[A-Z]\w*(?<!Loss)")
"""A class of PyTorch's with parameters, as it is written."""


def models_of(case: Case) -> set[str]:
    """The names, and attributes of ``self``, that are given objects of modules anywhere in the script."""
    kinds = {
        kind.name
        for file in case.files
        for kind in file.all(ast.ClassDef)
        if any(isinstance(part, ast.FunctionDef) and part.name == "forward" for part in kind.body)
    }
    return {
        last_word(target)
        for file in case.files
        for node in file.all(ast.Assign)
        for target, value in assigned_pairs(node)
        if called(value) in kinds or _LAYER.fullmatch(file.text(getattr(value, "func", value)))
    } - {""}


def _built_from(case: Case) -> list[tuple[CrashFrame, ast.AST]]:
    """The failing function, and those of the user's whose results the failing expression is built from."""
    frame = case.frame
    functions: list[tuple[CrashFrame, ast.AST]] = [(frame, frame.enclosing)]
    for _, function in functions[:1]:
        calls = {called(node) for node in nodes_in(function, ast.Call)}
        functions += [(file, node) for file in case.files for node in file.all(ast.FunctionDef) if node.name in calls]
    return functions[:4]


def _outputs_with_graph(case: Case) -> list[Filled]:
    """The outputs of a model in those functions, where gradients are recorded, and is kept under a name."""
    models, found = models_of(case), []
    for file, function in _built_from(case):
        if getattr(function, "name", "") in ("forward", "__init__") or is_without(file, function):
            continue
        for node in nodes_in(function, ast.Assign):
            trail = edits.path_to(function, node)
            if any(isinstance(part, ast.With) and is_without(file, part) for part in trail):
                continue
            runs = [part for part in nodes_in(node.value, ast.Call) if last_word(part.func) in models]
            if runs and not any(is_method_call(part, "detach", "item", "tolist") for part in ast.walk(node.value)):
                found.append((file, node.value))
    return found


def is_without(file: CrashFrame, node: ast.AST) -> bool:
    places = (
        [item.context_expr for item in node.items]
        if isinstance(node, ast.With)
        else getattr(node, "decorator_list", [])
    )
    return any(_WITHOUT.search(file.text(place)) for place in places)


def _graph_here(case: Case) -> Iterator[Related]:
    for file, value in _outputs_with_graph(case)[:2]:
        yield note(file.source, value, "error.graph_here")


def _sent_without_graph(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``value = policy(obs)[1]`` → ``value = policy(obs)[1].detach()``; where no line makes the graph, what is sent."""
    made = _outputs_with_graph(case)
    for file, value in made if len(made) == 1 else ():
        yield append_in(file.source, value, ".detach()")
    given = case.frame.argument(0, "obj", "item")
    if given is not None and case.frame.tensor(given) is not None:
        yield append_in(case.frame.source, given, ".detach()")


def _in_threads(case: Case) -> list[tuple[CrashFrame, ast.expr, ast.FunctionDef]]:
    """Where a function without gradients hands the failing one to threads, and that one: gradients are off in its own thread only."""
    failing = case.frame.enclosing
    return [
        (file, given, failing)
        for file in case.files
        for outer in nodes_in(file.tree, ast.FunctionDef, ast.With)
        if isinstance(failing, ast.FunctionDef) and outer is not failing and is_without(file, outer)
        for call in nodes_in(outer, ast.Call)
        if called(call) in ("map", "submit", "Thread", "apply_async", "run_in_executor", "to_thread", "imap")
        for given in given_to(call)
        if last_word(given) == failing.name
    ]


def _threads_here(case: Case) -> Iterator[Related]:
    for file, given, _ in _in_threads(case):
        yield note(file.source, given, "error.in_thread")
        for block in nodes_in(file.tree, ast.With):
            if is_without(file, block) and stands_on(block, given.lineno):
                yield note(file.source, block.items[0].context_expr, "error.own_thread")


def _without_in_thread(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``@torch.no_grad()`` above the function that the threads run."""
    for _, _, function in _in_threads(case)[:1]:
        if is_imported(case.frame, "torch"):
            first = function.decorator_list[0] if function.decorator_list else None
            if first is None:
                edit = edits.insert_line_before(case.frame.source, function, "@torch.no_grad()")
                yield Fix(message("fix.no_grad_in_thread", name=function.name), (edit,))


_OTHER_RANDOM = {
    "random.random": "torch.rand(()).item()",
    "np.random.rand": "torch.rand(()).item()",
    "np.random.random": "torch.rand(()).item()",
    "numpy.random.rand": "torch.rand(()).item()",
}
_OF_RANDOM = re.compile(r"^(?:random|np\.random|numpy\.random)\.(\w+)$")


def _other_random(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The numbers that modules draw from other generators than PyTorch's, whose state a checkpoint does not set back."""
    return [
        (file, node)
        for file in case.files
        for kind in file.all(ast.ClassDef)
        for method in nodes_in(kind, ast.FunctionDef)
        if method.name not in ("__init__", "__getitem__", "__iter__")
        and any(isinstance(part, ast.FunctionDef) and part.name == "forward" for part in kind.body)
        for node in nodes_in(method, ast.Call)
        if _OF_RANDOM.match(file.text(node.func))
    ]


def _other_random_here(case: Case) -> Iterator[Related]:
    for file, node in _other_random(case)[:2]:
        yield note(file.source, node, "error.other_random")


def _drawn_by_torch(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``random.random() < p`` → ``torch.rand(()).item() < p``: a checkpoint sets PyTorch's generator back."""
    for file, node in _other_random(case):
        drawn = _OTHER_RANDOM.get(file.text(node.func))
        if drawn is None and called(node) == "randint" and len(node.args) == 2 and not node.keywords:
            low, high = map(file.text, node.args)
            last = " + 1" if file.text(node.func) == "random.randint" else ""
            drawn = f"int(torch.randint({low}, {high}{last}, ()))"
        if drawn is not None and (not node.args or called(node) == "randint") and is_imported(file, "torch"):
            yield replace(file, node, drawn)


def is_imported(file: CrashFrame, name: str) -> bool:
    imports = file.all(ast.Import)
    return any((item.asname or item.name) == name for node in imports for item in node.names)


def _not_in_place(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """The layer, or the statement, that changes what a hook has seen: ``nn.ReLU(inplace=True)`` → ``nn.ReLU()``, ``x += y`` →
    ``x = x + y``."""
    built = constructor_call(case)
    if built is not None:
        yield from _without_inplace(built[0].source, built[1])
    if case.frame.call is not None:
        yield from _without_inplace(case.frame.source, case.frame.call)
        method = case.frame.method() or ""
        if is_method_call(case.frame.node) and method.endswith("_") and not method.startswith("_"):
            node = case.frame.node
            statement = case.frame.statement
            new = f"{case.frame.text(node.func.value)}.{method[:-1]}({_given(case.frame, node)})"
            if isinstance(statement, ast.Expr):
                new = f"{case.frame.text(node.func.value)} = {new}"
            yield replace(case.frame, node, new)
    statement = case.frame.statement
    operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
    if isinstance(statement, ast.AugAssign) and type(statement.op) in operators:
        target, value = case.frame.text(statement.target), case.frame.text(statement.value)
        yield replace(case.frame, statement, f"{target} = {target} {operators[type(statement.op)]} ({value})")


def _given(frame: CrashFrame, node: ast.Call) -> str:
    return ", ".join(frame.text(part) for part in (*node.args, *node.keywords))


def _without_inplace(source, call: ast.Call) -> Iterator[Fix]:  # type: ignore[no-untyped-def]
    if any(part.arg == "inplace" and literal(part.value) is True for part in call.keywords):
        yield from remove_keyword(source, call, "inplace")


def _hooks_here(case: Case) -> Iterator[Related]:
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) in ("register_full_backward_hook", "register_backward_hook"):
                yield note(file.source, node, "error.hooked_here")


def _made_outside(case: Case) -> list[tuple[CrashFrame, ast.Assign]]:
    """Values with a graph that were made once, outside of the closure which goes back through them each time it is called."""
    frame, closure = case.frame, case.frame.enclosing
    if not isinstance(closure, Function) or not called(frame.node) == "backward":
        return []
    outer = around(frame.tree, closure)
    if outer is frame.tree or not any(
        is_name(item, closure.name) for node in nodes_in(outer, ast.Call) for item in node.args
    ):
        return []
    own = {part.id for part in nodes_in(closure, ast.Name) if isinstance(part.ctx, ast.Store)}
    read = names_in(closure) - own
    return [
        (frame, node)
        for node in nodes_in(outer, ast.Assign)
        if plain_name(node.targets[0]) in read
        and not stands_on(closure, node.lineno)
        and _has_graph(frame, plain_name(node.targets[0]) or "")
    ]


def _has_graph(frame: CrashFrame, name: str) -> bool:
    found = frame.named.get(name)
    return found is not None and bool(found["requires_grad"]) and not found["leaf"]


def _outside_here(case: Case) -> Iterator[Related]:
    for file, node in _made_outside(case):
        yield note(file.source, node, "error.outside", name=plain_name(node.targets[0]))


def _made_inside(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``features = encode(x)`` in front of a closure → in it, where it is computed anew each time."""
    for file, node in _made_outside(case):
        first = case.frame.enclosing.body[0]
        text = file.text(node)
        if "\n" not in text and isinstance(first, ast.stmt):
            edit = edits.insert_line_before(file.source, first, text)
            yield Fix(message("fix.insert", text=text), (edit,), safe=False)


def _sums_of_gradients(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """The sums in the ``backward`` of a Function over the dimension that is kept in the gradient that does not fit."""
    found = re.search(_INVALID, case.crash["message"])
    if found is None:
        return
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            for method in nodes_in(kind, ast.FunctionDef):
                if kind.name != found[1] or method.name != "backward":
                    continue
                for value in returned_by(method):
                    items = parts_of_tuple(value)
                    made = bound(file, items[int(found[2])]) if int(found[2]) < len(items) else value
                    yield from (
                        (file, part) for part in nodes_in(made, ast.Call) if is_method_call(part, "sum", "mean")
                    )


def _gradient_here(case: Case) -> Iterator[Related]:
    for file, node in _sums_of_gradients(case):
        yield note(file.source, node, "error.reduced_here")


def _over_the_other(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``grad.sum(0, keepdim=True)`` → ``grad.sum(1, keepdim=True)``, where the gradient of a column came out as a row."""
    got, wanted = ([int(part) for part in re.findall(r"\d+", found[index])] for index in (3, 4))
    for file, node in _sums_of_gradients(case):
        dim = node.args[0] if node.args else next((part.value for part in node.keywords if part.arg == "dim"), None)
        number = literal(dim)
        if dim is None or type(number) is not int or len(got) != len(wanted) or len(got) > 2:
            continue
        if len(got) == 1:
            yield replace(file, dim, "1" if number == 0 else "0")
        elif got[number] == 1 and wanted.count(1) == 1 and wanted.index(1) != number % 2:
            yield replace(file, dim, str(wanted.index(1)))


_INVALID = (
    r"unction (\w+)Backward returned an invalid gradient at index (\d+) - got \[([\d, ]*)\] but expected shape "
    r"compatible with \[([\d, ]*)\]"
)
_HOOKED = r"BackwardHookFunction\w* is a view and is being modified inplace"
_SENT = r"refusing to serialize non-leaf tensor which requires_grad"
_AGAIN = r"backward through the graph a second time"
_WITH_GRAPH = r"Can't call numpy\(\) on Tensor that requires grad|Can't convert Tensor that requires grad"
_RECOMPUTED = r"torch\.utils\.checkpoint: "

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_SENT, _sent_without_graph),
    (_RECOMPUTED, _drawn_by_torch),
    (_HOOKED, _not_in_place),
    (_INVALID, _over_the_other),
    (_AGAIN, _made_inside),
    (_WITH_GRAPH, _without_in_thread),
)
PLACES = (
    (_SENT, _graph_here),
    (_RECOMPUTED, _other_random_here),
    (_HOOKED, _hooks_here),
    (_INVALID, _gradient_here),
    (_AGAIN, _outside_here),
    (_WITH_GRAPH, _threads_here),
)
