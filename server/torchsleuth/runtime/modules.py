"""The modules of a run by name, and the places that call them.

Who calls a module is seen without a hook and without a frame of ours on the stack: the function that ``nn.Module.__call__`` asks
first, whether it is traced, is exchanged.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime import places
from torchsleuth.runtime.attention import Attention
from torchsleuth.runtime.interruptions import is_of_script
from torchsleuth.runtime.places import Places
from torchsleuth.runtime.values import is_a

MAX_MODULES = 600
MAX_PARAMETERS = 800
MAX_SITES = 12
MAX_PENDING = 256
MAX_SHAPES = 8
_MODES = ("_DropoutNd", "_NormBase", "RNNBase", "MultiheadAttention")


class Site:
    """The calls of one module from one place."""

    __slots__ = (
        "key", "calls", "training", "grad", "looked", "in_graph", "streak", "run", "same_input", "last_input",
        "last_step", "inputs", "input_grad", "through",
    )  # fmt: skip

    def __init__(self, key: places.Key, step: int) -> None:
        self.key = key
        self.calls = self.training = self.grad = self.looked = self.in_graph = self.streak = self.run = 0
        self.same_input = self.input_grad = self.through = 0
        self.last_input: Any = None
        self.last_step = step
        self.inputs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "place": places.to_json(self.key),
            "inputs": self.inputs,
            **{name: getattr(self, name) for name in _COUNTS},
        }


_COUNTS = (
    "calls", "training", "grad", "looked", "in_graph", "streak", "same_input", "last_step", "input_grad", "through",
)  # fmt: skip


class Known:
    """A module that was called or that has parameters."""

    __slots__ = (
        "reference", "type", "calls", "training", "grad", "sites", "name", "root", "place", "inside", "sequential", "shapes",
        "flops",
    )  # fmt: skip

    def __init__(self, module: Any) -> None:
        self.reference = weakref.ref(module)
        self.type = type(module).__name__
        self.calls = self.training = self.grad = 0
        self.sites: dict[places.At, Site] = {}
        self.name = ""
        self.root: bool | None = None
        self.place: dict[str, Any] | None = None
        self.inside: Known | None = None
        """The module that it is part of."""
        self.sequential = _steps_first(module)
        """Whether it takes dimension 0 of its input for time."""
        self.shapes: list[tuple[int, ...]] = []
        self.flops = 0

    def parameter(self, name: str) -> Any:
        """What the live module has for a parameter of this name, dotted or not."""
        held = (getattr(self.reference(), "__dict__", None) or {}).get("_parameters") or {}
        return held.get(name.rpartition(".")[2])


class Modules:
    """Modules and parameters by identity. `made` gives the live modules, `constructor` where one was made. Calls are followed in the
    steps that are looked at closely, those without a gradient in others too (`Attention.admits`)."""

    def __init__(
        self, own: Places, made: Callable[[], list[Any]], constructor: Callable[[Any], Any], attention: Attention
    ) -> None:
        self._own = own
        self._attention = attention
        self._made = made
        self._constructor = constructor
        self.known: dict[int, Known] = {}
        self.names: dict[int, tuple[str, Known]] = {}
        """Name and module of each parameter, by its identity."""
        self.holders: dict[int, dict[str, Any]] = {}
        """Modules with parameters and tensors that stand in plain attributes of a module, by the identities of their parameters."""
        self._torch: Any = None
        self._tensor: Any = None
        self._original: Any = None
        self._number: Callable[[], int] = lambda: 0
        self.step = 0
        self.pending: list[tuple[Site, int, bool]] = []
        """Calls since the last backward(), with the sequence number of autograd at that time, and whether it records."""
        self.on_call: Callable[[Known, Site, Any, bool, bool], None] | None = None
        self.on_error: Callable[[], None] = lambda: None

    # calls

    def install(self, torch: Any) -> None:
        """Exchange the function. `trace` gives back what PyTorch's own one does."""
        if self._original is not None:
            return
        self._torch, self._tensor = torch._C, torch.Tensor
        original = self._original = torch._C._get_tracing_state
        code = torch.nn.Module._call_impl.__code__
        frame_of, called, compiling = sys._getframe, self.called, torch.compiler.is_compiling
        grad, attention = torch.is_grad_enabled, self._attention
        self._number = torch.autograd._get_sequence_nr

        def _get_tracing_state() -> Any:
            state = original()
            if state is None and (attention.closely or not grad() and attention.admits()) and not compiling():
                frame = frame_of(1)
                if frame.f_code is code:
                    called(frame, grad())
            return state

        torch._C._get_tracing_state = _get_tracing_state

    def remove(self) -> None:
        if self._original is not None:
            self._torch._get_tracing_state = self._original
            self._original = None

    def called(self, frame: Any, grad: bool) -> None:
        """A module is called: `frame` is that of its ``_call_impl``."""
        try:
            self._attention.wake()
            began = time.perf_counter()
            self._see(frame, grad)
            self._attention.spent(time.perf_counter() - began)
        except RecursionError:
            self.on_error()
        except Exception as error:
            if is_of_script(error):
                raise
            self.on_error()

    def _see(self, frame: Any, grad: bool) -> None:
        held = frame.f_locals
        module = held["self"]
        known = self.known.get(id(module))
        if known is None or known.reference() is not module:
            if len(self.known) >= MAX_MODULES:
                return
            known = self.known[id(module)] = Known(module)
        training = module.__dict__.get("training", True)
        weight = self._attention.weight if grad else 1
        known.calls += weight
        known.training += weight * training
        known.grad += weight * grad
        if known.sequential and training and len(known.shapes) < MAX_SHAPES and held.get("args"):
            known.shapes.append(tuple(int(size) for size in getattr(held["args"][0], "shape", ())))
        caller = frame.f_back and frame.f_back.f_back
        if caller is not None and self._own.is_own(caller.f_code):
            self._from_user(known, (caller.f_code, caller.f_lasti, caller.f_lineno), held, training, grad, weight)

    def _from_user(
        self, known: Known, key: places.Key, held: dict[str, Any], training: bool, grad: bool, weight: int
    ) -> None:
        site = known.sites.get(places.at(key))
        if site is None:
            if len(known.sites) >= MAX_SITES:
                return
            site = known.sites[places.at(key)] = Site(key, self.step)
        site.calls += weight
        site.training += weight * training
        site.grad += weight * grad
        site.run += 1
        if site.run > site.streak:
            site.streak = site.run
        site.last_step = self.step
        first = held["args"][0] if held.get("args") else None
        if grad and training and first is not None and type(first) is self._tensor and first.requires_grad:
            site.through += weight
        if known.root is False:
            return
        if len(self.pending) < MAX_PENDING:
            self.pending.append((site, self._number(), grad))
        if grad and not training and isinstance(first, self._torch.TensorBase) and first.requires_grad:
            site.input_grad += weight
        if not grad or not training:
            last = site.last_input
            if last is not None and last() is first:
                site.same_input += weight
            elif first is not None:
                try:
                    site.last_input = weakref.ref(first)
                except TypeError:
                    site.last_input = None
        if self.on_call is not None:
            self.on_call(known, site, first, training, grad)

    def backward(self, numbers: list[int] | None) -> None:
        """A backward() began. `numbers`: those of the functions in its graph, ascending, where they were looked at."""
        pending = self.pending
        if not pending:
            return
        from bisect import bisect_left

        for index, (site, began, grad) in enumerate(pending):
            site.run = 0
            if numbers is not None and len(pending) < MAX_PENDING:
                ended = pending[index + 1][1] if index + 1 < len(pending) else 1 << 62
                at = bisect_left(numbers, began)
                site.looked += 1
                site.in_graph += grad and at < len(numbers) and numbers[at] < ended
        pending.clear()

    # names

    def index(self) -> None:
        """Look at all modules that there are: which are part of which, and the names of their parameters."""
        made = [one for one in self._made() if "_modules" in one.__dict__]  # no optimizers and loaders
        alive = {id(module): module for module in made}
        alive.update((key, module) for key, known in self.known.items() if (module := known.reference()) is not None)
        inner = {id(part) for module in alive.values() for part in _children(module)}
        for key, module in list(alive.items()):
            known = self._entry(module)
            if known is not None:
                known.root = key not in inner
        roots = [module for key, module in alive.items() if key not in inner]
        several = sum(any(True for _ in _parameters(root)) for root in roots) > 1
        self.names.clear()
        self.holders.clear()
        for module in alive.values():
            self._look_into(module)
        for root in roots:
            self._name(root, type(root).__name__ if several else "", None, set())

    def _look_into(self, module: Any) -> None:
        """Find layers in lists and dictionaries, and tensors with a gradient, that the module does not know to be its own."""
        for attribute, held in list(module.__dict__.items()):
            if attribute.startswith("_") and attribute in ("_parameters", "_modules", "_buffers"):
                continue
            kind = type(held)
            inside = held.values() if kind is dict else held if kind in (list, tuple) else (held,)
            if len(inside) > MAX_SITES * 4:
                continue
            found: dict[str, Any] = {"type": type(module).__name__, "attribute": attribute, "tensor": False}
            for one in list(inside):
                if "_parameters" in getattr(one, "__dict__", {}) and kind in (dict, list, tuple):
                    for parameter in _parameters(one):
                        self.holders.setdefault(id(parameter), found)
                elif getattr(type(one), "__module__", "") in ("torch", "torch.nn.parameter") and getattr(
                    one, "is_leaf", False
                ):
                    if one.requires_grad:
                        self.holders.setdefault(id(one), {**found, "tensor": True})

    def _entry(self, module: Any) -> Known | None:
        known = self.known.get(id(module))
        if known is None or known.reference() is not module:
            if len(self.known) >= MAX_MODULES:
                return None
            known = self.known[id(module)] = Known(module)
        if known.place is None:
            known.place = self._place(module)
        return known

    def _place(self, module: Any) -> dict[str, Any] | None:
        found = self._constructor(module)
        if not found:
            return None
        frame = found["frames"][0]
        return {name: frame[name] for name in ("path", "line", "span", "function")}

    def _name(self, module: Any, name: str, parent: Known | None, seen: set[int]) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        known = self._entry(module)
        if known is None:
            return
        known.name = name or known.type
        known.inside = parent
        for key, parameter in (module.__dict__.get("_parameters") or {}).items():
            if parameter is not None and len(self.names) < MAX_PARAMETERS:
                self.names.setdefault(id(parameter), (f"{name}.{key}" if name else key, known))
        for key, part in (module.__dict__.get("_modules") or {}).items():
            if part is not None:
                self._name(part, f"{name}.{key}" if name else key, known, seen)

    def describe(self, optimized: Callable[[Any], bool]) -> list[tuple[Known, dict[str, Any]]]:
        """The live modules that `index` has seen, and what is to be said of each but its calls."""
        found = []
        for known in self.known.values():
            module = known.reference()
            if module is None or known.root is None:
                continue
            own = [item for item in (module.__dict__.get("_parameters") or {}).values() if item is not None]
            whole = list(_parameters(module)) if known.root else own
            described = {
                "name": known.name or known.type,
                "type": known.type,
                "place": known.place,
                "root": bool(known.root),
                "elements": sum(item.numel() for item in whole),
                "trainable": sum(item.numel() for item in whole if item.requires_grad),
                "modes": _modes(module),
                "optimized": any(optimized(item) for item in _parameters(module)),
                "lag": _lag(module),
            }
            found.append((known, described))
        return found


def modules_json(described: list[tuple[Known, dict[str, Any]]]) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Modules with their calls, and the number of each by the identity of what is known of it."""
    order = {id(known): number for number, (known, _) in enumerate(described)}
    entries = [
        {
            **entry,
            "calls": known.calls,
            "training": known.training,
            "grad": known.grad,
            "shapes": known.shapes,
            "flops": known.flops,
            "sites": [site.to_json() for site in known.sites.values()],
            "parent": order.get(id(known.inside)) if known.inside is not None else None,
        }
        for known, entry in described
    ]
    return entries, order


def _steps_first(module: Any) -> bool:
    """Whether a layer for sequences takes dimension 0 for time."""
    return is_a(module, "RNNBase", "MultiheadAttention") and not module.__dict__.get("batch_first", True)


def _children(module: Any) -> list[Any]:
    return [part for part in (module.__dict__.get("_modules") or {}).values() if part is not None]


def parts(module: Any) -> Iterator[Any]:
    """A module and all that is in it, each once. Nothing of the user's is called."""
    seen: set[int] = set()
    waiting = [module]
    while waiting:
        current = waiting.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += _children(current)


def _parameters(module: Any) -> Iterator[Any]:
    for inner in parts(module):
        for parameter in (inner.__dict__.get("_parameters") or {}).values():
            if parameter is not None:
                yield parameter


SLOW = 0.05
"""Of each batch, what a batch normalisation takes over that hardly follows."""


def _lag(module: Any) -> float | None:
    """What is left of the first statistics of a batch normalisation that follows slowly, or has never begun, in those of now."""
    momentum, buffers = module.__dict__.get("momentum"), module.__dict__.get("_buffers") or {}
    count = buffers.get("num_batches_tracked")
    if count is not None and count.device.type == "cpu" and not int(count) and _as_born(buffers):
        return 1.0
    if type(momentum) is not float or not 0 < momentum < SLOW or count is None or count.device.type == "meta":
        return None
    return float((1 - momentum) ** int(count))


def _as_born(buffers: dict[str, Any]) -> bool:
    """Whether the mean is 0 and the variance is 1."""
    mean, variance = buffers.get("running_mean"), buffers.get("running_var")
    return mean is not None and variance is not None and not bool(mean.any()) and bool((variance == 1).all())


def _modes(module: Any) -> list[str]:
    """Types of parts that do something else in training: dropout that drops, normalisation by the batch."""
    found: dict[str, None] = {}
    for inner in parts(module):
        bases = {base.__name__ for base in type(inner).__mro__}
        held = inner.__dict__
        drops = "_DropoutNd" in bases and held.get("p")
        norms = "_NormBase" in bases and held.get("track_running_stats") and "_InstanceNorm" not in bases
        recurrent = "RNNBase" in bases and held.get("dropout") and held.get("num_layers", 1) > 1
        attends = "MultiheadAttention" in bases and held.get("dropout")
        if drops or norms or recurrent or attends:
            found[type(inner).__name__] = None
    return list(found)[:8]
