"""operator-error: an operator that PyTorch refuses.

What it finds
    Any other error that the installed PyTorch raises for these shapes, dtypes and arguments; lists, texts and None in
    arithmetic, dtypes by their names, conditions and texts of several numbers.
Why it hurts
    The script stops at this line.
Example
    torch.eye(3)[5]
Use instead
    an index that exists
Fix safety
    Most have no fix, as it is not evident which of the operands is meant.
References
    the documentation of the operator
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence import kinds
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import layer_text, shape_text
from torchsleuth.rules.evidence.operands import (
    appended,
    fitted,
    layers_behind,
    lineage,
    operands,
    replaced,
    resized,
    short,
    suffixed,
    written,
)
from torchsleuth.rules.evidence.operators import reported
from torchsleuth.rules.evidence.results import last_step, one_part, pair_in_sequence, state_unpacked
from torchsleuth.rules.evidence.returns import returned
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import any_are, as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, given_to, is_method_call, nodes_in
from torchsleuth.synthesis.shapes import channels_last, same
from torchsleuth.values import UNKNOWN, LibraryModule, Tensor, is_object

CODE = "TS199"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in reported(analysis, CODE):
        if "NoneType" in failure.failure.message and _is_of_option(failure):
            continue
        if "ambiguous" in failure.failure.message and _is_made(failure):
            name = failure.operation.name
            finding = replace(
                finding, message=message("constructed", name=name, given=operands(failure.operation)[0].text())
            )
        finding = replace(finding, message=kinds.explained(analysis, failure) or finding.message)
        if _holds_tensors(failure):
            parts = operands(failure.operation)
            text = message("tensor.of_tensors", count=len(parts), shape=shape_text(parts[0].spec))
            finding = replace(finding, message=text)
        layer = _made_of_tensors(failure)
        if layer is not None and layer.site is not None and layer.site.call is not None:
            source, node = layer.site.source, layer.site.call
            given = f"`{short(source.segment(node.args[0]))}`" if node.args else "the tensor"
            text = message("constructed", name=layer.type_name, given=given)
            places = (source.span(node).related(message("constructed.here")), *finding.related)
            finding = replace(finding, message=text, related=places)
        before = pair_in_sequence(analysis, failure)
        if before is not None and failure.operation.module is not None:
            kind, user = ast.unparse(before[1].func).rpartition(".")[2], layer_text(failure.operation.module)
            finding = replace(finding, message=message("sequential.pair", layer=kind, user=user))
        yield replace(finding, candidates=_candidates(analysis, failure, finding))


def _is_of_option(failure: OperatorFailure) -> bool:
    """Whether an argument is an option of the command line that has no default: whoever runs the script gives it."""
    site = failure.operation.site
    for node in given_to(site.call):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = site.scene.names.get(node.value.id, site.scene.globals.get(node.value.id))
            if is_object(owner, "argparse.Namespace") and owner.slots.get(node.attr, UNKNOWN) is None:
                return True
    return False


def _candidates(analysis: Analysis, failure: OperatorFailure, finding: Finding) -> Iterator[Candidate]:
    yield from kinds.converted(analysis, failure)
    yield from _called(failure)
    yield from last_step(analysis, failure)
    yield from one_part(failure)
    yield from _stacked(failure)
    if "NoneType" in finding.message:
        yield from returned(analysis, finding.at.path)
    yield from state_unpacked(analysis, failure)
    yield from _made_plain(failure)
    yield from _folded_alike(analysis, failure)
    yield from _gathered(failure)
    yield from _with_offsets(failure)
    yield from _wide_as_added(failure)
    yield from _enough_for_shuffle(analysis, failure)
    yield from _in_any_order(failure)
    yield from _coordinates_last(analysis, failure)
    yield from _as_float32(failure)


def _as_float32(failure: OperatorFailure) -> Iterator[Candidate]:
    """``x.float().cpu().numpy()`` of a tensor in a half precision that NumPy has not."""
    site = failure.operation.site
    if "unsupported ScalarType" in failure.failure.message and is_method_call(site.node, "numpy"):
        base = site.node.func.value
        while is_method_call(base, "cpu", "detach") and not base.args:
            base = base.func.value
        yield appended(site, base, ".float()")


def _holds_tensors(failure: OperatorFailure) -> bool:
    """``torch.tensor([x, y])`` of tensors that are no numbers."""
    plain = failure.operation.target == "torch.tensor" and "only one element" in failure.failure.message
    return plain and len({given.spec.shape for given in operands(failure.operation)}) == 1


def _stacked(failure: OperatorFailure) -> Iterator[Candidate]:
    """``torch.stack([x, y])``"""
    call = failure.operation.site.call
    if _holds_tensors(failure) and call is not None and len(call.args) == 1:
        name = failure.operation.site.source.segment(call.func)
        if name.endswith("tensor"):
            yield replaced(failure.operation.site, call.func, f"{name.removesuffix('tensor')}stack")


def _in_any_order(failure: OperatorFailure) -> Iterator[Candidate]:
    """``enforce_sorted=False`` for sequences that are packed in the order in which they come."""
    site = failure.operation.site
    if "`enforce_sorted` is True" in failure.failure.message and site.call is not None:
        argument = "enforce_sorted=False"
        yield added_argument(site.source, site.call, argument)


def _coordinates_last(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """``grid.permute(0, 2, 3, 1)`` for a grid whose coordinates are in front, as channels are."""
    found = re.search(r"expected grid to have size (\d) in last dimension", failure.failure.message)
    if found is not None:
        wanted = int(found[1])
        for used in operands(failure.operation)[1:2]:
            yield from fitted(analysis, used, lambda shape: shape[-1] == wanted, channels_last)


def _enough_for_shuffle(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """A pixel shuffle makes a block of pixels out of each group of channels: a block's worth of them before it."""
    found = re.search(r"input\.size\(-3\)=(\d+) is not divisible by (\d+)", failure.failure.message)
    if found is None or not failure.operation.tensors:
        return
    channels, block = int(found[1]), int(found[2])
    side = math.isqrt(block)
    wanted = [channels * side] if channels % side == 0 and channels % block else []
    for layer in layers_behind(analysis, failure.operation.tensors[0], "Conv"):
        for count in (*wanted, channels * block, -(-channels // block) * block):
            yield from change_argument(analysis, layer, 1, "out_channels", count)
        return


def _gathered(failure: OperatorFailure) -> Iterator[Candidate]:
    """gather for an index_select with positions of their own for each sample."""
    operation, call = failure.operation, failure.operation.site.call
    given = operands(operation)
    dim = operation.given(1, "dim")
    if operation.target != "Tensor.index_select" or len(given) != 2 or dim != 1 or call is None:
        return
    table, index = given
    rest = len(table.shape) - len(index.shape)
    if len(index.shape) != 2 or rest < 0 or table.node is None or index.node is None:
        return
    source = operation.site.source
    rows, places = written(source, table.node), written(source, index.node)
    if rest:
        sizes = ", ".join(f"{rows}.size({axis})" for axis in range(2, len(table.shape)))
        places = f"{places}{'.unsqueeze(-1)' * rest}.expand(-1, -1, {sizes})"
    yield replaced(operation.site, call, f"{rows}.gather(1, {places})", safe=False)


def _wide_as_added(failure: OperatorFailure) -> Iterator[Candidate]:
    """Makes the target of an addition of rows, such as a sum for each graph, as wide as the rows."""
    operation, given = failure.operation, operands(failure.operation)
    dim = operation.given(1, "dim")
    if "source tensor shape must match" in failure.failure.message and len(given) == 3:
        for axis, (size, wanted) in enumerate(zip(given[0].shape, given[2].shape)):
            if axis != dim and not same(size, wanted):
                yield from resized(given[0].tensor, axis, wanted)


def _with_offsets(failure: OperatorFailure) -> Iterator[Candidate]:
    """The offsets that are at hand, for an EmbeddingBag that is given all bags in one row."""
    call, frame = failure.operation.site.call, failure.operation.site.scene
    if "offsets has to be" in failure.failure.message and call is not None:
        for name in (name for name, held in frame.names.items() if isinstance(held, Tensor) and "offset" in str(name)):
            yield added_argument(failure.operation.site.source, call, str(name))


def _called(failure: OperatorFailure) -> Iterator[Candidate]:
    """``nn.CrossEntropyLoss()(output, target)`` where tensors are given to the constructor: of the module that fails, or
    of one that is given to it."""
    operation, given = failure.operation, _made_of_tensors(failure)
    made = operation.module.site if operation.module is not None else None
    if given is not None:
        site = given.site
    else:
        site = made if made is not None and made.span == operation.site.span and operation.tensors else None
    node = as_kind(site.node, ast.Call) if site is not None else None
    if node is None or site is None:
        return
    source, name = site.source, ast.unparse(node.func)
    title = message("fix.replace", old=name, new=f"{name}()")
    function = site.scene.function.node if site.scene.function is not None else None
    alike = [
        part
        for part in nodes_in(function if given is not None and function is not None else node, ast.Call)
        if len(part.args) == 1 and ast.unparse(part.func) == name
    ]
    if len(alike) > 1:
        title = message("fix.together", title=title, count=len(alike) - 1)
    found = alike if len(alike) > 1 else [node]
    yield Candidate(title, tuple(edits.insert_after_node(source, part.func, "()") for part in found))


def _made_of_tensors(failure: OperatorFailure) -> LibraryModule | None:
    """``nn.ReLU(x)`` where its result is wanted: a module that was given a tensor for an option."""
    given = as_kind(failure.operation.first, LibraryModule)
    fits = given is not None and any_are(given.args, Tensor)
    return given if fits and given is not None else None


def _is_made(failure: OperatorFailure) -> bool:
    """Whether it is the constructor of a module that tensors are given to."""
    module = failure.operation.module
    return module is not None and module.site is not None and module.site.span == failure.operation.site.span


def _folded_alike(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """The blocks put together as they were taken: with the stride, the padding and the kernel of the ``unfold``."""
    fold, given = failure.operation, operands(failure.operation)
    node = fold.site.call
    if fold.target != "torch.nn.functional.fold" or not given or node is None:
        return
    made = (before for _, before in lineage(analysis, given[0].tensor) if before.target == "torch.nn.functional.unfold")
    unfold = next(made, None)
    call = unfold.site.call if unfold is not None else None
    if call is None or unfold is None or unfold.site.scene != fold.site.scene:
        return
    source = fold.site.source
    for place, name in ((4, "stride"), (3, "padding"), (2, "dilation"), (1, "kernel_size")):
        old, new = argument_of(node, place + 1, name), argument_of(call, place, name)
        if new is not None and (old is None or ast.dump(old) != ast.dump(new)):
            text = source.segment(new)
            if old is not None:
                yield replaced(fold.site, old, text)
            else:
                yield added_argument(source, node, f"{name}={text}")


def _made_plain(failure: OperatorFailure) -> Iterator[Candidate]:
    """Of several elements, what a condition or a number can be made of; of an array that is a view, a copy."""
    error, given = failure.failure.message, operands(failure.operation)
    node = failure.operation.site.call
    if "array.copy()" in error and node is not None and node.args:
        yield appended(failure.operation.site, node.args[0], ".copy()")
    if not given or given[0].node is None:
        return
    if "must be tuple of Tensors" in error and node is not None and all(used.node for used in given):
        source, parts = failure.operation.site.source, [used.node for used in given]
        if parts == node.args[: len(parts)]:
            text = f"[{', '.join(source.segment(part) for part in node.args[: len(parts)])}]"
            title = message("fix.replace", old=text[1:-1], new=text)
            yield Candidate(title, (edits.replace_between(source, node.args[0], node.args[len(parts) - 1], text),))
    if "Boolean value of Tensor" in error:
        for suffix in (".any()", ".all()"):
            yield from suffixed(given[0], suffix, safe=False)
    elif any(part in error for part in ("only one element tensors", "cannot be converted to Scalar", "format string")):
        for suffix in (".mean()", ".sum()"):
            yield from suffixed(given[0], suffix, safe=False)


RULE = Rule(FAULTS[CODE], find)
