"""Working scripts with one fault put in: of devices, dtypes, autograd and loops here, the others in library_faults; few crash."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from benchmarks.changes import (
    Maker,
    all_removed,
    each_removed,
    expressions,
    on_accelerator,
    renamed,
    where,
    without_keyword,
    without_method,
)
from benchmarks.library_faults import LIBRARY_CRASHING, LIBRARY_FAULTS
from benchmarks.mutants import Change, Mutant, Script, Tree, mutants
from torchsleuth.syntax import edits, trees


def fault_mutants(script: Script) -> Iterator[Mutant]:
    """One fault each; where the script has several places for it that belong together, all of them."""
    for kind, expected, change in FAULTS:
        yield from mutants(script, kind, change, expected)


# -- statements ------------------------------------------------------------------------------------


def _is_recurrent(tree: Tree) -> bool:
    return any(tree.says(f"nn.{name}(") for name in ("RNN", "LSTM", "GRU", "Transformer", "TransformerEncoder"))


def _scaler_passed_by(tree: Tree) -> Iterator[Change]:
    """``optimizer.step()`` for ``scaler.step(optimizer)``, where nothing else has unscaled the gradients."""
    if tree.says("unscale_"):
        return
    for block, index in expressions(tree, "step"):
        call = block[index].value  # type: ignore[attr-defined]
        if "scaler" in ast.unparse(call.func) and len(call.args) == 1:
            yield tree.put(call, f"{tree.source.segment(call.args[0])}.step()")


def _never_back(tree: Tree) -> Iterator[Change]:
    """No ``model.train()`` behind an ``eval()``."""
    switched = {tree.source.segment(function.value) for _, function in tree.methods("eval")}
    for name in sorted(switched):
        places = [
            place for place in expressions(tree, "train") if tree.text(place[0][place[1]]).startswith(f"{name}.train(")
        ]
        if places:
            changes = tuple(edit for block, index in places for edit in tree.without(block, index))
            yield places[0][0][places[0][1]].lineno, f"without {name}.train()", changes


def _swapped(first: str, second: str) -> Maker:
    """Two statements that follow each other, in the other order."""

    def change(tree: Tree) -> Iterator[Change]:
        for block, index in expressions(tree, first):
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
        for block, index in expressions(tree, "backward"):
            edit = edits.insert_line_after(tree.source, block[index], f"{cleared[0]}.zero_grad()")
            yield block[index].lineno, f"{cleared[0]}.zero_grad() behind backward()", (edit,)


def _accumulated(tree: Tree) -> Iterator[Change]:
    """A step every fourth batch instead of every one, with a loss that is not divided; not for optimizers that divide by
    the size of the gradients."""
    if re.search(r"optim\.\w*(Ada|RMSprop|Rprop|LBFGS)", tree.source.text):
        return
    cleared = expressions(tree, "zero_grad")
    for block, index in expressions(tree, "step") if len(cleared) == 1 else ():
        step, (others, place) = block[index], cleared[0]
        counter = _counter(tree, step)
        owner = tree.text(others[place]).rpartition(".zero_grad")[0]
        if counter is not None and others is block and tree.text(step) == f"{owner}.step()":
            indent = " " * step.col_offset
            lines = (f"if {counter} % 4 == 3:", f"    {tree.text(step)}", f"    {tree.text(others[place])}")
            text = f"\n{indent}".join(lines)
            changes = (edits.replace(tree.source, step, text), *tree.without(others, place))
            yield step.lineno, f"{tree.text(step)} every fourth batch", changes


def _counter(tree: Tree, statement: ast.stmt) -> str | None:
    """What counts the iterations of the loop around a statement."""
    around = [part for part in trees.index(tree.root).trail(statement) if isinstance(part, ast.For)]
    loop = around[-1] if around else None
    if loop is None or not isinstance(loop.iter, ast.Call):
        return None
    function, target = ast.unparse(loop.iter.func), loop.target
    if function == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    few = all(isinstance(part, ast.Constant) and part.value < 8 for part in loop.iter.args)
    return target.id if function == "range" and isinstance(target, ast.Name) and not few else None


def _scales(tree: Tree) -> bool:
    """Whether there is a GradScaler that is not switched off by some other setting."""
    scalers = [call for call in tree.calls() if ast.unparse(call.func).endswith("GradScaler")]
    given = [keyword.value for call in scalers for keyword in call.keywords if keyword.arg == "enabled"]
    return bool(scalers) and not any(isinstance(value, ast.Compare) for value in given)


def _declared_wrongly(tree: Tree) -> Iterator[Change]:
    """A comment with a shape that the tensor beside it has not."""
    for block, index in tree.statements():
        statement = block[index]
        value = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(value, ast.Call) or tree.paths.get(id(value)) not in (
            "torch.randn",
            "torch.zeros",
            "torch.rand",
        ):
            continue
        sizes = [part.value for part in value.args if isinstance(part, ast.Constant) and isinstance(part.value, int)]
        alone = statement.lineno == statement.end_lineno and "#" not in tree.source.line(statement.lineno)
        if len(sizes) == len(value.args) > 1 and alone and not value.keywords:
            text = f"{tree.source.segment(statement)}  # ({', '.join(map(str, [*sizes[:-1], sizes[-1] + 1]))})"
            yield tree.put(statement, text)


# -- losses ----------------------------------------------------------------------------------------


def _losses(tree: Tree) -> Iterator[tuple[ast.Assign, ast.stmt]]:
    """``loss = …`` with the backward() of that name later in the same block, and nothing else for it in between."""
    for block, index in expressions(tree, "backward"):
        receiver = block[index].value.func.value  # type: ignore[attr-defined]
        name = receiver.id if isinstance(receiver, ast.Name) else None
        setting = [part for part in block[:index] if name in _assigned(part)]
        if name and setting and isinstance(setting[-1], ast.Assign) and len(_assigned(setting[-1])) == 1:
            # What is added to a loss that there is already is not the loss.
            if not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(setting[-1].value)):
                yield setting[-1], block[index]


def _assigned(statement: ast.stmt) -> set[str]:
    """The variables that a statement sets."""
    return {part.id for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _severed(suffix: str) -> Maker:
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


def _activated(function: str, *losses: str) -> Maker:
    def change(tree: Tree) -> Iterator[Change]:
        for call in _loss_calls(tree, *losses):
            if tree.names.bound_to("torch") == "torch":
                yield tree.put(call.args[0], function.format(tree.source.segment(call.args[0])))

    return change


# -- calls and their arguments ---------------------------------------------------------------------


def _not_moved(tree: Tree) -> Iterator[Change]:
    if not on_accelerator(tree):
        return
    for call, function in tree.methods("to"):
        moved = tree.paths.get(id(function.value), "")
        if len(call.args) == 1 and not call.keywords and "device" in ast.unparse(call.args[0]):
            if moved.endswith("Loss"):
                continue  # nothing in it has to be moved
            yield tree.put(call, tree.source.segment(function.value))


def _graph_recorded(tree: Tree) -> Iterator[Change]:
    """A ``with torch.no_grad():`` block dissolved."""
    for node in ast.walk(tree.root):
        if (
            isinstance(node, ast.With)
            and len(node.items) == 1
            and any(_calls_in_loop(tree, part) for part in node.body)
        ):
            changes = edits.unwrap(tree.source, node)
            if changes and ast.unparse(node.items[0].context_expr) in ("torch.no_grad()", "torch.inference_mode()"):
                yield node.lineno, "without no_grad()", changes


def _calls_in_loop(tree: Tree, statement: ast.stmt) -> bool:
    """Whether a statement is a loop in which something may be applied, that is no function of the library or built in."""
    calls = (
        [part for part in ast.walk(statement) if isinstance(part, ast.Call)] if isinstance(statement, ast.For) else []
    )
    return any(
        id(call) not in tree.paths and not (isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id))
        for call in calls
        if isinstance(statement, ast.For) and not any(call is part for part in ast.walk(statement.iter))
    )


def _plain_list(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        if tree.paths.get(id(call)) == "torch.nn.ModuleList" and len(call.args) == 1:
            yield tree.put(call, f"list({tree.source.segment(call.args[0])})")


def _target_converted(method: str, *losses: str) -> Maker:
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


def _discarded(tree: Tree) -> Iterator[Change]:
    """``x = x.to(device)`` without the assignment."""
    for block, index in tree.statements():
        statement = block[index]
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
            assert isinstance(statement, ast.Assign)
            text = ast.unparse(value)
            if ".dtype" in text:
                continue  # mostly the one that it has
            moves = "device" in text or value.func.attr == "cuda"
            if ast.unparse(statement.targets[0]) == ast.unparse(value.func.value):
                if not moves or on_accelerator(tree):
                    yield tree.put(statement, tree.source.segment(value))


_MOVES = ("to", "cuda", "float", "long", "double", "half")


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
    for block, index in expressions(tree, "backward"):
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
            calls = [part.func for part in ast.walk(statement.value) if isinstance(part, ast.Call)]
            plain = all(isinstance(part, ast.Attribute) and part.attr == "detach" for part in calls)
            if ast.unparse(statement.targets[0]) in names and plain and not isinstance(statement.value, ast.BinOp):
                yield statement.lineno, f"without {tree.text(statement)}", tree.without(block, index)


def _misspelt(tree: Tree) -> Iterator[Change]:
    for node in ast.walk(tree.root):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            if target.attr == "requires_grad":
                yield tree.put(target, f"{tree.source.segment(target.value)}.require_grad")


def _not_a_leaf(tree: Tree) -> Iterator[Change]:
    """``requires_grad`` no longer asked for."""
    yield from without_method("requires_grad_")(tree)
    for block, index in tree.statements():
        text = ast.unparse(block[index])
        if text.endswith(".requires_grad = True"):
            yield block[index].lineno, f"without {text}", tree.without(block, index)
    yield from without_keyword("requires_grad", "torch.zeros", "torch.rand", "torch.tensor", "torch.ones")(tree)


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
        # A ParameterDict and a ParameterList make parameters of tensors.
        inside = any(
            isinstance(part, ast.Call) and "Parameter" in ast.unparse(part.func)
            for part in trees.index(tree.root).trail(call)[:-1]
        )
        if (
            tree.paths.get(id(call), "") == "torch.nn.Parameter"
            and len(call.args) == 1
            and not call.keywords
            and not inside
        ):
            yield tree.put(call, f"({tree.source.segment(call.args[0])}).requires_grad_()")


def _plain_buffer(tree: Tree) -> Iterator[Change]:
    for block, index in expressions(tree, "register_buffer"):
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


FAULTS: tuple[tuple[str, tuple[str, ...], Maker], ...] = (
    ("shape declared wrongly", ("TS116",), _declared_wrongly),

    ("input not moved", ("TS201", "TS203"), _not_moved),
    ("result of to() dropped", ("TS202", "TS201"), _discarded),
    ("tensor made on the CPU", ("TS203", "TS201"), where(on_accelerator, without_keyword("device", "torch.", leaving=("torch.randperm",)))),
    ("plain tensor for a buffer", ("TS204", "TS201"), where(on_accelerator, _plain_buffer)),
    ("numpy() of the accelerator", ("TS205",), where(on_accelerator, without_method("cpu", "numpy"))),
    ("load without map_location", ("TS206",), where(on_accelerator, without_keyword("map_location", "torch.load"))),

    ("float class targets", ("TS302",), _target_converted("float", "CrossEntropyLoss", "cross_entropy", "nll_loss")),
    ("int32 class targets", ("TS302",), _target_converted("int", "CrossEntropyLoss", "cross_entropy", "nll_loss")),
    ("softmax before cross entropy", ("TS303",), _activated("torch.softmax({}, dim=1)", "CrossEntropyLoss", "cross_entropy")),
    ("sigmoid before BCE with logits", ("TS304",), _activated("torch.sigmoid({})", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")),
    ("NLL instead of cross entropy", ("TS305",), renamed("cross_entropy", "nll_loss")),
    ("NLLLoss instead of CrossEntropyLoss", ("TS305",), renamed("CrossEntropyLoss", "NLLLoss")),
    ("BCE on logits", ("TS306",), renamed("binary_cross_entropy_with_logits", "binary_cross_entropy")),
    ("BCELoss on logits", ("TS306",), renamed("BCEWithLogitsLoss", "BCELoss")),
    ("integer targets for BCE", ("TS307",), _target_converted("long", "BCELoss", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "binary_cross_entropy")),
    ("softmax over the batch", ("TS308",), _over_the_batch),
    ("long() removed", ("TS302", "TS309", "TS301"), without_method("long")),
    ("float() removed", ("TS301", "TS302", "TS307", "TS406"), without_method("float")),
    ("one class more", ("TS310",), _beyond_the_table),
    ("smaller table", ("TS310",), _smaller_table),
    ("MSE on class indices", ("TS311", "TS113", "TS114", "TS103"), renamed("cross_entropy", "mse_loss")),
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
    ("numpy() with a graph", ("TS409",), without_method("detach", "numpy", "cpu")),
    ("requires_grad misspelt", ("TS410",), _misspelt),
    ("requires_grad not asked for", ("TS401", "TS411"), _not_a_leaf),

    ("zero_grad removed", ("TS501",), all_removed("zero_grad")),
    ("backward removed", ("TS502",), all_removed("backward")),
    ("step removed", ("TS503",), all_removed("step")),
    ("zero_grad between backward and step", ("TS504",), _cleared_too_late),
    ("step before backward", ("TS501", "TS502", "TS503", "TS504", "TS509"), _swapped("backward", "step")),
    ("eval removed", ("TS505", "TS506"), each_removed("eval")),
    ("no_grad removed", ("TS505", "TS506", "TS701"), _graph_recorded),
    ("train removed", ("TS507",), _never_back),
    ("scheduler before optimizer", ("TS508",), _swapped("step", "scheduler.step")),
    ("clipped after the step", ("TS509",), _swapped("clip_grad_norm_", "step")),
    ("clipped before backward", ("TS509",), _swapped("backward", "clip_grad_norm_")),
    ("not clipped", ("TS510",), where(_is_recurrent, all_removed("clip_grad_norm_"))),
    ("accumulated loss not divided", ("TS514",), _accumulated),
    ("scaler not updated", ("TS515",), where(_scales, all_removed("update"))),
    ("scaler updated before its step", ("TS515",), where(_scales, _swapped("step", "scaler.update"))),
    ("optimizer stepped without the scaler", ("TS515",), where(_scales, _scaler_passed_by)),
    ("layers in a plain list", ("TS511", "TS512"), _plain_list),
    ("module not given to the optimizer", ("TS512",), _fewer_parameters),
    ("forward called", ("TS513",), _forward_called),
    ("dropout always on", ("TS516",), without_keyword("training", "torch.nn.functional.dropout")),
    ("best state not copied", ("TS517",), _not_copied),
    ("super().__init__ removed", ("TS518",), _no_super),
    ("plain tensor for a parameter", ("TS519", "TS512"), _plain_parameter),
    *LIBRARY_FAULTS,
)  # fmt: skip
"""Kind of fault, the codes that name it, and how it is put in."""

CRASHING = LIBRARY_CRASHING | frozenset(
    "long() removed|float() removed|one class more|smaller table|saved tensor changed in place|integer targets for BCE|"
    "float size|state not detached|numpy() with a graph|requires_grad not asked for|MSE on class indices|"
    "argmax before the loss".split("|")
)
"""Kinds that are faults only where they crash."""
CHANGING = frozenset({"eval removed", "train removed"})
"""Kinds that are faults only where the script then computes something else: not so without dropout and batch norm."""
