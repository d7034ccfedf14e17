"""Keeps what each rewritten expression made: the first tensor's description, and the last shape that differs from it."""

from __future__ import annotations

import time
from collections.abc import Callable, MutableSequence
from typing import Any

from torchsleuth.runtime.events import EventStream
from torchsleuth.runtime.interruptions import is_of_script
from torchsleuth.runtime.page import SITE, private
from torchsleuth.runtime.rewrite import Site, switch_gates
from torchsleuth.runtime.samples import Samples

FLUSH_SECONDS = 0.5
MAX_QUIET = 32
"""Values in a row behind a gate, none of them a tensor, after which nothing is expected there any more."""
MAX_KINDS = 16
"""Shapes that are remembered for each place."""
MAX_PLACES = 20_000
"""Places of which it is told whether they were reached."""
_HEAP_TYPE = 1 << 9
"""Flag of the types that code makes: those of the interpreter itself are never freed."""
Record = Callable[[int, Any], Any]


def describe(tensor: Any) -> dict[str, Any]:
    """Shape, dtype, device and requires_grad of a tensor, without reading its elements."""
    return {
        "shape": [int(size) for size in tensor.shape],
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "requires_grad": bool(tensor.requires_grad),
    }


def unrecorded(site: int, value: Any) -> Any:
    """Called by rewritten code while nothing is recorded: before torch is imported, and in forked children."""
    return value


def _plain_types(torch: Any) -> tuple[set[type], Callable[[type], bool]]:
    """Types whose values are no tensors that may be read, as far as they are known; and the function that tells of any
    type. Those that may go away are not kept."""
    tensor, base = torch.Tensor, torch._C.TensorBase
    plain: set[type] = set()

    def is_plain(kind: type) -> bool:
        if issubclass(kind, base):
            return not _behaves_as_tensor(kind, tensor)
        if not kind.__flags__ & _HEAP_TYPE:
            plain.add(kind)
        return True

    return plain, is_plain


def _behaves_as_tensor(kind: type, tensor: type) -> bool:
    """Whether a subclass of Tensor overrides no function and no operator of it; looked up without running its code."""
    for name in ("__torch_function__", "__torch_dispatch__"):
        found = next(base.__dict__[name] for base in kind.__mro__ if name in base.__dict__)
        if found is not tensor.__dict__.get(name) and type(found).__name__ != "builtin_function_or_method":
            return False
    return True


def untouchable_in(torch: Any) -> Callable[[Any], bool]:
    """Whether a tensor may not be described now: under a dispatch mode or a transform, or it is the wrapper of one."""
    dispatching, transform = torch._C._len_torch_dispatch_stack, torch._C._functorch.peek_interpreter_stack
    wrapped, functional = torch._C._functorch.is_functorch_wrapped_tensor, torch._is_functional_tensor

    def untouchable(value: Any) -> bool:
        return bool(
            dispatching()
            or transform() is not None
            or value.is_nested
            or wrapped(value)
            or functional(value)
            or value._has_symbolic_sizes_strides
        )

    return untouchable


def occupied_in(torch: Any) -> Callable[[], bool]:
    """Whether no operator may be called now, because something would see it: a compiler, a mode, a trace, a profiler, a capture."""
    compiling, profiling, cuda = torch.compiler.is_compiling, torch.autograd._profiler_enabled, torch.cuda
    dispatching, tracing = torch._C._len_torch_dispatch_stack, torch._C._is_tracing

    def occupied() -> bool:
        return bool(
            compiling()
            or dispatching()
            or tracing()
            or profiling()
            or (cuda.is_initialized() and cuda.is_current_stream_capturing())
        )

    return occupied


class Recorder:
    """Sites and what was seen there. No thread of its own: a fork of the script must not meet one."""

    def __init__(self, sites: list[Site], stream: EventStream) -> None:
        self.sites = sites
        self._stream = stream
        self.samples = Samples()
        self._last: dict[int, Any] = {}
        """The shape at each place, since the last round of samples began."""
        self._shapes: dict[int, Any] = {}
        self._facts: dict[int, dict[str, Any]] = {}
        self._described: dict[int, dict[str, Any]] = {}
        """The tensors that `_shapes` are of."""
        self._kinds: dict[int, dict[Any, dict[str, Any]]] = {}
        """Those of each shape that takes turns with others at a place, since the last round of samples began."""
        self._reached: set[int] = set()
        self._closed: set[int] = set()
        """Gates behind which nothing is seen any more."""
        self._open_parts: dict[int, set[int | None]] = {}
        """The parts that keep a gate open: the gates right within it, and None where there are places."""
        self._parents: dict[int, int] = {}
        self._indexed = 0
        """Sites whose gates are known in these two."""
        self.resting = False
        """Whether everything runs as written for now."""
        self._old: set[int] = set()
        """Sites that were not reached since everything ran as written: their latest value may be another one."""
        self.blind = False
        """Whether something ran that was not seen: what was not reached is unknown then."""
        self._pending: set[int] = set()
        self._latest = -1
        """The place of the last new fact that has not been sent: while it is reached, it is asked whether to send."""
        self._quiet: dict[int, int] = {}
        """Values without a tensor behind each gate that nothing has decided about."""
        self._with_tensors: set[int] = set()
        self._judged: set[int] = set()
        """Sites whose other values need not be counted."""
        self._sent = 0.0
        self.training: Any = None
        """A `TrainingRecorder`, told of the values that have a graph."""
        self.slots: MutableSequence[int] = private()
        """Of the page that the one who watches this process sees."""

    def install(self, torch: Any, optimizers: Any) -> None:
        """Look at values too. `optimizers` is the module torch.optim.optimizer."""
        self.samples.install(torch, optimizers, self._begin_round)

    def _begin_round(self) -> None:
        self._last.clear()
        self._kinds.clear()

    def make_record(self, torch: Any, *, careful: bool = False) -> Record:
        """The function that rewritten code calls with every value, once torch is imported. The common paths take some
        300 nanoseconds for a tensor and 100 for anything else. It never raises, and only reads what it can read without
        leaving a mark. A careful one is for a process that has loaded torch's compiler, which shall see an identity while
        it traces the user's code, or symbolic sizes, which remember that they were compared.

        Only tensors themselves and subclasses without behaviour of their own are looked at (no fake tensors, proxies,
        jagged or distributed ones), not while they are traced, and first described outside of modes and transforms.
        """
        tensor, parameter = torch.Tensor, torch.nn.Parameter
        plain, is_plain = _plain_types(torch)
        last, kinds, note = self._last, self._kinds, self._note
        judged, count, reached, slots = self._judged, self.count, self._reached.add, self.slots
        modes, tracing = torch._C._len_torch_function_stack, torch._C._is_tracing
        compiling, grad = torch.compiler.is_dynamo_compiling, torch.is_grad_enabled
        without_modes = torch._C.DisableTorchFunction
        untouchable = untouchable_in(torch)
        training = self.training
        told = training.sites if training is not None else None
        kept: Any = training.kept if training is not None else None

        def aside(site: int, value: Any) -> Any:
            """A tensor that is traced, under a mode, or has symbols for sizes."""
            reached(site)
            if not tracing() and modes():
                with without_modes():
                    if not untouchable(value):
                        note(site, value, value.shape)
            return value

        def record(site: int, value: Any) -> Any:
            if careful and compiling():
                return value
            kind = type(value)
            if kind is not tensor and kind is not parameter and (kind in plain or is_plain(kind)):
                if site not in judged:
                    count(site)
                return value
            try:
                slots[SITE] = site + 1
                if tracing() or modes() or careful and value._has_symbolic_sizes_strides:
                    return aside(site, value)
                shape = value.shape
                if told is not None:
                    function = value.grad_fn
                    if function is not None:
                        told.append((function._sequence_nr(), site))
                        if kept.watching:
                            kept.see(site, value)
                        if not shape and training.looking:
                            training.number_made(site, value)
                    elif not shape and not grad():
                        training.scalar(site, value)
                if last.get(site) != shape:
                    if site in kinds and shape in kinds[site]:  # as in a loop over parameters of several shapes
                        last[site] = shape
                        return value
                    reached(site)
                    if not untouchable(value):
                        note(site, value, shape)
                elif site == self._latest:
                    self._flush_soon()
            except RecursionError:  # there is no room to look at it
                return value
            except Exception as error:
                reached(site)
                # A nested tensor has no shape; whatever else there is, the script shall not meet it.
                if is_of_script(error):
                    raise
                return value
            return value

        return record

    def count(self, site: int) -> None:
        """A value that is no tensor. Where there are only such, the gate around is closed: what is there runs as written."""
        self._reached.add(site)
        gates = self.sites[site].gates if site < len(self.sites) else ()
        if not gates or gates[0] in self._with_tensors:
            self._judged.add(site)
            return
        seen = self._quiet[gates[0]] = self._quiet.get(gates[0], 0) + 1
        if seen >= MAX_QUIET:
            self._judged.add(site)
            self._decide(gates[0])

    def _decide(self, gate: int) -> None:
        """There are only other values right behind a gate: it is closed unless one within it is open, and so are those around."""
        self._index()
        part: int | None = None
        around: int | None = gate
        while around is not None:
            parts = self._open_parts[around]
            parts.discard(part)
            if parts:
                return
            self._closed.add(around)
            switch_gates((around,), False)
            part, around = around, self._parents.get(around)

    def _index(self) -> None:
        for index in range(self._indexed, len(self.sites)):
            part: int | None = None
            for gate in self.sites[index].gates:
                self._open_parts.setdefault(gate, set()).add(part)
                if part is not None:
                    self._parents[part] = gate
                part = gate
        self._indexed = len(self.sites)

    def rest(self, resting: bool, gate: Any = False) -> None:
        """Let everything run as written, or be recorded again. What is reached is not known any more. `gate`: what gates are
        while everything runs as written; something false."""
        self.blind, self.resting = True, resting
        self._index()
        if resting:
            switch_gates(self._open_parts.keys(), gate)
        else:
            self._old = set(self._shapes)
            self._begin_round()
            switch_gates(self._open_parts.keys() - self._closed, True)

    def _note(self, site: int, value: Any, shape: Any) -> None:
        sizes = list(shape)
        if not all(type(size) is int for size in sizes):
            return
        known = self._facts.get(site)
        found = self._described[site] = describe(value)
        kinds = self._kinds.setdefault(site, {})
        if len(kinds) < MAX_KINDS:
            kinds[shape] = found
        if known is None:
            self._facts[site] = {**found, "later": None}
            self._with_tensors.update(self.sites[site].gates)
        elif self._shapes[site] != shape:
            known["later"] = sizes
        self._last[site] = self._shapes[site] = shape
        self._old.discard(site)
        self.samples.take(site, value)
        self._pending.add(site)
        self._latest = site
        self._flush_soon()

    def last_seen(self, path: str, span: tuple[int, int, int, int]) -> dict[str, Any] | None:
        """The latest value of the expression at a span of a file, for the crash report; None while that may be another one."""
        if self.resting:
            return None
        for number, site in enumerate(self.sites):
            if site.span == span and site.path == path and number in self._facts and number not in self._old:
                return self._kinds.get(number, {}).get(self._last.get(number)) or self._described[number]
        return None

    def lines(self) -> dict[str, dict[str, list[Any]]]:
        """By file, the spans of the places that were reached, and of those that certainly were not."""
        found: dict[str, dict[str, list[Any]]] = {}
        for number, site in enumerate(self.sites[:MAX_PLACES]):
            of = found.setdefault(site.path, {"reached": [], "missed": []})
            if number in self._reached:
                of["reached"].append(site.span)
            elif not self.blind and self._closed.isdisjoint(site.gates):
                of["missed"].append(site.span)
        return found

    def _flush_soon(self) -> None:
        if time.monotonic() - self._sent > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what is new since the last time."""
        numbers = sorted(self._pending)
        facts = []
        for number in numbers:
            site = self.sites[number]
            facts.append({"path": site.path, "span": site.span, "binding": site.binding, **self._facts[number]})
            facts[-1]["values"] = self.samples.of(number)
        if facts and self._stream.send("facts", facts=facts):
            self._pending.difference_update(numbers)
            self._latest = -1
            self._sent = time.monotonic()
