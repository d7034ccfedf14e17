"""Needs of a run for a contract: comparisons of sizes that operators, layers and tests make, in the symbols of what is chosen."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Any

from torchsleuth.interp.divisions import halves
from torchsleuth.interp.documents import Documents
from torchsleuth.interp.fitting import divided_sizes, stated_size
from torchsleuth.interp.outcomes import Learned, Running
from torchsleuth.interp.pooling import pooled
from torchsleuth.interp.questions import Target
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.comparisons import comparisons
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_index
from torchsleuth.tensors.requirements import Condition, required
from torchsleuth.tensors.spec import Autocast, Equality, Outcome, TensorSpec
from torchsleuth.values import LibraryModule, Site, Tensor, Value, is_int, is_unknown, opened
from torchsleuth.values.frames import Frame


class NeededSizes(Documents):
    """Notes the comparisons of sizes while an entry is run for its contract."""

    inference: Running | None = None

    def _settled(self, running: Running) -> list[Condition]:
        """The conditions of a run, with everything put in that was found out later."""
        chosen = {setting.symbol for setting in running.plan.settings.values()}

        def known(size: Size) -> Size:
            """The size with what was found out, but for what the caller chooses: that two of these are equal is a condition."""
            if isinstance(size, int):
                return size
            return dims.rebuild(size, lambda one: dims.of(one) if one in chosen else self._kept(one, known))

        found: dict[str, Condition] = {}
        for operator, left, right in running.required:
            condition = required(operator, known(left), known(right))
            if condition is not None:
                found.setdefault(condition.text, condition)
        return list(found.values())

    def _kept(self, symbol: Symbol, known: Callable[[Size], Size]) -> Size:
        value = self.substitution.get(symbol)
        return dims.of(symbol) if value is None else known(value)

    def learn(self, fact: Equality, site: Site | None = None) -> None:
        running = self.inference
        if running is None:
            return super().learn(fact, site)
        left, right = self.resolved(fact.left), self.resolved(fact.right)
        if not is_int(left) or not is_int(right):
            return None
        if not self.uncertain:
            running.learned.append(Learned("==", left, right, site))
        settings = {setting.symbol: True for setting in running.plan.settings.values()}
        solution = dims.solve(dims.subtract(left, right), settings)
        chosen = solution is None or solution[0] in settings
        if chosen and not self.uncertain:
            running.required.append(("==", left, right))
        if solution is not None:
            self.heap.set(self.substitution, solution[0], solution[1])
        return None

    def is_inferring(self) -> bool:
        return self.inference is not None

    def is_trusting(self) -> bool:
        return self.document is not None

    def is_general(self) -> bool:
        return self.inference is not None or super().is_general()

    def told(self, test: ast.expr, holds: bool, frame: Frame) -> None:
        running = self.inference
        if running is None:
            return super().told(test, holds, frame)
        if running.concrete or self.uncertain:
            return None
        for operator, one, other in comparisons(test, holds):
            left, right = self.resolved(self.eval(one, frame)), self.resolved(self.eval(other, frame))
            pairs = zip(left, right) if isinstance(left, tuple) and isinstance(right, tuple) else [(left, right)]
            for mine, yours in pairs:
                if is_int(mine) and is_int(yours) and (isinstance(mine, Dim) or isinstance(yours, Dim)):
                    site = self.site(test, frame)
                    if operator == "==":
                        self.learn(Equality(mine, yours, soft=False), site)
                    else:
                        running.learned.append(Learned(operator, mine, yours, site))
                        running.required.append((operator, mine, yours))
        return None

    def named(self, value: Value, name: str) -> Value:
        running = self.inference
        symbol = dims.symbol(value) if running is not None and isinstance(value, Dim) else None
        if running is None or symbol is None or name == "_" or symbol.name == "?":
            return super().named(value, name)
        own = {one for shape in running.plan.shapes.values() for size in shape for one in dims.symbols(size)}
        if symbol in own:
            running.plan.aliases.setdefault(symbol, name)
        return value

    def apply_module(self, module: LibraryModule, call: Any) -> Value:
        given = as_kind(call.args[0], Tensor) if self.is_general() and call.args else None
        stated = stated_size(module) if given is not None else None
        if stated is not None and given is not None:
            axis, size = stated
            shape = self.resolved_spec(given.spec).shape
            if shape is not None and is_index(axis, shape) and is_int(size):
                # Of a written contract, the operator itself says whether it is contradicted.
                site = self.site(call.node, call.frame) if self.inference is not None else None
                self.learn(Equality(shape[axis], size, soft=False), site)
        if self.inference is not None:
            for whole, part in divided_sizes(module):
                if is_int(whole) and is_int(part) and part != 1 and not self.uncertain:
                    with contextlib.suppress(ZeroDivisionError):
                        remainder = dims.modulo(self.resolved(whole), self.resolved(part))
                        self.inference.learned.append(Learned("==", remainder, 0, self.site(call.node, call.frame)))
                        self.inference.required.append(("==", remainder, 0))
            self._indexed(module, call)
        attended = self._attended(module, call) if self.inference is not None else None
        return super().apply_module(module, call) if attended is None else attended

    def _indexed(self, module: LibraryModule, call: Any) -> None:
        """A table has to have as many rows as numbers are counted up that are looked up in it."""
        rows = module.given(0, "num_embeddings") if module.path == "torch.nn.Embedding" else None
        count = _counted_up(call.args[0]) if call.args else None
        if self.inference is None or count is None or rows is None or not is_int(rows) or self.uncertain:
            return
        count = self.resolved(count)
        if isinstance(count, Dim) or isinstance(rows, Dim):
            self.inference.learned.append(Learned("<=", count, rows, self.site(call.node, call.frame)))
            self.inference.required.append(("<=", count, rows))

    def _attended(self, module: LibraryModule, call: Any) -> Value | None:
        """The result of attention and of the layers of a transformer, made with symbols; None for others."""
        name = module.path.removeprefix("torch.nn.")
        given = [self.resolved_spec(one.spec) for one in of_kind(call.args, Tensor)]
        if name not in _ATTENDING or not given or len(given) < len(call.args) or given[0].shape is None:
            return None
        size = module.given(0, "d_model" if name != "MultiheadAttention" else "embed_dim")
        others = [self.resolved_spec(one.spec) for one in of_kind(call.kwargs.values(), Tensor)]
        known = all(one.shape is not None for one in others) and not any(map(is_unknown, call.kwargs.values()))
        if known and not isinstance(self.resolved(size), Dim) and _is_plain(module):
            return None
        # None and False are the defaults of all the others.
        options = {word for word, value in module.kwargs.items() if value is not None and value is not False}
        if any(one.shape is None or len(one.shape) != 3 for one in given) or not options <= _ATTENDING[name]:
            return None
        first = as_kind(module.kwargs.get("batch_first", False), bool)
        shapes = [one.shape for one in given if one.shape is not None]
        if not is_int(size) or first is None or len(module.args) > 2 + (name != "MultiheadAttention"):
            return None
        batch, length = (0, 1) if first else (1, 0)
        for shape in shapes:
            site = self.site(call.node, call.frame)
            self.learn(Equality(shape[-1], size, soft=False), site)
            self.learn(Equality(shape[batch], shapes[0][batch], soft=False), site)
        operation = self.operation(module.path, call.args, call.kwargs, call.node, call.frame, module, call.written)
        spec = given[0].with_(shape=(*shapes[0][:2], size), strides=None)
        make = self._maker(operation, spec.device)
        if name != "MultiheadAttention":
            return make(spec)
        if len(shapes) != 3 or call.kwargs.get("average_attn_weights", True) is not True:
            return None
        self.learn(Equality(shapes[1][length], shapes[2][length], soft=False))
        weights = spec.with_(shape=(shapes[0][batch], shapes[0][length], shapes[1][length]))
        return make(spec), None if call.kwargs.get("need_weights") is False else make(weights)

    def outcome(
        self, operation: Operation, target: Target, casts: tuple[Autocast | None, ...], guessed: bool
    ) -> Outcome | None:
        """As for any sizes; a half of a size is told as one."""
        shape = operation.specs[0].shape if self.inference is not None and operation.specs else None
        divided = halves(operation, None if shape is None else tuple(map(self.resolved, shape)))
        return divided or super().outcome(operation, target, casts, guessed)

    def _undecided(self, operation: Operation, place: object) -> Value:
        if self.inference is not None:
            spec = self._reshaped(operation) or self._pooled(operation)
            if spec is not None:
                return self._maker(operation, spec.device)(spec)
            self.inference.stuck.append(operation)
        return super()._undecided(operation, place)  # type: ignore[arg-type]

    def _reshaped(self, operation: Operation) -> TensorSpec | None:
        """The result of a view with symbols, which has as many elements as its operand; None for anything else."""
        shape = operation.specs[0].shape if len(operation.specs) == 1 else None
        if operation.target not in _VIEWS or shape is None or self.inference is None or operation.kwargs:
            return None
        given = operation.args[1:]
        parts = (opened(given[0])) if len(given) == 1 else given
        parts = (parts,) if is_int(parts) else parts
        if not isinstance(parts, tuple) or not all(map(is_int, parts)):
            return None
        before = [self.resolved(size) for size in shape]
        after = [self.resolved(size) for size in parts]
        if self.uncertain or not any_are((*before, *after), Dim):
            return None
        for size in list(after):
            if size in before:
                before.remove(size)
                after.remove(size)
        if -1 not in after:
            self.learn(Equality(dims.product(before), dims.product(after), soft=False), operation.site)
            return operation.specs[0].with_(shape=tuple(map(self.resolved, parts)), strides=None)
        after.remove(-1)
        whole, known = dims.product(before), dims.product(after)
        if known == 0 or any(size < 0 for size in of_kind(after, int)):
            return None
        remainder = dims.modulo(whole, known)
        self.inference.learned.append(Learned("==", remainder, 0, operation.site))
        self.inference.required.append(("==", remainder, 0))
        rest = dims.floor_divide(whole, known)
        sizes = tuple(rest if size == -1 else self.resolved(size) for size in parts)
        return operation.specs[0].with_(shape=sizes, strides=None)

    def _pooled(self, operation: Operation) -> TensorSpec | None:
        """The result of pooling with windows that are symbols; None for anything else."""
        shape = operation.specs[0].shape if len(operation.specs) == 1 else None
        running = self.inference
        if shape is None or running is None or self.uncertain:
            return None
        found = pooled(operation, tuple(map(self.resolved, shape)))
        if found is None:
            return None
        sizes, needed = found
        for whole, kernel in needed:
            whole, kernel = self.resolved(whole), self.resolved(kernel)
            if isinstance(whole, Dim) or isinstance(kernel, Dim):
                running.learned.append(Learned(">=", whole, kernel, operation.site))
                running.required.append((">=", whole, kernel))
        return operation.specs[0].with_(shape=tuple(map(self.resolved, sizes)), strides=None)

    def _result(self, frame: Frame, completion: int) -> Value:
        running = self.inference
        if running is not None and completion == _RAISE and not frame.returns and not self.uncertain:
            running.raised = running.raised or not self.catching.at(self.uncertain)
        return super()._result(frame, completion)


def _counted_up(value: object) -> Size | None:
    """How many numbers ``torch.arange(count)`` made, of which a tensor is another view."""
    while isinstance(value, Tensor) and value.origin is not None:
        node = value.origin.site.call
        if value.origin.operator == "torch.arange":
            plain = (
                node is not None
                and len(node.args) == 1
                and {"end", "step"}.isdisjoint(keyword.arg for keyword in node.keywords)
            )
            return value.spec.shape[0] if plain and value.spec.shape else None
        if value.origin.name not in _KEEPING or len(value.origin.sources) != 1:
            return None
        value = value.origin.sources[0]
    return None


_KEEPING = frozenset("unsqueeze expand view reshape repeat to long expand_as".split())
"""Operators that put the same numbers into another shape."""
_RAISE = 4
_VIEWS = frozenset({"Tensor.view", "Tensor.reshape", "torch.reshape"})
_ATTENDING = {
    "MultiheadAttention": frozenset({"embed_dim", "num_heads", "dropout", "bias", "batch_first", "device", "dtype"}),
    "TransformerEncoderLayer": frozenset(
        {"d_model", "nhead", "dim_feedforward", "dropout", "activation", "batch_first", "norm_first"}
    ),
}
"""Layers whose results are known where they are made with symbols, and the options that make no difference."""


def _is_plain(module: LibraryModule) -> bool:
    return not any_are((*module.args, *module.kwargs.values()), Dim)


__all__ = ["NeededSizes"]
