"""Records the training that goes on in this process: steps, losses, gradients, parameters, data and time.

The structure of the loop is found from what happens: backward(), the hooks of the optimizers, the calls of modules, the
batches of loaders, and the methods that rewritten code tells of. Numbers are looked at in rounds: the steps 1, 2, 4, 8, … of
the optimizer that leads, and then as often as they cost no more than one part in `SHARE` of the time. What is cheap is done in
each step: the loss, the order of backward(), zero_grad() and step(); the calls of modules are followed in some steps only where
these are short (`Modules.closely`). `to_json` gives the record in the form of `torchsleuth.training.Training`.

Nothing of the script's is kept alive for it but numbers, slices of parameters, and losses on an accelerator until the next
round. Random numbers are not drawn; modes, transforms, fake and traced tensors are left alone.
"""

from __future__ import annotations

import functools
import math
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime import flops, graphs, places, statistics
from torchsleuth.runtime.aliases import in_one_memory
from torchsleuth.runtime.attention import Attention
from torchsleuth.runtime.data import DataWatch
from torchsleuth.runtime.kept import KeptGraphs, held_by_user, is_sequence
from torchsleuth.runtime.looks import GraphLooks
from torchsleuth.runtime.modules import MAX_MODULES, MAX_PARAMETERS, Known, Modules, Site, modules_json
from torchsleuth.runtime.nearby import numbers_nearby
from torchsleuth.runtime.places import Places
from torchsleuth.runtime.recorder import occupied_in, untouchable_in
from torchsleuth.runtime.relation import Pairs
from torchsleuth.runtime.series import Pace, Series, thinned
from torchsleuth.runtime.values import is_a

SHARE = 50
INTERVAL_SECONDS = 1.0
MAX_SAMPLES = 24
MAX_PENDING = 64
MAX_LOSSES = 12
MAX_SLOPES = 3
MAX_OPTIMIZERS = 16
MAX_EVENTS = 60
MAX_ERRORS = 20
MAX_METRICS = 40
MAX_GRAPHS = 3
"""Graphs that are looked at in a round, for each place of a backward()."""
MAX_EVALUATED = 64
"""Inputs of evaluations that are looked at."""
MAX_SITES_KEPT = 20_000
"""Of one step, which never ends where nothing is trained."""
EVERY = 8
"""Steps between two looks at the norm of all gradients, and at the memory, at least."""
_KINDS = ("data", "forward", "backward", "optimizer", "evaluation", "other")


class _Loss:
    """The tensors that one backward() is called on."""

    def __init__(self, key: places.Key | None) -> None:
        self.key = key
        self.values = Series()
        self.nodes = Series()
        self.kind: str | None = None
        self.retained = self.looked = self.in_round = self.in_rounds = 0
        self.scaled = self.mean = False
        self.leaf = 0
        self.in_step = 0
        self.input: Any = None
        self.per_step: tuple[int, int] | None = None
        """The fewest and the most calls for one step, each of another batch."""
        self.last_number = -1


class _Optimizer:
    """An optimizer and what happened around its steps."""

    def __init__(self, optimizer: Any, number: int) -> None:
        self.reference = weakref.ref(optimizer)
        self.type = type(optimizer).__name__
        self.number = number
        self.groups: list[dict[str, Any]] = []
        """Its groups, as they were when it was looked at last, and its parameters by their identity."""
        self.owned: dict[int, weakref.ref[Any]] = {}
        self.place: dict[str, Any] | None = None
        self.step_key: places.Key | None = None
        self.clear_key: places.Key | None = None
        self.backward_key: places.Key | None = None
        self.steps = self.uncleared = self.without_gradients = self.cleared_after_backward = self.discarded = 0
        self.backwards = 0
        self.since = 0
        """Calls of backward() since its last step."""
        self.cleared = False
        self.cleared_late = False
        self.discards = False
        """Whether gradients were cleared in this step that no step had used, and others came behind them."""
        self.probe: Any = None
        self.state: tuple[int, int] | None = None
        self.rates: list[Series] = []
        self.closure = False
        self.again = 0
        self.slopes: list[float] = []
        self.led_from = 0
        """The steps that it had made when it began to lead."""
        self.looks = 0
        """Steps of which the parameters were looked at."""
        self.first_parameter: Any = None
        self.before: list[tuple[Any, Any]] = []
        self.stepping = False
        self.ended = 0
        """The number of its last step among those of all optimizers."""
        self.faults: tuple[str, ...] = ()
        """The counts that the last step belongs to which was looked at."""

    @property
    def leading(self) -> int:
        """The steps that it has made since it leads."""
        return self.steps - self.led_from


class _ByHand:
    """A loop that has no optimizer and changes its parameters itself: each step ends with the gradients of its loss."""

    def __init__(self, key: places.Key | None) -> None:
        self.key = key
        self.before: list[tuple[Any, Any]] = []
        self.inputs: list[Any] = []
        """The parameters that autograd.grad() is called for, in a step that is looked at."""
        self.probe: Any = None
        self.state: tuple[int, int, int] | None = None
        """The gradient of the probe before a backward(), its version, and the step."""
        self.values: Any = None
        self.compared = 0

    def leads(self, key: places.Key | None) -> bool:
        """Whether its steps end with the gradients that are computed here. The same line may stand twice in rewritten code."""
        own = self.key
        return own is key is None or own is not None and key is not None and own[0] is key[0] and own[2] == key[2]


def _faults(state: _Optimizer, has_gradients: bool) -> tuple[str, ...]:
    """The fault of the step that an optimizer is about to make."""
    if not has_gradients:
        return ("without_gradients", "cleared_after_backward") if state.cleared_late else ("without_gradients",)
    if state.cleared_late:
        return ("cleared_after_backward",)
    if state.discards:
        return ("discarded",)
    return ("uncleared",) if state.steps and not state.cleared and state.since else ()


class TrainingRecorder:
    """One for each process. `places` tells the user's code, `made` the live modules and `constructor` where they were made."""

    def __init__(self, own: Places, made: Callable[[], list[Any]], constructor: Callable[[Any], Any]) -> None:
        self._own = own
        self._constructor = constructor
        self._torch: Any = None
        self._untouchable: Any = None
        self._occupied: Callable[[], bool] = lambda: True
        self._compiling: Callable[[], bool] = lambda: True
        self._optimizer_type: type = type(None)
        self._sequence_number: Callable[[], int] = lambda: 0
        self.attention = Attention()
        self.attention.on_wake = self._woken
        self.modules = Modules(own, made, constructor, self.attention)
        self.modules.on_call = self._module_called
        self.modules.on_error = self._failed
        self.data = DataWatch(own, constructor, self.attention)
        self.data.on_phase = self._phase
        self.kept = KeptGraphs(own)
        self.sites: deque[tuple[int, int]] = deque(maxlen=MAX_SITES_KEPT)
        """Sequence numbers of autograd and the latest sites of this step, told by the recorder."""
        self._looks = GraphLooks(
            lambda: self._torch,
            self._count_at,
            self._place_of,
            lambda site: self.site_place(site),
            self.sites,
            self._may_look_at,
        )
        self._hooks: list[Any] = []
        self._detached = 0.0
        """When nothing was recorded any more."""
        self.interrupted = False
        """Whether something has gone on unseen for a while."""
        self._restore: list[Callable[[], None]] = []
        self._compiles = False
        self._optimizers: dict[int, _Optimizer] = {}
        self._made: list[weakref.ref[Any]] = []
        self._losses: dict[Any, _Loss] = {}
        self._waiting: list[tuple[_Loss, int, Any]] = []
        self._events: dict[Any, dict[str, Any]] = {}
        self._schedulers: dict[int, dict[str, Any]] = {}
        self._parameters: dict[int, dict[str, Any]] = {}
        self._last_modules: list[tuple[Known, dict[str, Any]]] = []
        self._last_parameters: list[tuple[Known | None, dict[str, Any], dict[str, Any]]] = []
        self._activations: dict[Any, dict[str, Any]] = {}
        self._batches: dict[Any, dict[str, Any]] = {}
        self._steps = self._backwards = self._errors = 0
        self._by_hand: _ByHand | None = None
        self._leader: _Optimizer | None = None
        self._others = 0
        self._round = True
        self._rounds: list[int] = []
        self._checked = 0
        """Rounds behind which autograd was looking for anomalies."""
        self._next = math.inf
        self._cost = self._all_cost = 0.0
        self._inputs = self._evaluated = 0
        self._entered: list[places.Key] = []
        """Where modules were called, of which the inputs were looked at in this round."""
        self._norms, self._scale, self._step_seconds = Series(), Series(), Series()
        self._norm_pace, self._memory_pace = Pace(EVERY), Pace(EVERY)
        self._memory, self._device_memory = Series(), Series()
        self._norms_waiting: list[tuple[int, Any]] = []
        self._norm_of = 0
        """The step of which the norm is known, or was not due, before its gradients were clipped."""
        self._seconds = dict.fromkeys(_KINDS, 0.0)
        self._phase_series = {kind: Series() for kind in _KINDS}
        self._now_in = "other"
        self._phased = False
        self._since = self._began = self._last_step = 0.0
        self._this_step = dict.fromkeys(_KINDS, 0.0)
        """Seconds by phase since the last step that was looked at closely."""
        self._typical = dict.fromkeys(_KINDS, 0.0)
        """Seconds of those that were."""
        self._steps_in_it = 0
        self._last_event = ""
        self._unscaled = self._clipped_scaled = self._zeroed = False
        self._metrics: dict[int, Series] = {}
        self._backward_key: places.Key | None = None
        self.on_loss: Callable[[Any, float | None], None] = lambda loss, value: None
        """Called with what backward() is called on, and its value where that was read."""
        self.on_exchange: Callable[[bool], None] = lambda exchanged: None
        """Called when the functions are exchanged or given back by which each backward() is seen, whoever calls it."""
        self._last_input = 0
        self._words_of: weakref.ref[Any] | None = None
        self._pairs = Pairs()
        self._scaler_key: places.Key | None = None
        self._bad: dict[str, Any] | None = None
        self._left: dict[str, Any] | None = None
        """The first number with a graph that was not finite, and that nothing went backward from at once."""
        self.looking = True
        """Whether such a number is looked for in this step."""
        self._device = "cpu"
        self._seeded: bool | None = None
        self.site_place: Callable[[int], dict[str, Any] | None] = lambda site: None

    # start and end

    def install(self, torch: Any, optimizers: Any) -> None:
        """`optimizers` is the module torch.optim.optimizer."""
        self._untouchable = untouchable_in(torch)
        self._occupied = occupied_in(torch)
        self._compiling = torch.compiler.is_compiling
        self._optimizer_type = optimizers.Optimizer
        self._sequence_number = torch.autograd._get_sequence_nr
        self._began = self._since = self._detached = time.perf_counter()
        self._seeded = torch.initial_seed() if hasattr(torch, "initial_seed") else None
        self.kept.torch = torch
        self._attach(torch, optimizers)

    def _attach(self, torch: Any, optimizers: Any) -> None:
        self._torch = torch
        self._hooks = [
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        self.data.install(torch)

    def made(self, kind: str, value: Any) -> None:
        """An optimizer or a loader is being constructed."""
        if kind == "python.data_loader":
            self.data.remember(value)
        elif len(self._made) < MAX_OPTIMIZERS:
            self._made.append(weakref.ref(value))

    def steps_made(self) -> int | None:
        """None where there is neither a step nor anything that could make one."""
        return self._steps if self._steps or self._made or self._backwards else None

    def compiles(self) -> None:
        """The script uses PyTorch's compiler: it meets PyTorch's own functions from now on."""
        self._compiles = True
        self._give_back()

    def _exchange(self) -> None:
        """Exchange the functions that are asked first by modules and by backward(). Not before PyTorch's compiler has been
        loaded, which remembers them."""
        if self._compiles or self._restore or "torch._dynamo.variables.torch" not in sys.modules:
            return
        torch = self._torch
        self.modules.install(torch)
        original = torch._C._are_functorch_transforms_active
        code, frame_of, compiling = torch.autograd.backward.__code__, sys._getframe, torch.compiler.is_compiling
        attention, passes = self.attention, self._passing_loss(torch)

        def _are_functorch_transforms_active() -> Any:
            active = original()
            if not active:
                frame = frame_of(1)
                if frame.f_code is code and not compiling() and (attention.closely or not passes(frame)):
                    self._backward_of_library(frame)
            return active

        torch._C._are_functorch_transforms_active = _are_functorch_transforms_active

        def restore() -> None:
            torch._C._are_functorch_transforms_active = original

        self._restore = [restore, self.modules.remove]
        self.on_exchange(True)

    def _give_back(self) -> None:
        if self._restore:
            self.on_exchange(False)
        for restore in self._restore:
            restore()
        self._restore = []

    def detach(self) -> None:
        """Nothing of ours is left in torch: something goes on unseen from now on."""
        self.interrupted = True
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._give_back()
        self.data.remove()
        self._torch = None
        self._detached = time.perf_counter()

    def attach_again(self, torch: Any, optimizers: Any) -> None:
        """Go on after `detach`. Steps may have been made in the meantime, and this one is not known from its beginning."""
        now = time.perf_counter()
        self._began += now - self._detached
        self._since, self._now_in, self._last_step, self._steps_in_it = now, "other", 0.0, 0
        self._this_step = dict.fromkeys(_KINDS, 0.0)
        self.sites.clear()
        self.modules.backward(None)
        for loss in self._losses.values():
            loss.in_step = 0
        for state in self._optimizers.values():
            state.before = []
        self._by_hand = None
        self.attention.lose_order()
        self._attach(torch, optimizers)

    def _failed(self) -> None:
        """An error of ours: the script does not meet it, and after some of them nothing is recorded any more."""
        self._errors += 1
        if self._errors > MAX_ERRORS:
            self._round = False

    def _silent(self) -> bool:
        """Whether nothing may be done now."""
        return self._torch is None or self._errors > MAX_ERRORS or self._occupied()

    # time

    def _phase(self, kind: str) -> float:
        """Another one begins; the time of now."""
        now = time.perf_counter()
        if self._phased:
            self._this_step[self._now_in] += now - self._since
        self._phased = True
        self._since, self._now_in = now, kind
        return now

    def _woken(self) -> None:
        """The time since steps were looked at last went as it goes in those that are."""
        now, known = time.perf_counter(), sum(self._typical.values())
        if known:
            for kind, seconds in self._typical.items():
                self._this_step[kind] += (now - self._since) * seconds / known
        self._since, self._now_in = now, "other"

    def _close_step_times(self) -> None:
        step, steps = self._this_step, max(1, self._steps_in_it)
        whole = self.attention.whole
        for kind, seconds in step.items():
            self._seconds[kind] += seconds
            self._phase_series[kind].add(self._steps, seconds / steps)
            if whole and kind != "evaluation":
                self._typical[kind] += seconds
            step[kind] = 0.0
        self._steps_in_it = 0

    # what rewritten code tells

    def told(self, name: str, value: Any) -> Any:
        """One of the methods of `rewrite.TELLING` is about to be called on a value."""
        try:
            of_optimizer = issubclass(type(value), self._optimizer_type)
            if (name != "step" or not of_optimizer) and not self._silent():  # optimizers have hooks for their steps
                self._told(name, value, of_optimizer)
        except Exception:
            self._failed()
        return value

    def _told(self, name: str, value: Any, of_optimizer: bool) -> None:
        if name == "zero_grad":
            known = self._state(value) if of_optimizer else None
            self._cleared(list(self._optimizers.values()) if known is None else [known])
        elif name.startswith("clip_grad"):
            self._clipped(self._own.here(2))
        elif name == "unscale_":
            self._unscaled = True
        elif is_a(value, "LRScheduler", "ReduceLROnPlateau"):
            self._scheduled(value, self._own.here(2))
        elif is_a(value, "GradScaler"):
            self._scaler_steps(value, self._own.here(2))

    def _cleared(self, states: list[_Optimizer]) -> None:
        self._zeroed = self._last_event == "step"
        for state in states:
            state.cleared = True
            state.cleared_late = state.since > 0
            state.clear_key = self._own.here(3)

    def _clipped(self, key: places.Key | None) -> None:
        kind = "clip"
        waiting = any(state.since for state in self._optimizers.values())  # one backward() for several optimizers
        if self._last_event == "step" and not waiting:
            kind = "clip-before-backward" if self._zeroed else "clip-after-step"
        elif self._last_event in ("", "zero") and not self._backwards:
            kind = "clip-before-backward"
        self._count(kind, key)
        self._clipped_scaled = not self._unscaled
        if self._clipped_scaled:
            self._clip_key = key
        self._look_at_norm_before_clip()

    def _look_at_norm_before_clip(self) -> None:
        """The norm of all gradients is that before they are clipped, where one optimizer has them and they are not scaled."""
        live = [optimizer for reference in self._made if (optimizer := reference()) is not None]
        scaled = not self._unscaled and (self._scale.count or not self._steps and self._device != "cpu")
        if len(live) != 1 or scaled or self._norm_of == self._steps + 1:
            return
        with self._torch._C.DisableTorchFunction():
            if self._round:
                self._look_at_norm(live[0])
            else:
                self._norm_pace.keep(self._steps, lambda: self._look_at_norm(live[0]))
        self._norm_of = self._steps + 1

    def _scaler_steps(self, scaler: Any, key: places.Key | None) -> None:
        self._scaler_key = key
        scale = scaler.__dict__.get("_scale")
        if self._clipped_scaled and scaler.__dict__.get("_enabled") and scale is not None:
            self._count("clip-scaled", self._clip_key)
        self._unscaled = self._clipped_scaled = False
        if scale is not None and (scale.device.type == "cpu" or self._round):
            self._scale.add(self._steps, float(scale))

    def _scheduled(self, scheduler: Any, key: places.Key | None) -> None:
        found = self._scheduler(scheduler)
        found["steps"] += 1
        found["step_key"] = key
        optimizer = scheduler.__dict__.get("optimizer")
        state = self._optimizers.get(id(optimizer))
        if (state is None or state.steps == 0) and not self.interrupted:
            found["before_first_step"] += 1

    def _scheduler(self, scheduler: Any) -> dict[str, Any]:
        found = self._schedulers.get(id(scheduler))
        if found is None:
            held = scheduler.__dict__
            plain = {
                name: value
                for name, value in held.items()
                if not name.startswith("_") and type(value) in (int, float, str, bool)
            }
            for one in held.get("lr_lambdas") or ():  # the schedules of transformers
                given = one.keywords if type(one) is functools.partial else {}
                plain.update({name: value for name, value in given.items() if type(value) in (int, float)})
            found = self._schedulers[id(scheduler)] = {
                "type": type(scheduler).__name__,
                "of": id(held.get("optimizer")),
                "reference": weakref.ref(scheduler),
                "steps": 0,
                "step_key": None,
                "settings": plain,
                "before_first_step": 0,
                "counted": 0,
            }
            parts = [one for one in held.get("_schedulers") or () if is_a(one, "CosineAnnealingLR")]
            if parts and type(parts[0].__dict__.get("T_max")) is int:
                plain["half_cycle"] = parts[0].__dict__["T_max"]
        return found

    def _count(self, kind: str, key: places.Key | None, **details: Any) -> None:
        name = (kind, key and places.at(key))
        found = self._events.get(name)
        if found is None:
            if len(self._events) >= MAX_EVENTS:
                return
            found = self._events[name] = {"kind": kind, "key": key, "count": 0, "step": self._steps + 1}
            found["details"] = {}
        found["count"] += 1
        found["details"].update(details)

    # backward

    def see_loss(self, value: Any) -> None:
        """Rewritten code is about to call backward() on a value."""
        try:
            if not self._restore and self._may_read(value) and not self._silent():
                self._backward(value, self._own.here())
        except Exception:
            self._failed()

    def _passing_loss(self, torch: Any) -> Callable[[Any], bool]:
        """The function that reads the loss in a step that is not looked at, given the frame of torch.autograd.backward(). False: it
        has done nothing, since there may be more to it than a finite number at a known place. Between two steps of the script's, what
        this touches has left the caches of the processor, so that its length counts, more than in a loop."""
        tensor, strided, single = torch.Tensor, torch.strided, torch.float32
        modes, dispatching = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack
        tracing, profiling = torch._C._is_tracing, torch.autograd._profiler_enabled
        is_own, known, optimizers = self._own.is_own, self._losses, self._optimizers

        def passes(frame: Any) -> bool:
            value = frame.f_locals.get("tensors")
            if type(value) is not tensor or modes() or dispatching() or tracing() or profiling():
                return False
            caller = frame.f_back
            while caller is not None and not is_own(caller.f_code):
                caller = caller.f_back
            loss = known.get((id(caller.f_code), caller.f_lasti)) if caller is not None else None
            if loss is None or not optimizers or self._by_hand is not None or self._errors > MAX_ERRORS:
                return False
            plain = value.is_cpu and value.dtype is single and value.layout is strided and not value.is_nested
            if not plain or value.dim() or value.grad_fn is None:
                return False
            number = value.item()
            if not math.isfinite(number):
                return False
            self._backwards += 1
            loss.values.add(self._steps + 1, number)
            self.on_loss(value, number)
            if self.modules.pending:
                self.modules.backward(None)
            loss.last_number = self._sequence_number()
            return True

        return passes

    def _backward_of_library(self, frame: Any) -> None:
        """torch.autograd.backward() began, whoever called it."""
        try:
            tensors = frame.f_locals.get("tensors")
            value = tensors[0] if type(tensors) in (tuple, list) and tensors else tensors
            if self._may_read(value):
                if self._silent():
                    self.on_loss(value, None)
                else:
                    self._backward(value, self._own.of(frame))
        except Exception:
            self._failed()

    def differentiated(self, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        """Rewritten code is about to call autograd.grad() for a value, with respect to something."""
        value, inputs = pair
        try:
            if self._may_read(value) and not self._silent() and self._are_parameters(inputs):
                self._backward(value, self._own.here(), assigned=True)
                if self._by_hand is not None and self._by_hand.before and type(inputs) in (list, tuple):
                    self._by_hand.inputs = [weakref.ref(one) for one in inputs]
        except Exception:
            self._failed()
        return pair

    def gradients(self, found: Any) -> Any:
        """Note the gradients that autograd.grad() has returned."""
        hand = self._by_hand
        if hand is not None and self.attention.closely:
            try:
                self._phase("other")
                inputs, hand.inputs = [one() for one in hand.inputs], []
                if inputs and type(found) is tuple and not self._silent():
                    with self._torch._C.DisableTorchFunction(), self._torch.no_grad():
                        self._note_gradients([pair for pair in zip(inputs, found) if self._may_look_at(pair[1])])
            except Exception:
                self._failed()
        return found

    def loaded(self, found: Any) -> Any:
        """Note which keys of a state did not fit, where nothing asks that all do."""
        try:
            missing, unexpected = found if is_a(found, "_IncompatibleKeys") else ((), ())
            if missing and unexpected:
                words = [str(keys[0])[:80] for keys in (missing, unexpected)]
                self._count(
                    "keys-apart",
                    self._own.here(),
                    missing=len(missing),
                    unexpected=len(unexpected),
                    wants=words[0],
                    has=words[1],
                )
        except Exception:
            self._failed()
        return found

    def _are_parameters(self, inputs: Any) -> bool:
        """Whether something is what is trained, and not, say, an image that an attack changes."""
        if type(inputs) not in (list, tuple):
            inputs = [inputs]
        parameter = self._torch.nn.Parameter
        return len(inputs) > 1 or any(type(one) is parameter or is_a(one, "generator") for one in inputs)

    def _may_read(self, value: Any) -> bool:
        torch = self._torch
        if torch is None or type(value) is not torch.Tensor:
            return False
        with torch._C.DisableTorchFunction():
            return not self._untouchable(value) and value.layout == torch.strided and value.is_floating_point()

    def _backward(self, value: Any, key: places.Key | None, assigned: bool = False) -> None:
        """`assigned`: the script itself gives the gradients to whom it likes, nothing is added to those that are there."""
        torch = self._torch
        if self._by_hand is not None and (self._made or self._optimizers):
            self._by_hand = None
        if self._by_hand is not None:
            with torch._C.DisableTorchFunction(), torch.no_grad():
                self._look_at_update(self._by_hand, assigned)
        self._backwards += 1
        if self.attention.closely:
            self._phase("backward")
        step, began = self._steps + 1, time.perf_counter()
        loss = self._losses.get(key and places.at(key))
        if loss is None:
            if len(self._losses) >= MAX_LOSSES:
                return
            loss = self._losses[key and places.at(key)] = _Loss(key)
        if not self._steps and self._backwards & (self._backwards - 1) == 0:  # without steps, there are no other rounds
            loss.in_round = 0
            self._note_what_lives()
        if self.attention.whole:
            self._backward_in_step(loss, key, assigned)
        numbers = None
        with torch._C.DisableTorchFunction():
            finite = self._loss_value(loss, step, value)
            leaf = value.grad_fn is None
            loss.leaf += leaf
            if not leaf and (not finite and self._bad is None or self._round and loss.in_round < MAX_GRAPHS):
                loss.in_round += 1
                began = time.perf_counter()
                with torch.no_grad():
                    numbers = self._look_at_graph(loss, value, finite, step)
                self._spent(began)
        self.modules.backward(numbers)
        loss.last_number = self._sequence_number()
        if not self._round:
            self.attention.spent(time.perf_counter() - began)
        if not self._optimizers and not self._made:
            self._by_hand = self._by_hand or _ByHand(key)
            if self._by_hand.leads(key):
                with torch._C.DisableTorchFunction(), torch.no_grad():
                    self._step_by_hand(self._by_hand, None if assigned or leaf else value)

    def _step_by_hand(self, hand: _ByHand, value: Any) -> None:
        """A step of a loop without optimizers ends with its gradients; its update is looked at before the next ones. `value`: what
        goes backward, where the gradients come to the parameters themselves."""
        self._steps += 1
        self._steps_in_it += 1
        self.data.stepped()
        self.sites.clear()
        now = time.perf_counter()
        if not self.attention.closely:
            if now < self.attention.due and not self._begins_round(self._steps, now):
                self.attention.pass_step()
                return
            self._woken()
        self._close_step(now, "backward" if value is None else "other")
        if self._round:
            self._put_away_parameters(hand)
            if value is not None:
                self._await_gradients(hand.before, value)
            self._spent(now)
        self._choose_round(self._steps, now)
        self.attention.begin_step(self._steps, now, certainly=self._round)
        self.kept.begin(self._steps + 1, self._sequence_number(), certainly=self._round, closely=self.attention.whole)

    def _put_away_parameters(self, hand: _ByHand) -> None:
        """Slices of all parameters that gradients come to, to compare them with after the update."""
        for known in self._parameters.values():
            parameter = known["reference"]()
            if parameter is None or not self._may_change(parameter):
                continue
            known["seen"] += 1
            known["samples"].append({"step": self._steps, "finite": True, "zeros": None, "gradient": None})
            thinned(known["samples"], MAX_SAMPLES)
            hand.before.append((weakref.ref(parameter), statistics.part(parameter).clone()))

    def _await_gradients(self, before: list[tuple[Any, Any]], value: Any) -> None:
        """Look at the gradients of parameters as soon as a backward() that is about to begin has computed all of them."""
        torch = self._torch

        def ended() -> None:
            try:
                hook.remove()
                with torch._C.DisableTorchFunction(), torch.no_grad():
                    live = [parameter for reference, _ in before if (parameter := reference()) is not None]
                    self._note_gradients([(one, one.grad) for one in live if self._may_look_at(one.grad)])
            except Exception:
                self._failed()

        hook = value.register_hook(lambda gradient: torch.autograd.Variable._execution_engine.queue_callback(ended))

    def _may_change(self, parameter: Any) -> bool:
        return statistics.readable(self._torch, parameter) and not self._untouchable(parameter)

    def _note_gradients(self, pairs: list[tuple[Any, Any]]) -> None:
        """Parameters and their gradients, in a step that is looked at."""
        torch = self._torch
        began = time.perf_counter()
        gradients = [gradient for _, gradient in pairs]
        norms = statistics.numbers(torch, list(torch._foreach_norm(gradients))) if gradients else []
        if norms:
            self._norms.add(self._steps, math.sqrt(sum(norm * norm for norm in norms)))
        for (parameter, gradient), norm in zip(pairs, norms):
            if parameter is None:
                continue
            known = self._parameter(id(parameter), parameter)
            known["with_gradient"] += 1
            if known["samples"] and known["samples"][-1]["step"] == self._steps:
                finite = math.isfinite(norm)
                zeros = float((statistics.part(gradient) == 0).float().mean())
                known["samples"][-1].update(gradient=norm if finite else None, finite=finite, zeros=zeros)
        self._spent(began)

    def _look_at_update(self, hand: _ByHand, assigned: bool) -> None:
        """Before the gradients of the next step: what the last ones have changed, and whether they are still there."""
        began = time.perf_counter()
        if hand.before:
            self._compare(hand)
            self._spent(began)
        probe = hand.probe() if hand.probe is not None else None
        if assigned or not self.attention.whole:
            return
        if probe is None:
            live = (known["reference"]() for known in self._parameters.values() if known["reached"])
            probe = next((one for one in live if one is not None and self._may_change(one)), None)
            hand.probe, hand.state, hand.values = None if probe is None else weakref.ref(probe), None, None
        if probe is not None:
            self._look_whether_cleared_by_hand(hand, probe)

    def _look_whether_cleared_by_hand(self, hand: _ByHand, probe: Any) -> None:
        """Whether the gradient is that from before the last backward(), to which only this one has added, behind an update."""
        gradient, now = probe.grad, statistics.part(probe)
        if hand.values is not None and not self._is_still(hand.values, now):
            hand.compared += 1
            if gradient is not None and hand.state == (id(gradient), gradient._version - 1, self._steps - 1):
                self._count("not-cleared", hand.key, looked=hand.compared)
        hand.state = None if gradient is None else (id(gradient), gradient._version, self._steps)
        hand.values = statistics.put_away(now)

    def _backward_in_step(self, loss: _Loss, key: places.Key | None, assigned: bool) -> None:
        """The meaning of a backward() for the step that it belongs to."""
        self._last_event = "backward"
        self._backward_key = key
        self._zeroed = False
        loss.in_step += 1
        if loss.in_step > 1 and loss.input == self._last_input:
            loss.in_step = 1  # another loss of the same batch
        loss.input = self._last_input
        for state in self._optimizers.values():
            self._look_whether_cleared(state)
            state.cleared = state.cleared or assigned
            state.since += 1
            state.backwards += 1
            state.discards = state.discards or state.cleared_late
            state.cleared_late = False

    def _loss_value(self, loss: _Loss, step: int, value: Any) -> bool:
        """Whether it is finite; on an accelerator, that is known later."""
        if value.is_cpu:
            number: float = value.item() if value.dim() == 0 else value.detach().float().mean().item()
            loss.values.add(step, number)
            self.on_loss(value, number)
            return math.isfinite(number)
        self.on_loss(value, None)
        value = value.detach()
        self._device = value.device.type
        self._waiting.append((loss, step, value.mean() if value.dim() else value))
        if len(self._waiting) >= MAX_PENDING:
            self._read_losses()
        return True

    def _read_losses(self) -> None:
        waiting, self._waiting = self._waiting, []
        for (loss, step, _), number in zip(waiting, statistics.numbers(self._torch, [item[2] for item in waiting])):
            loss.values.add(step, number)

    def _look_whether_cleared(self, state: _Optimizer) -> None:
        """Whether the gradients are still those of the last step."""
        parameter = state.probe() if state.probe is not None else None
        if state.cleared or state.state is None or parameter is None or state.since:
            return
        gradient = parameter.grad
        if gradient is None or (id(gradient), gradient._version) != state.state:
            state.cleared = True

    def _look_at_graph(self, loss: _Loss, value: Any, finite: bool, step: int) -> list[int]:
        graph = graphs.Graph(value.grad_fn)
        loss.looked += 1
        loss.nodes.add(step, len(graph.nodes))
        numbers = sorted(node.number for node in graph.nodes)
        if numbers and loss.last_number >= 0 and numbers[0] < loss.last_number:
            loss.retained += 1
        if not self.modules.names:
            self.modules.index()
        for identity, parameter in graph.parameters.items():
            known = self._parameter(identity, parameter)
            known["reached"] += 1
            if known["first"] is None and not self._steps and statistics.readable(self._torch, parameter):
                known["first"] = statistics.put_away(statistics.part(parameter))
        if loss.looked == 1:
            for known_module, count in flops.by_layer(graph, self._module_of).items():
                known_module.flops = max(known_module.flops, count)
        entering = self._look_at_first_layer(graph, step) if self._round else None
        loss.in_rounds += self._round
        for found in self._parameters.values():
            found["looked"] += 1
        for node in graph.losses():
            self._look_at_loss(loss, graph, node, step, entering)
        if self._round:
            self._look_at_outputs(step)
            self._looks.difference(graph, entering)
            self._looks.softmax_beside_classes(graph)
            self._looks.terms_apart(graph, loss.in_rounds)
            self._looks.terms_of_zero(graph, loss.in_rounds)
            self._looks.masked_extremes(graph)
            self._look_at_activations(graph, step)
            self._look_at_directions(graph, step)
            self._looks.transcripts(graph)
            self._looks.repeated_operators(graph)
        if not finite and self._bad is None:
            self._bad = {**self._origin(graph), "step": step, "loss_key": loss.key}
            if self._bad["where"] in ("input", "unknown"):
                self._bad["near"] = numbers_nearby(self._torch, self._own, self._may_look_at)
            self._bad["value"] = "nan" if math.isnan(float(value.float().mean())) else "inf"
        return numbers

    def _module_of(self, parameter: int) -> Known | None:
        """The module that a parameter belongs to, by its identity."""
        return self.modules.names.get(parameter, ("", None))[1]

    def _look_at_first_layer(self, graph: graphs.Graph, step: int) -> Any:
        """The input of the first layer that has weights, where the script made it without a gradient, or only put it beside
        embeddings."""
        empty: tuple[Any, Any] | None = None
        for node in reversed(graph.nodes[-40:]):
            name, index = graphs.FIRST_LAYERS.get(node.name, ("", 0))
            if not name or index >= len(node.inputs):
                continue
            value = graphs.saved(node, name)
            raw = node.inputs[index] is None or graph.is_put_together(node.inputs[index])
            if not raw or value is None or not value.is_floating_point() or value.dim() < 2:
                break
            if not self._may_look_at(value) or bool(value.any()):
                return self._enters(graph, node, value, step)
            empty = empty or (node, value)  # may be the state that a recurrence begins with
        return None if empty is None else self._enters(graph, *empty, step)

    def _enters(self, graph: graphs.Graph, node: graphs.Node, value: Any, step: int) -> Any:
        place = self._place_of(node.number)
        name = ("first", None if place is None else (place["path"], place["line"]))
        self._batch("first", value, step, name, place)
        if name in self._batches:
            self._batches[name]["normalised"] = graph.is_normalised(node)
        return value

    def _look_at_loss(self, loss: _Loss, graph: graphs.Graph, node: graphs.Node, step: int, entering: Any) -> None:
        kind = graphs.LOSSES[node.name]
        before = graph.operand(node, through=_RESHAPES)
        name = before.name if before is not None else ""
        place = self._place_of(node.number)
        predicted, target = graphs.saved(node, "self"), graphs.saved(node, "target")
        if kind == "nll" and name == "LogSoftmaxBackward0":
            kind = "cross_entropy"
            inner = graph.operand(before, through=_RESHAPES) if before is not None else None
            if inner is not None and inner.name in _NORMALISED:
                self._count_at("softmax-before-cross-entropy", place, layer=_NORMALISED[inner.name])
            elif before is not None and predicted is not None:
                scaling = graph.operand(before, through=(*_RESHAPES, *_MASKS))
                if scaling is not None:
                    self._looks.scores_too_close(scaling, predicted)
        elif kind == "nll" and predicted is not None and name not in ("LogBackward0", "LogSoftmaxBackward0"):
            if bool((predicted > 1e-3).any()):
                self._count_at("nll-without-log-softmax", place, high=float(predicted.max()))
        elif kind == "bce_with_logits" and name in _NORMALISED:
            self._count_at("sigmoid-before-bce-with-logits", place, layer=_NORMALISED[name])
        elif kind in ("mse", "huber", "smooth_l1") and predicted is not None and target is not None:
            self._looks.broadcast(predicted, target, place)
        if kind in _BOUNDED_TARGETS and target is not None and self._may_look_at(target):
            self._looks.targets_out_of_reach(kind, name, target, place)
        loss.kind = kind
        loss.mean = graphs.number(node, "reduction") == 1
        loss.scaled = graph.is_scaled(node)
        shown = entering if entering is not None else self._words()
        if shown is not None and target is not None and not self._untouchable(target):
            self._pairs.add(self._torch, shown, target)
        self._looks.softmax_over_batch(graph)
        if self._round and kind in _OF_CLASSES and target is not None and (words := self._words()) is not None:
            self._looks.shifted_targets(words, target, place)
        for role, value in (("prediction", predicted), ("target", target)):
            if value is not None:
                self._batch(role, value, step, (role, loss.key and places.at(loss.key), node.name), place, kind, target)

    def _look_at_directions(self, graph: graphs.Graph, step: int) -> None:
        """Outputs that are divided by their own length before they are compared with one another."""
        for node in graph.nodes[:60]:
            value, length = (graphs.saved(node, name) for name in ("self", "other"))
            if node.name != "DivBackward0" or value is None or length is None or value.dim() != 2 or length.dim() != 2:
                continue
            if (length.shape[1] == 1 or length.stride(1) == 0) and value.shape[1] > 1 and self._may_look_at(value):
                value = value / length
                place = self._place_of(node.number)
                line = None if place is None else (place["path"], place["line"])
                self._batch("output", value, step, ("output", line), place)
                return

    def _words(self) -> Any:
        """The numbers of words that went into the network in this step, as far as they are still there."""
        value = self._words_of() if self._words_of is not None else None
        return value if value is not None and self._may_look_at(value) else None

    def _look_at_outputs(self, step: int) -> None:
        """Results of the modules that the script called in this step, as far as they are still there."""
        called = (places.to_json(key) for key in self._entered)
        entered = {(place["path"], tuple(place["span"])) for place in called if place is not None and place["span"]}
        for site, value in self.kept.now() if entered else ():
            place = self.site_place(site)
            if place is None or not place["span"] or (place["path"], tuple(place["span"])) not in entered:
                continue
            if self._may_look_at(value) and value.dim() >= 2:
                self._batch("output", value, step, ("output", place["path"], place["line"]), place)

    def _look_at_activations(self, graph: graphs.Graph, step: int) -> None:
        torch = self._torch
        found = [node for node in graph.nodes if node.name in graphs.ACTIVATIONS][::-1][:64]
        for order, node in enumerate(found):
            function, name = graphs.ACTIVATIONS[node.name]
            value = graphs.saved(node, name)
            if value is None or not statistics.readable(torch, value) or self._untouchable(value):
                continue
            weight = graph.layer_before(node)
            layer, after = self.modules.names.get(id(weight), ("", None)) if weight is not None else ("", None)
            key = (function, layer, order if not layer else 0)
            known = self._activations.get(key)
            if known is None:
                known = self._activations[key] = {"function": function, "after": after.name if after else None}
                known.update(order=order, site=self._place_of(node.number), samples=[])
            sample = {"step": step, **statistics.summary(torch, value)}
            if function == "relu":
                axis = 1 if value.dim() >= 3 and weight is not None and weight.dim() > 2 else -1
                sample.update(statistics.units(torch, value, axis))
            elif function in ("sigmoid", "tanh"):
                sample["saturated"] = statistics.saturated(torch, value, function)
            known["samples"].append(sample)
            thinned(known["samples"], MAX_SAMPLES)

    def _origin(self, graph: graphs.Graph) -> dict[str, Any]:
        """Where the first value that is not finite came from: a parameter, or the earliest function that kept one."""
        torch = self._torch
        for identity, parameter in graph.parameters.items():
            if statistics.readable(torch, parameter) and not bool(torch.isfinite(parameter).all()):
                name = self.modules.names.get(identity, ("", None))[0]
                steep = {node.name: node for node in graph.nodes if graphs.is_steep(node)}
                found: dict[str, Any] = {"where": "parameter", "name": name}
                if len(steep) == 1:
                    node = next(iter(steep.values()))
                    found.update(function=node.name, site=self._place_of(node.number))
                return found
        for node in reversed(graph.nodes):
            for name in ("self", "mat1", "input", "other", "target", "result", "exponent"):
                value = graphs.saved(node, name)
                if value is None or not statistics.readable(torch, value) or not value.is_floating_point():
                    continue
                if not bool(torch.isfinite(value).all()):
                    made = node
                    if name != "result":
                        index = 1 if name in ("other", "target") else 0
                        inner = graph.operand(node, index)
                        if inner is None:
                            return {
                                "where": "input",
                                "name": name,
                                "site": self._place_of(node.number),
                                "function": node.name,
                            }
                        made = inner
                    return {"where": "operation", "function": made.name, "site": self._place_of(made.number)}
        for node in reversed(graph.nodes):
            if node.name in ("LogBackward0", "SqrtBackward0", "DivBackward0", "PowBackward0", "ExpBackward0"):
                value = graphs.saved(node, "other" if node.name == "DivBackward0" else "self")
                if value is not None and statistics.readable(torch, value) and bool((value <= 0).any()):
                    return {"where": "operation", "function": node.name, "site": self._place_of(node.number)}
        return {"where": "unknown"}

    def _place_of(self, number: int) -> dict[str, Any] | None:
        """The expression in the user's code whose value was made by the function with a sequence number: the first one that was
        recorded at it or after it."""
        found: tuple[int, int] | None = None
        for made, site in self.sites:
            if made >= number and (found is None or made < found[0]):
                found = (made, site)
        return None if found is None else self.site_place(found[1])

    def _count_at(self, kind: str, place: dict[str, Any] | None, **details: Any) -> None:
        name = (kind, None if place is None else (place["path"], place["line"]))
        found = self._events.setdefault(
            name, {"kind": kind, "key": None, "place": place, "count": 0, "step": self._steps + 1, "details": {}}
        )
        found["count"] += 1
        found["details"].update(details)

    # data

    def _batch(
        self, role: str, value: Any, step: int, name: Any, place: Any, kind: str | None = None, target: Any = None
    ) -> None:
        torch = self._torch
        if not statistics.readable(torch, value) or self._untouchable(value):
            return
        known = self._batches.get(name)
        if known is None:
            if len(self._batches) >= MAX_LOSSES * 2:
                return
            known = self._batches[name] = {"role": role, "site": place, "samples": [], "last": None, "loss": kind}
        value = value.detach()
        sample: dict[str, Any] = {
            "step": step,
            "shape": [int(size) for size in value.shape],
            "dtype": str(value.dtype).removeprefix("torch."),
            **statistics.summary(torch, value),
        }
        if role == "prediction":
            sample.update(statistics.predictions(torch, value, target, kind))
        elif role != "first" and (not value.is_floating_point() or role == "target"):
            sample["labels"] = statistics.labels(torch, value)
        some = statistics.part(value)
        sample["same"] = known["last"] is not None and self._is_still(known["last"], some)
        if role != "target":
            sample["spread"] = statistics.spread(torch, value)
            sample["rows_equal"] = sample["spread"] is not None and sample["spread"] <= 1e-5
        if role == "output":
            sample["distance"] = statistics.distance(torch, value)
        known["last"] = statistics.put_away(some)
        known["samples"].append(sample)
        thinned(known["samples"], MAX_SAMPLES)

    def _module_called(self, known: Known, site: Site, first: Any, training: bool, grad: bool) -> None:
        """The user's code calls a module that is part of no other one, as far as is known."""
        if grad:
            if self._now_in in ("other", "evaluation"):
                self._phase("forward")
        elif self._now_in in ("other", "forward"):
            self._phase("evaluation")
        if self._silent() or known.root is not True or not self._may_look_at(first):
            return
        self._last_input = first.data_ptr()
        torch = self._torch
        with torch._C.DisableTorchFunction(), torch.no_grad():
            if not grad and not training and self._evaluated < MAX_EVALUATED and first.is_floating_point():
                began = time.perf_counter()
                self._evaluated += 1
                name = ("evaluated", id(known), places.at(site.key))
                self._batch("evaluated", first, self._steps + 1, name, places.to_json(site.key))
                self._spent(began)
            if self.data.hashes_more(grad and training):
                began = time.perf_counter()
                self.data.hash(torch, first, grad and training, site.key)
                self._spent(began)
            if self._round and grad and self._inputs < MAX_GRAPHS:
                began = time.perf_counter()
                self._inputs += 1
                self._entered.append(site.key)
                if not first.is_floating_point():
                    self._words_of = weakref.ref(first)
                self._batch("input", first, self._steps + 1, ("input", places.at(site.key)), places.to_json(site.key))
                kept = in_one_memory(torch, self._own, first)
                if kept is not None:
                    self._count("one-memory", site.key, name=kept[0], items=kept[1])
                self._spent(began)

    def _may_look_at(self, value: Any) -> bool:
        torch = self._torch
        if type(value) is not torch.Tensor:
            return False
        with torch._C.DisableTorchFunction():
            return not self._untouchable(value) and statistics.readable(torch, value)

    # steps

    def _state(self, optimizer: Any) -> _Optimizer | None:
        known = self._optimizers.get(id(optimizer))
        if known is not None and known.reference() is optimizer:
            return known
        if known is not None:  # another one was there before
            del self._optimizers[id(optimizer)]
            if len(self._optimizers) + 1 < MAX_OPTIMIZERS:
                self._optimizers[-1 - known.number] = known
        if len(self._optimizers) >= MAX_OPTIMIZERS:
            return None
        number = max((one.number for one in self._optimizers.values()), default=-1) + 1
        known = self._optimizers[id(optimizer)] = _Optimizer(optimizer, number)
        found = self._constructor(optimizer)
        if found:
            known.place = {name: found["frames"][0][name] for name in ("path", "line", "span", "function")}
        parameter = next((one for group in optimizer.param_groups for one in group["params"]), None)
        known.first_parameter = weakref.ref(parameter) if parameter is not None else None
        known.again = sum(
            other.place == known.place and other.first_parameter is not None and other.first_parameter() is parameter
            for other in self._optimizers.values()
            if other is not known and parameter is not None
        )
        known.since = self._backwards
        known.backwards = self._backwards
        return known

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Before a step of any optimizer."""
        try:
            if not self.attention.closely or self._silent():
                return
            began = self._phase("optimizer")
            state = self._state(optimizer)
            if state is None or state.stepping or not self.attention.whole:
                return
            state.step_key = self._own.here() or state.step_key
            state.closure = state.closure or len(args) > 1 or bool(kwargs.get("closure"))
            with self._torch._C.DisableTorchFunction():
                self._look_before(state, optimizer)
            self.attention.spent(time.perf_counter() - began)
        except Exception:
            self._failed()

    def _look_before(self, state: _Optimizer, optimizer: Any) -> None:
        state.stepping = True
        state.backward_key = self._backward_key
        probe = state.probe() if state.probe is not None else None
        gradient = probe.grad if probe is not None else None
        if gradient is None:
            probe = next(
                (one for group in optimizer.param_groups for one in group["params"] if one.grad is not None), None
            )
            state.probe = weakref.ref(probe) if probe is not None else None
        if state.ended >= self.attention.gap:
            state.faults = () if state.closure else _faults(state, probe is not None)
        if self._round:
            began = time.perf_counter()
            with self._torch.no_grad():
                self._look_at_parameters(state, optimizer)
            self._spent(began)
        elif self._norm_of != self._steps + 1:
            self._norm_pace.keep(self._steps, lambda: self._look_at_norm(optimizer))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """After a step of any optimizer."""
        try:
            if self._torch is None or self._compiling():
                return
            state = self._optimizers.get(id(optimizer))
            if state is None or state.reference() is not optimizer:
                state = None if self.attention.closely else self._state(optimizer)
                if state is None:
                    return
            now = time.perf_counter()
            self._count_step(state)
            leads = self._leads(state) if state is not self._leader or self._others else True
            if not self.attention.closely:
                if not leads:
                    return
                following = state.steps - state.led_from + 1
                if now < self.attention.due and now < self._next and following & (following - 1):
                    self.attention.pass_step()
                    return
                self._woken()
            with self._torch._C.DisableTorchFunction():
                self._look_after(state, optimizer, now)
                if leads:
                    self._begin_step(state, now)
        except Exception:
            self._failed()

    def _count_step(self, state: _Optimizer) -> None:
        """A step that was not looked at has the faults of the last one that was."""
        self._steps += 1
        self._steps_in_it += 1
        self.data.stepped()
        state.steps += 1
        state.ended = self._steps
        for fault in state.faults:
            setattr(state, fault, getattr(state, fault) + 1)
        self.sites.clear()

    def _look_after(self, state: _Optimizer, optimizer: Any, now: float) -> None:
        for loss in self._losses.values():
            if loss.in_step:
                low, high = loss.per_step or (loss.in_step, loss.in_step)
                loss.per_step = (min(low, loss.in_step), max(high, loss.in_step))
                loss.in_step = 0
        state.stepping = False
        state.since = 0
        state.cleared = state.cleared_late = state.discards = False
        probe = state.probe() if state.probe is not None else None
        gradient = probe.grad if probe is not None else None
        state.state = None if gradient is None else (id(gradient), gradient._version)
        self._last_event = "step"
        for number, group in enumerate(optimizer.param_groups):
            if number >= len(state.rates):
                if number >= 32:
                    break
                state.rates.append(Series())
            rate = group.get("lr")
            if isinstance(rate, int | float):
                state.rates[number].add(self._steps, float(rate))
        if state.before:
            began = time.perf_counter()
            with self._torch.no_grad():
                self._compare(state)
            self._spent(began)
        self._close_step(now, "other")
        self._exchange()

    def _close_step(self, now: float, phase: str) -> None:
        """The times and the memory of the step that ended."""
        if self._last_step:
            self._step_seconds.add(self._steps, (now - self._last_step) / self._steps_in_it)
        self._last_step = now
        self._phase(phase)
        self._close_step_times()
        if self._round:
            self._look_at_memory()
        else:
            self._memory_pace.keep(self._steps, self._look_at_memory)
            self.attention.spent(time.perf_counter() - now)
        self.modules.step = self._steps

    def _begin_step(self, state: _Optimizer, now: float) -> None:
        """Behind a step of the optimizer that leads. Where it was not looked at as a whole, the order of things is not known."""
        if not self.attention.whole:
            for other in self._optimizers.values():
                other.since = 0
                other.cleared = other.cleared_late = other.discards = other.stepping = False
                other.state = other.state if other is state else None
        self._choose_round(state.leading, now)
        several = len(self._optimizers) > 1
        self.attention.begin_step(self._steps, now, certainly=self._round, pairs=several)
        whole = self.attention.whole
        self.kept.begin(self._steps + 1, self._sequence_number(), certainly=self._round, closely=whole)

    def _leads(self, state: _Optimizer) -> bool:
        """Whether an optimizer is the one whose steps the rounds are among."""
        if self._leader is None or self._leader.reference() is None or self._others > 50:
            self._leader = state
            state.led_from = state.steps - 1 if self._steps > state.steps else 0
        self._others = 0 if state is self._leader else self._others + 1
        return state is self._leader

    def _choose_round(self, steps: int, now: float) -> None:
        """Whether the next step is one that is looked at; `steps`: of the optimizer that leads, since it does."""
        if self._round:
            with self._torch.no_grad():
                self._end_round(steps)
            self._next = now + max(INTERVAL_SECONDS, SHARE * self._cost)
            self._cost = 0.0
        following = steps + 1
        self._round = self._errors <= MAX_ERRORS and self._begins_round(steps, now)
        self.looking = self._round and self._left is None and self._bad is None
        if self._round:
            self._inputs = 0
            self._entered.clear()
            self._words_of = None
            for loss in self._losses.values():
                loss.in_round = 0
            if following < 8 or following & (following - 1) == 0:
                self.modules.index()

    def _begins_round(self, steps: int, now: float) -> bool:
        """Whether the step after this one is due to be one that is looked at."""
        following = steps + 1
        return following & (following - 1) == 0 or now >= self._next or self._round and self._another_is_due()

    def _another_is_due(self) -> bool:
        """Whether a look goes on until another optimizer has made its step, which may come behind several of the one that leads."""
        leader = self._leader
        return (
            leader is not None
            and leader.looks < MAX_SAMPLES
            and any(1 <= other.steps and 3 * other.looks < leader.looks for other in self._optimizers.values())
        )

    def _end_round(self, steps: int) -> None:
        self._put_away_others()
        self._rounds.append(self._steps)
        self._checked += bool(self._torch.is_anomaly_enabled())
        thinned(self._rounds, 200)
        self.kept.look(self._steps)
        self._describe()
        if steps == 2 and self._leader is not None:
            # A script that trains in a function lets go of its scheduler before it ends.
            self._look_for_schedulers(self._leader)
        if self._waiting:
            self._read_losses()
        self._read_norms()

    def _put_away_others(self) -> None:
        """Slices of the parameters that no gradient has come to, such as those of a teacher, to see whether they change."""
        for identity, (name, module) in self.modules.names.items():
            parameter = module.parameter(name) if identity not in self._parameters else None
            if id(parameter) == identity and self._may_change(parameter):
                known = self._parameter(identity, parameter)
                known["first"] = statistics.put_away(statistics.part(parameter))

    def _spent(self, began: float) -> None:
        spent = time.perf_counter() - began
        self._cost += spent
        self._all_cost += spent

    def _parameter(self, identity: int, parameter: Any) -> dict[str, Any]:
        known = self._parameters.get(identity)
        if known is None or known["reference"]() is not parameter:
            known = self._parameters[identity] = {
                "reference": weakref.ref(parameter),
                "name": "" if identity in self.modules.names else self._name_of(parameter),
                "reached": 0,
                "looked": 0,
                "with_gradient": 0,
                "seen": 0,
                "samples": [],
                "first": None,
            }
        return known

    def _name_of(self, parameter: Any) -> str:
        """The user's name for a parameter that no module has, or its place in a list of some."""
        for name, held in held_by_user(self._own):
            if held is parameter:
                return name
            if is_sequence(held) and len(held) <= MAX_PARAMETERS:
                index = next((index for index, one in enumerate(held) if one is parameter), None)
                if index is not None:
                    return f"{name}[{index}]"
        return ""

    def _look_at_parameters(self, state: _Optimizer, optimizer: Any) -> None:
        """Gradients before the step, and slices of the parameters, to compare them with afterwards."""
        torch = self._torch
        state.looks += 1
        if not self.modules.names:
            self.modules.index()
        own = [parameter for group in optimizer.param_groups for parameter in group["params"]][:800]
        own = [item for item in own if not self._untouchable(item) and item.layout == torch.strided and item.numel()]
        with_gradient = [item for item in own if item.grad is not None and item.grad.layout == torch.strided]
        gradients = [item.grad for item in with_gradient if statistics.part(item.grad) is not None]
        norms = statistics.numbers(torch, list(torch._foreach_norm(gradients))) if gradients else []
        zeros = statistics.numbers(torch, [(statistics.part(one) == 0).float().mean() for one in gradients])
        of = {id(item): (norm, zero) for item, norm, zero in zip(with_gradient, norms, zeros)}
        if norms and self._norm_of != self._steps + 1:
            self._norms.add(self._steps + 1, math.sqrt(sum(norm * norm for norm in norms)))
        state.before = []
        for item in own:
            known = self._parameter(id(item), item)
            known["seen"] += 1
            known["with_gradient"] += item.grad is not None
            norm, zero = of.get(id(item), (None, None))
            finite = norm is None or math.isfinite(norm)
            sample = {"step": self._steps + 1, "finite": finite, "zeros": zero}
            sample["gradient"] = norm if finite else None
            known["samples"].append(sample)
            thinned(known["samples"], MAX_SAMPLES)
            slice_ = statistics.part(item).clone()
            if known["first"] is None:
                known["first"] = statistics.put_away(slice_)
            state.before.append((weakref.ref(item), slice_))

    def _compare(self, state: _Optimizer | _ByHand) -> None:
        """The updates of a step, relative to the parameters."""
        torch = self._torch
        before, state.before = state.before, []
        pairs = [(item, old) for reference, old in before if (item := reference()) is not None]
        pairs = [(item, old) for item, old in pairs if item.device == old.device and item.is_floating_point()]
        compared = [(item, new, old) for item, old in pairs if (new := statistics.part(item)).shape == old.shape]
        if not compared:
            return
        old = [one for _, _, one in compared]
        changes = torch._foreach_sub([new for _, new, _ in compared], old)
        if isinstance(state, _Optimizer) and len(state.slopes) < MAX_SLOPES:
            self._note_slope(state, [(item, change) for (item, _, _), change in zip(compared, changes)])
        sizes = statistics.numbers(torch, [*torch._foreach_norm(changes), *torch._foreach_norm(old)])
        for index, (item, _, _) in enumerate(compared):
            change, size = sizes[index], sizes[len(compared) + index]
            samples = self._parameter(id(item), item)["samples"]
            if samples:
                samples[-1]["norm"] = statistics.number(size)
                samples[-1]["update"] = statistics.number(change / size) if size else None
                samples[-1]["moved"] = change != 0
                if item.dtype in (torch.float16, torch.bfloat16):
                    samples[-1]["lost"] = self._lost(item, compared[index][2])

    def _lost(self, item: Any, before: Any) -> float | None:
        """The share of numbers with a gradient that a step has left what they were: their updates were rounded away."""
        gradient = self._gradient_part(item, before)
        if gradient is None:
            return None
        led = gradient != 0
        still = led & (statistics.part(item) == before)
        count, total = statistics.numbers(self._torch, [still.sum(), led.sum()])
        return count / total if total else None

    def _note_slope(self, state: _Optimizer, changes: list[tuple[Any, Any]]) -> None:
        """Whether a step went down: the direction of the updates that it made, beside that of the gradients."""
        pairs = [(part, change) for item, change in changes if (part := self._gradient_part(item, change)) is not None]
        if not pairs:
            return
        torch = self._torch
        gradients, updates = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        products = [one.sum() for one in torch._foreach_mul(gradients, updates)]
        norms = [*torch._foreach_norm(gradients), *torch._foreach_norm(updates)]
        numbers = statistics.numbers(torch, [*products, *norms])
        count = len(pairs)
        along = sum(numbers[:count])
        sizes = [math.sqrt(sum(one * one for one in numbers[begin : begin + count])) for begin in (count, 2 * count)]
        if all(sizes) and math.isfinite(along / sizes[0] / sizes[1]):
            state.slopes.append(along / sizes[0] / sizes[1])

    def _gradient_part(self, item: Any, change: Any) -> Any:
        gradient = item.grad
        if gradient is None or gradient.layout != self._torch.strided or self._untouchable(gradient):
            return None
        part = statistics.part(gradient)
        alike = part is not None and (part.shape, part.dtype, part.device) == (
            change.shape,
            change.dtype,
            change.device,
        )
        return part if alike else None

    def _look_at_norm(self, optimizer: Any) -> None:
        """The norm of all gradients, to be read later."""
        torch = self._torch
        with torch.no_grad():
            self._take_norm(torch, optimizer)

    def _take_norm(self, torch: Any, optimizer: Any) -> None:
        gradients = [
            one.grad
            for group in optimizer.param_groups
            for one in group["params"]
            if one.grad is not None and type(one.grad) is torch.Tensor and one.grad.layout == torch.strided
        ]
        if gradients and len({one.device for one in gradients}) == 1 and not self._untouchable(gradients[0]):
            norms = torch._foreach_norm(gradients)
            if len({one.dtype for one in norms}) == 1:
                self._norms_waiting.append((self._steps + 1, torch.linalg.vector_norm(torch.stack(list(norms)))))
        if len(self._norms_waiting) >= (MAX_PENDING if self._device != "cpu" else 1):
            self._read_norms()

    def _read_norms(self) -> None:
        waiting, self._norms_waiting = self._norms_waiting, []
        for (step, _), norm in zip(waiting, statistics.numbers(self._torch, [item[1] for item in waiting])):
            self._norms.add(step, norm)

    def _look_at_memory(self) -> None:
        try:
            with open("/proc/self/statm", "rb") as file:
                self._memory.add(self._steps, float(int(file.read().split()[1]) * 4096))
        except OSError:
            return
        if self._device == "cuda":
            self._device_memory.add(self._steps, float(self._torch.cuda.memory_allocated()))

    def scalar(self, site: int, value: Any) -> None:
        """A number without a gradient, at a recorded place: a metric, where it is computed without recording for autograd."""
        torch = self._torch
        if torch is None or torch.is_grad_enabled() or value.device.type != "cpu" or not value.is_floating_point():
            return
        series = self._metrics.get(site)
        if series is None:
            if len(self._metrics) >= MAX_METRICS:
                return
            series = self._metrics[site] = Series()
        if self._may_read(value):
            series.add(self._steps, float(value))

    def number_made(self, site: int, value: Any) -> None:
        """A number with a gradient, at a recorded place, in a step that is looked at: it may be a loss that is not finite, and left out."""
        if not self._round or self._left is not None or self._bad is not None:
            self.looking = False
            return
        if self._may_read(value) and value.is_cpu and not self._silent():
            torch = self._torch
            with torch._C.DisableTorchFunction(), torch.no_grad():
                number = float(value)
                if not math.isfinite(number):
                    self._left = {
                        **self._origin(graphs.Graph(value.grad_fn)),
                        "step": self._steps + 1,
                        "loss_key": self._own.here(),
                        "near": numbers_nearby(torch, self._own, self._may_look_at),
                        "value": "nan" if math.isnan(number) else "inf",
                    }
                    self.looking = False

    # the record

    def to_json(self) -> dict[str, Any] | None:
        """The record; None for a script that did not train. What was seen until a profiler started is one, too, and so is that
        nothing was, because of one."""
        if self.interrupted:
            self._torch = sys.modules.get("torch")
        torch = self._torch
        if torch is None or not (self._backwards or self._steps or self.interrupted or self._left is not None):
            return None
        with torch._C.DisableTorchFunction(), torch.no_grad():
            if self._waiting:
                self._read_losses()
            self._read_norms()
            self.modules.index()
            self._close_step_times()
            self.kept.end(self._steps)
            return self._record()

    def _note_what_lives(self) -> None:
        for reference in self._made:
            optimizer = reference()
            if optimizer is not None:
                self._state(optimizer)
        self._describe()

    def _describe(self) -> None:
        """Remember what can be told of optimizers, modules and parameters only while they live: a script that trains in a
        function lets go of them before it ends. What has died since the last time stays as it was then."""
        self._count_schedulers()
        owners: dict[int, int] = {}
        for state in self._optimizers.values():
            optimizer = state.reference()
            if optimizer is not None:
                state.groups = _groups(optimizer)
                owned = [parameter for group in optimizer.param_groups for parameter in group["params"]]
                state.owned = {id(parameter): weakref.ref(parameter) for parameter in owned}
            for identity, reference in state.owned.items():
                if reference() is not None:
                    owners.setdefault(identity, state.number)
        modules = self.modules.describe(lambda parameter: id(parameter) in owners)
        parameters = list(self._live_parameters(owners))
        if not owners and (self._optimizers or self._by_hand is not None):
            modules += [item for item in self._last_modules if item[0].reference() is None]
            alive = {id(counted) for _, counted, _ in parameters}
            parameters += [item for item in self._last_parameters if id(item[1]) not in alive]
        self._last_modules, self._last_parameters = modules[:MAX_MODULES], parameters[:MAX_PARAMETERS]

    def _record(self) -> dict[str, Any]:
        torch = self._torch
        self._note_what_lives()
        if self._rounds and self._checked >= len(self._rounds):
            self._count("anomaly-detection", None, step=self._steps)
        modules, order = modules_json(self._last_modules)
        peak = torch.cuda.max_memory_allocated() if self._device == "cuda" else None
        parameters = self._parameters_json(order)
        trains = self._by_hand is None or any(one["changed"] is not False for one in parameters)
        return {
            "steps": self._steps if trains else 0,
            "backwards": self._backwards,
            "seconds": time.perf_counter() - self._began if self._began else 0.0,
            "rounds": self._rounds,
            "losses": [self._loss_json(loss) for loss in self._losses.values()],
            "optimizers": [self._optimizer_json(state) for state in self._optimizers.values()],
            "schedulers": [self._scheduler_json(found) for found in self._all_schedulers()],
            "parameters": parameters,
            "modules": modules,
            "activations": [_with_place(found) for found in self._activations.values()],
            "batches": [_with_place(found) for found in self._batches.values()],
            "gradient_norm": self._norms.to_json(),
            "scale": self._scale.to_json(),
            "step_seconds": self._step_seconds.to_json(),
            "phases": self._seconds,
            "phase_series": {name: series.to_json() for name, series in self._phase_series.items()},
            "memory": self._memory.to_json(),
            "device_memory": self._device_memory.to_json(),
            "device_peak": peak,
            "kept": self.kept.to_json(self.site_place),
            "events": [_event_json(found) for found in self._events.values()],
            "bad": _bad_json(self._bad),
            "left": _bad_json(self._left),
            "metrics": [
                {"place": place, "values": series.to_json()}
                for site, series in self._metrics.items()
                if (place := self.site_place(site)) is not None
            ],
            "relation": self._pairs.to_json(torch),
            "scaler_place": places.to_json(self._scaler_key),
            "seeded": None if self._seeded is None else torch.initial_seed() != self._seeded,
            "device": self._device,
            "interrupted": self.interrupted,
            "cost": self._all_cost,
            **self.data.to_json(),
        }

    def _loss_json(self, loss: _Loss) -> dict[str, Any]:
        return {
            "place": places.to_json(loss.key),
            "values": loss.values.to_json(),
            "kind": loss.kind,
            "retained": loss.retained,
            "looked": loss.looked,
            "nodes": loss.nodes.to_json(),
            "mean": loss.mean,
            "leaf": loss.leaf,
            "scaled": loss.scaled,
            "per_step": loss.per_step,
        }

    def _optimizer_json(self, state: _Optimizer) -> dict[str, Any]:
        groups = []
        for number, group in enumerate(state.groups):
            rates = state.rates[number] if number < len(state.rates) else Series()
            if not rates.count and group["lr"] is not None:
                rates.add(0, group["lr"])
            groups.append({**{name: value for name, value in group.items() if name != "lr"}, "rates": rates.to_json()})
        return {
            "type": state.type,
            "place": state.place,
            "step_place": places.to_json(state.step_key),
            "clear_place": places.to_json(state.clear_key),
            "backward_place": places.to_json(state.backward_key),
            "groups": groups,
            **{
                name: getattr(state, name)
                for name in (
                    "steps",
                    "uncleared",
                    "without_gradients",
                    "cleared_after_backward",
                    "discarded",
                    "backwards",
                    "closure",
                    "again",
                    "slopes",
                )
            },
        }

    def _look_for_schedulers(self, state: _Optimizer) -> None:
        """Find those of an optimizer that knows of one that nobody has seen."""
        optimizer = state.reference()
        wrapped = optimizer is not None and hasattr(getattr(optimizer, "step", None), "_wrapped_by_lr_sched")
        if not wrapped or any(found["of"] == id(optimizer) for found in self._schedulers.values()):
            return
        import gc

        for holder in gc.get_referrers(optimizer):
            owner = (
                next((one for one in gc.get_referrers(holder) if getattr(one, "__dict__", None) is holder), None)
                if isinstance(holder, dict)
                else holder
            )
            if owner is not None and is_a(owner, "LRScheduler"):
                self._scheduler(owner)

    def _all_schedulers(self) -> list[dict[str, Any]]:
        """Those whose step was told, and those of optimizers that know of one that nobody has seen."""
        for state in self._optimizers.values():
            self._look_for_schedulers(state)
        inner: set[int] = set()
        self._count_schedulers()
        for found in self._schedulers.values():
            scheduler = found["reference"]()
            if scheduler is not None:
                inner.update(id(one) for one in scheduler.__dict__.get("_schedulers") or ())
        return [found for key, found in self._schedulers.items() if key not in inner]

    def _count_schedulers(self) -> None:
        """How often those that live have been stepped, which is not told in each step."""
        for found in self._schedulers.values():
            scheduler = found["reference"]()
            if scheduler is not None:
                count = scheduler.__dict__.get("_step_count", scheduler.__dict__.get("last_epoch", 0) + 1)
                found["steps"] = max(found["steps"], count - 1 if type(count) is int else 0)
                found["counted"] = self._steps

    def _scheduler_json(self, found: dict[str, Any]) -> dict[str, Any]:
        number = next((one.number for key, one in self._optimizers.items() if key == found["of"]), None)
        return {
            "type": found["type"],
            "optimizer": number,
            "place": None,
            "step_place": places.to_json(found["step_key"]),
            "steps": found["steps"],
            "settings": found["settings"],
            "before_first_step": found["before_first_step"],
            "counted": found["counted"],
        }

    def _alike(self, parameter: Any) -> bool:
        """Whether all rows of a weight are equal."""
        torch = self._torch
        return (
            parameter.dim() >= 2
            and parameter.shape[0] >= 4
            and parameter.numel() > parameter.shape[0]
            and statistics.readable(torch, parameter)
            and torch.equal(parameter[0], parameter[1])
            and statistics.rows_equal(torch, parameter)
        )

    def _is_still(self, away: statistics.Away, now: Any) -> bool:
        before = statistics.taken_out(self._torch, away)
        return bool(before.shape == now.shape and self._torch.equal(before, now))

    def _live_parameters(self, owners: dict[int, int]) -> Iterator[tuple[Known | None, dict[str, Any], dict[str, Any]]]:
        """The module, what is counted, and what is to be said beside that of each parameter that lives."""
        for identity in dict.fromkeys([*self.modules.names, *self._parameters]):
            name, module = self.modules.names.get(identity, ("", None))
            known = self._parameters.get(identity)
            parameter = known["reference"]() if known is not None else None
            if parameter is None and module is not None:
                parameter = module.parameter(name)
            if parameter is None or id(parameter) != identity:
                continue
            changed = None
            if known is not None and known["first"] is not None and parameter.device == known["first"][0].device:
                changed = not self._is_still(known["first"], statistics.part(parameter))
            entry = {
                "name": name or (known["name"] if known is not None else ""),
                "shape": [int(size) for size in parameter.shape],
                "trainable": bool(parameter.requires_grad),
                "optimizer": owners.get(identity),
                "changed": changed,
                "holder": self.modules.holders.get(identity),
                "rows_equal": self._alike(parameter),
            }
            yield module, known or {}, entry

    def _parameters_json(self, order: dict[int, int]) -> list[dict[str, Any]]:
        return [
            {
                **entry,
                "module": order.get(id(module)) if module is not None else None,
                **{name: counted[name] for name in _COUNTED if name in counted},
            }
            for module, counted, entry in self._last_parameters
        ]


_BOUNDED_TARGETS = frozenset(("mse", "huber", "smooth_l1", "bce_with_logits"))
"""Losses with targets that may be out of reach."""
_COUNTED = ("reached", "looked", "with_gradient", "seen", "samples")


def _groups(optimizer: Any) -> list[dict[str, Any]]:
    """The parameter groups of an optimizer, without what belongs to the steps."""
    found = []
    for group in optimizer.param_groups[:32]:
        plain = {name: group[name] for name in ("weight_decay", "momentum") if type(group.get(name)) in (int, float)}
        rate = group.get("lr")
        found.append(
            {
                "parameters": len(group["params"]),
                "elements": sum(item.numel() for item in group["params"]),
                "lr": float(rate) if isinstance(rate, int | float) else None,
                **plain,
            }
        )
    return found


_RESHAPES = ("ViewBackward0", "ReshapeAliasBackward0", "SqueezeBackward0", "SqueezeBackward1", "UnsqueezeBackward0",
             "TBackward0", "TransposeBackward0", "PermuteBackward0", "CloneBackward0", "ToCopyBackward0", "SelectBackward0")  # fmt: skip
_MASKS = (
    *(f"{name}Backward0" for name in "MaskedFill FillDiagonal IndexPut Index".split()),
    "torch::autograd::CopySlices",
)
"""Functions that leave single scores out: each keeps the others as they are."""
_OF_CLASSES = frozenset({"cross_entropy"})
"""Losses whose targets are the numbers of classes, beside a distribution over all of them."""
_NORMALISED = {"SoftmaxBackward0": "softmax", "SigmoidBackward0": "sigmoid", "LogSoftmaxBackward0": "log_softmax"}


def _bad_json(bad: dict[str, Any] | None) -> dict[str, Any] | None:
    if bad is None:
        return None
    found = {**bad, "place": bad.get("site"), "loss_place": places.to_json(bad["loss_key"])}
    return {name: value for name, value in found.items() if name not in ("site", "loss_key")}


def _with_place(found: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in found.items() if name not in ("site", "last")}, "place": found["site"]}


def _event_json(found: dict[str, Any]) -> dict[str, Any]:
    place = found["place"] if "place" in found else places.to_json(found["key"])
    return {name: found[name] for name in ("kind", "count", "step", "details")} | {"place": place}
