"""Functions of the user's that a library calls, with other arguments than they take: hooks, seeds of workers, schedules."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame, node_span
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json, Position, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.callbacks import CALLED_WITH, LAUNCHED, LAUNCHED_ARGUMENTS, LAUNCHED_FUNCTION, SPREAD
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    called,
    is_display,
    is_method_call,
    is_spread,
    keyword_of,
    last_word,
    names_in,
    nodes_in,
    plain_name,
    returned_by,
)
from torchsleuth.syntax.text import SourceText

MAX_FORMS = 3
"""Lists of parameters that are proposed for one function."""
_ARITY = (
    r"(?:^|[\s.:])(\w+|<lambda>)\(\) (?:takes (\d+) positional arguments? but (\d+) (?:was|were) given"
    r"|missing (\d+) required positional arguments?: )"
)
_Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class _Callback:
    """A function, where it is registered, and the names of what it is called with."""

    frame: CrashFrame
    node: _Defined
    place: CrashFrame
    call: ast.Call
    given: tuple[str, ...]

    @property
    def taken(self) -> list[ast.arg]:
        """The parameters without those that Python fills."""
        names = by_position(self.node.args)
        bound = isinstance(self.node, ast.FunctionDef) and names and names[0].arg in ("self", "cls")
        return names[1:] if bound else names


def _callbacks(case: Case) -> Iterator[_Callback]:
    """The functions of the name that the message tells, which a library was given; none where the failing line calls it."""
    name = case.match[1]
    if case.frame.node is not None and called(case.frame.node) == name:
        return
    frames = files_of(case)
    for place in frames:
        for call in place.all(ast.Call):
            for given, protocol in _registered(call):
                for frame in frames:
                    for node in _definitions(frame, given, name):
                        yield _Callback(frame, node, place, call, protocol)


def _registered(call: ast.Call) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """The functions that a call hands over, with what they will be called with."""
    protocol = CALLED_WITH.get(called(call))
    if protocol is not None:
        if any(item.arg == "with_kwargs" and getattr(item.value, "value", False) for item in call.keywords):
            protocol = (*protocol[:2], "kwargs", *protocol[2:])
        yield from ((given, protocol) for given in call.args)
    for keyword in call.keywords:
        if keyword.arg in CALLED_WITH:
            yield keyword.value, CALLED_WITH[keyword.arg]
    yield from _launched(call)


def _launched(call: ast.Call) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """The function that a launcher starts, with names for what it will be called with: ``spawn(train, args=(folder, lr))`` calls it
    with ``(rank, folder, lr)``."""
    name = called(call)
    if name in LAUNCHED:
        place, behind, front = LAUNCHED[name]
        function = argument_of(call, place, *LAUNCHED_FUNCTION)
        given = argument_of(call, behind, *LAUNCHED_ARGUMENTS)
        parts = given.elts if is_display(given) else None if given is not None else []
        if function is not None and parts is not None and not is_spread(parts) and keyword_of(call, "kwargs") is None:
            yield function, _names(front, parts)
    elif name in SPREAD and len(call.args) > SPREAD[name] and not call.keywords and not is_spread(call.args):
        yield call.args[SPREAD[name]], _names((), call.args[SPREAD[name] + 1 :])


def _names(front: tuple[str, ...], parts: list[ast.expr]) -> tuple[str, ...]:
    """Names for arguments: their own last words, each once."""
    names = list(front)
    for number, part in enumerate(parts, len(front)):
        name = last_word(part)
        names.append(name if name and name not in names else f"argument_{number}")
    return tuple(names)


def _definitions(frame: CrashFrame, given: ast.expr, name: str) -> Iterator[_Defined]:
    """The definition of what is handed over: a name, a method, a lambda, or what a function returns."""
    if isinstance(given, ast.Lambda):
        if name == "<lambda>":
            yield from (node for node in ast.walk(frame.tree) if node is given)
        return
    made_by = called(given)
    wanted = getattr(given, "attr", getattr(given, "id", None))
    for node in nodes_in(frame.tree, ast.FunctionDef, ast.AsyncFunctionDef):
        if node.name == name:
            around = edits.path_to(frame.tree, node)[:-1]
            if wanted == name or made_by in {getattr(part, "name", None) for part in around} - {None}:
                yield node


def launched_at(crash: Json) -> Json | None:
    """A frame at the call that started a function in another process or thread, where that failed before any line of it ran: the
    function does not take the arguments that it is called with."""
    found = re.search(_ARITY, str(crash.get("message")))
    if found is None:
        return None
    for path, text in (crash.get("sources") or {}).items():
        file = CrashFrame(
            {"path": path, "line": 0, "function": "<module>", "span": None, "operands": []},
            lambda _: SourceText(path, text or ""),
        )
        for call in file.all(ast.Call):
            if any(last_word(function) == found[1] for function, _ in _launched(call)):
                return {
                    "path": path,
                    "line": call.lineno,
                    "span": list(node_span(call)),
                    "function": "<module>",
                    "operands": [],
                    "direct": True,
                }
    return None


def _overridden(case: Case) -> tuple[CrashFrame, ast.FunctionDef] | None:
    """The method of the user's that a library calls with a keyword which it does not take."""
    if any(item.arg == case.match[3] for frame in case.frames for item in getattr(frame.node, "keywords", ())):
        return None
    for frame in files_of(case):
        for kind in frame.all(ast.ClassDef):
            for method in of_kind(kind.body, ast.FunctionDef):
                if (kind.name, method.name) == (case.match[1], case.match[2]) and method.args.kwarg is None:
                    return frame, method
    return None


def _head(source: SourceText, node: _Defined) -> tuple[Position, Position]:
    """The definition as far as its first line goes."""
    end = source.end_of(node)
    if node.lineno < end.line:
        end = Position(node.lineno, len(source.line(node.lineno)) + 1)
    return source.start_of(node), end


def _overridden_here(case: Case) -> list[Related]:
    found = _overridden(case)
    assert found is not None
    source, method = found[0].source, found[1]
    return [Related(source.path, *_head(source, method), message("error.overridden.defined", name=case.match[3]))]


def _with_keyword(case: Case) -> Iterator[Fix]:
    """``def compute_loss(self, model, inputs):`` → ``def compute_loss(self, model, inputs, num_items_in_batch=None):``"""
    found = _overridden(case)
    assert found is not None
    source, arguments = found[0].source, found[1].args
    parts: list[ast.expr | ast.arg | None] = [
        *arguments.posonlyargs, *arguments.args, *arguments.defaults, arguments.vararg, *arguments.kwonlyargs,
        *arguments.kw_defaults,
    ]  # fmt: skip
    last = max((source.end_of(part) for part in parts if part is not None), default=None)
    if last is not None:
        text = f"{case.match[3]}=None"
        title = message("fix.add_argument", argument=text)
        yield Fix(title, (Edit(source.path, last, last, f", {text}"),), safe=False)


def registered_here(case: Case) -> list[Related]:
    """The function, and where the library was given it."""
    notes = []
    for found in islice(_callbacks(case), 1):
        given = ", ".join(found.given)
        source = found.frame.source
        text = message("error.callback.defined", given=given)
        notes.append(Related(source.path, *_head(source, found.node), text))
        span = found.place.source.span(found.call)
        notes.append(Related(span.path, span.start, span.end, message("error.callback.registered")))
    return notes


def with_arguments(case: Case) -> Iterator[Fix]:
    """``def seed():`` → ``def seed(worker_id):``, ``def keep(grad):`` → ``def keep(module, grad_input, grad):``"""
    yield from _handed_too(case)
    for found in islice(_callbacks(case), 1):
        arguments = found.node.args
        if arguments.vararg or arguments.defaults or arguments.kwonlyargs or arguments.posonlyargs:
            return
        own = [item.arg for item in arguments.args][: len(arguments.args) - len(found.taken)]
        for names in islice(_forms(found), MAX_FORMS):
            yield _written(found, ", ".join([*own, *names]))


def _handed_too(case: Case) -> Iterator[Fix]:
    """``args=(model, lr)`` → ``args=(model, lr, steps)``, where a name of the missing parameter is there; else its default is written."""
    for found in islice(_callbacks(case), 1):
        names = [item.arg for item in found.taken]
        given = argument_of(found.call, LAUNCHED.get(called(found.call), (0, None))[1], *LAUNCHED_ARGUMENTS)
        missing = names[len(found.given) :]
        scope = edits.path_to(found.place.tree, found.call)
        functions = [part for part in scope if isinstance(part, ast.FunctionDef)]
        known = (
            names_in(functions[-1]) | {part.arg for part in nodes_in(functions[-1], ast.arg)}
            if functions
            else names_in(found.place.tree)
        )
        if missing and is_display(given) and given.elts and set(missing) <= known:
            edit = edits.insert_after_node(found.place.source, given.elts[-1], f", {', '.join(missing)}")
            yield Fix(message("fix.add_argument", argument=", ".join(missing)), (edit,), safe=False)


def _forms(found: _Callback) -> Iterator[list[str]]:
    """Lists of parameters in which those that the function has are where their names say, or else at the end."""
    taken, given = [item.arg for item in found.taken], found.given
    if len(taken) > len(given):
        used = names_in(found.node)
        kept = [name for name in taken if name in used]
        if len(kept) <= len(given):
            yield from _forms_of(kept, given, used)
    elif len(taken) < len(given):
        yield from _forms_of(taken, given, set(taken))


def _forms_of(taken: list[str], given: tuple[str, ...], used: set[str]) -> Iterator[list[str]]:
    def alike(places: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        ratios = (difflib.SequenceMatcher(None, name, given[place]).ratio() for name, place in zip(taken, places))
        return sum(round(ratio) for ratio in ratios), places

    for places in sorted(combinations(range(len(given)), len(taken)), key=alike, reverse=True):
        names = [name if name not in used else f"{name}_" for name in given]
        for name, place in zip(taken, places):
            names[place] = name
        yield names


def _written(found: _Callback, names: str) -> Fix:
    source, node = found.frame.source, found.node
    arguments = node.args.args
    title = message("fix.parameters", names=names)
    if arguments:
        changes = (edits.replace_between(source, arguments[0], arguments[-1], names), *_no_longer_read(found, names))
        return Fix(title, changes)
    text = source.segment(node)
    head = text.index("lambda") + len("lambda") if isinstance(node, ast.Lambda) else text.index("(") + 1
    start = source.position(source.offset(source.start_of(node)) + head)
    return Fix(title, (edits.insert(source, start, f" {names}" if isinstance(node, ast.Lambda) else names),))


def _no_longer_read(found: _Callback, names: str) -> list[Edit]:
    """``rank = int(os.environ["RANK"])`` in a function that is given the rank now."""
    new = set(names.split(", ")) - {part.arg for part in found.node.args.args}
    return [
        edits.remove_line(found.frame.source, node.lineno)
        for node in nodes_in(found.node, ast.Assign)
        for target, value in assigned_pairs(node)
        if plain_name(target) in new and node.lineno == node.end_lineno and len(node.targets) == 1
        if any(last_word(part) in ("environ", "getenv") for part in ast.walk(value))
    ]


def _of_gradients_size(case: Case) -> Iterator[Fix]:
    """``lambda grad: grad.mean(0)`` → ``lambda grad: (grad.mean(0)).expand_as(grad)``; ``return rows`` → ``return rows.view_as(grad)``,
    where the hook has only laid it out in another way."""
    for found in islice(_callbacks(case), 1):
        node, source = found.node, found.frame.source
        returned = returned_by(node)
        given = [node.body] if isinstance(node, ast.Lambda) else returned
        if len(given) == 1 and found.taken:
            laid_out = any(is_method_call(part, "flatten", "reshape", "view", "ravel") for part in ast.walk(node))
            method = "reshape_as" if laid_out else "expand_as"
            text, atom = source.segment(given[0]), isinstance(given[0], ast.Name | ast.Attribute)
            new = f"{text if atom else f'({text})'}.{method}({found.taken[-1].arg})"
            title = message("fix.replace", old=source.on_one_line(given[0])[:60], new=new[:60])
            yield Fix(title, (edits.replace(source, given[0], new),), safe=False)


def _returned_here(case: Case) -> list[Related]:
    """The values that a hook gives back in the place of a gradient, in front of where it is defined and registered."""
    notes = []
    for found in islice(_callbacks(case), 1):
        for value in returned_by(found.node) if isinstance(found.node, ast.FunctionDef) else ():
            span = found.frame.source.span(value)
            notes.append(Related(span.path, span.start, span.end, message("error.hook.returned")))
    return [*notes, *registered_here(case)]


ENTRIES = (
    ErrorEntry(
        "TS103",
        r"hook '(?:\w+\.)*(\w+|<lambda>)' has changed the size of value",
        "error.hook.size",
        _of_gradients_size,
        related=_returned_here,
        example="x = torch.ones(2, 3, requires_grad=True)\nx.register_hook(lambda grad: grad.mean(0))\n(x * 2).sum().backward()",
    ),
    ErrorEntry(
        "TS820",
        _ARITY,
        "error.callback",
        with_arguments,
        applies=lambda case: next(_callbacks(case), None) is not None,
        related=registered_here,
        example="layer = torch.nn.Linear(2, 2)\nlayer.register_forward_hook(lambda output: None)\nlayer(torch.ones(2))",
        plain=True,
    ),
    ErrorEntry(
        "TS820",
        r"(?:^|[\s.:>])(\w+)\.(\w+)\(\) got an unexpected keyword argument '(\w+)'",
        "error.overridden",
        _with_keyword,
        applies=lambda case: _overridden(case) is not None,
        related=_overridden_here,
        example="class Sampled(torch.optim.SGD):\n    def step(self):\n        pass\n\n"
        "w = torch.ones(2, requires_grad=True)\nscaler = torch.amp.GradScaler('cpu', enabled=False)\n"
        "options = {'closure': None}\nscaler.step(Sampled([w], 0.1), **options)",
    ),
)
