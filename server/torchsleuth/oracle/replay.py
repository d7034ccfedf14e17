"""Executes a recorded step of a training with tensors that have no content, and counts the memory of their storages."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.utils.checkpoint
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from torchsleuth.oracle import gate, modules, published
from torchsleuth.oracle.fake import Mode, Session, plain_argument
from torchsleuth.tensors.program import Block, Changes, Gap, Held, Layer, Owned, Peak, Place, Program, Step, identities
from torchsleuth.tensors.spec import DictSpec, ListSpec, ModuleSpec, StructSpec, TensorSpec

Build = Callable[[ModuleSpec], torch.nn.Module]
_WIDE_RESULTS = frozenset({"mse_loss", "smooth_l1_loss", "binary_cross_entropy", "soft_margin_loss"})
"""Operators that sum up what is in the storage of their result: it has room for all the elements."""
SMALLEST = 4096
"""Elements from which on a parameter's state is kept in eight bits."""
SCALED = 256
"""Elements of a state in eight bits that share a scale."""
_RECURRENT = "mkldnn_rnn_layer"
_MOST_WORK = 1 << 31
"""Multiplications up to which a recurrent layer is asked for its workspace with tensors of the real size."""


class Unknown(Exception):
    """A part that is not known, and its place."""

    def __init__(self, gap: Gap) -> None:
        super().__init__(gap.reason)
        self.gap = gap


_StopRecomputation: Any = getattr(torch.utils.checkpoint, "_StopRecomputationError", Unknown)
"""The exception by which a checkpoint ends a recomputation that has all it needs."""


_ITEM: Any = torch.ops.aten._local_scalar_dense.default


class Counter(TorchDispatchMode):
    """Counts the bytes of all storages that are alive, and where they were made."""

    def __init__(self, answer: bool) -> None:
        super().__init__()
        self.answer = answer
        """The answer to a question about the content of a tensor."""
        self.asked = False
        self.phase = "setup"
        self.place: Place = ("", 0)
        self.elsewhere = False
        """Whether what is made now is not on the device that is counted."""
        self.now = self.most = 0
        self.peak: tuple[int, str, Place] | None = None
        """How many entries the log had at the peak, and the phase and the place then."""
        self._log: list[tuple[int, int]] = []
        self._alive: dict[int, tuple[int, Any]] = {}
        """By the address of a storage its number and a weak reference."""
        self._made: list[tuple[int, str, Place]] = []
        """Of each storage its bytes, the phase it was made in, and the place."""
        self.kinds: dict[int, str] = {}
        """Storages by their numbers."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is _ITEM and args[0].dtype is torch.bool:
            self.asked = True
            return self.answer
        result = _with_workspace(function, args, function(*args, **(kwargs or {})))
        for value in tree_iter(result):
            if isinstance(value, torch.Tensor):
                self.see(value)
        return result

    def see(self, tensor: torch.Tensor, kind: str | None = None) -> None:
        """A tensor that is there. `kind`: what it is."""
        storage = tensor.untyped_storage()
        address = storage._cdata
        if address not in self._alive:
            number = len(self._made)
            size = 0 if self.elsewhere else storage.nbytes()
            gone = weakref.ref(storage, functools.partial(self._gone, address, number, size))
            self._alive[address] = (number, gone)
            self._made.append((size, self.phase, self.place))
            self._log.append((number, size))
            self.now += size
            if self.now > self.most and self.phase != "setup":
                self.most, self.peak = self.now, (len(self._log), self.phase, self.place)
        if kind is not None:
            self.kinds[self._alive[address][0]] = kind

    def _gone(self, address: int, number: int, size: int, reference: Any) -> None:
        if self._alive.get(address, (None,))[0] == number:
            del self._alive[address]
        self._log.append((number, -size))
        self.now -= size

    def result(self) -> Peak:
        """The peak, and what was alive at it, the largest first."""
        if self.peak is None:
            return Peak(0, "forward", ("", 0), ())
        length, phase, place = self.peak
        alive: set[int] = set()
        for number, size in self._log[:length]:
            (alive.add if size >= 0 and number not in alive else alive.discard)(number)
        sums: dict[tuple[str, Place], int] = {}
        for number in alive:
            size, made_in, made_at = self._made[number]
            kind = self.kinds.get(number) or _KINDS.get(made_in, "temporary")
            sums[kind, made_at] = sums.get((kind, made_at), 0) + size
        blocks = (Block(kind, made_at, size) for (kind, made_at), size in sums.items() if size)
        return Peak(self.most, phase, place, tuple(sorted(blocks, key=lambda block: -block.size)))


_KINDS = {"setup": "data", "forward": "activation"}
"""The kinds of storages of which nothing else is known, by the phase they were made in."""


def _with_workspace(function: Any, args: tuple[Any, ...], result: Any) -> Any:
    """The result of an operator with the room that its storage really has, where fake kernels know less of it."""
    name = function.overloadpacket.__name__
    if name in _WIDE_RESULTS and isinstance(result, torch.Tensor) and not result.dim() and args[0].numel() > 1:
        if _is_wide(name):
            return result.new_empty(args[0].numel()).as_strided((), ())
    if name == _RECURRENT and args[-1]:
        *others, workspace = result
        size = _recurrent_workspace(tuple(args[0].shape), tuple(args[2].shape), (args[7], *args[9:]))
        return (*others, torch.empty(size, dtype=workspace.dtype))
    return result


@functools.cache
def _is_wide(name: str) -> bool:
    """Whether the installed PyTorch keeps all elements with the result of a loss."""
    with unset_fake_temporarily():
        sample = torch.full((2,), 0.5)
        result = getattr(torch.nn.functional, name)(sample, sample)
        return bool(result.untyped_storage().nbytes() > result.element_size())


def _recurrent_workspace(shape: tuple[int, ...], weight: tuple[int, ...], options: tuple[Any, ...]) -> int:
    """The bytes that a recurrent layer of oneDNN keeps for the backward pass: asked of the layer itself, over fewer
    moments where it would take long, for they grow with those."""
    length, batch, features = shape
    gates, hidden = weight
    most = max(2, _MOST_WORK // max(1, batch * gates * (features + hidden)))
    if length <= 2 * most:
        return _workspace_over(length, batch, features, gates, hidden, options)
    one, two = (_workspace_over(count, batch, features, gates, hidden, options) for count in (most, 2 * most))
    return one + (two - one) * (length - most) // most


@functools.lru_cache(maxsize=256)
def _workspace_over(length: int, batch: int, features: int, gates: int, hidden: int, options: tuple[Any, ...]) -> int:
    reverse, mode, _, layers, biased, both, first, train = options
    with unset_fake_temporarily(), torch.enable_grad():  # without gradients, it keeps none
        weights = [torch.zeros(gates, features), torch.zeros(gates, hidden), torch.zeros(gates), torch.zeros(gates)]
        states = [torch.zeros(batch, hidden), torch.zeros(batch, hidden)]
        given = (torch.zeros(length, batch, features), *weights, *states)
        result = torch.ops.aten.mkldnn_rnn_layer(*given, reverse, [], mode, hidden, layers, biased, both, first, train)
    return int(result[3].numel())


class Replay:
    """One execution. `build`: makes a module of fake parameters."""

    def __init__(self, program: Program, build: Build, mode: Mode, changes: Changes, answer: bool = False) -> None:
        self.program = program
        self.changes = changes
        self._build = build
        self._mode = mode
        self._session = Session(mode, symbolic=False)
        self._device = changes.device or program.device
        self._apart = "cpu" not in (self._device, program.device)
        """Whether what is on the CPU is not on the device that is counted."""
        self._counter = Counter(answer)
        self._layers: dict[int, torch.nn.Module] = {}
        self._constant: set[int] = set()
        """The parameters that are made so that they do not learn, by identity."""
        self._optimizers: dict[int, torch.optim.Optimizer] = {}
        self._tensors: dict[int, torch.Tensor] = {}
        self._elsewhere: set[int] = set()
        self._cast: tuple[str, Any] | None = None

    def run(self) -> Peak:
        """Raises Unknown where PyTorch cannot execute a step so."""
        with self._mode, self._counter:
            try:
                self._steps(self.program.steps, self._tensors)
            finally:
                self._autocast(None)
        return self._counter.result()

    @property
    def asked(self) -> bool:
        """Whether it depends on the content of a tensor."""
        return self._counter.asked

    # -- steps -------------------------------------------------------------------------------------

    def _steps(self, steps: list[Step], tensors: dict[int, torch.Tensor]) -> None:
        for step in steps:
            counter = self._counter
            counter.place = step.place
            counter.elsewhere = self._apart and step.device == "cpu"
            try:
                getattr(self, f"_{step.kind}")(step, tensors)
            except (Unknown, _StopRecomputation):
                raise
            except Exception as error:
                name = step.target if isinstance(step.target, str) else step.kind
                raise Unknown(Gap("replay", step.place, f"{name}: {type(error).__name__}")) from error
            for identity in step.last:
                tensors.pop(identity, None)

    def _leaf(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        made = self._empty(step.target)
        if step.args[0] == "parameter":
            made = torch.nn.Parameter(made, bool(step.target.requires_grad) and self.changes.trained is None)
        elif step.target.requires_grad:
            made.requires_grad_()
        self._counter.see(made, step.args[0])
        tensors[step.results.identity] = made

    def _empty(self, spec: TensorSpec) -> Any:
        plain = spec.with_(requires_grad=False)
        return self._session.to_fake(plain)

    def _alias(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        (held,), spec = step.args, step.target
        source = self._tensor(held, tensors)
        with torch.set_grad_enabled(step.grad and torch.is_grad_enabled()):
            made = source.detach() if spec.requires_grad is False and source.requires_grad else source
            if spec.dtype is not None:
                made = made.to(getattr(torch, spec.dtype))
            if tuple(made.shape) != spec.shape:
                made = made.detach().as_strided((), ()) if not spec.shape else self._empty(spec)
            elif spec.strides is None:
                made = made.contiguous()
            moved = self._apart and (held.identity in self._elsewhere) != (step.device == "cpu")
            if moved and made is source:
                made = source.clone()
        self._bind(step, step.results, made, tensors)

    def _make(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        module = self._build(step.target)
        self._layers[step.args[0]] = module
        for parameter in module.parameters():
            self._counter.see(parameter, "parameter")
            self._constant |= set() if parameter.requires_grad else {id(parameter)}
        for buffer in module.buffers():
            self._counter.see(buffer, "buffer")

    def _call(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        layer = self._layer(step.target, tensors)
        function: Any = layer
        if step.target.part or step.target.method != "forward":
            function = published.method(layer.get_submodule(step.target.part), step.target.method)
        if self._device != "cpu" and any(isinstance(part, torch.nn.RNNBase) for part in layer.modules()):
            # What cuDNN keeps for the backward pass is known to itself alone.
            raise Unknown(Gap("recurrent", step.place, type(layer).__name__))
        self._forward(step, tensors, function)

    def _operator(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        path, method = step.target, step.target.startswith("Tensor.")
        self._forward(step, tensors, gate.method(path.removeprefix("Tensor.")) if method else gate.operator(path))

    def _forward(self, step: Step, tensors: dict[int, torch.Tensor], function: Any) -> None:
        args = tuple(self._argument(value, tensors) for value in step.args)
        kwargs = {name: self._argument(value, tensors) for name, value in step.kwargs}
        if kwargs.get("device") is not None:
            kwargs["device"] = "cpu"
        recorded = step.grad and torch.is_grad_enabled()
        if recorded and any(isinstance(value, torch.Tensor) and value.requires_grad for value in args):
            self._counter.phase = "forward"
        if isinstance(function, torch.nn.Module) and any(p.requires_grad for p in function.parameters()):
            self._counter.phase = "forward"
        self._autocast(self._casting(step))
        with torch.set_grad_enabled(recorded):
            value = function(*args, **kwargs)
        fresh = not isinstance(function, torch.nn.Module) and not any(identities((step.args, step.kwargs)))
        self._bind(step, step.results, value, tensors, fresh)

    def _checkpoint(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        # What the function refers to is kept with it, as a closure keeps it.
        inner = {identity: tensors[identity] for part in step.steps for identity in part.used() if identity in tensors}
        identities = [held.identity for held in step.args]
        wanted = step.results
        for identity in identities:
            inner.pop(identity, None)
        place = step.place

        def run(*args: torch.Tensor) -> Any:
            known = {**inner, **dict(zip(identities, args))}
            self._steps(step.steps, known)
            return self._argument(wanted, known)

        given = [self._tensor(held, tensors) for held in step.args]
        self._autocast(self._casting(step))
        with torch.set_grad_enabled(step.grad and torch.is_grad_enabled()):
            value = torch.utils.checkpoint.checkpoint(
                run, *given, use_reentrant=bool(step.target), preserve_rng_state=False
            )
        self._counter.place = place
        self._bind(step, step.results, value, tensors)

    def _enter(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        """A module is called."""

    _leave = _enter

    # -- training ----------------------------------------------------------------------------------

    def _backward(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        self._autocast(self._casting(step))
        loss = self._tensor(step.args[0], tensors)
        self._counter.phase = "backward"
        gradient = None if loss.numel() == 1 else torch.ones_like(loss)
        loss.backward(gradient, **dict(step.kwargs))
        self._counter.phase = "forward"
        for parameter in self._parameters():
            if parameter.grad is not None:
                self._counter.see(parameter.grad, "gradient")

    def _parameters(self) -> Iterator[torch.Tensor]:
        for module in self._layers.values():
            yield from module.parameters()
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                yield from group["params"]

    def _optimizer(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        path, identity = step.target
        options = {name: self._argument(value, tensors) for name, value in step.kwargs}
        cls = gate.with_options(path)
        if self.changes.foreach is not None and not options.get("fused"):
            options["foreach"] = self.changes.foreach
        elif (
            self._device != "cpu" and options.get("foreach") is None and not options.get("fused") and _has_foreach(cls)
        ):
            options["foreach"] = True
        made = cls(list(dict.fromkeys(self._owned(step, tensors))), **options)
        self._optimizers[identity] = made

    def _owned(self, step: Step, tensors: dict[int, torch.Tensor]) -> Iterator[torch.Tensor]:
        for part in step.args:
            if isinstance(part, Owned):
                layer = self._layers[part.identity]
                whole = part.part is None
                yield from (
                    layer.parameters() if whole else layer.get_submodule(part.part or "").parameters(recurse=False)
                )
            elif isinstance(part, Held):
                yield self._tensor(part, tensors)
            else:
                for group in self._optimizers[part].param_groups:
                    yield from group["params"]

    def _step(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        optimizer = self._optimizers[step.target]
        self._autocast(None)
        self._counter.phase = "step"
        if self.changes.small_state:
            self._small_step(optimizer)
            return
        # Its counters of steps are looked at: they are real numbers.
        with unset_fake_temporarily():
            optimizer.step()
        self._counter.phase = "forward"
        for state in optimizer.state.values():
            for value in state.values():
                if isinstance(value, torch.Tensor):
                    self._counter.see(value, "optimizer")

    def _small_step(self, optimizer: torch.optim.Optimizer) -> None:
        """A step of an optimizer that keeps its state in eight bits, with a scale for each block, as bitsandbytes does."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None or optimizer.state[parameter]:
                    continue
                for number in range(_states(optimizer, group)):
                    if parameter.numel() < SMALLEST:
                        kept = [torch.empty_like(parameter)]
                    else:
                        scales = torch.empty(-(-parameter.numel() // SCALED))
                        kept = [torch.empty_like(parameter, dtype=torch.uint8), scales]
                    for place, value in enumerate(kept):
                        self._counter.see(value, "optimizer")
                        optimizer.state[parameter][f"{number}.{place}"] = value
        self._counter.phase = "forward"

    def _zero_grad(self, step: Step, tensors: dict[int, torch.Tensor]) -> None:
        if not step.target:
            for parameter in self._owned(step, tensors):
                parameter.grad = None

    # -- values ------------------------------------------------------------------------------------

    def _tensor(self, held: Held, tensors: dict[int, torch.Tensor]) -> Any:
        if held.member:
            return functools.reduce(getattr, held.member.split("."), self._layers[held.identity])
        return tensors[held.identity]

    def _argument(self, value: Any, tensors: dict[int, torch.Tensor]) -> Any:
        if isinstance(value, Held):
            return self._tensor(value, tensors)
        if isinstance(value, ModuleSpec):
            return self._build(value)
        return plain_argument(value, lambda item: self._argument(item, tensors))

    def _layer(self, layer: Layer, tensors: dict[int, torch.Tensor]) -> torch.nn.Module:
        """A layer in the state that it has at a call."""
        module = self._layers[layer.identity]
        for name, held in layer.ties:
            tied = self._tensor(held, tensors)
            if getattr(module, name) is not tied:
                setattr(module, name, tied)
        if layer.dtype is not None:
            modules.cast(module, getattr(torch, layer.dtype))
        module.train(layer.training)
        grad = layer.requires_grad and self.changes.trained in (None, layer.identity)
        frozen = set(self._constant)
        for name, training, learns in layer.states:
            part = module.get_submodule(name)
            part.training = training
            frozen |= set() if learns else {id(parameter) for parameter in part.parameters(recurse=False)}
        for parameter in module.parameters():
            if parameter.requires_grad is not (grad and id(parameter) not in frozen):
                parameter.requires_grad_(grad and id(parameter) not in frozen)
        for name, other in layer.replaced:
            layers = [self._layer(one, tensors) for one in (other if isinstance(other, tuple) else (other,))]
            module.set_submodule(name, torch.nn.Sequential(*layers) if isinstance(other, tuple) else layers[0])
        return module

    def _bind(self, step: Step, tree: Any, value: Any, tensors: dict[int, torch.Tensor], fresh: bool = False) -> None:
        """Note the tensors of a result by their identities. `fresh`: they are made of no others."""
        match tree:
            case Held():
                if isinstance(value, torch.Tensor):
                    tensors[tree.identity] = value
                    if fresh:
                        self._counter.see(value, "data")
                    (self._elsewhere.add if self._counter.elsewhere else self._elsewhere.discard)(tree.identity)
            case tuple() | ListSpec() if isinstance(value, tuple | list):
                for part, item in zip(tree if isinstance(tree, tuple) else tree.items, value):
                    self._bind(step, part, item, tensors)
            case StructSpec():
                for name, part in zip(tree.fields, tree.items):
                    self._bind(step, part, getattr(value, name, None), tensors)
            case DictSpec() if isinstance(value, dict):
                for key, part in tree.items:
                    self._bind(step, part, value.get(key), tensors)

    # -- autocast ----------------------------------------------------------------------------------

    def _casting(self, step: Step) -> str | None:
        """The dtype of the autocast that a step is under on the device that is counted."""
        regions = dict(step.casts)
        found: tuple[str | None, ...] = regions.get(self._device, (None,))
        if self._device == "cpu":
            found = next((dtypes for kind, dtypes in regions.items() if kind.startswith("cpu without ")), found)
        if len(found) > 1:
            raise Unknown(Gap("autocast", step.place))
        if found[0] is None and self.changes.cast is not None and step.kind != "backward":
            return self.changes.cast
        return found[0]

    def _autocast(self, dtype: str | None) -> None:
        """Go on under this autocast. It stays on from step to step, for it keeps the casts of parameters until it ends."""
        if (self._cast[0] if self._cast else None) == dtype:
            return
        if self._cast is not None:
            self._cast[1].__exit__(None, None, None)
            self._cast = None
        if dtype is not None:
            region = torch.autocast("cpu", getattr(torch, dtype))
            region.__enter__()
            self._cast = dtype, region


def _states(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> int:
    """How many tensors of the size of a parameter an optimizer of eight bits keeps of each."""
    name = type(optimizer).__name__
    if name in ("SGD", "RMSprop"):
        return int(bool(group.get("momentum"))) if name == "SGD" else 1
    return 2 if name in ("Adam", "AdamW") else 1


def _has_foreach(cls: Any) -> bool:
    return "foreach" in cls.__init__.__code__.co_varnames
