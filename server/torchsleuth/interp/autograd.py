"""Following the autograd graph: what recorded it, what cut it, what it saved, and when backward() freed it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, hooks, modules, optim, parameters, states
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import contains, is_name
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import Failure, TensorSpec, is_differentiable
from torchsleuth.values import (
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Ref,
    Site,
    SliceValue,
    Slots,
    Tensor,
    Unknown,
    Value,
    elements_of,
    is_int,
    is_module,
    tuple_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import (
    COMPOSED,
    CONTRACTIONS,
    FREES,
    INPLACE_POSITION,
    LAYERS,
    MAY_RETURN_OPERAND,
    NEEDS_WEIGHT,
    PRODUCTS,
    RECURRENT,
    SAVES_FIRST,
    SAVES_RESULT,
    SEQUENCES,
    VIEWS,
    WEIGHTED,
    AutogradFault,
    Cut,
    GraphNode,
    cut_of,
    flat_step,
    is_leaf,
    node_of,
)

REQUIRES_GRAD = "requires_grad"
MAX_PLACES = 400
"""Variables and attributes that are searched for what carries a graph on."""
_SOURCES = frozenset(
    "zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty new_full "
    "new_tensor".split()
)
"""Operators that take no values from their operand, so that none lose their graph."""


class Autograd(Interpreter):
    """The part of the interpreter that follows graphs. `grad`: grad mode, None where it is not known. `autocast`: the
    regions in which operators work on copies of their operands in another dtype."""

    # -- recording ---------------------------------------------------------------------------------

    def set_grad(self, mode: Value, site: Site) -> None:
        """Switch grad mode: on, off, or to what is not known."""
        self.grad = as_kind(mode, bool)
        self.grad_off = None if self.grad else site

    def recorded(self, spec: TensorSpec, operation: Operation, tensors: Sequence[Tensor]) -> bool | None:
        """Whether the result of an operation requires grad. `spec`: what the oracle makes of it, which takes modules of
        unknown state for trainable, tensors of unknown state for constants and an unknown grad mode for on."""
        if self.grad is False or not is_differentiable(spec.dtype):
            return spec.requires_grad
        grads = [tensor.spec.requires_grad for tensor in tensors]
        module = operation.module
        unknown = module is not None and hierarchy.has_own_parameters(module) and self.trainability(module) is None
        if spec.requires_grad:
            return None if self.grad is None or (unknown and True not in grads) else True
        return None if unknown or None in grads else False

    @staticmethod
    def is_inplace(operation: Operation) -> bool:
        """Whether an operator was asked to write its result into its operand."""
        given: Any = operation if operation.module is None else operation.module
        position = INPLACE_POSITION.get(operation.name)
        if position is not None and position < len(given.args):
            return given.args[position] is True
        return given.kwargs.get("inplace") is True

    @staticmethod
    def keeps_values(operation: Operation) -> bool:
        """Whether an operation with inplace=True may leave its operand as it is: dropout that is off."""
        name = operation.name.lower()
        if "dropout" not in name:
            return False
        module = operation.module
        if module is not None:
            training, p = module.slots["training"], module.kwargs.get("p", (*module.args, 0.5)[0])
        else:
            given = dict(zip(("input", "p", "training"), operation.args)) | operation.kwargs
            training, p = given.get("training", True), given.get("p", 0.5)
        return training is not True or not isinstance(p, int | float) or p == 0

    def connect(self, results: list[Tensor], operation: Operation, tensors: Sequence[Tensor]) -> None:
        """Give the results of an operation their place in the graph, or the reason why they have none."""
        name = operation.name.removeprefix("__i").strip("_")
        node: GraphNode | None = None
        for result in results:
            requires_grad = result.spec.requires_grad
            if tensors and (name in VIEWS or (name == "getitem" and _is_basic_index(operation.args[1]))):
                result.storage = tensors[0].storage
                result.slots["base"] = tensors[0]
                self.heap.set(tensors[0].slots, "views", (*_views(tensors[0]), result))
            if requires_grad is False:
                result.slots["cut"] = self._cut(name, operation, tensors)
            elif requires_grad and self.grad is False:
                # Changed in place or seen through a view without recording: it stays where it was.
                result.slots["node"] = tensors[0].slots["node"] if tensors else None
            elif requires_grad:
                node = node or self._node(name, operation, tensors)
                result.slots["node"] = node
                if name in SAVES_RESULT:
                    self._save(node, result.storage)

    def _cut(self, name: str, operation: Operation, tensors: Sequence[Tensor]) -> Cut | None:
        """Why the result of an operation carries no graph, None where nothing was lost."""
        lost = any(tensor.spec.requires_grad is True for tensor in tensors) and name not in _SOURCES
        if lost or self.is_trainable(operation.module):
            if self.grad is False:
                unrecorded = Cut("no_grad", operation.site, self.grad_off)
                if operation.module is not None:
                    self.trace.unrecorded.append((operation, unrecorded))
                return unrecorded
            return Cut("integers", operation.site) if self.grad else None
        earlier = next((cut for tensor in tensors if (cut := cut_of(tensor)) is not None), None)
        frozen = as_kind(operation.module.slots.get("frozen"), Site) if operation.module is not None else None
        return earlier or (Cut("frozen", frozen) if frozen is not None else None)

    def _node(self, name: str, operation: Operation, tensors: Sequence[Tensor]) -> GraphNode:
        module = operation.module
        part_of = [tensor for tensor in tensors if tensor.spec.requires_grad is not False]
        inputs = dict.fromkeys(node for tensor in part_of if (node := node_of(tensor)) is not None)
        leaves = tuple(tensor for tensor in part_of if is_leaf(tensor) and tensor.spec.requires_grad)
        unknown = any(tensor not in leaves and node_of(tensor) is None for tensor in part_of)
        unknown = unknown or any(tensor.spec.requires_grad is None for tensor in part_of)
        unknown = unknown or (module is not None and self.trainability(module) is None)
        unknown = unknown or any(map(self._may_carry, (*operation.args, *operation.kwargs.values())))
        trainable = self.is_trainable(module)
        frees = self._frees(name, tensors, trainable)
        owner = module if trainable else None
        node = GraphNode(name, operation.site, tuple(inputs), owner, leaves, unknown, frees, self.entry)
        if self.autocast or not tensors:
            return node
        composed = name in COMPOSED and any((tensor.spec.rank or 3) > 2 for tensor in tensors)
        if name in SAVES_FIRST and tensors[0].spec.requires_grad:
            self._save_operand(node, tensors[0], composed)
        if name in PRODUCTS and len(tensors) == 2:
            for one, other in (tensors, tensors[::-1]):
                if other.spec.requires_grad:
                    self._save_operand(node, one, composed)
        if module is not None and trainable and name in WEIGHTED:
            self._save_operand(node, tensors[0], composed)
            if name in NEEDS_WEIGHT and tensors[0].spec.requires_grad:
                self._save(node, module)
        if module is not None and trainable and name in RECURRENT:
            if any(tensor.spec.requires_grad for tensor in tensors) or self._keeps_weights(module, tensors[0]):
                self._save(node, module)
        return node

    def carries(self, value: Value, given: Iterable[Value], node: ast.AST | None = None) -> None:
        """Note that something unknown, which an expression gave, may have been computed from tensors with their graphs."""
        if not isinstance(value, Unknown):
            return
        if any(node_of(tensor) is not None for tensor in hierarchy.tensors_in(tuple(given))):
            self.trace.carriers |= {one for one in (value.node, node) if one is not None}

    def _may_carry(self, value: Value) -> bool:
        """Whether there are unknown values in an operand that a graph may belong to."""
        if isinstance(value, Unknown):
            return any(link.node in self.trace.carriers for link in value.chain())
        return isinstance(value, tuple | ListValue) and any(map(self._may_carry, elements_of(value) or ()))

    def _keeps_weights(self, module: LibraryModule, given: Tensor) -> bool:
        """Whether a recurrent layer keeps its weights for an input without a graph, too: one with memory cells always does, the
        others for sequences of several steps (PyTorch 2.13 on a CPU)."""
        if module.type_name == "LSTM":
            return True
        shape = self.resolved_spec(given.spec).shape
        if module.type_name not in ("GRU", "RNN") or shape is None or len(shape) != 3:
            return False
        positional = dict(enumerate(module.args)).get(5 if module.type_name == "RNN" else 4, False)
        first = as_kind(module.kwargs.get("batch_first", positional), bool)
        steps = as_kind(shape[first], int) if first is not None else None
        return steps is not None and steps > 1

    @staticmethod
    def _frees(name: str, tensors: Sequence[Tensor], trainable: bool) -> bool:
        """Whether an operator keeps tensors. Of a layer, the gradient of the bias alone needs none."""
        if name in WEIGHTED | SEQUENCES | LAYERS:
            factors = tensors[1:3] if name == "addmm" else tensors[:2]
            return trainable or any(tensor.spec.requires_grad for tensor in factors)
        return name in FREES or (name in CONTRACTIONS and len(tensors) > 1)

    def _save_operand(self, node: GraphNode, tensor: Tensor, composed: bool) -> None:
        """`composed`: the operator is made of others, which may keep a contiguous copy."""
        if not composed or (tensor.spec.shape is not None and tensor.spec.strides is None):
            self._save(node, tensor.storage)

    def _save(self, node: GraphNode, storage: Ref) -> None:
        version = as_kind(storage.slots.get("version", 0), int)
        if version is not None:
            node.saved.append((storage, version))

    def is_trainable(self, module: LibraryModule | None) -> bool:
        """Whether a module is known to have parameters that require grad."""
        if module is None or self.trainability(module) is not True:
            return False
        return hierarchy.has_parameters(self, module)

    def trainability(self, module: LibraryModule) -> bool | None:
        """Whether the parameters of a module require grad, None where that is not known."""
        return module.requires_grad if self.settings["unknown"] is False else None

    def unknown_set(self) -> None:
        """Something that is not known was frozen or unfrozen: it may be a part of any module."""
        self.heap.set(self.settings, "unknown", True)

    def placed(self, value: Value) -> None:
        """A module was put into something that is not known: it may be a part of any module of which not all parts are known."""
        if is_module(value):
            self.heap.set(self.settings, "placed", True)

    def may_thaw(self, value: Value) -> None:
        """A module given to code that is not known: what was frozen may be unfrozen there."""
        for part in hierarchy.parts_of(value):
            match part:
                case LibraryModule() if part.requires_grad is False:
                    self.heap.set(part.slots, "requires_grad", None)
                case Tensor() if part.spec.requires_grad is False:
                    self.heap.set(part.slots, "spec", part.spec.with_(requires_grad=None))

    def severed(self, tensor: Tensor, result: Tensor, kind: str, site: Site) -> Tensor:
        """A copy without graph, such as ``x.detach()``, that remembers where it lost it."""
        result.slots["cut"] = self.cut(tensor, kind, site)
        if kind == "detach":
            result.storage = tensor.storage
        if self.tape is not None:
            self.tape.same(self, tensor, result)
        return result

    def cut(self, tensor: Tensor, kind: str, site: Site) -> Cut | None:
        """Where values taken out of a tensor lost their graph: here, or before."""
        return Cut(kind, site) if tensor.spec.requires_grad is True else cut_of(tensor)

    def same_graph(self, tensor: Tensor, result: Tensor) -> Tensor:
        """A new value of the same graph, such as ``x.to(device)``."""
        result.slots["node"], result.slots["cut"] = tensor.slots["node"], tensor.slots["cut"]
        if result.spec.requires_grad is False and tensor.spec.requires_grad is True:
            result.slots["node"] = None
        if is_leaf(tensor):
            result.slots["node"] = GraphNode("to", tensor.origin.site, leaves=(tensor,)) if tensor.origin else None
        if self.tape is not None:
            self.tape.same(self, tensor, result)
        return result

    def require_grad(self, tensor: Tensor, value: bool | None, node: ast.AST, frame: Frame) -> None:
        """``x.requires_grad_()``, an assignment to the attribute, or the argument of what makes a tensor."""
        if value and (tensor.spec.dtype or "").startswith(("int", "uint", "bool")):
            self.operate("Tensor.requires_grad_", (tensor,), {}, node, frame)  # raises
            self.heap.set(tensor.slots, "spec", tensor.spec.with_(dtype=None))
            return
        if tensor.owner is not None:
            site = self.site(node, frame)
            some = not parameters.switches_all(self, tensor, value)
            modules.set_requires_grad(self, tensor.owner, value, site, some)
        self.heap.set(tensor.slots, "spec", tensor.spec.with_(requires_grad=value))
        if tensor.slots["node"] is None:
            self.heap.set(tensor.slots, "leaf", True)

    # -- changes in place --------------------------------------------------------------------------

    def written(self, tensor: Tensor, value: Tensor | None, node: ast.AST, frame: Frame, copied: bool = False) -> None:
        """An in-place change of a tensor. `value`: what an operator made of it, or what is copied into a part of it."""
        site = self.site(node, frame)
        if self.grad and tensor.spec.requires_grad is True and is_leaf(tensor):
            self.fault(AutogradFault("leaf_in_place", site, tensor))
            return
        self.count_change(tensor.storage, site)
        for base in _bases(tensor):
            self.retag(base)
        made = node_of(value) if value is not None else None
        unknown = value is not None and value.spec.requires_grad is None
        if made is None and not unknown:
            return
        if made is None or copied:
            parts = tuple(part for part in (node_of(tensor), made) if part is not None)
            made = GraphNode("write", site, parts, open=unknown, entry=self.entry)
        else:
            self._saved_in_place(made, tensor.storage)
        self.heap.set(tensor.slots, "node", made)
        if self.grad is not False:
            self._reach_family(tensor, made, None if unknown or self.grad is None else True, site)

    def _reach_family(self, view: Tensor, made: GraphNode, grad: bool | None, site: Site) -> None:
        """Pass what was written into a view on to its base, and to the other views of that."""
        for one in _family(view):
            if one.spec.requires_grad is True and is_leaf(one):
                continue
            parts = tuple(part for part in (node_of(one), made) if part is not None)
            node = GraphNode("write", site, parts, open=grad is None, entry=self.entry)
            self.heap.set(one.slots, "node", node)
            if one.spec.requires_grad is not True:
                self.heap.set(one.slots, "spec", one.spec.with_(requires_grad=grad))

    def set_parameters(self, parameters: Parameters, value: bool | None, node: ast.AST, frame: Frame) -> None:
        """Freeze or unfreeze the parameter that a loop over those of a module is at: all of them, where each iteration
        does so."""
        some = not self._in_each_iteration(node)
        for module in filter(is_module, parameters.modules):
            modules.set_requires_grad(self, module, value, self.site(node, frame), some)

    def _in_each_iteration(self, node: ast.AST) -> bool:
        """Whether a place is in a statement that each iteration of a loop over all parameters executes."""
        loop = as_kind(self.loop_points[-1].node, ast.For) if self.loop_points else None
        if loop is None or not _is_over_parameters(loop.iter):
            return False
        for statement in loop.body:
            if contains(statement, ast.Break, ast.Continue, ast.Return):
                return False
            if isinstance(statement, ast.Assign | ast.Expr) and any(part is node for part in ast.walk(statement)):
                return True
        return False

    def parameters_written(self, parameters: Parameters, node: ast.AST, frame: Frame) -> None:
        """An in-place change of each parameter in a loop over those of a module."""
        states = [state for module in parameters.modules for state in self._states(module)]
        if self.grad and states and all(states):
            self.fault(AutogradFault("leaf_in_place", self.site(node, frame), parameters))

    def _states(self, module: Value) -> Iterator[bool]:
        """Whether each part of a module is known to require grad."""
        for part in hierarchy.descendants(module):
            if isinstance(part, LibraryModule) and hierarchy.has_own_parameters(part):
                yield self.trainability(part) is True
            for tensor in hierarchy.own_parameters(part):
                yield tensor.spec.requires_grad is True

    def count_change(self, storage: Ref, site: Site) -> None:
        version = as_kind(storage.slots.get("version", 0), int)
        if version is not None:
            self.heap.set(storage.slots, "version", version + 1)
            self.heap.set(storage.slots, "writer", site)

    def _saved_in_place(self, made: GraphNode, storage: Ref) -> None:
        """An operator that works in place keeps a copy of what it needs of the old values, or else the new ones."""
        kept = [item for item in made.saved if item[0] is not storage]
        if len(kept) != len(made.saved) or made.operator in SAVES_RESULT:
            made.saved[:] = kept
            if made.operator in SAVES_RESULT:
                self._save(made, storage)

    # -- optimizers --------------------------------------------------------------------------------

    def stepped(self, optimizer: LibraryObject, site: Site) -> None:
        """An optimizer changes in place those weights that have a gradient."""
        for part in optim.trained_parts(optimizer):
            if part.slots.get("graded") is True:
                self.count_change(part if isinstance(part, LibraryModule) else part.storage, site)

    def cleared(self, parts: Iterable[LibraryModule | Tensor]) -> None:
        """zero_grad(): these parts have no gradient any more."""
        for part in parts:
            self.heap.set(part.slots, "graded", False)
            self.heap.set(self.clears, part.identity, self.passes)

    # -- backward ----------------------------------------------------------------------------------

    def backward(self, tensor: Tensor, gradient: Value, retain: bool | None, node: ast.AST, frame: Frame) -> None:
        """``tensor.backward()``. `retain`: None where it is not known."""
        hooks.run_pending(self)
        order = self._traverse(tensor, gradient, retain, node, frame)
        if order is None:
            return
        site = self.site(node, frame)
        self._reaches_nothing(order, site, tensor)
        for part in order:
            for graded in (part.module, *part.leaves):
                if graded is not None:
                    self.heap.set(graded.slots, "graded", True)

    def gradients(
        self,
        output: Tensor,
        inputs: list[Value],
        gradient: Value,
        retain: bool | None,
        strict: bool,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """``torch.autograd.grad(output, inputs)``. `strict`: an input that the output does not depend on is an error."""
        parts = self._traverse(output, gradient, retain, node, frame, inputs)
        if parts is None or any(part.open for part in parts):
            return
        site = self.site(node, frame)
        given = [
            (position, tensor)
            for position, value in enumerate(inputs)
            for tensor in ((value,) if isinstance(value, Tensor) else parameters.listed(self, value) or ())
        ]
        for position, tensor in given:
            if not isinstance(tensor, Tensor):
                continue
            if tensor.spec.requires_grad is False:
                self.fault(AutogradFault("grad_missing", site, tensor, cut_of(tensor), position=position))
            elif tensor.spec.requires_grad and strict:
                own = node_of(tensor)
                used = own in parts if own is not None else any(_is_part(tensor, part) for part in parts)
                if not used and (own is not None or is_leaf(tensor)) and not self._has_other_names(tensor):
                    self.fault(AutogradFault("not_used", site, tensor, position=position))

    def _has_other_names(self, tensor: Tensor) -> bool:
        """Whether a parameter is one of a module that a package has built, or whose parameters may be others by now."""
        owner = tensor.owner
        return owner is not None and (owner.built is not None or owner.broken or states.has_renamed(self))

    def _traverse(
        self,
        tensor: Tensor,
        gradient: Value,
        retain: bool | None,
        node: ast.AST,
        frame: Frame,
        inputs: list[Value] | None = None,
    ) -> list[GraphNode] | None:
        """The graph of a tensor, from which a backward pass starts; None where that fails or is not known.

        `inputs`: what is differentiated by. The pass runs through the operations on the way there, and frees them.
        """
        site = self.site(node, frame)
        spec = self.resolved_spec(tensor.spec)
        if spec.requires_grad is False:
            self.fault(AutogradFault("no_graph", site, tensor, cut_of(tensor)))
            return None
        if spec.requires_grad is not True:
            return None
        if gradient is None and spec.shape is not None and any(dims.equal(size, 1) is False for size in spec.shape):
            self.fault(AutogradFault("not_scalar", site, tensor))
            return None
        if isinstance(gradient, Tensor):
            self._fits_output(tensor, gradient, node, frame)
        root = node_of(tensor)
        if root is None:
            if is_leaf(tensor) and cut_of(tensor) is not None:
                self.fault(AutogradFault("severed", site, tensor, cut_of(tensor)))
            elif is_leaf(tensor) and not tensor.parameter and tensor.origin is not None:
                self.fault(AutogradFault("alone", site, tensor))
            return None
        order = list(root.reachable())
        passed = order if inputs is None else _between(order, inputs)
        own = [part for part in passed if part.entry == self.entry]
        if self._already_freed(own, site, tensor, frame) or self._modified(own, site, tensor):
            return None
        if retain is False and not self.uncertain:
            for part in passed:
                if not isinstance(self.freed.get(part), Site):
                    self.heap.set(self.freed, part, site)
        return order

    def _fits_output(self, tensor: Tensor, gradient: Tensor, node: ast.AST, frame: Frame) -> None:
        """The gradient that a backward pass starts with has the shape of the tensor that it starts from."""
        shape, given = (self.resolved_spec(one.spec).shape for one in (tensor, gradient))
        if shape is None or given is None or not all_are((*shape, *given), int) or shape == given:
            return
        text = (
            f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(given)}) and output[0] has a shape of "
            f"torch.Size({list(shape)})."
        )
        operation = self.operation("Tensor.backward", (tensor, gradient), {}, node, frame, None)
        self.report(operation, Failure("RuntimeError", text, confirmed=True))

    def _already_freed(self, order: list[GraphNode], site: Site, tensor: Tensor, frame: Frame) -> bool:
        for part in order:
            first = as_kind(self.freed.get(part), Site)
            if part.frees and first is not None:
                reached = _reused(order, self.freed)
                carried = tuple(self._carriers(frame, lambda one: isinstance(self.freed.get(one), Site)))
                self.fault(AutogradFault("freed", site, tensor, cause=first, node=reached or part, carried=carried))
                return True
        return False

    def _carriers(self, frame: Frame, is_meant: Callable[[GraphNode], bool]) -> Iterator[tuple[str, bool]]:
        """Variables and attributes whose graph reaches such a piece of a graph: they carry it on."""
        receiver = frame.instance()
        places: list[tuple[str, Value]] = [(str(name), value) for name, value in frame.names.items()]
        if receiver is not None:
            places += [(f"self.{name}", value) for name, value in receiver.slots.items()]
        seen: set[int] = {id(receiver)}
        for name, value in places:
            inner = _named_parts(name, value)
            if inner is not None:
                if id(value) not in seen and len(places) < MAX_PLACES:
                    seen.add(id(value))
                    places += inner
                continue
            nodes = [node_of(tensor) for tensor in hierarchy.tensors_in(value, 2)]
            if nodes and all(node and any(map(is_meant, node.reachable())) for node in nodes):
                yield name, not isinstance(value, Tensor)

    def _modified(self, order: list[GraphNode], site: Site, tensor: Tensor) -> bool:
        for part in order:
            for storage, version in part.saved:
                now, writer = as_kind(storage.slots.get("version", 0), int), as_kind(storage.slots.get("writer"), Site)
                if now is not None and now > version and writer is not None:
                    carried = tuple(self._carriers(site.frame, {part}.__contains__))
                    self.fault(AutogradFault("modified", writer, tensor, cause=site, node=part, carried=carried))
                    return True
        return False

    def _reaches_nothing(self, order: list[GraphNode], site: Site, tensor: Tensor) -> None:
        """Backward runs, but no parameter gets a gradient, or one of zero."""
        leaves = tuple(dict.fromkeys(leaf for part in order for leaf in part.leaves))
        for leaf in leaves:
            cut = cut_of(leaf)
            if cut is not None and cut.kind == "rewrapped" and leaf.spec.shape == ():
                self.fault(AutogradFault("severed_part", site, tensor, cut, leaves=(leaf,)))
        if any(part.open for part in order):
            return
        trained = any(part.module is not None for part in order)
        cuts = [cut_of(leaf) for leaf in leaves]
        if not trained and leaves and all(cuts):
            self.fault(AutogradFault("severed", site, tensor, cuts[0], leaves=leaves))
        flat = flat_step(order[0]) if trained else None
        if flat is not None:
            self.fault(AutogradFault("zero_gradient", flat.site, tensor, cause=site, node=flat))

    # -- attributes --------------------------------------------------------------------------------

    def check_grad(self, tensor: Tensor, node: ast.AST, frame: Frame) -> bool:
        """A read of ``x.grad``: whether it is None whatever backward() does, as x never requires grad or is no leaf."""
        if tensor.parameter or tensor.slots.get("has_grad") or tensor.slots.get("graded"):
            return False
        made = node_of(tensor)
        computed = made is not None and made.operator not in MAY_RETURN_OPERAND and made.operator != "write"
        missing = tensor.spec.requires_grad is False or (tensor.spec.requires_grad is True and computed)
        if missing:
            self.fault(AutogradFault("grad_missing", self.site(node, frame), tensor, cut_of(tensor)))
        return missing

    def check_early(self, owner: Value, parts: Sequence[Value], node: ast.AST, frame: Frame) -> bool:
        """A read of ``x.grad``: whether it is None because no backward() has run, none at all or none since zero_grad()."""
        holders = [part.owner if isinstance(part, Tensor) and part.owner is not None else part for part in parts]
        since = {self.clears.get(part.identity, 0) for part in of_kind(holders, Tensor, LibraryModule)}
        known = all(self._may_get_gradients(part) for part in (*parts, *holders))
        missing = not self.entry and not self.uncertain and known and since == {self.passes}
        if missing:
            text = "cleared" if self.passes else ""
            self.fault(AutogradFault("grad_early", self.site(node, frame), owner, text=text))
        return missing

    def _may_get_gradients(self, part: Value) -> bool:
        """Whether something holds parameters, or requires grad and was not computed, and nothing has asked for more."""
        if isinstance(part, Tensor):
            mine = part.parameter or (part.spec.requires_grad is True and is_leaf(part))
            return mine and not part.slots.get("has_grad")
        return isinstance(part, LibraryModule) and not part.slots.get("has_grad")

    def converted_to_arrays(self, values: tuple[Value, ...], node: ast.AST, frame: Frame) -> None:
        """Tensors given to a function that makes NumPy arrays of them."""
        for tensor in hierarchy.tensors_in(values):
            if tensor.spec.requires_grad and self.grad:
                held = "" if any(value is tensor for value in values) else "held"
                self.fault(AutogradFault("numpy", self.site(node, frame), tensor, text=held))

    def check_attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> None:
        """An assignment that is meant to set requires_grad and sets nothing."""
        if not isinstance(owner, Tensor | Parameters | LibraryModule | Instance):
            return
        if isinstance(owner, Instance) and not owner.is_module:
            return
        misspelt = name != REQUIRES_GRAD and get_close_matches(name, (REQUIRES_GRAD,), cutoff=0.8)
        on_module = isinstance(owner, LibraryModule | Instance)
        if (misspelt or (on_module and name == REQUIRES_GRAD)) and owner is not frame.instance():
            self.fault(AutogradFault("wrong_attribute", self.site(node, frame), owner, text=name))

    def fault(self, fault: AutogradFault) -> None:
        key = (fault.kind, fault.at.span)
        if not self.guarded and key not in self.failures_seen:
            self.failures_seen.add(key)
            self.trace.autograd.append(fault)


def _named_parts(name: str, value: Value) -> list[tuple[str, Value]] | None:
    """The content of an object or a dict, by the expressions for it; None for other values."""
    match value:
        case Instance():
            return [(f"{name}.{attribute}", inner) for attribute, inner in value.slots.items()]
        case DictValue():
            return [(f'{name}["{key}"]', inner) for key, inner in (value.items or {}).items() if isinstance(key, str)]
    return None


def _bases(view: Tensor) -> Iterator[Tensor]:
    """The tensors that a tensor is a view of: their values change with its own."""
    tensor = view
    while tensor.origin is not None and tensor.origin.sources and tensor.origin.sources[0].storage is view.storage:
        tensor = tensor.origin.sources[0]
        yield tensor


def _views(tensor: Tensor) -> tuple[Tensor, ...]:
    """The views of a tensor that were made so far."""
    views = as_kind(tensor.slots.get("views"), tuple)
    return views if views is not None else ()


def _family(view: Tensor) -> list[Tensor]:
    """All tensors that are views of one, with that one itself, but for the given view."""
    root, seen = view, {id(view)}
    while isinstance(base := root.slots.get("base"), Tensor) and id(base) not in seen:
        root = base
        seen.add(id(root))
    found, seen = [root], {id(root)}
    for one in found:
        for part in _views(one):
            if id(part) not in seen:
                seen.add(id(part))
                found.append(part)
    return [one for one in found if one is not view]


def _is_basic_index(key: Value) -> bool:
    """Whether indexing gives a view: not so with tensors and lists of positions."""
    parts = tuple_of(key)
    return all(part is None or part is ... or is_int(part) or isinstance(part, SliceValue) for part in parts)


def _is_over_parameters(iterated: ast.expr) -> bool:
    """``model.parameters()``, or ``zip`` and its like over nothing but that."""
    if not isinstance(iterated, ast.Call) or iterated.keywords:
        return False
    if isinstance(iterated.func, ast.Attribute):
        return iterated.func.attr in ("parameters", "named_parameters") and not iterated.args
    wrapper = is_name(iterated.func, "zip", "enumerate", "list", "tqdm")
    return wrapper and bool(iterated.args) and all(_is_over_parameters(argument) for argument in iterated.args)


def _is_part(leaf: Tensor, part: GraphNode) -> bool:
    """Whether an operation has used a leaf. A layer's parameters are made anew at each look, and known by the layer."""
    if any(one is leaf or (one.owner is not None and one.owner is leaf.owner) for one in part.leaves):
        return True
    module = part.module
    return module is not None and (module is leaf.owner or bool(module.slots["tied"]))


def _between(order: list[GraphNode], inputs: list[Value]) -> list[GraphNode]:
    """The operations of a graph that lead to some inputs; none where not all inputs are known."""
    if not all_are(inputs, Tensor, Parameters):
        return []
    tensors = of_kind(inputs, Tensor)
    modules = [module for value in of_kind(inputs, Parameters) for module in value.modules]
    owners = [*(tensor.owner for tensor in tensors), *(part for m in modules for part in hierarchy.descendants(m))]
    wanted = {part.identity for part in [*owners, *tensors] if part is not None}
    wanted |= {tensor.identity for module in modules for tensor in hierarchy.parts_of(module)}
    consumers: dict[GraphNode, list[GraphNode]] = {}
    for part in order:
        for inner in part.inputs:
            consumers.setdefault(inner, []).append(part)
    ends = [node for tensor in tensors if (node := node_of(tensor)) is not None]
    pending = [consumer for node in ends for consumer in consumers.get(node, ())]
    for part in order:
        leaves = [leaf if leaf.owner is None else leaf.owner for leaf in part.leaves]
        if any(used.identity in wanted for used in [*leaves, *([part.module] if part.module else [])]):
            pending.append(part)
    found: set[GraphNode] = set()
    while pending:
        part = pending.pop()
        if part not in found:
            found.add(part)
            pending += consumers.get(part, [])
    return [part for part in order if part in found]


def _reused(order: list[GraphNode], freed: Slots) -> GraphNode | None:
    """The freed piece of another graph that an operation of this one was the first to use."""
    alive = (part for part in reversed(order) if not isinstance(freed.get(part), Site))
    return next((inner for part in alive for inner in part.inputs if isinstance(freed.get(inner), Site)), None)


__all__ = ["Autograd"]
