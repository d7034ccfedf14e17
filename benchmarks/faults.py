"""Working scripts with one fault put in: of devices, dtypes, autograd, loops, data, memory and old API; few of them crash."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from benchmarks.mutants import Change, Mutant, Script, Tree, mutants
from torchsleuth.syntax import edits


def fault_mutants(script: Script) -> Iterator[Mutant]:
    """One fault each; where the script has several places for it that belong together, all of them."""
    for kind, expected, change in FAULTS:
        yield from mutants(script, kind, change, expected)


# -- statements ------------------------------------------------------------------------------------


def _expressions(tree: Tree, *names: str) -> list[tuple[list[ast.stmt], int]]:
    """Statements that are nothing but a call of a method with one of these names."""
    found = []
    for block, index in tree.statements():
        value = block[index].value if isinstance(block[index], ast.Expr) else None  # type: ignore[attr-defined]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in names:
            if id(value) not in tree.paths or value.func.attr.startswith("clip_grad"):
                found.append((block, index))
    return found


def _all_removed(*names: str) -> Callable[[Tree], Iterator[Change]]:
    def change(tree: Tree) -> Iterator[Change]:
        places = _expressions(tree, *names)
        if places:
            changes = tuple(edit for block, index in places for edit in tree.without(block, index))
            block, index = places[0]
            yield block[index].lineno, f"without {tree.text(block[index])}", changes

    return change


def _each_removed(*names: str) -> Callable[[Tree], Iterator[Change]]:
    def change(tree: Tree) -> Iterator[Change]:
        for block, index in _expressions(tree, *names):
            yield block[index].lineno, f"without {tree.text(block[index])}", tree.without(block, index)

    return change


def _never_back(tree: Tree) -> Iterator[Change]:
    """No ``model.train()`` behind an ``eval()``."""
    switched = {tree.source.segment(function.value) for _, function in tree.methods("eval")}
    for name in sorted(switched):
        places = [
            place for place in _expressions(tree, "train") if tree.text(place[0][place[1]]).startswith(f"{name}.train(")
        ]
        if places:
            changes = tuple(edit for block, index in places for edit in tree.without(block, index))
            yield places[0][0][places[0][1]].lineno, f"without {name}.train()", changes


def _swapped(first: str, second: str) -> Callable[[Tree], Iterator[Change]]:
    """Two statements that follow each other, in the other order."""

    def change(tree: Tree) -> Iterator[Change]:
        for block, index in _expressions(tree, first):
            following = block[index + 1] if index + 1 < len(block) else None
            if following is not None and isinstance(following, ast.Expr) and isinstance(following.value, ast.Call):
                function = following.value.func
                if isinstance(function, ast.Attribute) and ast.unparse(function).endswith(second):
                    source = tree.source
                    changes = (
                        edits.replace(source, block[index], source.segment(following)),
                        edits.replace(source, following, source.segment(block[index])),
                    )
                    yield block[index].lineno, f"{second}() before {first}()", changes

    return change


def _optimizers(tree: Tree) -> list[str]:
    """What zero_grad is called on."""
    return [tree.source.segment(function.value) for _, function in tree.methods("zero_grad")]


def _cleared_too_late(tree: Tree) -> Iterator[Change]:
    cleared = _optimizers(tree)
    if len(set(cleared)) == 1:
        for block, index in _expressions(tree, "backward"):
            edit = edits.insert_line_after(tree.source, block[index], f"{cleared[0]}.zero_grad()")
            yield block[index].lineno, f"{cleared[0]}.zero_grad() behind backward()", (edit,)


# -- losses ----------------------------------------------------------------------------------------


def _losses(tree: Tree) -> Iterator[tuple[ast.Assign, ast.stmt]]:
    """``loss = …`` with the backward() of that name later in the same block."""
    for block, index in _expressions(tree, "backward"):
        receiver = block[index].value.func.value  # type: ignore[attr-defined]
        for statement in block[:index]:
            if isinstance(statement, ast.Assign) and isinstance(receiver, ast.Name):
                if [ast.unparse(target) for target in statement.targets] == [receiver.id]:
                    yield statement, block[index]


def _severed(suffix: str) -> Callable[[Tree], Iterator[Change]]:
    def change(tree: Tree) -> Iterator[Change]:
        for assignment, _ in _losses(tree):
            yield tree.put(assignment.value, f"({tree.source.segment(assignment.value)}){suffix}")

    return change


def _loss_calls(tree: Tree, *losses: str) -> Iterator[ast.Call]:
    """Calls of a loss: of the function, or of a name that was given the module."""
    names = {loss for loss in losses if loss[0].isupper()}
    modules = {
        ast.unparse(target)
        for node in ast.walk(tree.root)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if tree.paths.get(id(node.value), "").rpartition(".")[2] in names
        for target in node.targets
    }
    for call in tree.calls():
        path = tree.paths.get(id(call), "")
        is_function = path.startswith("torch.nn.functional.") and path.rpartition(".")[2] in losses
        if call.args and not isinstance(call.args[0], ast.Starred):
            if is_function or ast.unparse(call.func) in modules:
                yield call


def _activated(function: str, *losses: str) -> Callable[[Tree], Iterator[Change]]:
    def change(tree: Tree) -> Iterator[Change]:
        for call in _loss_calls(tree, *losses):
            if tree.names.bound_to("torch") == "torch":
                yield tree.put(call.args[0], function.format(tree.source.segment(call.args[0])))

    return change


# -- calls and their arguments ---------------------------------------------------------------------


def _not_moved(tree: Tree) -> Iterator[Change]:
    for call, function in tree.methods("to"):
        moved = tree.paths.get(id(function.value), "")
        if len(call.args) == 1 and not call.keywords and "device" in ast.unparse(call.args[0]):
            if moved.endswith("Loss"):
                continue  # nothing in it has to be moved
            yield tree.put(call, tree.source.segment(function.value))


def _graph_kept(tree: Tree) -> Iterator[Change]:
    """``total += loss.item()`` without item(), where a graph is recorded."""
    for node in _recording(tree.root):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            for call in ast.walk(node.value):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "item":
                    if "loss" in ast.unparse(call.func.value):
                        yield tree.put(call, tree.source.segment(call.func.value))


def _recording(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are under no ``no_grad()``."""
    pending = [root]
    while pending:
        node = pending.pop()
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        managers = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
        if not any(
            "no_grad" in ast.unparse(part) or "inference" in ast.unparse(part) for part in (*decorators, *managers)
        ):
            yield node
            pending += ast.iter_child_nodes(node)


def _graph_recorded(tree: Tree) -> Iterator[Change]:
    """A ``with torch.no_grad():`` block dissolved."""
    for node in ast.walk(tree.root):
        if isinstance(node, ast.With) and len(node.items) == 1 and any(isinstance(part, ast.For) for part in node.body):
            changes = edits.unwrap(tree.source, node)
            if changes and ast.unparse(node.items[0].context_expr) in ("torch.no_grad()", "torch.inference_mode()"):
                yield node.lineno, "without no_grad()", changes


def _plain_list(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        if tree.paths.get(id(call)) == "torch.nn.ModuleList" and len(call.args) == 1:
            yield tree.put(call, f"list({tree.source.segment(call.args[0])})")


def _target_converted(method: str, *losses: str) -> Callable[[Tree], Iterator[Change]]:
    """The target of a loss in another dtype."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in _loss_calls(tree, *losses):
            if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred):
                yield tree.put(call.args[1], f"({tree.source.segment(call.args[1])}).{method}()")

    return change


def _no_super(tree: Tree) -> Iterator[Change]:
    for block, index in tree.statements():
        if tree.text(block[index]) == "super().__init__()" and len(block) > 1:
            yield block[index].lineno, "without super().__init__()", tree.without(block, index)


def _without_method(name: str, *behind: str) -> Callable[[Tree], Iterator[Change]]:
    """``x`` for ``x.method()``. `behind`: only where one of these methods of the result is called."""

    def change(tree: Tree) -> Iterator[Change]:
        outer = {id(function.value) for _, function in tree.methods(*behind)}
        for call, function in tree.methods(name):
            if not call.args and (not behind or id(call) in outer):
                yield tree.put(call, tree.source.segment(function.value))

    return change


def _discarded(tree: Tree) -> Iterator[Change]:
    """``x = x.to(device)`` without the assignment."""
    for block, index in tree.statements():
        statement = block[index]
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
            assert isinstance(statement, ast.Assign)
            if ast.unparse(statement.targets[0]) == ast.unparse(value.func.value):
                yield tree.put(statement, tree.source.segment(value))


_MOVES = ("to", "cuda", "float", "long", "double", "half")


def _without_keyword(name: str, *paths: str) -> Callable[[Tree], Iterator[Change]]:
    """A call of a library function without one of its options, save where it is False. `paths`: how the function's name
    begins."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if tree.paths.get(id(call), "").startswith(paths) and (call.args or len(call.keywords) > 1):
                for keyword in call.keywords:
                    if keyword.arg == name and ast.unparse(keyword.value) != "False":
                        edit = edits.remove_keyword(tree.source, call, keyword)
                        yield call.lineno, f"{tree.text(call)} without {name}", (edit,)

    return change


def _loaded_anywhere(tree: Tree) -> Iterator[Change]:
    if "cuda" in tree.source.text:
        yield from _without_keyword("map_location", "torch.load")(tree)


def _renamed(old: str, new: str) -> Callable[[Tree], Iterator[Change]]:
    """Another function of the library instead, called alike: ``nn.BCELoss`` for ``nn.BCEWithLogitsLoss``."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if tree.paths.get(id(call), "").endswith(f".{old}") and isinstance(call.func, ast.Attribute):
                yield tree.put(call.func, f"{tree.source.segment(call.func.value)}.{new}")

    return change


def _replaced(pattern: str, path: str, options: tuple[str, ...] = ()) -> Callable[[Tree], Iterator[Change]]:
    """A call with one argument that is written as something else. `options`: keywords that it may have."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if (
                tree.paths.get(id(call), "") == path
                and len(call.args) == 1
                and not isinstance(call.args[0], ast.Starred)
            ):
                if all(keyword.arg in options for keyword in call.keywords):
                    inner = ", ".join(tree.source.segment(part) for part in (call.args[0], *call.keywords))
                    yield tree.put(call, pattern.format(tree.source.segment(call.args[0]), all=inner))

    return change


def _over_the_batch(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        path = tree.paths.get(id(call), "")
        name = path.rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        if name.lower() in ("softmax", "log_softmax", "logsoftmax"):
            for keyword in call.keywords:
                if keyword.arg == "dim" and ast.unparse(keyword.value) in ("-1", "1"):
                    yield tree.put(keyword.value, "0")


def _true_division(tree: Tree) -> Iterator[Change]:
    """``a / b`` for ``a // b`` in the arguments of a call."""
    for call in tree.calls():
        if tree.paths.get(id(call), "torch.nn").startswith("torch.nn"):
            for part in call.args:
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv):
                    left, right = tree.source.segment(part.left), tree.source.segment(part.right)
                    yield tree.put(part, f"{left} / {right}")


def _beyond_the_table(tree: Tree) -> Iterator[Change]:
    """Class indices up to one more: ``torch.randint(0, 10, …)`` with 11."""
    for call in tree.calls():
        if tree.paths.get(id(call), "") == "torch.randint" and len(call.args) >= 2:
            high = call.args[1] if not isinstance(call.args[1], ast.Tuple) else call.args[0]
            yield tree.put(high, tree.more(high))


def _smaller_table(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        if tree.paths.get(id(call), "") == "torch.nn.Embedding" and len(call.args) >= 2:
            yield tree.put(call.args[0], f"({tree.source.segment(call.args[0])}) - 1")


# -- autograd --------------------------------------------------------------------------------------


def _rewrapped(tree: Tree) -> Iterator[Change]:
    for assignment, _ in _losses(tree):
        if tree.names.bound_to("torch") == "torch":
            yield tree.put(assignment.value, f"torch.tensor({tree.source.segment(assignment.value)})")


def _twice(tree: Tree) -> Iterator[Change]:
    """``loss.backward()`` once more."""
    for block, index in _expressions(tree, "backward"):
        text = tree.source.segment(block[index])
        if "retain_graph" not in text and "create_graph" not in text:
            edit = edits.insert_line_after(tree.source, block[index], text)
            yield block[index].lineno, f"{text} twice", (edit,)


def _not_reduced(tree: Tree) -> Iterator[Change]:
    """A loss of every sample."""
    for call in tree.calls():
        path = tree.paths.get(id(call), "")
        name = path.rpartition(".")[2]
        is_loss = path.startswith("torch.nn.") and name.endswith(("Loss", "_loss", "cross_entropy", "_with_logits"))
        if is_loss and not any(keyword.arg == "reduction" for keyword in call.keywords):
            edit = edits.add_argument(tree.source, call, 'reduction="none"')
            yield call.lineno, f'{tree.text(call)} with reduction="none"', (edit,)


_KEPT = ("sigmoid", "tanh", "exp", "softmax", "sqrt")
"""Operators that keep their result for backward."""


def _changed_in_place(tree: Tree) -> Iterator[Change]:
    """What backward needs, multiplied in place."""
    for block, index in tree.statements():
        statement = block[index]
        value = statement.value if isinstance(statement, ast.Assign) else None
        if (
            isinstance(value, ast.Call)
            and isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
        ):
            path = tree.paths.get(id(value), "")
            name = path.rpartition(".")[2] or (value.func.attr if isinstance(value.func, ast.Attribute) else "")
            if name in _KEPT:
                text = f"{statement.targets[0].id} *= 2"
                yield statement.lineno, text, (edits.insert_line_after(tree.source, statement, text),)


def _leaf_changed(tree: Tree) -> Iterator[Change]:
    """Parameters written to while autograd records, right behind their optimizer."""
    for block, index in tree.statements():
        statement = block[index]
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and tree.paths.get(id(value), "").startswith("torch.optim.") and value.args:
            given = value.args[0]
            if isinstance(given, ast.Call) and ast.unparse(given).endswith(".parameters()"):
                source = tree.source
                text = f"for p in {source.segment(given)}: p.mul_(0.5)"
                yield statement.lineno, text, (edits.insert_line_after(source, statement, text),)


def _state_kept(tree: Tree) -> Iterator[Change]:
    """``h = h.detach()`` taken out."""
    for block, index in tree.statements():
        statement = block[index]
        if isinstance(statement, ast.Assign) and ".detach()" in ast.unparse(statement.value):
            names = {part.id for part in ast.walk(statement.value) if isinstance(part, ast.Name)}
            if ast.unparse(statement.targets[0]) in names and not isinstance(statement.value, ast.BinOp):
                yield statement.lineno, f"without {tree.text(statement)}", tree.without(block, index)


def _misspelt(tree: Tree) -> Iterator[Change]:
    for node in ast.walk(tree.root):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            if target.attr == "requires_grad":
                yield tree.put(target, f"{tree.source.segment(target.value)}.require_grad")


def _not_a_leaf(tree: Tree) -> Iterator[Change]:
    """``requires_grad`` no longer asked for."""
    yield from _without_method("requires_grad_")(tree)
    for block, index in tree.statements():
        text = ast.unparse(block[index])
        if text.endswith(".requires_grad = True"):
            yield block[index].lineno, f"without {text}", tree.without(block, index)
    yield from _without_keyword("requires_grad", "torch.zeros", "torch.rand", "torch.tensor", "torch.ones")(tree)


# -- modules ---------------------------------------------------------------------------------------


def _forward_called(tree: Tree) -> Iterator[Change]:
    """``model.forward(x)`` for ``model(x)``."""
    classes = {
        node.name
        for node in ast.walk(tree.root)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Module") for base in node.bases)
    }
    models = {
        ast.unparse(node.targets[0])
        for node in ast.walk(tree.root)
        if isinstance(node, ast.Assign)
        for call in ast.walk(node.value)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in classes
    }
    for call in tree.calls():
        if ast.unparse(call.func) in models and id(call) not in tree.paths:
            yield tree.put(call.func, f"{tree.source.segment(call.func)}.forward")


def _plain_parameter(tree: Tree) -> Iterator[Change]:
    """``self.weight = torch.randn(…, requires_grad=True)`` for a Parameter."""
    for call in tree.calls():
        if tree.paths.get(id(call), "") == "torch.nn.Parameter" and len(call.args) == 1 and not call.keywords:
            yield tree.put(call, f"({tree.source.segment(call.args[0])}).requires_grad_()")


def _plain_buffer(tree: Tree) -> Iterator[Change]:
    for block, index in _expressions(tree, "register_buffer"):
        call = block[index].value  # type: ignore[attr-defined]
        if len(call.args) == 2 and isinstance(call.args[0], ast.Constant):
            owner, value = tree.source.segment(call.func.value), tree.source.segment(call.args[1])
            yield tree.put(block[index], f"{owner}.{call.args[0].value} = {value}")


def _fewer_parameters(tree: Tree) -> Iterator[Change]:
    """An optimizer without the last of the modules that it is given."""
    for call in tree.calls():
        if tree.paths.get(id(call), "").startswith("torch.optim.") and call.args:
            given, text = call.args[0], ast.unparse(call.args[0])
            if isinstance(given, ast.BinOp) and text.count(".parameters()") == 2:
                yield tree.put(given, tree.source.segment(given.left))
            elif isinstance(given, ast.List) and len(given.elts) > 1 and ".parameters()" in ast.unparse(given.elts[-1]):
                kept = ", ".join(tree.source.segment(part) for part in given.elts[:-1])
                yield tree.put(given, f"[{kept}]")


def _not_copied(tree: Tree) -> Iterator[Change]:
    """``best = model.state_dict()`` without a copy."""
    for call in tree.calls():
        if tree.paths.get(id(call), "") == "copy.deepcopy" and "state_dict" in ast.unparse(call):
            yield tree.put(call, tree.source.segment(call.args[0]))


# -- data ------------------------------------------------------------------------------------------


def _method_removed(name: str, base: str) -> Callable[[Tree], Iterator[Change]]:
    def change(tree: Tree) -> Iterator[Change]:
        for block, index in tree.statements():
            part = block[index]
            if isinstance(part, ast.ClassDef) and any(ast.unparse(item).endswith(base) for item in part.bases):
                for place, method in enumerate(part.body):
                    if isinstance(method, ast.FunctionDef) and method.name == name:
                        yield method.lineno, f"{part.name} without {name}", tree.without(part.body, place)

    return change


def _result_forgotten(tree: Tree) -> Iterator[Change]:
    """``__getitem__`` that does not return its sample."""
    for node in ast.walk(tree.root):
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            last = node.body[-1]
            if isinstance(last, ast.Return) and last.value is not None:
                yield tree.put(last, f"sample = {tree.source.segment(last.value)}")


# -- memory and old API ----------------------------------------------------------------------------


def _appended(tree: Tree) -> Iterator[Change]:
    """``losses.append(loss.item())`` without item()."""
    for call in _recording(tree.root):
        appends = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
        value = call.args[0] if isinstance(call, ast.Call) and appends and len(call.args) == 1 else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
            if "loss" in ast.unparse(value):
                yield tree.put(value, tree.source.segment(value.func.value))


def _cache_emptied(tree: Tree) -> Iterator[Change]:
    for block, index in _expressions(tree, "step"):
        if tree.names.bound_to("torch") == "torch":
            edit = edits.insert_line_after(tree.source, block[index], "torch.cuda.empty_cache()")
            yield block[index].lineno, "torch.cuda.empty_cache() behind step()", (edit,)


FAULTS: tuple[tuple[str, tuple[str, ...], Callable[[Tree], Iterator[Change]]], ...] = (
    ("input not moved", ("TS201", "TS203"), _not_moved),
    ("result of to() dropped", ("TS202", "TS201"), _discarded),
    ("tensor made on the CPU", ("TS203", "TS201"), _without_keyword("device", "torch.")),
    ("plain tensor for a buffer", ("TS204", "TS201"), _plain_buffer),
    ("numpy() of the accelerator", ("TS205",), _without_method("cpu", "numpy")),
    ("load without map_location", ("TS206",), _loaded_anywhere),

    ("float class targets", ("TS302",), _target_converted("float", "CrossEntropyLoss", "cross_entropy", "nll_loss")),
    ("int32 class targets", ("TS302",), _target_converted("int", "CrossEntropyLoss", "cross_entropy", "nll_loss")),
    ("softmax before cross entropy", ("TS303",), _activated("torch.softmax({}, dim=1)", "CrossEntropyLoss", "cross_entropy")),
    ("sigmoid before BCE with logits", ("TS304",), _activated("torch.sigmoid({})", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")),
    ("NLL instead of cross entropy", ("TS305",), _renamed("cross_entropy", "nll_loss")),
    ("NLLLoss instead of CrossEntropyLoss", ("TS305",), _renamed("CrossEntropyLoss", "NLLLoss")),
    ("BCE on logits", ("TS306",), _renamed("binary_cross_entropy_with_logits", "binary_cross_entropy")),
    ("BCELoss on logits", ("TS306",), _renamed("BCEWithLogitsLoss", "BCELoss")),
    ("integer targets for BCE", ("TS307",), _target_converted("long", "BCELoss", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "binary_cross_entropy")),
    ("softmax over the batch", ("TS308",), _over_the_batch),
    ("long() removed", ("TS302", "TS309", "TS301"), _without_method("long")),
    ("float() removed", ("TS301", "TS302", "TS307", "TS406"), _without_method("float")),
    ("one class more", ("TS310",), _beyond_the_table),
    ("smaller table", ("TS310",), _smaller_table),
    ("MSE on class indices", ("TS311", "TS113", "TS114", "TS103"), _renamed("cross_entropy", "mse_loss")),
    ("float size", ("TS312",), _true_division),

    ("loss detached", ("TS401",), _severed(".detach()")),
    ("loss as a number", ("TS401",), _severed(".item()")),
    ("loss in a new tensor", ("TS402", "TS401"), _rewrapped),
    ("saved tensor changed in place", ("TS403",), _changed_in_place),
    ("parameter changed in place", ("TS404",), _leaf_changed),
    ("backward twice", ("TS405",), _twice),
    ("loss without reduction", ("TS406",), _not_reduced),
    ("argmax before the loss", ("TS401", "TS407", "TS113", "TS302", "TS301"), _activated("({}).argmax(dim=1)", "CrossEntropyLoss", "cross_entropy")),
    ("rounded before the loss", ("TS407",), _activated("torch.round({})", "MSELoss", "mse_loss", "L1Loss", "l1_loss")),
    ("state not detached", ("TS405", "TS408", "TS701"), _state_kept),
    ("numpy() with a graph", ("TS409",), _without_method("detach", "numpy", "cpu")),
    ("requires_grad misspelt", ("TS410",), _misspelt),
    ("requires_grad not asked for", ("TS401", "TS411"), _not_a_leaf),

    ("zero_grad removed", ("TS501",), _all_removed("zero_grad")),
    ("backward removed", ("TS502",), _all_removed("backward")),
    ("step removed", ("TS503",), _all_removed("step")),
    ("zero_grad between backward and step", ("TS504",), _cleared_too_late),
    ("step before backward", ("TS501", "TS502", "TS503", "TS504", "TS509"), _swapped("backward", "step")),
    ("eval removed", ("TS505", "TS506"), _each_removed("eval")),
    ("no_grad removed", ("TS505", "TS506", "TS701"), _graph_recorded),
    ("train removed", ("TS507",), _never_back),
    ("scheduler before optimizer", ("TS508",), _swapped("step", "scheduler.step")),
    ("clipped after the step", ("TS509",), _swapped("clip_grad_norm_", "step")),
    ("clipped before backward", ("TS509",), _swapped("backward", "clip_grad_norm_")),
    ("layers in a plain list", ("TS511", "TS512"), _plain_list),
    ("module not given to the optimizer", ("TS512",), _fewer_parameters),
    ("forward called", ("TS513",), _forward_called),
    ("dropout always on", ("TS516",), _without_keyword("training", "torch.nn.functional.dropout")),
    ("best state not copied", ("TS517",), _not_copied),
    ("super().__init__ removed", ("TS518",), _no_super),
    ("plain tensor for a parameter", ("TS519", "TS512"), _plain_parameter),

    ("sample not returned", ("TS602",), _result_forgotten),
    ("no __len__", ("TS603",), _method_removed("__len__", "Dataset")),
    ("training data not shuffled", ("TS604",), _without_keyword("shuffle", "torch.utils.data.DataLoader")),

    ("graph kept in a sum", ("TS701",), _graph_kept),
    ("graph kept in a list", ("TS701",), _appended),
    ("cache emptied in the loop", ("TS704",), _cache_emptied),
    ("log of a softmax", ("TS705",), _replaced("torch.log(torch.softmax({all}))", "torch.nn.functional.log_softmax", ("dim",))),

    ("load of any object", ("TS803",), _without_keyword("weights_only", "torch.load")),
)  # fmt: skip
"""Kind of fault, the codes that name it, and how it is put in."""

CRASHING = frozenset(
    "long() removed|float() removed|one class more|smaller table|saved tensor changed in place|integer targets for BCE|"
    "float size|state not detached|numpy() with a graph|requires_grad not asked for|sample not returned|no __len__|"
    "MSE on class indices|argmax before the loss".split("|")
)
"""Kinds that are faults only where they crash."""
