"""Reads the autograd graph of a loss: which parameters it reaches, what its functions have saved, what older steps left in it.

Only what autograd keeps anyway is read, and not where something has hooks on it (activation checkpointing, offloading): these
would compute. Nothing of it is held afterwards.
"""

from __future__ import annotations

from typing import Any

MAX_NODES = 6000
_LEAF = "torch::autograd::AccumulateGrad"
LOSSES = {
    "NllLossBackward0": "nll",
    "NllLoss2DBackward0": "nll",
    "MseLossBackward0": "mse",
    "SmoothL1LossBackward0": "smooth_l1",
    "HuberLossBackward0": "huber",
    "BinaryCrossEntropyBackward0": "bce",
    "BinaryCrossEntropyWithLogitsBackward0": "bce_with_logits",
    "KlDivBackward0": "kl_div",
    "SoftMarginLossBackward0": "soft_margin",
}
ACTIVATIONS = {
    "ReluBackward0": ("relu", "result"),
    "SigmoidBackward0": ("sigmoid", "result"),
    "TanhBackward0": ("tanh", "result"),
    "LeakyReluBackward0": ("leaky_relu", "self"),
    "GeluBackward0": ("gelu", "self"),
    "SiluBackward0": ("silu", "self"),
    "HardtanhBackward0": ("hardtanh", "self"),
}
"""Function and what it has saved, by the name of its node."""
FIRST_LAYERS = {
    "AddmmBackward0": ("mat1", 1),
    "ConvolutionBackward0": ("input", 0),
    "MmBackward0": ("self", 0),
    "LinearBackward0": ("input", 0),
}
"""The part of its input that a layer saves, and the number of that operand."""
_FACTORS = ("MulBackward0", "DivBackward0")
_REDUCING = ("MeanBackward0", "SumBackward0")
_OF_TERMS = frozenset(f"{name}Backward0" for name in "Mul Div Add Sub View Squeeze ToCopy".split())
"""What scales a loss, and adds its terms."""
_SUMS = frozenset(f"{name}Backward0" for name in "Add View ReshapeAlias Squeeze Mean Sum Stack Unsqueeze".split())
_BY_ELEMENT = frozenset(
    f"{name}Backward0"
    for name in "Pow Abs Mul Add Sub Div Softplus Log Log1P Exp Neg Sqrt Clamp ClampMin Cosh Tanh Where".split()
) | {"RsubBackward1"}
_REARRANGED = frozenset(
    f"{name}Backward0"
    for name in "Cat Stack View ReshapeAlias UnsafeView Squeeze Unsqueeze Transpose Permute Expand Select Slice Clone T".split()
) | {"SqueezeBackward1"}  # fmt: skip


class Node:
    """A function of the graph, with its sequence number."""

    __slots__ = ("function", "name", "number", "inputs")

    def __init__(self, function: Any, name: str, number: int, inputs: list[Any]) -> None:
        self.function = function
        self.name = name
        self.number = number
        self.inputs = inputs
        """The nodes that made its operands; None for those without a gradient."""


class Graph:
    """The functions behind a tensor, the latest first. `complete`: there are no more."""

    def __init__(self, root: Any) -> None:
        self.nodes: list[Node] = []
        self.parameters: dict[int, Any] = {}
        """The leaves, by identity."""
        self.complete = True
        self._root = root
        self._by_function: dict[Any, Node] = {}
        self._read(root)

    def _read(self, root: Any) -> None:
        waiting = [root]
        seen = {root}
        while waiting:
            function = waiting.pop()
            name = function.name()
            if name == _LEAF:
                variable = function.variable
                self.parameters[id(variable)] = variable
                continue
            if len(self.nodes) >= MAX_NODES:
                self.complete = False
                return
            inputs = [item for item, _ in function.next_functions]
            node = Node(function, name, function._sequence_nr(), inputs)
            self.nodes.append(node)
            self._by_function[function] = node
            for item in inputs:
                if item is not None and item not in seen:
                    seen.add(item)
                    waiting.append(item)
        self.nodes.sort(key=lambda node: -node.number)

    def node(self, function: Any) -> Node | None:
        return self._by_function.get(function)

    def operand(self, node: Node, index: int = 0, through: tuple[str, ...] = ()) -> Node | None:
        """The node that made an operand, past those whose names are in `through`."""
        found: Node | None = node
        for _ in range(12):
            if found is None or index >= len(found.inputs) or found.inputs[index] is None:
                return None
            found = self.node(found.inputs[index])
            if found is None or found.name not in through:
                return found
            index = 0
        return found

    def is_normalised(self, node: Node) -> bool:
        """Whether all that takes the value of a function are normalisations by the batch, which make its size and its mean their own."""
        takers = [other for other in self.nodes if node.function in other.inputs]
        return bool(takers) and all("BatchNorm" in other.name for other in takers)

    def is_put_together(self, function: Any) -> bool:
        """Whether a value has parts without a gradient, and its others are rows of tables: embeddings beside numbers."""
        raw, waiting = False, [function]
        for _ in range(40):
            if not waiting:
                return raw
            node = self.node(waiting.pop())
            if node is None:
                return False
            if node.name == "EmbeddingBackward0":
                continue
            if node.name not in _REARRANGED:
                return False
            raw = raw or len(node.inputs) > 1 and None in node.inputs
            waiting += [inner for inner in node.inputs if inner is not None]
        return False

    def losses(self) -> list[Node]:
        """The functions of losses that the root is made of: none of them lies behind another one."""
        found: list[Node] = []
        root = self._by_function.get(self._root)
        waiting = [root] if root is not None else []
        seen: set[Any] = set()
        while waiting and len(seen) < 200:
            node = waiting.pop()
            if node.function in seen:
                continue
            seen.add(node.function)
            if node.name in LOSSES:
                found.append(node)
                continue
            waiting += [inner for inner in map(self.node, node.inputs) if inner is not None]
        return found

    def terms(self) -> list[tuple[Node, float]]:
        """The functions of losses that are added up in the root, each with the constant that it is multiplied with there."""
        found: list[tuple[Node, float]] = []
        root = self._by_function.get(self._root)
        waiting = [(root, 1.0)] if root is not None else []
        for _ in range(60):
            if not waiting:
                break
            node, factor = waiting.pop()
            if node.name in LOSSES:
                found.append((node, factor))
                continue
            if node.name in _FACTORS:
                constant = saved(node, "other") if None in node.inputs[1:] or len(node.inputs) == 1 else None
                if constant is None or constant.numel() != 1 or not float(constant):
                    continue
                factor = factor * float(constant) if node.name == "MulBackward0" else factor / float(constant)
            elif node.name not in _SUMS:
                continue
            waiting += [(inner, factor) for inner in map(self.node, node.inputs) if inner is not None]
        return found

    def factors(self) -> list[Node]:
        """The products with something that has no gradient that are added up in the root."""
        found: list[Node] = []
        root = self._by_function.get(self._root)
        waiting = [root] if root is not None else []
        for _ in range(40):
            if not waiting:
                break
            node = waiting.pop()
            if node.name == "MulBackward0" and None in node.inputs[1:]:
                found.append(node)
            if node.name in _SUMS or node.name in _FACTORS and None in node.inputs[1:]:
                waiting += [inner for inner in map(self.node, node.inputs) if inner is not None]
        return found

    def reaches(self, node: Node) -> set[int]:
        """The identities of the parameters behind a function."""
        found: set[int] = set()
        waiting, seen = [node.function], {node.function}
        while waiting and len(seen) < MAX_NODES:
            for item, _ in waiting.pop().next_functions:
                if item is not None and item not in seen:
                    seen.add(item)
                    if item.name() == _LEAF:
                        found.add(id(item.variable))
                    else:
                        waiting.append(item)
        return found

    def differences(self) -> list[Node]:
        """The subtractions that the root, or a term of it, is a mean or sum of functions of, each element by itself: squares, absolute
        values, logarithms of hyperbolic cosines. It may be scaled, as for the steps of an accumulation."""
        root = self._by_function.get(self._root)
        waiting = [(root, False)] if root is not None else []
        found: list[Node] = []
        for _ in range(60):
            if not waiting:
                break
            node, by_element = waiting.pop()
            if by_element and node.name in ("SubBackward0", "RsubBackward1") and len(node.inputs) > 1:
                found.append(node)
            reduces = node.name in _REDUCING
            if reduces or node.name in (_BY_ELEMENT if by_element else _OF_TERMS):
                inner = [item for item in map(self.node, node.inputs) if item is not None]
                waiting += [(item, by_element or reduces) for item in inner]
        return found

    def is_scaled(self, loss: Node) -> bool:
        """Whether anything is multiplied or divided between the function of a loss and what backward() is called on."""
        node = self._by_function.get(self._root)
        for _ in range(8):
            if node is None or node is loss:
                return False
            if node.name in _FACTORS or len([item for item in node.inputs if item is not None]) != 1:
                return True
            node = self.node(next(item for item in node.inputs if item is not None))
        return True

    def weight_of(self, node: Node) -> Any:
        """The matrix or kernel that a function multiplies with, if it is a leaf, perhaps transposed."""
        for item in node.inputs:
            for _ in range(2):
                if item is None:
                    break
                if item.name() == _LEAF:
                    if item.variable.dim() >= 2:
                        return item.variable
                    break
                item = item.next_functions[0][0] if item.name() == "TBackward0" else None
        return None

    def layer_before(self, node: Node) -> Any:
        """The weight of the layer whose output comes to a node, through few functions; None where it is not known."""
        waiting, seen = [(node, 0)], set()
        while waiting:
            current, depth = waiting.pop(0)
            for item in current.inputs:
                if item is None or item in seen:
                    continue
                seen.add(item)
                inner = self.node(item)
                if inner is None:
                    variable = item.variable if item.name() == _LEAF else None
                    if variable is not None and variable.dim() > 1:
                        return variable
                elif depth < 7 and inner.name not in ACTIVATIONS:
                    waiting.append((inner, depth + 1))
        return None


def saved(node: Node, name: str) -> Any:
    """A tensor that a function keeps for backward; None where reading it would run something, or fail."""
    raw = getattr(node.function, f"_raw_saved_{name}", None)
    if raw is None or getattr(raw, "unpack_hook", raw) is not None:
        return None
    try:
        return getattr(node.function, f"_saved_{name}")
    except RuntimeError:  # changed in place since, or freed
        return None


def made_shape(node: Node) -> tuple[int, ...] | None:
    """The shape of what a function has made."""
    known = getattr(node.function, "_input_metadata", None)
    return tuple(int(size) for size in known[0].shape) if known else None


def is_steep(node: Node) -> bool:
    """Whether the derivative of a function has no bound."""
    if node.name == "PowBackward0":
        exponent = getattr(node.function, "_saved_exponent", 1)
        return isinstance(exponent, int | float) and exponent < 1
    return node.name in ("SqrtBackward0", "RsqrtBackward0", "LogBackward0", "DivBackward0", "AcosBackward0")


def number(node: Node, name: str) -> int | None:
    """An integer that a function keeps, such as a dimension."""
    found = getattr(node.function, f"_saved_{name}", None)
    if not isinstance(found, int):
        return None
    return found - (1 << 64) if found >= 1 << 63 else found


def numbers(node: Node, name: str) -> list[int] | None:
    """Integers that a function keeps, in a tuple or in a tensor on the CPU."""
    found = getattr(node.function, f"_saved_{name}", None)
    if isinstance(found, tuple):
        return [one for one in found if isinstance(one, int)]
    found = saved(node, name)
    return (
        found.flatten().tolist()
        if found is not None and found.device.type == "cpu" and not found.is_floating_point()
        else None
    )
