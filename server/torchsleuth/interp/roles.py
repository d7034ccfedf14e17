"""The roles of parameters of functions that nothing calls, by what is done with them, and values that stand for them.

A role needs evidence of use: a name alone is none, and evidence for two roles means that nothing is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.library.tensor_methods import TensorMethods
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.forms import (
    every_parameter,
    is_assignment,
    is_binding,
    is_display,
    is_function_call,
    is_method_call,
    is_spread,
    last_word,
    loads,
    nodes_in,
    plain_name,
)
from torchsleuth.syntax.trees import index
from torchsleuth.syntax.uses import PREPARE, Is, Item, Key, Label, Labels, Result, Uses, shown_key
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, Native
from torchsleuth.values import (
    UNKNOWN,
    Builtin,
    ClassValue,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    Parameters,
    Tensor,
    Trained,
    Value,
)
from torchsleuth.values.graph import node_of


class Role(Enum):
    """The role of a parameter."""

    MODULE = "module"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    SCALER = "scaler"
    MEASURE = "measure"
    """A function that compares the output of a module with a target, and goes no further."""
    ENGINE = "engine"
    """An object with a ``backward`` of its own, such as an accelerator."""
    DEVICE = "device"
    """Where a module is moved to: an accelerator on the machines that have one."""


_OF_MODULES = frozenset("train eval parameters named_parameters modules named_modules requires_grad_".split())
"""Methods that modules have, and hardly anything else that is called."""
_OF_OPTIMIZERS = frozenset("zero_grad step state_dict load_state_dict add_param_group train eval".split())
_OF_SCALERS = frozenset("scale step update unscale_ state_dict load_state_dict is_enabled get_scale".split())
UNKNOWN_LOSS = "Loss"
"""The operator of a loss that nobody passes: what it computes is not known."""
_SCHEDULER = re.compile("sched|warm_?up", re.IGNORECASE)
_DEVICE = re.compile("dev|gpu|cuda", re.IGNORECASE)
_WRAPPING = frozenset({"None", "Optional", "Union"})
"""Words of annotations that stand around others."""
_ANNOTATED = {"Module": Role.MODULE, "Optimizer": Role.OPTIMIZER, "GradScaler": Role.SCALER, "Accelerator": Role.ENGINE}
_ANY = frozenset({"", "Any", "object"})
_PURE = frozenset("detach clone cpu cuda to float half double".split())
"""Methods of tensors that do nothing but give a result."""
MAX_READ = 64
"""Attributes or entries of a result that are told apart."""


@dataclass(frozen=True)
class Roles:
    """The roles of the keys of a function or a class. `batches`: loops over batches. `trained`: modules whose results a
    backward pass starts from. `evaluated`: modules that are put into evaluation mode. `certain`: those trained whose weights
    are sure to ask for gradients, as each has an optimizer, or is put into training mode. `changed`: modules that have a method
    called which modules of PyTorch do not have: it may give them other layers."""

    of: dict[Key, Role] = field(default_factory=dict)
    batches: frozenset[ast.AST] = frozenset()
    trained: frozenset[Key] = frozenset()
    evaluated: frozenset[Key] = frozenset()
    certain: frozenset[Key] = frozenset()
    changed: frozenset[Key] = frozenset()

    def named(self, role: Role) -> list[Key]:
        return [key for key, held in self.of.items() if held is role]

    def within(self, method: str) -> Roles:
        """Those of the attributes of an object, and of the parameters of one of its methods."""

        def own(keys: Iterable[Key]) -> frozenset[Key]:
            return frozenset(key for key in keys if "(" not in key or key.startswith(f"{method}("))

        of = {key: role for key, role in self.of.items() if own([key])}
        return Roles(of, self.batches, own(self.trained), own(self.evaluated), own(self.certain), own(self.changed))


def roles_by_use(uses: Uses, annotations: dict[Key, str], of_modules: frozenset[str]) -> Roles:
    """The roles of the keys that something is done with. `annotations`: what is written beside them; `of_modules`: the
    attributes that every module has."""
    of: dict[Key, Role] = {}
    modules = {key for key in uses.called if uses.names_of_methods(key) & _OF_MODULES}
    modules |= {key for key in uses.judged & set(uses.called) if not all(map(_is_of_attributes, uses.called[key]))}
    losses = {key for key in uses.called if key not in uses.judged and _is_loss(uses, key, modules)}
    modules = {
        key
        for key in uses.called
        if key not in losses and (key in modules or uses.feeds.get(key, set()) & losses or _is_judged(uses, key))
    }
    modules |= {
        key for key in uses.called if uses.feeds.get(key, set()) & modules and key in uses.differentiated
    } - losses
    modules |= {key for key in uses.methods if key not in uses.called and _holds_parameters(uses, key)}
    if not uses.differentiated:
        of |= dict.fromkeys(sorted(key for key in uses.called if _is_measure(uses, key, modules)), Role.MEASURE)
    of |= dict.fromkeys(sorted(losses), Role.LOSS) | dict.fromkeys(sorted(modules), Role.MODULE)
    for key in dict.fromkeys((*uses.methods, *uses.given_to)):
        if key not in uses.called and key not in of and not _is_set_aside(uses, key):
            role = _by_methods(uses, key)
            if role is not None:
                of[key] = role
    stepped = [key for key in uses.steps if key not in uses.called and key not in of and _only_steps(uses, key)]
    for key in stepped:
        later = any(role is Role.OPTIMIZER for role in of.values())
        if _SCHEDULER.search(key) is not None:
            of[key] = Role.SCHEDULER
        elif key in uses.first_steps or (not later and stepped.index(key) == 0):
            of[key] = Role.OPTIMIZER
    if Role.OPTIMIZER in of.values():
        scheduling = (
            key for key in uses.methods if key not in of and _SCHEDULER.search(key) and _only_steps(uses, key)
        )
        of |= dict.fromkeys(scheduling, Role.SCHEDULER)
    places = [
        key for key in uses.given_to if key not in of and key not in uses.called and _is_place(uses, key, modules)
    ]
    of |= dict.fromkeys(places, Role.DEVICE)
    _annotate(of, annotations)
    optimizers = sum(role is Role.OPTIMIZER for role in of.values())
    found = {key for key, role in of.items() if role is Role.MODULE}
    feeding = [key for key in uses.called if key not in of and uses.leads.get(key, set()) & found]
    if feeding and len(found) + len(feeding) == optimizers:
        # A generator: an optimizer is left over for what a discriminator is called with.
        of |= dict.fromkeys(feeding, Role.MODULE)
    known = frozenset(key for key, role in of.items() if role is Role.MODULE)
    trained = frozenset(key for key in known if _leads_on(uses.leads, key) & uses.differentiated) - uses.frozen
    if not uses.differentiated and Role.OPTIMIZER in of.values():
        trained = frozenset(key for key in known if "train" in uses.names_of_methods(key))
    evaluated = frozenset(key for key in known if "eval" in uses.names_of_methods(key))
    certain = trained if len(trained) == optimizers or len(trained) == 1 else trained & uses.optimized
    certain |= {key for key in trained if ("train", 0) in uses.methods.get(key, ())}
    changed = frozenset(key for key in known if uses.names_of_methods(key) - of_modules)
    return Roles(of, frozenset(_batches(uses, known)), trained, evaluated, certain, changed)


def _annotate(of: dict[Key, Role], annotations: dict[Key, str]) -> None:
    """Give the keys the roles that are written beside them; another annotation takes a role away."""
    for key, written in annotations.items():
        text = _one_of_union(written)
        named = text.rpartition(".")[2]
        if named in _ANNOTATED:
            of[key] = _ANNOTATED[named] if of.get(key) is not Role.LOSS or named != "Module" else Role.LOSS
        elif text.startswith(("torch.optim.", "optim.")) and "lr_scheduler" not in text:
            of[key] = Role.OPTIMIZER
        elif text not in _ANY and not (named[:1].isupper() and of.get(key) in (Role.MODULE, Role.LOSS)):
            of.pop(key, None)


def _one_of_union(text: str) -> str:
    """The type that says most of those in an annotation: of ``None | float | Schedule``, what is no class of anybody's."""
    types = [one for one in re.findall(r"[\w.]+", text) if one.rpartition(".")[2] not in _WRAPPING]
    return next((one for one in types if not one.rpartition(".")[2][:1].isupper()), text)


def _is_judged(uses: Uses, key: Key) -> bool:
    """Whether what a key makes of one thing, which is no attribute such as the progress so far, is compared with another one, and a
    backward pass starts from that."""
    judged = key in uses.compared and key in uses.differentiated
    calls = uses.called[key]
    return judged and all(len(given) == 1 for given in calls) and not all(map(_is_of_attributes, calls))


def _is_of_attributes(given: tuple[Labels, ...]) -> bool:
    """Whether a key is called with nothing but attributes of the object."""
    labels = [label for one in given for label in one]
    return bool(labels) and all(isinstance(label, Is) and label.key.startswith("self.") for label in labels)


def _leads_on(leads: dict[Key, set[Key]], key: Key) -> set[Key]:
    """A key, and those that are called with what comes from it, with its graph."""
    found, pending = {key}, [key]
    while pending:
        fresh = leads.get(pending.pop(), set()) - found
        found |= fresh
        pending += fresh
    return found


def _is_loss(uses: Uses, key: Key, modules: set[Key]) -> bool:
    """Whether a key is called with the result of a module, and its own result is where a backward pass starts."""
    if key not in uses.differentiated or uses.feeds.get(key, set()) - {key}:
        return False
    for given in uses.called[key]:
        results = {label.key for labels in given for label in of_kind(labels, Result)} - {key}
        if len(given) >= 2 and (results & modules or any(_reads(uses, other) for other in results)):
            return True
    return False


def _is_measure(uses: Uses, key: Key, modules: set[Key]) -> bool:
    """Whether a key is only ever called with the result of a module and with something of the batch."""
    if key in modules or uses.feeds.get(key, set()) - {key}:
        return False
    return all(_compares(given, key, modules) for given in uses.called[key])


def _compares(given: tuple[Labels, ...], key: Key, modules: set[Key]) -> bool:
    labels = frozenset[Label]().union(*given)
    results = {label.key for label in of_kind(labels, Result)} - {key}
    items = any_are(labels, Item)
    return items and len(given) == 2 and bool(results & modules) and not any_are(labels, Is)


def _reads(uses: Uses, key: Key) -> bool:
    """Whether a key is called with what a loop sees, or with anything that is no key."""
    return any(
        isinstance(label, Item) for given in uses.called.get(key, ()) for labels in given for label in labels
    ) or (bool(uses.called.get(key)) and key in uses.differentiated)


def _holds_parameters(uses: Uses, key: Key) -> bool:
    names = uses.names_of_methods(key)
    return len(names & _OF_MODULES) >= 2 and "step" not in names


def _is_set_aside(uses: Uses, key: Key) -> bool:
    """Whether a key has what several roles have."""
    names = uses.names_of_methods(key)
    return "backward" in names and ("step" in names or "zero_grad" in names)


def _by_methods(uses: Uses, key: Key) -> Role | None:
    names = uses.names_of_methods(key)
    given = {(other, name) for other, name in uses.given_to.get(key, ()) if name == "step"}
    scalers = {other for other, name in given if "scale" in uses.names_of_methods(other)}
    if {"zero_grad", "step"} <= names or (scalers and names <= _OF_OPTIMIZERS):
        return Role.OPTIMIZER if names <= _OF_OPTIMIZERS | {"share_memory"} else None
    if "scale" in names and names & {"step", "update", "unscale_"} and names <= _OF_SCALERS:
        return Role.SCALER
    if "backward" in names and uses.starts.get(key):
        return Role.ENGINE
    if names == {"zero_grad"} and uses.differentiated:
        return Role.OPTIMIZER
    return None


def _is_place(uses: Uses, key: Key, modules: set[Key]) -> bool:
    """Whether modules are moved to a key that is named as a device: ``model.to(device)``, where it may be a dtype."""
    moved = any(name == "to" and other in modules for other, name in uses.given_to[key])
    return moved and not uses.methods.get(key) and _DEVICE.search(key) is not None


def _only_steps(uses: Uses, key: Key) -> bool:
    names = uses.names_of_methods(key)
    return "step" in names and names <= {"step", "state_dict", "load_state_dict", "get_last_lr"}


def _batches(uses: Uses, modules: Iterable[Key]) -> Iterable[ast.AST]:
    """The loops whose items a module is called with."""
    known = set(modules)
    for key, calls in uses.called.items():
        if key in known:
            yield from (label.loop for given in calls for labels in given for label in of_kind(labels, Item))


def annotations_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[Key, str]:
    """The annotations of the parameters of a function."""
    spec = function.args
    everything = every_parameter(spec)
    return {part.arg: ast.unparse(part.annotation) for part in everything if part.annotation is not None}


def names_called(node: ast.AST) -> frozenset[str]:
    """The names of the functions and methods that something calls."""
    functions = (part.func for part in nodes_in(node, ast.Call))
    return frozenset(last_word(part) for part in of_kind(functions, ast.Name, ast.Attribute))


# -- what stands for them --------------------------------------------------------------------------


class StandIns:
    """Values with the roles of the keys of one function or class."""

    def __init__(self, interp: Interpreter, roles: Roles, node: ast.AST, path: str) -> None:
        self.roles = roles
        self._interp = interp
        self._node = ast.ClassDef("model", [], [], [], [])
        ast.copy_location(self._node, node)
        self._path = path
        self._standing: set[LibraryModule] = set()
        self._open: set[LibraryModule] = set()
        self.values: dict[Key, Value] = {key: self._module(key) for key in roles.named(Role.MODULE)}
        makers = {
            Role.LOSS: self._loss,
            Role.OPTIMIZER: self._optimizer,
            Role.SCHEDULER: self._scheduler,
            Role.SCALER: self._scaler,
            Role.ENGINE: self._engine,
            Role.MEASURE: self._measure,
            Role.DEVICE: self._place,
        }
        for key, role in roles.of.items():
            if role in makers:
                self.values[key] = makers[role](key)

    def _class(self, name: str, **slots: Value) -> ClassValue:
        """A class of which nothing is known but that it is a module, and these attributes."""
        made = ClassValue(name, (Native("torch.nn.Module", "module-class"), UNKNOWN), self._node, self._path)
        made.slots.update(slots)
        return made

    def _module(self, key: Key) -> Instance:
        weights = LibraryModule("torch.nn.Linear", (UNKNOWN, UNKNOWN), {}, None)
        alone = not self.roles.trained and key in self.roles.evaluated
        weights.slots["requires_grad"] = True if alone or key in self.roles.certain else None
        weights.slots["device"] = None
        self._standing.add(weights)
        if key in self.roles.changed:
            self._open.add(weights)
        forward = Builtin(f"{key}.forward", lambda call: self._result(call, weights, made))
        made = Instance(self._class(key, forward=forward))
        made.slots["*"] = weights
        made.state.update(training=None, device=None, ready=True)
        weights.slots["training"] = None
        made.name = shown_key(key)
        return made

    def _loss(self, key: Key) -> Builtin | Instance:
        made = Instance(self._class(key, loss=True, forward=Builtin(f"{key}.forward", self._reduced)))
        made.state.update(training=None, device=None, ready=True)
        return made

    def _optimizer(self, key: Key) -> LibraryObject:
        made = LibraryObject("torch.optim.Optimizer", (UNKNOWN, {}), {}, None)
        trained = [self.values[name] for name in self.roles.trained]
        alone = len(self.roles.named(Role.OPTIMIZER)) == 1 and len(trained) == 1
        given: tuple[Value, ...] = (UNKNOWN,)
        parts: tuple[Value, ...] = ()
        if alone and isinstance(trained[0], Instance):
            given, parts = (Parameters((trained[0],)),), (trained[0].slots["*"],)
        made.slots["trained"] = Trained(given, parts)
        self._interp.trace.optimizers.append(made)
        return made

    def _scheduler(self, key: Key) -> LibraryObject:
        optimizers = of_kind(self.values.values(), LibraryObject)
        given = optimizers[0] if len(optimizers) == 1 else UNKNOWN
        return LibraryObject("torch.optim.lr_scheduler.LRScheduler", (given,), {}, None)

    @staticmethod
    def _scaler(key: Key) -> LibraryObject:
        return LibraryObject("torch.amp.GradScaler", (), {}, None)

    @staticmethod
    def _place(key: Key) -> Device:
        return Device("cuda", symbolic=True)

    @staticmethod
    def _measure(key: Key) -> Builtin:
        return Builtin(key, lambda call: UNKNOWN)

    def _engine(self, key: Key) -> Instance:
        def backward(call: Arguments) -> Value:
            loss = as_kind(call.args[0] if call.args else UNKNOWN, Tensor)
            if loss is not None:
                inner = Arguments((), {}, call.node, call.frame)
                TensorMethods(self._interp, loss, "backward").run(inner)
                self._interp.record_method("Tensor.backward", loss, None, call.node, call.frame)
            return None

        def given_back(call: Arguments) -> Value:
            return call.args[0] if len(call.args) == 1 else tuple(call.args)

        made = Instance(ClassValue(key, (UNKNOWN,), self._node, self._path))
        made.slots["backward"] = Builtin(f"{key}.backward", backward)
        for name in PREPARE:
            made.slots[name] = Builtin(f"{key}.{name}", given_back)
        return made

    # -- results -----------------------------------------------------------------------------------

    def _result(self, call: Arguments, weights: LibraryModule, owner: Instance) -> Value:
        """The result of a module: a tensor of its graph, or, where the function reads them, attributes or entries that are."""
        parts = _unpacked(call)
        if parts is not None:
            return self._filled(parts, self._of_module(call, weights, owner), _objects_in(call))
        used = _read_of(call, self._interp.oracle.attributes("torch.Tensor"))
        if used is None:
            self._interp.escape((*call.args, *call.kwargs.values()))
            return UNKNOWN
        names, keys = used
        tensor = self._of_module(call, weights, owner)
        if not names and not keys:
            return tensor
        if keys:
            return DictValue({key: self._interp.same_graph(tensor, tensor.copy()) for key in keys})
        made = Instance(ClassValue("result", (UNKNOWN,), self._node, self._path))
        made.slots.update({name: self._interp.same_graph(tensor, tensor.copy()) for name in names})
        return made

    def _of_module(self, call: Arguments, weights: LibraryModule, owner: Instance) -> Tensor:
        """A tensor computed with the weights of a module, and with those of the layers that the function has put into it."""
        tensor = self._computed("Module", call, weights)
        for part in of_kind(hierarchy.descendants(owner), LibraryModule):
            if part is not weights and part.requires_grad is not False and hierarchy.has_own_parameters(part):
                passed = Arguments((tensor,), {}, call.node, call.frame)
                tensor = self._computed("Module", passed, part)
        return tensor

    def _filled(self, target: ast.expr, tensor: Tensor, objects: set[str]) -> Value:
        """Tensors of one graph in the form of the targets that they are bound to. `objects`: names of what is none."""
        if is_display(target):
            return tuple(self._filled(part, tensor, objects) for part in target.elts)
        if plain_name(target) in objects:
            return UNKNOWN
        return self._interp.same_graph(tensor, tensor.copy())

    def _reduced(self, call: Arguments) -> Value:
        """The result of a loss."""
        self._interp.event("loss", UNKNOWN, call.node, call.frame)
        return self._computed(UNKNOWN_LOSS, call, None)

    def _trainability(self, weights: LibraryModule) -> bool | None:
        """Whether the parameters require grad; a module of which not all is known may have others than were frozen."""
        interp = self._interp
        more = weights in self._open or (weights in self._standing and interp.settings["placed"] is not False)
        known = interp.trainability(weights)
        return None if more and known is False else known

    def _computed(self, name: str, call: Arguments, weights: LibraryModule | None) -> Tensor:
        interp = self._interp
        operation = interp.operation(name, call.args, call.kwargs, call.node, call.frame, weights)
        tensors = list(operation.operands)
        grads = [tensor.spec.requires_grad for tensor in tensors]
        if weights is not None:
            grads.append(self._trainability(weights))
        recording: bool | None = False
        if interp.grad is not False:
            unknown = None in grads or (weights is None and not tensors)
            recording = True if True in grads else None if unknown or interp.grad is None else False
            recording = None if interp.grad is None and recording else recording
        place = as_kind(weights.slots["device"], Device) if weights is not None else None
        made = Tensor(UNKNOWN_TENSOR.with_(requires_grad=recording, device=place))
        made.origin = None
        interp.connect([made], operation, tensors)
        node = node_of(made)
        if node is not None and weights is not None and weights.requires_grad:
            node.frees = True
        for tensor in tensors:
            made.slots["history"] = made.history | tensor.history
        return made


def _unpacked(call: Arguments) -> ast.expr | None:
    """The targets that the result of a call is bound to, where there are several."""
    function = call.frame.function
    parent = index(function.node).parents.get(call.node) if function is not None else None
    if not is_assignment(parent) or parent.value is not call.node:
        return None
    target = parent.targets[0]
    starred = is_spread(ast.walk(target))
    return target if is_display(target) and not starred else None


def _objects_in(call: Arguments) -> set[str]:
    """The names that a function calls methods of for what these do, such as ``state.detach()``, which does nothing to a tensor."""
    function = call.frame.function
    alone = (part.value for part in index(function.node).of_type(ast.Expr)) if function is not None else ()
    return {
        part.func.value.id
        for part in alone
        if is_method_call(part) and isinstance(part.func.value, ast.Name) and part.func.attr in _PURE
    }


def _read_of(call: Arguments, of_tensors: frozenset[str]) -> tuple[set[str], set[str]] | None:
    """The attributes and the entries that the rest of a function reads of the result of a call; None where it is used as
    something that is neither a tensor nor a record."""
    function = call.frame.function
    if function is None or call.expression is None:
        return set(), set()
    within = index(function.node)
    parent = within.parents.get(call.expression)
    held: list[tuple[ast.AST, ast.AST | None]] = [(call.expression, parent)]
    if is_binding(parent):
        name = parent.targets[0].id
        held = [
            (node, within.parents.get(node)) for node in within.of_type(ast.Name) if node.id == name and loads(node)
        ]
    names: set[str] = set()
    keys: set[str] = set()
    for node, around in held:
        if isinstance(around, ast.Attribute) and around.value is node and around.attr not in of_tensors:
            names.add(around.attr)
        elif isinstance(around, ast.Subscript) and around.value is node and isinstance(around.slice, ast.Constant):
            if isinstance(around.slice.value, str):
                keys.add(around.slice.value)
        elif (
            is_function_call(around, "isinstance")
            or isinstance(around, ast.keyword)
            and around.arg is None
            or isinstance(around, ast.For | ast.comprehension)
            and around.iter is node
        ):
            return None
    called = {
        around.attr
        for node, around in held
        if isinstance(around, ast.Attribute) and isinstance(within.parents.get(around), ast.Call)
    }
    if names & called or (names and keys) or len(names) + len(keys) > MAX_READ:
        return None
    return names, keys


__all__ = ["UNKNOWN_LOSS", "Role", "Roles", "StandIns", "annotations_of", "names_called", "roles_by_use"]
