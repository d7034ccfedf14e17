"""Following the autograd graph: what recorded it, what cut it, what it saved, and when backward() freed it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from torchsleuth.interp import library
from torchsleuth.interp.frames import Frame
from torchsleuth.interp.graph import (
    PRODUCTS,
    SAVES_FIRST,
    SAVES_RESULT,
    VIEWS,
    WEIGHTED,
    ZERO_GRADIENT,
    AutogradFault,
    Cut,
    GraphNode,
)
from torchsleuth.interp.values import (
    UNKNOWN,
    Instance,
    LibraryModule,
    LibraryObject,
    Parameters,
    Ref,
    Scalar,
    Site,
    Slots,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from torchsleuth.interp.trace import Operation


REQUIRES_GRAD = "requires_grad"


class Autograd:
    """The part of the interpreter that follows graphs."""

    grad: bool
    guarded: int
    uncertain: int
    heap: Any
    trace: Any
    interpreter: Any
    site: Any
    freed: Slots
    grad_off: Site | None

    # -- recording ---------------------------------------------------------------------------------

    def connect(self, results: list[Tensor], operation: Operation, tensors: list[Tensor]) -> None:
        """Give the results of an operation their place in the graph, or the reason why they have none."""
        module = operation.module
        trainable = module is not None and self._trainable(module)
        name = operation.target.rpartition(".")[2].removeprefix("__i").strip("_")
        grads = [tensor.spec.requires_grad for tensor in tensors]
        node: GraphNode | None = None
        for result in results:
            requires_grad = result.spec.requires_grad
            if name in VIEWS and tensors:
                result.storage = tensors[0].storage
            if requires_grad is False:
                cut = self._cut_here(operation, grads, trainable) if True in grads or trainable else None
                result.slots["cut"] = cut or next((t.slots["cut"] for t in tensors if t.slots["cut"]), None)
            elif requires_grad:
                node = node or self._node(name, operation, tensors, trainable)
                result.slots["node"] = node
                if name in SAVES_RESULT:
                    self._save(node, result.storage, name)

    def _cut_here(self, operation: Operation, grads: list[bool | None], trainable: bool) -> Cut:
        if not self.grad:
            return Cut("no_grad", operation.site, self.grad_off)
        return Cut("integers", operation.site)

    def _node(self, name: str, operation: Operation, tensors: list[Tensor], trainable: bool) -> GraphNode:
        inputs = tuple(dict.fromkeys(t.slots["node"] for t in tensors if isinstance(t.slots["node"], GraphNode)))
        leaves = tuple(t for t in tensors if t.spec.requires_grad and t.slots["node"] is None)
        unknown = any(t.slots["node"] is UNKNOWN or t.spec.requires_grad is None for t in tensors) or any(not self._is_leaf(leaf) for leaf in leaves)
        unknown = unknown or (operation.module is not None and operation.module.slots["requires_grad"] is None)
        node = GraphNode(name, operation.site, inputs, trainable, leaves, unknown)
        node.names = tuple(_argument_texts(operation, tensors))
        differentiable = [t for t in tensors if t.spec.requires_grad]
        if name in SAVES_FIRST and tensors and tensors[0].spec.requires_grad:
            self._save(node, tensors[0].storage, name)
        if name in PRODUCTS and len(tensors) == 2:
            for one, other in (tensors, tensors[::-1]):
                if other.spec.requires_grad:
                    self._save(node, one.storage, name)
        if operation.module is not None and name in WEIGHTED and trainable and len(tensors) >= 1:
            self._save(node, tensors[0].storage, name)
            if differentiable and name in ("Linear", "Conv1d", "Conv2d", "Conv3d"):
                self._save(node, operation.module, name)
        return node

    def _save(self, node: GraphNode, storage: Ref, name: str) -> None:
        version = storage.slots.get("version", 0)
        if isinstance(version, int):
            node.saved.append((storage, version, name))

    def _trainable(self, module: LibraryModule) -> bool:
        return module.slots["requires_grad"] is True and library.has_parameters(self.interpreter, module)

    @staticmethod
    def _is_leaf(tensor: Tensor) -> bool:
        return tensor.parameter or bool(tensor.slots.get("leaf"))

    def severed(self, tensor: Tensor, result: Tensor, kind: str, site: Site) -> Tensor:
        """A copy without graph, such as ``x.detach()``, that remembers where it lost it."""
        lost = tensor.spec.requires_grad is True
        result.slots["cut"] = Cut(kind, site) if lost else tensor.slots["cut"]
        if kind == "detach":
            result.storage = tensor.storage
        return result

    def same_graph(self, tensor: Tensor, result: Tensor) -> Tensor:
        """A new value of the same graph, such as ``x.to(device)``."""
        result.slots["node"], result.slots["cut"] = tensor.slots["node"], tensor.slots["cut"]
        if result.spec.requires_grad is False and tensor.spec.requires_grad is True:
            result.slots["node"] = None
        if tensor.slots.get("leaf") or tensor.parameter:
            result.slots["node"] = GraphNode("to", tensor.origin.site, (), leaves=(tensor,)) if tensor.origin else None
        return result

    def scalar_of(self, tensor: Tensor, kind: str, site: Site) -> Scalar:
        """``loss.item()``: a number that remembers that it was a differentiable tensor."""
        cut = Cut("item", site) if tensor.spec.requires_grad is True else tensor.slots["cut"]
        return Scalar(kind, cut)

    # -- changes in place --------------------------------------------------------------------------

    def written(self, tensor: Tensor, value: Tensor | None, node: ast.AST, frame: Frame) -> None:
        """An in-place change of a tensor, by an operator, an index assignment or an augmented assignment."""
        site = self.site(node, frame)
        if self.grad and tensor.spec.requires_grad is True and tensor.slots["node"] is None and self._is_leaf(tensor):
            self.fault(AutogradFault("leaf_in_place", site, tensor))
        version = tensor.storage.slots.get("version", 0)
        if isinstance(version, int):
            self.heap.set(tensor.storage.slots, "version", version + 1)
            self.heap.set(tensor.storage.slots, "writer", site)
        if value is not None and isinstance(value.slots["node"], GraphNode):
            old = tensor.slots["node"]
            node_of = value.slots["node"]
            self._saved_in_place(node_of, tensor.storage)
            joined = node_of if old is None or old in node_of.inputs else GraphNode("write", site, (old, node_of))
            self.heap.set(tensor.slots, "node", joined)

    def _saved_in_place(self, made: GraphNode, storage: Ref) -> None:
        """An operator that works in place keeps a copy of what it needs of the old values, or else the new ones."""
        kept = [item for item in made.saved if item[0] is not storage]
        if len(kept) != len(made.saved) or made.operator in SAVES_RESULT:
            made.saved[:] = kept
            if made.operator in SAVES_RESULT:
                self._save(made, storage, made.operator)

    def stepped(self, modules: list[Value]) -> None:
        """An optimizer changes the weights of these modules in place."""
        for module in modules:
            for part in library.descendants(module):
                if isinstance(part, LibraryModule):
                    version = part.slots.get("version", 0)
                    if isinstance(version, int):
                        self.heap.set(part.slots, "version", version + 1)

    # -- backward ----------------------------------------------------------------------------------

    def backward(self, tensor: Tensor, gradient: Value, retain: bool | None, node: ast.AST, frame: Frame) -> None:
        """``tensor.backward()``. `retain`: None where it is not known."""
        site = self.site(node, frame)
        spec = self.interpreter.resolved_spec(tensor.spec)
        if spec.requires_grad is False:
            self.fault(AutogradFault("no_graph", site, tensor, tensor.slots["cut"]))
            return
        if spec.requires_grad is not True:
            return
        if gradient is None and spec.shape is not None and any(size != 1 for size in spec.shape):
            self.fault(AutogradFault("not_scalar", site, tensor))
            return
        root: GraphNode | None = tensor.slots["node"]
        if not isinstance(root, GraphNode | None):
            return
        if root is None:
            if tensor.slots.get("leaf") and tensor.slots["cut"] is not None:
                self.fault(AutogradFault("severed", site, tensor, tensor.slots["cut"]))
            return
        order = list(_reachable(root))
        if self._already_freed(order, site, tensor, frame) or self._modified(order, site, tensor):
            return
        self._reaches_nothing(order, root, site, tensor)
        if retain is False and not self.uncertain:
            for part in order:
                if not isinstance(self.freed.get(part), Site):
                    self.heap.set(self.freed, part, site)

    def _already_freed(self, order: list[GraphNode], site: Site, tensor: Tensor, frame: Frame) -> bool:
        for part in order:
            first = self.freed.get(part)
            if part.frees and isinstance(first, Site):
                used, reached = _consumer(order, self.freed)
                carried = tuple(self._carriers(frame, self.freed))
                self.fault(
                    AutogradFault("freed", site, tensor, cause=first, node=reached or part, used=used, carried=carried)
                )
                return True
        return False

    def _carriers(self, frame: Frame, freed: Slots) -> Iterator[tuple[str, bool]]:
        """Variables and attributes whose graph reaches a freed piece through another one: they carry it on."""
        places: list[tuple[str, Value]] = [(str(name), value) for name, value in frame.names.items()]
        receiver = frame.instance()
        if receiver is not None:
            places += [(f"self.{name}", value) for name, value in receiver.slots.items()]
        for name, value in places:
            tensors = library.tensors_in(value, 2)
            if not tensors or not all(isinstance(tensor.slots["node"], GraphNode) for tensor in tensors):
                continue
            if all(any(isinstance(freed.get(part), Site) for part in _reachable(t.slots["node"])) for t in tensors):
                yield name, isinstance(value, tuple)

    def _modified(self, order: list[GraphNode], site: Site, tensor: Tensor) -> bool:
        for part in order:
            for storage, version, _ in part.saved:
                now = storage.slots.get("version", 0)
                writer = storage.slots.get("writer")
                if isinstance(now, int) and now > version and (writer is None or isinstance(writer, Site)):
                    self.fault(AutogradFault("modified", writer or site, tensor, cause=site, node=part))
                    return True
        return False

    def _reaches_nothing(self, order: list[GraphNode], root: GraphNode, site: Site, tensor: Tensor) -> None:
        if any(part.open for part in order):
            return
        leaves = [leaf for part in order for leaf in part.leaves]
        if not any(part.parameters for part in order) and leaves:
            cuts = [leaf.slots["cut"] for leaf in leaves]
            if all(cuts):
                self.fault(AutogradFault("severed", site, tensor, cuts[0]))
        passing = list(_reachable(root, through=lambda part: part.operator not in ZERO_GRADIENT))
        flat = next((part for part in order if part.operator in ZERO_GRADIENT), None)
        if flat is not None and any(part.parameters for part in order):
            if not any(part.parameters or part.leaves for part in passing if part.operator not in ZERO_GRADIENT):
                self.fault(AutogradFault("zero_gradient", flat.site, tensor, cause=site, node=flat))

    # -- attributes --------------------------------------------------------------------------------

    def check_grad(self, tensor: Tensor, node: ast.AST, frame: Frame) -> None:
        """A read of ``x.grad`` that is None whatever backward() does: x never requires grad, or is no leaf."""
        if tensor.parameter or tensor.slots.get("has_grad"):
            return
        made = tensor.slots["node"]
        computed = isinstance(made, GraphNode) and made.operator not in ("to", "write") and not self._is_leaf(tensor)
        if tensor.spec.requires_grad is False or (tensor.spec.requires_grad is True and computed):
            self.fault(AutogradFault("grad_missing", self.site(node, frame), tensor, tensor.slots["cut"]))

    def check_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, frame: Frame) -> None:
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
        if not self.guarded and key not in self.interpreter.failures_seen:
            self.interpreter.failures_seen.add(key)
            self.trace.autograd.append(fault)


def _reachable(root: GraphNode, through: Any = None) -> Iterator[GraphNode]:
    """Every node of the graph once, from the root on; only beyond nodes that `through` lets pass."""
    seen: set[GraphNode] = {root}
    pending = [root]
    while pending:
        part = pending.pop(0)
        yield part
        if through is not None and not through(part):
            continue
        for inner in part.inputs:
            if inner not in seen:
                seen.add(inner)
                pending.append(inner)


def _consumer(order: list[GraphNode], freed: Slots) -> tuple[GraphNode | None, GraphNode | None]:
    """The first operation of this graph that used a freed piece of another one, and that piece."""
    for part in reversed(order):
        if not isinstance(freed.get(part), Site):
            for inner in part.inputs:
                if isinstance(freed.get(inner), Site):
                    return part, inner
    return None, None


def _argument_texts(operation: Operation, tensors: list[Tensor]) -> Iterator[tuple[str, GraphNode]]:
    node = operation.site.node
    if isinstance(node, ast.Call):
        for argument, value in zip(node.args, operation.args):
            if isinstance(value, Tensor) and isinstance(value.slots["node"], GraphNode):
                yield ast.unparse(argument), value.slots["node"]


__all__ = ["Autograd", "AutogradFault", "Cut", "GraphNode", "Instance", "LibraryObject", "Parameters"]
