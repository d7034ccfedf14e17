"""The arguments that layers, optimizers, schedules and samples were built with, far from where that fails: a size that was read too early, weights
in another dtype, parameters in another order, a plan with fewer steps, a file that a worker cannot get."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import build_sites
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.fixes import add_argument, append_in, replace
from torchsleuth.errors.losses import one_based
from torchsleuth.errors.optimizers import optimizers_of
from torchsleuth.errors.origin import followed_operands
from torchsleuth.errors.provenance import defined
from torchsleuth.errors.reached import Filled, Function, around, bound, given_by_model, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    given_to,
    is_attribute,
    is_binary,
    is_function_call,
    is_literal,
    is_method_call,
    is_name,
    is_spread,
    keyword_of,
    last_word,
    names_in,
    nodes_in,
    plain_name,
    returned_by,
    stands_on,
)

MAX_ARGUMENTS = 2


def arguments_here(case: Case) -> list[Related]:
    """Where what the failing layer was built with gets its value: the result of a function of the user's, an attribute of an object."""
    found: dict[object, Related] = {}
    told = case.crash["message"]
    for site in build_sites(case) if re.search(_OF_A_LAYER, told) else ():
        call = site.call(None)
        for given in given_to(call):
            for file, made in _values_of(case, _walked(site.tree, given)):
                place = note(
                    file.source, made, "error.built_with", given=" ".join(site.source.segment(given).split())[:40]
                )
                found.setdefault((place.path, place.start.line), place)
    return list(found.values())[:MAX_ARGUMENTS]


def _walked(tree: ast.Module, given: ast.expr) -> ast.expr:
    """``options.widths`` for the ``c`` of ``[Block(c) for c in options.widths]``; all else is itself."""
    trail = edits.path_to(tree, given) if isinstance(given, ast.Name) else []
    loops = [loop for part in trail if isinstance(part, ast.ListComp | ast.GeneratorExp) for loop in part.generators]
    return next((loop.iter for loop in reversed(loops) if plain_name(loop.target) == plain_name(given)), given)


def _length_of(case: Case) -> list[Filled]:
    """The value that ``__len__`` returns of the one class of the user's that has it and no samples, where ``len(words)`` is asked."""
    kinds = [
        (file, method)
        for file in case.files
        for kind in file.all(ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name == "__len__"
        if not any(getattr(part, "name", "") == "__getitem__" for part in kind.body)
    ]
    return [(file, value) for file, method in kinds for value in returned_by(method)] if len(kinds) == 1 else []


def _values_of(case: Case, given: ast.expr) -> list[Filled]:
    if is_function_call(given, "len") and len(given.args) == 1:
        return _length_of(case) if isinstance(given.args[0], ast.Name | ast.Attribute) else []
    if is_method_call(given):
        methods = defined(case, given.func.attr)
        return [(file, value) for file, method in methods for value in returned_by(method)] if len(methods) == 1 else []
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
        functions = [
            (file, node) for file in case.files for node in file.all(ast.FunctionDef) if node.name == given.func.id
        ]
        return [(file, value) for file, function in functions for value in returned_by(function)[-1:]]
    if isinstance(given, ast.Attribute) and not is_name(given.value, "self"):
        places = [
            (file, value)
            for file in case.files
            for kind in file.all(ast.ClassDef)
            for node in nodes_in(kind, ast.Assign)
            for target, value in assigned_pairs(node)
            if is_attribute(target, given.attr) and is_name(target.value, "self")
        ]
        if not places:
            return _of_property(case, given.attr)
        return places if len(places) == 1 and not isinstance(places[0][1], ast.Name) else []
    return []


def _of_property(case: Case, name: str) -> list[Filled]:
    """The expression that a property computes, and those that the names in that are bound to."""
    methods = [
        (file, method) for file, method in defined(case, name) if any(last_word(part) for part in method.decorator_list)
    ]
    found: list[Filled] = []
    for file, method in methods if len(methods) == 1 else ():
        for value in returned_by(method):
            names = {part.id: part for part in nodes_in(value, ast.Name)}
            made = [bound(file, part) for part in names.values()]
            found += [(file, part) for part in made if isinstance(part, ast.BinOp | ast.Call)]
            found.append((file, value))
    return found


def _optimizers_with_state(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The optimizers of a script that loads the state of one, where a step fails with sizes that differ."""
    failing = case.frame.node
    if not is_method_call(failing, "step") or not case.is_below("torch/optim/"):
        return []
    loads = any(
        is_method_call(node, "load_state_dict") and case.frame.text(failing.func.value).split(".")[-1] in file.text(node)
        or is_method_call(node, "load_state_dict") and re.search(r"opt", file.text(node.func))
        for file in case.files
        for node in file.all(ast.Call)
    )  # fmt: skip
    return list(optimizers_of(case)) if loads else []


def of_loaded_state(case: Case) -> bool:
    return bool(_optimizers_with_state(case))


def _of_other_sizes(case: Case) -> bool:
    """Whether what the optimizer keeps for its parameters has other sizes than these, in whatever order."""
    held = case.call_input("exp_avgs", "momentum_buffer_list", "momentum_buffers", "square_avgs", "state_sums") or {}
    params = case.call_input("params") or {}
    shapes = [
        sorted(part["shape"] for part in whole.get("items") or () if part["kind"] == "tensor")
        for whole in (held, params)
    ]
    return bool(shapes[0]) and len(shapes[0]) == len(shapes[1]) and shapes[0] != shapes[1]


def _state_text(case: Case) -> str:
    return "error.state_sizes" if _of_other_sizes(case) else "error.state_order"


def _loads_of_state(case: Case) -> list[tuple[CrashFrame, ast.Expr]]:
    """Where a script loads the state of an optimizer."""
    return [
        (file, node)
        for file in case.files
        for node in file.all(ast.Expr)
        if is_method_call(node.value, "load_state_dict") and re.search(r"opt", file.text(node.value))
    ]


def _without_state(case: Case) -> Iterator[Fix]:
    """``opt.load_state_dict(…)`` is taken away: the moments of other parameters are of no use to these."""
    loads = _loads_of_state(case)
    for file, node in loads if len(loads) == 1 else ():
        trail = edits.path_to(file.tree, node)
        alone = any(getattr(trail[-2], name, None) == [node] for name in ("body", "orelse"))
        title = message("fix.remove_line", text=file.source.on_one_line(node)[:60], line=node.lineno)
        if alone or node.lineno != node.end_lineno:
            yield Fix(title, (edits.replace(file.source, node, "pass"),), safe=False)
        else:
            yield Fix(title, (edits.remove_line(file.source, node.lineno),), safe=False)


def _optimizers_here(case: Case) -> list[Related]:
    if _of_other_sizes(case):
        return [note(file.source, node, "error.state_sizes.here") for file, node in _loads_of_state(case)][:3]
    return [note(file.source, node, "error.state_order.here") for file, node in _optimizers_with_state(case)][:3]


def _in_order_of_model(case: Case) -> Iterator[Fix]:
    """``Adam([*net.head.parameters(), *net.body.parameters()])`` → ``Adam(net.parameters())``, as the one whose state is loaded."""
    if _of_other_sizes(case):
        yield from _without_state(case)
        return
    made = _optimizers_with_state(case)
    whole = [call for _, call in made if call.args and is_method_call(call.args[0], "parameters")]
    for file, call in made if whole else ():
        given = call.args[0] if call.args else None
        if isinstance(given, ast.List) and given.elts and all(isinstance(part, ast.Starred) for part in given.elts):
            roots = {re.split(r"[.\[]", file.text(part).lstrip("*"))[0] for part in given.elts}
            if len(roots) == 1 and all(file.text(part).endswith(".parameters()") for part in given.elts):
                yield replace(file, given, f"{roots.pop()}.parameters()", safe=False)


def _totals(case: Case) -> Iterator[Filled]:
    """The number of steps that a schedule was made for, where it is computed."""
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) == "OneCycleLR":
                for given in (keyword_of(node, "total_steps"), keyword_of(node, "steps_per_epoch")):
                    if given is not None:
                        yield file, bound(file, given.value)


def _totals_here(case: Case) -> Iterator[Related]:
    for file, value in _totals(case):
        yield note(file.source, value, "error.total_steps")


def _rounded_up(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``epochs * (rows // batch)`` → ``epochs * (-(-rows // batch))``: the loader gives the rest as a batch of its own."""
    loaders = [node for file in case.files for node in file.all(ast.Call) if called(node) == "DataLoader"]
    if any(keyword_of(node, "drop_last") is not None for node in loaders) or not loaders:
        return
    for file, value in _totals(case):
        for part in nodes_in(value, ast.BinOp):
            if is_binary(part, ast.FloorDiv) and not isinstance(part.right, ast.Constant):
                left = file.text(part.left)
                left = left if isinstance(part.left, ast.Name | ast.Attribute | ast.Call) else f"({left})"
                yield replace(file, part, f"-(-{left} // {file.text(part.right)})", safe=False)


def _turned(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The calls that exchange the sides of some of the samples, where two of one batch have each other's."""
    found = re.search(r"but got \[(.*?)\] at entry \d+ and \[(.*?)\] at entry", case.crash["message"])
    if found is None or found[1] == found[2]:
        return []
    if sorted(found[1].split(", ")) != sorted(found[2].split(", ")):
        return []
    return [
        (file, node)
        for file in case.files
        for branch in nodes_in(file.tree, ast.If, ast.IfExp)
        for node in nodes_in(branch, ast.Call)
        if called(node) in ("rot90", "transpose", "permute", "swapaxes", "t") and _is_drawn(file, branch)
    ]


def _is_drawn(file: CrashFrame, branch: ast.If | ast.IfExp) -> bool:
    return bool(re.search(r"rand|random|bernoulli", file.text(branch.test)))


def _turned_here(case: Case) -> Iterator[Related]:
    for file, node in _turned(case):
        yield note(file.source, node, "error.turned")


def _half_turn(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.rot90(tile, 1)`` → ``torch.rot90(tile, 2)``, after which height and width are what they were."""
    for file, node in _turned(case):
        if called(node) == "rot90":
            place = 0 if is_method_call(node) and not file.text(node.func).startswith(("torch.", "np.")) else 1
            turns = argument_of(node, place, "k")
            if turns is None and not is_spread(node.args) and len(node.args) == place:
                yield add_argument(file.source, node, "k=2", safe=False)
            elif isinstance(turns, ast.Constant) and type(turns.value) is int and turns.value % 2:
                yield replace(file, turns, "2", safe=False)


_MADE_BY = {
    "_io": ("open", "fdopen", "ZipFile", "TarFile", "gzip", "bz2", "lzma", "File", "memmap", "BytesIO"),
    "sqlite3": ("connect",),
    "_thread": (
        "Lock",
        "RLock",
        "Condition",
        "Event",
        "Semaphore",
        "BoundedSemaphore",
        "Thread",
        "ThreadPoolExecutor",
        "Queue",
    ),
    "_queue": ("SimpleQueue",),
    "socket": ("socket", "create_connection"),
    "h5py": ("File",),
    "zipfile": ("ZipFile",),
    "tarfile": ("open",),
    "lmdb": ("open", "Environment"),
    "cv2": ("VideoCapture", "CascadeClassifier"),
    "weakref": ("ref", "WeakValueDictionary", "WeakKeyDictionary", "WeakSet"),
    "generator": (),
}
"""The names of what makes objects that no other process can be sent, by their modules, or those of what is in them."""
_HELD = (
    r"annot pickle '?(_io|sqlite3|_thread|_queue|socket|h5py|zipfile|tarfile|lmdb|cv2|weakref)\.(\w+)'? object|(h5py) objects cannot be "
    r"pickled|annot pickle '?(Environment|generator)'? object|annot pickle (?:\w+ )?'?(?:\w+\.)*(socket|VideoCapture)'? object"
)
_BY_TYPE = {"Environment": "lmdb", "generator": "generator", "socket": "socket", "VideoCapture": "cv2"}


def _origin_of_held(case: Case) -> str:
    """The module of the object that cannot be sent."""
    kind = case.match[4] or case.match[5]
    return _BY_TYPE[kind] if kind else case.match[1] or case.match[3]


def _kind_of_held(case: Case) -> dict[str, str]:
    names = [part for part in case.match.groups() if part]
    return {"object": ".".join(names)}


def _held(case: Case) -> Iterator[tuple[CrashFrame, ast.ClassDef, ast.FunctionDef, ast.Assign]]:
    """The attributes in which datasets keep what no other process can be sent."""
    origin = _origin_of_held(case)
    wanted = _MADE_BY.get(origin, ())
    for file in case.files:
        generators = {part.name for part in file.all(ast.FunctionDef) if any(True for _ in nodes_in(part, ast.Yield))}
        for kind in file.all(ast.ClassDef):
            for method in nodes_in(kind, ast.FunctionDef):
                for node in nodes_in(method, ast.Assign):
                    target = node.targets[0]
                    of_type = (
                        called(node.value) in wanted
                        or origin == "generator"
                        and (isinstance(node.value, ast.GeneratorExp) or called(node.value) in generators)
                    )
                    if of_type and isinstance(target, ast.Attribute) and is_name(target.value, "self"):
                        yield file, kind, method, node


def _held_here(case: Case) -> list[Related]:
    return [note(file.source, node, "error.held_here") for file, _, _, node in _held(case)][:2]


def _opened_late(case: Case) -> Iterator[Fix]:
    """``self.file = open(path)`` → None, and opened by the first sample that a worker reads; where the constructor reads it, it is only
    left out of what is sent."""
    for file, kind, method, node in _held(case):
        reads = [
            part for part in kind.body if isinstance(part, ast.FunctionDef) and part.name in ("__getitem__", "__iter__")
        ]
        attributes = _kept(method)
        given = [part.arg for part in method.args.args[1:]]
        needed = names_in(*given_to(node.value)) & set(given)
        if method.name != "__init__" or len(reads) != 1 or not needed <= set(attributes):
            continue
        text = file.text(node.value)
        for name in needed:
            text = re.sub(rf"(?<![\w.]){name}(?!\w|=)", f"self.{attributes[name]}", text)
        target, source, first = file.text(node.targets[0]), file.source, reads[0].body[0]
        indent = edits.indentation(source, first.lineno)
        lines = f"if {target} is None:{edits.line_ending(source)}{indent}    {target} = {text}"
        opened = edits.insert_line_before(source, first, lines)
        title = message("fix.opened_late", name=target)
        if not _reads_again(file, method, node):
            yield Fix(title, (edits.replace(source, node.value, "None"), opened), safe=False)
        elif not any(getattr(part, "name", "") == "__getstate__" for part in kind.body):
            end = edits.line_ending(source)
            outer = edits.indentation(source, reads[0].lineno)
            state = f'{{**self.__dict__, "{target.removeprefix("self.")}": None}}'
            left_out = f"def __getstate__(self):{end}{outer}    return {state}{end}"
            yield Fix(title, (edits.insert_line_before(source, reads[0], left_out), opened), safe=False)


def _reads_again(file: CrashFrame, method: ast.FunctionDef, node: ast.Assign) -> bool:
    """Whether the constructor reads what it has made and kept."""
    text = file.text(node.targets[0])
    return any(file.text(part) == text and isinstance(part.ctx, ast.Load) for part in nodes_in(method, ast.Attribute))


def _kept(method: ast.FunctionDef) -> dict[str, str]:
    """The attributes of the object that hold what the constructor was given: ``{"path": "path"}``."""
    return {
        value.id: target.attr
        for node in nodes_in(method, ast.Assign)
        for target, value in assigned_pairs(node)
        if isinstance(value, ast.Name) and isinstance(target, ast.Attribute) and is_name(target.value, "self")
    }


def _old_norms(case: Case) -> Iterator[tuple[CrashFrame, ast.ImportFrom | ast.Attribute, str]]:
    """Where ``weight_norm`` is taken from: a layer with the old form of it keeps a weight that was computed."""
    for file in case.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("torch.nn.utils", "torch.nn.utils.weight_norm"):
                if [item.name for item in node.names] == ["weight_norm"]:
                    yield file, node, "weight_norm"
            elif is_attribute(node, "weight_norm") and file.text(node.value).endswith("utils"):
                yield file, node, "weight_norm"


def _old_norms_here(case: Case) -> Iterator[Related]:
    for file, _, name in _old_norms(case):
        for node in file.all(ast.Call):
            if called(node) == name:
                yield note(file.source, node, "error.old_norm")


def _new_norms(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``from torch.nn.utils import weight_norm`` → ``from torch.nn.utils.parametrizations import weight_norm``"""
    places = list(_old_norms(case))
    changes = []
    for file, place, name in places:
        if isinstance(place, ast.ImportFrom):
            new = f"from torch.nn.utils.parametrizations {file.text(place).split(' ', 2)[2]}"
            changes.append(edits.replace(file.source, place, new))
        else:
            changes.append(edits.replace(file.source, place, f"{file.text(place.value)}.parametrizations.{name}"))
    if changes:
        yield Fix(message("fix.new_norm"), tuple(changes), safe=False)


def _buffers(case: Case, key: str) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """Where a buffer of the state is registered that does not fit and is made from sizes alone."""
    for file in case.files:
        for node in file.all(ast.Call):
            given = node.args[0] if node.args else None
            if called(node) == "register_buffer" and is_literal(given, key.rpartition(".")[2]):
                if keyword_of(node, "persistent") is None and len(node.args) == 2:
                    yield file, node


def _buffers_here(case: Case) -> Iterator[Related]:
    for key in re.findall(r"size mismatch for (\S+?):", case.crash["message"]):
        for file, node in _buffers(case, key):
            yield note(file.source, node, "error.buffer_saved")


def _not_saved(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``register_buffer("mask", ones(n, n))`` → ``…, persistent=False)``, and loaded without what an older state has of it."""
    keys = re.findall(r"size mismatch for (\S+?):", case.crash["message"])
    made = [item for key in keys for item in _buffers(case, key)]
    call = case.frame.node
    if not made or len(made) != len(set(keys)) or not is_method_call(call, "load_state_dict") or len(call.args) != 1:
        return
    names = [f'"{key}"' for key in keys]
    state = case.frame.text(call.args[0])
    left = f"{{key: value for key, value in {state}.items() if key not in ({', '.join(names)},)}}"
    changes = [
        edits.replace(case.frame.source, call.args[0], left),
        *(edits.add_argument(file.source, node, "persistent=False") for file, node in made),
    ]
    yield Fix(message("fix.not_saved", names=", ".join(names)), tuple(changes), safe=False)


def _filled_rows(case: Case) -> Iterator[tuple[CrashFrame, ast.Expr, str]]:
    """Where samples are put into a list, and the list of their elements that may be empty."""
    for file in case.files:
        for node in file.all(ast.Expr):
            if not is_method_call(node.value, "append") or not is_in_loop(file, node):
                continue
            for part in nodes_in(node.value, ast.Call):
                given = part.args[0] if called(part) in ("tensor", "LongTensor", "as_tensor") and part.args else None
                whole = given.generators[0].iter if isinstance(given, ast.ListComp) else given
                if isinstance(whole, ast.Name):
                    yield file, node, whole.id


def is_in_loop(file: CrashFrame, node: ast.stmt) -> bool:
    scope = around(file.tree, node)
    return any(stands_on(loop, node.lineno) for loop in nodes_in(scope, ast.For)) and isinstance(scope, Function)


def _rows_here(case: Case) -> Iterator[Related]:
    for file, node, name in _filled_rows(case):
        yield note(file.source, node, "error.empty_row", name=name)


def _only_filled(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``rows.append(torch.tensor(ids))`` → only ``if ids:``"""
    places = list(_filled_rows(case))
    for file, node, name in places if len(places) == 1 else ():
        title = message("fix.only_if", condition=name)
        yield Fix(title, edits.wrap(file.source, node, f"if {name}:"), safe=False)


def _made_from_one(case: Case) -> Iterator[Filled]:
    """The labels that begin at 1, where they are made into a tensor: ``y`` for the ``yt`` that was cut out of it."""
    for operand, source, place in followed_operands(case):
        name = plain_name(operand.value if isinstance(operand, ast.Subscript) else operand)
        for target, value in assigned_pairs(place) if isinstance(place, ast.Assign) and name is not None else ():
            made = called(value) in ("tensor", "as_tensor", "from_numpy", "LongTensor")
            if made and name is not None and name.startswith(plain_name(target) or name + "."):
                yield from ((file, value) for file in case.files if file.source is source)


def _labels_here(case: Case) -> Iterator[Related]:
    if one_based(case):
        for file, value in _made_from_one(case):
            yield note(file.source, value, "error.from_one")


def _labels_from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``y = torch.tensor(…)`` → ``torch.tensor(…) - 1``, which all that is cut out of it gets too."""
    places = list(dict.fromkeys(_made_from_one(case))) if one_based(case) else []
    for file, value in places if len(places) == 1 else ():
        yield append_in(file.source, value, " - 1", safe=False)


def _squeezed(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The calls that take every dimension of size 1 away, of which the last batch has one more; none where all tensors have no dimension."""
    if re.search(r"\(at position 0\)", case.crash["message"]):
        return []
    return [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if is_method_call(node, "squeeze") and not given_to(node)
    ]


def _squeezed_here(case: Case) -> Iterator[Related]:
    for file, node in _squeezed(case)[:2]:
        yield note(file.source, node, "error.squeezed")


def _last_squeezed(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.net(x).squeeze()`` → ``self.net(x).squeeze(-1)``"""
    made = _squeezed(case)
    for file, node in made if len(made) == 1 else ():
        yield replace(file, node, f"{file.text(node.func)}(-1)", safe=False)


def _of_any_sign(case: Case) -> list[Filled]:
    """The output of a model that is taken for a variance or a scale, where the model gives it."""
    given = (
        case.frame.argument(2, "var")
        if "var has negative" in case.crash["message"]
        else case.frame.argument(1, "scale")
    )
    made = given_by_model(case, given)
    return [made] if made is not None else []


def _any_sign_here(case: Case) -> Iterator[Related]:
    for file, value in _of_any_sign(case):
        yield note(file.source, value, "error.any_sign")


def _made_positive(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return self.mean(h), self.spread(h)`` → ``…, self.spread(h).exp()``: the model gives the logarithm. A standard deviation is
    rather what softplus makes of it, which does not grow as fast, unless its name is that of a logarithm."""
    for file, value in _of_any_sign(case):
        soft = None if "log" in file.text(value) else _softplus(file)
        if soft is not None and "var has negative" not in case.crash["message"]:
            yield replace(file, value, f"{soft}({file.text(value)}) + 1e-3", safe=False)
        yield append_in(file.source, value, ".exp()", safe=False)


def _softplus(file: CrashFrame) -> str | None:
    """How a file names softplus, by what it imports."""
    bound_names = {
        (item.asname or item.name.split(".")[0]): item.name
        for node in nodes_in(file.tree, ast.Import, ast.ImportFrom)
        for item in node.names
    }
    ways = (("F", "F.softplus"), ("nn", "nn.functional.softplus"), ("torch", "torch.nn.functional.softplus"))
    return next((text for name, text in ways if name in bound_names), None)


def _halved(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.y[rows]`` → ``(self.y[rows] + 1) / 2``, where the targets are -1 and 1."""
    target = case.frame.argument(1, "target")
    told = case.call_input("target") or case.frame.tensor(target) or {}
    if target is not None and told.get("range") == [-1.0, 1.0]:
        yield replace(case.frame, target, f"({case.frame.text(target)} + 1) / 2", safe=False)


_OF_A_LAYER = r"size|shape|dtype|scalar type|index out of range|out of bounds|channels|features|expected"
_SCALAR = r"zero-dimensional tensor \(at position \d+\) cannot be concatenated"
_NEGATIVE = r"var has negative entr|Expected parameter scale .* to satisfy the constraint GreaterThan"
_COPIED = r"support the deepcopy"
_STEPS = r"Tried to step \d+ times"
_UNEQUAL = r"stack expects each tensor to be equal size"
_STATE = r"size mismatch for \S+?: copying a param"
_EMPTY = r"Length of all samples has to be greater than 0"
_LABEL = r"Target (\d+) is out of bounds"

ENTRIES = (
    ErrorEntry(
        "TS199",
        r"The size of tensor a \(\d+\) must match the size of tensor b",
        _state_text,
        _in_order_of_model,
        applies=of_loaded_state,
        related=_optimizers_here,
        plain=True,
        example="one, two = torch.nn.Linear(2, 3), torch.nn.Linear(4, 5)\nboth = torch.nn.ModuleList([one, two])\n"
        "opt = torch.optim.Adam(both.parameters())\nboth[1](one(torch.ones(1, 2)).repeat(1, 2)[:, :4]).sum().backward()\n"
        "opt.step()\nstate = opt.state_dict()\nopt = torch.optim.Adam([*both[1].parameters(), *both[0].parameters()])\n"
        "opt.load_state_dict(state)\nopt.step()",
    ),
    ErrorEntry("TS199", _HELD, "error.unsendable", _opened_late, related=_held_here, plain=True, values=_kind_of_held),
)

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_STEPS, _rounded_up),
    (_UNEQUAL, _half_turn),
    (_COPIED, _new_norms),
    (_STATE, _not_saved),
    (_EMPTY, _only_filled),
    (_LABEL, _labels_from_zero),
    (_SCALAR, _last_squeezed),
    (_NEGATIVE, _made_positive),
    (r"all elements of target should be between 0 and 1", _halved),
)
PLACES = (
    (_STEPS, _totals_here),
    (_UNEQUAL, _turned_here),
    (_COPIED, _old_norms_here),
    (_STATE, _buffers_here),
    (_EMPTY, _rows_here),
    (_LABEL, _labels_here),
    (_SCALAR, _squeezed_here),
    (_NEGATIVE, _any_sign_here),
)
