"""Modules: containers, methods shared by library and user modules, losses, and tensors inside values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

from torchsleuth.interp import kinds, misuse, special
from torchsleuth.interp.arguments import Arguments, device_of
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hooks, layers, published, states
from torchsleuth.interp.library.hierarchy import (
    CONTAINERS,
    PARAMETER_CONTAINERS,
    STATE,
    children_known,
    descendants,
    holds_parameters,
    named_children,
    named_descendants,
    own_tensors,
    parameter,
    parts_of,
    training_of,
)
from torchsleuth.interp.library.parameters import of_module
from torchsleuth.interp.models import Model, method
from torchsleuth.interp.trace import AttributeSet, Switch
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import is_index
from torchsleuth.tensors.legacy import named_type
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, NotASpec
from torchsleuth.values import (
    UNKNOWN,
    AnyModule,
    Array,
    Bound,
    Choice,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    NamedResult,
    Parameters,
    Scalar,
    Site,
    SliceValue,
    Tensor,
    Value,
    is_module,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import Cut
from torchsleuth.values.join import MISSING

WRAPPED = frozenset({"module", "_orig_mod"})
"""The attributes under which DistributedDataParallel and torch.compile, which are seen through, hold the module that they wrap."""
_OF_LISTS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})
OPERATORS: dict[str, dict[str, tuple[str, ...]]] = {
    "FloatFunctional": {
        "add": ("torch.add",),
        "add_scalar": ("torch.add",),
        "mul": ("torch.mul",),
        "mul_scalar": ("torch.mul",),
        "matmul": ("torch.matmul",),
        "cat": ("torch.cat",),
        "add_relu": ("torch.add", "torch.relu"),
    },
}
"""Methods of layers that are operators, one after the other, by the class."""
MAX_APPLIED = 64
"""Modules that the function given to ``apply`` is called with."""
_SETTABLE = frozenset({"name", "training"})


# -- containers ------------------------------------------------------------------------------------


def _is_named(value: Value) -> TypeGuard[tuple[str, Value]]:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def make_container(interp: Interpreter, module: LibraryModule, call: Arguments) -> None:
    """Fill the children of a Sequential, ModuleList or ModuleDict from its constructor's arguments."""
    children: list[tuple[str, Value]] | None = []
    first = call.args[0] if call.args else None
    if isinstance(first, DictValue) and first.type_name == "dict" and module.path in _OF_LISTS:
        misuse.holds(interp, module.path, first, getattr(call.node, "args", [call.node])[0], call.frame)
    if module.path == "torch.nn.Sequential" and not isinstance(first, DictValue):
        children = [(str(index), value) for index, value in enumerate(call.args)]
    elif isinstance(first, DictValue):
        children = None if first.items is None else [(str(key), value) for key, value in first.items.items()]
        refuses_names(interp, call.path, [name for name, _ in children or ()], call.node, call.frame)
    elif first is not None:
        items = interp.sequence(first, call.node, call.frame)
        if items is None:
            children = None
        elif items and len(pairs := list(filter(_is_named, items))) == len(items):
            children = pairs
        else:
            children = [(str(index), value) for index, value in enumerate(items)]
    if not call.exact:
        children = None
    if children is not None and module.path in PARAMETER_CONTAINERS:
        children = [(name, _as_parameter(value)) for name, value in children]
    if module.path in _OF_LISTS and call.expression is not None and len(call.expression.args) == 1:
        values = [value for _, value in children or ()]
        misuse.repeats_one(interp, values, call.expression.args[0], call.frame, holds_parameters)
    # The module is new: wherever it is reached, it has been made this way.
    module.slots["children"] = UNKNOWN if children is None else tuple(children)
    if children is None:
        module.broken = True
        return
    written = call.expression.args if call.expression is not None and len(call.expression.args) == len(children) else ()
    for index, (name, value) in enumerate(children):
        if isinstance(value, LibraryModule | Instance) and value.name is None:
            value.name = name
        if module.path not in PARAMETER_CONTAINERS:
            misuse.holds(interp, module.path, value, written[index] if written else call.node, call.frame)


def _once_each(pairs: list[tuple[str, Value]]) -> list[tuple[str, Value]]:
    """Modules with their names, each where it is met first."""
    return list({id(part): (name, part) for name, part in reversed(pairs)}.values())[::-1]


def refuses_names(interp: Interpreter, path: str, names: Iterable[str], node: ast.AST, frame: Frame) -> None:
    """A name of a part that nn.Module refuses."""
    odd = next((name for name in names if "." in name or not name), None)
    if odd is not None:
        text = f'module name can\'t contain ".", got: {odd}' if odd else "module name can't be empty string"
        misuse.refuses(interp, path, Arguments((), {}, node, frame), "KeyError", text)


def _as_parameter(value: Value) -> Value:
    """The element that a ParameterList or ParameterDict makes of a value."""
    if not isinstance(value, Tensor) or value.parameter:
        return value
    made = Tensor(value.spec.with_(requires_grad=True), value.origin)
    made.parameter = True
    return made


def run_sequential(interp: Interpreter, module: LibraryModule, call: Arguments) -> Value:

    if module.children is None or len(call.args) != 1:
        interp.escape(call.args)
        return Tensor(_unknown_output())
    value = call.args[0]
    for index, (_, part) in enumerate(module.children):
        if not is_module(part):
            return UNKNOWN
        value = interp.call(part, Arguments((value,), {}, call.node, call.frame, written=call.written and index == 0))
    return value


def _unknown_output() -> Any:

    return UNKNOWN_TENSOR


def child(interp: Interpreter, module: LibraryModule, key: Value) -> Value:
    """``module[key]``."""

    children = module.children
    if children is None:
        return UNKNOWN
    match key:
        case str():
            return next((value for name, value in children if name == key), UNKNOWN)
        case int():
            return children[key][1] if is_index(key, children) else UNKNOWN
    ends = (
        [end for end in (key.start, key.stop, key.step) if isinstance(end, int | None)]
        if isinstance(key, SliceValue)
        else []
    )
    if len(ends) == 3:
        part = LibraryModule(module.path, (), {}, module.site)
        selected = children[slice(*ends)]
        part.slots["children"] = tuple((str(index), value) for index, (_, value) in enumerate(selected))
        part.slots["training"] = module.slots["training"]
        return part
    if children and len(children) <= 32:
        joined = children[0][1]
        for _, value in children[1:]:
            joined = interp.heap.join_values(joined, value)
        return joined
    return UNKNOWN


def set_child(interp: Interpreter, module: LibraryModule, key: Value, value: Value) -> None:
    """``module[key] = value``."""
    children = module.children
    if children is None:
        return
    if module.path in ("torch.nn.ModuleDict", "torch.nn.ParameterDict") and isinstance(key, str):
        value = _as_parameter(value) if module.path in PARAMETER_CONTAINERS else value
        interp.heap.set(module.slots, "children", tuple({**dict(children), key: value}.items()))
    elif is_index(key, children):
        changed = list(children)
        changed[key] = (changed[key][0], value)
        interp.heap.set(module.slots, "children", tuple(changed))
    else:
        interp.heap.set(module.slots, "children", UNKNOWN)


def delete_item(interp: Interpreter, owner: LibraryModule | Instance, key: Value) -> None:
    """``del module[key]``, also of an object that is derived from a container."""
    container = _container(owner)
    if isinstance(owner, Instance) and is_module(owner.slots.get(key) if isinstance(key, str) else None):
        interp.heap.set(owner.slots, key, MISSING)
    if container is not None:
        _delete_child(interp, container, key)


def _delete_child(interp: Interpreter, module: LibraryModule, key: Value) -> None:
    """Leave out a part; those behind it in a list get other numbers."""
    children = module.children
    if children is None:
        return
    left: list[tuple[str, Value]] | None = list(children)
    if isinstance(key, str):
        left = [pair for pair in children if pair[0] != key]
    elif is_index(key, children):
        left = [*children[: key % len(children)], *children[key % len(children) + 1 :]]
    else:
        left = None
    if left is not None and module.path in _OF_LISTS:
        left = [(str(index), value) for index, (_, value) in enumerate(left)]
    interp.heap.set(module.slots, "children", UNKNOWN if left is None else tuple(left))


def _container(module: Value) -> LibraryModule | None:
    """The container that a module is, or is derived from."""
    found = as_kind(module.native if isinstance(module, Instance) else module, LibraryModule)
    return found if found is not None and found.path in (*CONTAINERS, *PARAMETER_CONTAINERS) else None


def set_module_attribute(interp: Interpreter, module: LibraryModule, name: str, value: Value) -> None:
    if isinstance(value, LibraryModule | Instance) and value.name is None:
        value.name = name
    if module.children is not None and is_module(value):
        interp.heap.set(module.slots, "children", tuple({**dict(module.children), name: value}.items()))
    elif isinstance(value, Tensor) and _replaces(interp, module, name, value):
        interp.heap.set(module.slots, "tied", {**module.slots["tied"], name: value})
    elif name not in _SETTABLE:
        interp.heap.set(module.slots, "attributes", {**module.slots["attributes"], name: value})


def delete_module_attribute(interp: Interpreter, module: LibraryModule, name: str) -> None:
    """``del model.fc``: the part is gone, and its parameters with it."""
    if module.children is not None:
        kept = tuple(pair for pair in module.children if pair[0] != name)
        interp.heap.set(module.slots, "children", kept)
    left = {key: value for key, value in module.slots["attributes"].items() if key != name}
    interp.heap.set(module.slots, "attributes", left)


def _replaces(interp: Interpreter, module: LibraryModule, name: str, value: Tensor) -> bool:
    """Whether a tensor takes the place of a parameter of the same shape, as in ``decoder.weight = encoder.weight``."""
    own = as_kind(parameter(interp, module, name), Tensor)
    if own is None:
        return False
    old, new = own.spec, interp.resolved_spec(value.spec)
    return old.shape is not None and old.shape == new.shape and old.dtype == new.dtype is not None


# -- the tree --------------------------------------------------------------------------------------


def _listed(interp: Interpreter, module: Value, parts: list[Any], whole: bool) -> ListValue:
    """A list of modules below this one: of all of them, or of some that stand for them."""
    if all(children_known(part) for part in (descendants(module) if whole else (module,))):
        return ListValue(tuple(parts))
    return ListValue(interp.heap.several((*parts, UNKNOWN)))


def _undecided(module: Value) -> Iterator[AnyModule]:
    """The modules that are below a module only if an attribute is one of the values that it may be."""
    for part in descendants(module):
        for value in part.slots.values() if isinstance(part, Instance) else ():
            for option in value.options if isinstance(value, Choice) else ():
                yield from descendants(option)


def move(interp: Interpreter, module: Value, device: Device | None, dtype: str | None) -> None:
    """``module.to(…)``: changes the module in place. `device` None with no dtype means not known."""
    for part in descendants(module):
        slots = part.state
        if dtype is None or device is not None:
            interp.heap.set(slots, "device", device)
        if dtype is not None and isinstance(part, LibraryModule):
            interp.heap.set(slots, "dtype", dtype)
        for tensor in own_tensors(part):
            spec = tensor.spec
            if dtype is not None and spec.dtype is not None and spec.dtype.startswith(("float", "bfloat")):
                spec = spec.with_(dtype=dtype)
            if dtype is None or device is not None:
                spec = spec.with_(device=device)
            interp.heap.set(tensor.slots, "spec", spec)
    for part in list(_undecided(module)):
        slots = part.state
        interp.heap.set(slots, "device", None)
        if dtype is not None and isinstance(part, LibraryModule):
            interp.heap.set(slots, "dtype", UNKNOWN)
        for tensor in own_tensors(part):
            interp.heap.set(tensor.slots, "spec", tensor.spec.with_(device=None, dtype=None))


def move_somewhere(interp: Interpreter, module: Value) -> None:
    """The module may be on any device from now on."""
    move(interp, module, None, None)


def set_training(interp: Interpreter, module: Value, mode: bool | None) -> None:
    for part in _undecided(module):
        interp.heap.set(part.state, "training", None)
    for part in descendants(module):
        interp.heap.set(part.state, "training", mode)


def _with_own_train(interp: Interpreter, module: Value, seen: set[int]) -> Iterator[tuple[Instance, Function]]:
    """The outermost parts of a module whose class overrides ``train()``."""
    for part in [child for _, child in named_children(module) if id(child) not in seen]:
        seen.add(id(part))
        own = special.method(interp, part, "train")
        if isinstance(part, Instance) and isinstance(own, Function):
            yield part, own
        else:
            yield from _with_own_train(interp, part, seen)


def set_requires_grad(
    interp: Interpreter, module: AnyModule, value: bool | None, site: Site | None = None, some: bool = False
) -> None:
    """Freeze or unfreeze the parameters of a module, all or `some` of them, at a place in the source."""
    if value is not None and site is not None:
        trace = interp.trace
        trace.switches.append(Switch(site, module, value, some, interp.uncertain == 0, len(trace.events)))
    for part in parts_of(module):
        before = part.requires_grad if isinstance(part, LibraryModule) else part.spec.requires_grad
        after = None if some and before is not value else value
        frozen = site if after is False else None
        if isinstance(part, LibraryModule):
            if not some:
                for name in [name for name in part.slots if name.startswith("switched ")]:
                    interp.heap.set(part.slots, name, None)
            interp.heap.set(part.slots, "requires_grad", after)
            interp.heap.set(part.slots, "frozen", frozen)
        else:
            interp.heap.set(part.slots, "spec", part.spec.with_(requires_grad=after))
            interp.heap.set(part.slots, "cut", Cut("frozen", frozen) if frozen else None)


_KEEPS_PLACE = frozenset({"non_blocking", "memory_format"})
"""Options of ``module.to()`` that say nothing of the device and the dtype."""
_CASTS = {"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"}


class ModuleMethods(Model):
    """The methods of nn.Module, on a library module or an instance of a user's module class."""

    def __init__(self, interp: Interpreter, value: LibraryModule | Instance, name: str = "") -> None:
        super().__init__(interp, value, name)
        self.module = value

    def other(self, call: Arguments) -> Value:
        if isinstance(self.module, LibraryModule) and self.module.built is not None:
            return published.method(self.interp, self.module, self.name, call)
        operators = _operators_of(self.module).get(self.name)
        if operators is None:
            return UNKNOWN
        first, *further = operators
        made = self.interp.operate(first, call.args, call.kwargs, call.node, call.frame)
        for target in further:
            made = self.interp.operate(target, (made,), {}, call.node, call.frame)
        return made

    # -- place, dtype and mode ---------------------------------------------------------------------

    @method("cuda", "cpu", "xpu", "mps")
    def moved(self, call: Arguments) -> Value:
        move(self.interp, self.module, Device(self.name), None)
        return self.module

    @method(*_CASTS)
    def cast(self, call: Arguments) -> Value:
        move(self.interp, self.module, None, _CASTS[self.name])
        return self.module

    @method("to", "type")
    def converted(self, call: Arguments) -> Value:
        named = named_type(call.given(0, "dst_type")) if self.name == "type" else None
        dtype, device = (None, None) if named is None else named
        given = [*call.args, *(value for key, value in call.kwargs.items() if key not in _KEEPS_PLACE)]
        if not given and call.kwargs:
            return self.module
        for value in given if named is None else ():
            match value:
                case DType():
                    dtype = value.name
                case Tensor():
                    device, dtype = value.spec.device, value.spec.dtype
                case _:
                    device = device_of(value) or device
        move(self.interp, self.module, device, dtype)
        return self.module

    @method("share_memory", "to_empty")
    def same(self, call: Arguments) -> Value:
        return self.module

    @method
    def train(self, call: Arguments) -> Value:
        self._switch(self.interp.truth(call.given(0, "mode", True)), call)
        return self.module

    @method
    def eval(self, call: Arguments) -> Value:
        own = special.method(self.interp, self.module, "train")
        if isinstance(own, Function):  # it calls train(False)
            self.interp.event("eval", self.module, call.node, call.frame)
            self.interp.call_function(own, (self.module, False), {}, call.expression, call.frame)
        else:
            self._switch(False, call)
        return self.module

    def _switch(self, mode: bool | None, call: Arguments) -> None:
        """Set the mode of a module and of its parts, which may have a ``train()`` of their own."""
        set_training(self.interp, self.module, mode)
        self.interp.event("train" if mode is not False else "eval", self.module, call.node, call.frame)
        for part, own in list(_with_own_train(self.interp, self.module, {id(self.module)})):
            given = UNKNOWN if mode is None else mode
            self.interp.call_function(own, (part, given), {}, call.expression, call.frame)

    @method
    def compile(self, call: Arguments) -> Value:
        return None

    # -- parameters --------------------------------------------------------------------------------

    @method("parameters", "named_parameters")
    def held(self, call: Arguments) -> Value:
        made = self.interp.site(call.node, call.frame)
        return Parameters((self.module,), self.name.startswith("named"), misuse.once(), made)

    @method
    def get_submodule(self, call: Arguments) -> Value:
        path = call.given(0, "target")
        if not isinstance(path, str):
            return UNKNOWN
        part: Value = self.module
        for name in path.split(".") if path else ():
            part = dict(named_children(part)).get(name, UNKNOWN) if is_module(part) else UNKNOWN
        return part

    @method("buffers", "named_buffers", "get_parameter")
    def unknown(self, call: Arguments) -> Value:
        return UNKNOWN

    @method
    def load_state_dict(self, call: Arguments) -> Value:
        misuse.needs_result(self.interp, call.given(0, "state_dict"), call.node, call.frame)
        kinds.state(self.interp, call.given(0, "state_dict"), call)
        states.check(self.interp, self.module, call)
        return NamedResult(misuse.KEYS, (ListValue(None), ListValue(None)))

    @method
    def state_dict(self, call: Arguments) -> Value:
        state = LibraryObject(STATE, (self.module,), {}, self.interp.site(call.node, call.frame))
        state.slots["entries"] = None
        return state

    @method
    def zero_grad(self, call: Arguments) -> Value:
        self.interp.event("zero_grad", self.module, call.node, call.frame)
        if call.given(0, "set_to_none", True) is True:
            self.interp.cleared(parts_of(self.module))
        return None

    @method
    def requires_grad_(self, call: Arguments) -> Value:
        decided = self.interp.truth(call.given(0, "requires_grad", True))
        set_requires_grad(self.interp, self.module, decided, self.interp.site(call.node, call.frame))
        return self.module

    @method("register_buffer", "register_parameter")
    def register_tensor(self, call: Arguments) -> Value:
        interp, module = self.interp, as_kind(self.module, Instance)
        key, value = as_kind(call.given(0, "name"), str), call.given(1, "tensor", call.given(1, "param"))
        if module is not None and key is not None:
            _refuses(interp, module, self.name, key, value, call)
            before = as_kind(module.state.get("registered", ()), tuple)
            if before is not None:
                interp.heap.set(module.state, "registered", (*before, key))
            site, ready = interp.site(call.node, call.frame), bool(module.state.get("ready"))
            interp.trace.attributes.append(AttributeSet(module, key, value, site, ready))
            if isinstance(value, Tensor):
                value.buffer = self.name == "register_buffer"
                if interp.truth(call.given(2, "persistent", True)) is not True:
                    interp.heap.set(value.slots, "transient", True)
            interp.heap.set(module.slots, key, value)
        return None

    # -- calls -------------------------------------------------------------------------------------

    @method
    def forward(self, call: Arguments) -> Value:
        return self.interp.call_module(self.module, call)

    @method(*hooks.KINDS)
    def register_hook(self, call: Arguments) -> Value:
        return hooks.register(self.interp, self.module, self.name, call)

    @method(*states.HOOKS)
    def register_state_hook(self, call: Arguments) -> Value:
        self.interp.trace.changes_states = True
        self.interp.escape((call.given(0, "hook", UNKNOWN),))
        return UNKNOWN

    @method
    def apply(self, call: Arguments) -> Value:
        """The function is called with each module below, and with this one."""
        kinds.applied(self.interp, call.given(0, "fn", UNKNOWN), call)
        parts = list(descendants(self.module))
        if len(parts) > MAX_APPLIED:
            self.interp.escape((self.module,))
            return self.module
        for part in reversed(parts):
            self.interp.call(call.given(0, "fn", UNKNOWN), replace(call, args=(part,), kwargs={}))
        return self.module

    # -- the modules below -------------------------------------------------------------------------

    @method
    def children(self, call: Arguments) -> Value:
        return self._listed([part for _, part in _once_each(named_children(self.module))])

    @method
    def modules(self, call: Arguments) -> Value:
        return self._listed(list(descendants(self.module)), True)

    @method
    def named_children(self, call: Arguments) -> Value:
        return self._listed(_once_each(named_children(self.module)))

    @method
    def named_modules(self, call: Arguments) -> Value:
        plain = not call.args and not call.kwargs
        named = [(key if plain else UNKNOWN, part) for key, part in named_descendants(self.module)]
        return self._listed(named, True)

    @method
    def items(self, call: Arguments) -> Value:
        return self._listed(self._pairs())

    @method
    def keys(self, call: Arguments) -> Value:
        return self._listed([key for key, _ in self._pairs()])

    @method
    def values(self, call: Arguments) -> Value:
        return self._listed([value for _, value in self._pairs()])

    def _pairs(self) -> list[tuple[str, Value]]:
        if isinstance(self.module, LibraryModule):
            return list(self.module.children or ())
        return named_children(self.module)

    def _listed(self, parts: list[Any], whole: bool = False) -> ListValue:
        return _listed(self.interp, self.module, parts, whole)

    @method("append", "extend", "insert")
    def grow(self, call: Arguments) -> Value:
        return _grow(self.interp, self.module, self.name, call)

    @method
    def update(self, call: Arguments) -> Value:
        """``layers.update({"head": nn.Linear(8, 8)})``"""
        target = _container(self.module)
        if target is None or not target.path.endswith("Dict"):
            return self.other(call)
        more = as_kind(call.args[0] if len(call.args) == 1 else None, DictValue)
        if target.children is None or more is None or more.items is None or call.kwargs:
            self.interp.heap.set(target.slots, "children", UNKNOWN)
        else:
            for key, value in more.items.items():
                set_child(self.interp, target, key, value)
        return None

    @method
    def pop(self, call: Arguments) -> Value:
        """``layers.pop("head")`` and ``layers.pop(-1)``"""
        target = _container(self.module)
        if target is None:
            return self.other(call)
        key = call.args[0] if call.args else -1
        taken = child(self.interp, target, key)
        delete_item(self.interp, self.module, key)
        return taken

    @method("clear", "popitem")
    def empty(self, call: Arguments) -> Value:
        target = _container(self.module)
        if target is None:
            return self.other(call)
        for key, _ in target.children or ():
            delete_item(self.interp, self.module, key)
        self.interp.heap.set(target.slots, "children", () if self.name == "clear" else UNKNOWN)
        return None if self.name == "clear" else UNKNOWN

    @method("add_module", "register_module")
    def add(self, call: Arguments) -> Value:
        interp, module = self.interp, self.module
        key, value = as_kind(call.given(0, "name"), str), call.given(1, "module")
        if key is not None:
            refuses_names(interp, "torch.nn.Module.add_module", [key], call.node, call.frame)
        match module:
            case Instance() if key is not None and is_module(value):
                interp.set_attribute(module, key, value, call.node, call.frame)
            case LibraryModule() if key is not None:
                set_module_attribute(interp, module, key, value)
            case _:
                container = as_kind(module.native if isinstance(module, Instance) else module, LibraryModule)
                if container is not None and container.children is not None:
                    interp.heap.set(container.slots, "children", UNKNOWN)
                elif isinstance(module, Instance):
                    interp.heap.set(module.state, "open", True)
        return None


class ParametersMethods(Model):
    """``model.parameters()``, whose elements are asked for all together, and ``model.weight`` of one that is not known."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        interp, owner = self.interp, self.value
        if self.name == "grad":
            interp.event("grad_touched", owner, node, frame)
            parts = [part for module in owner.modules for part in parts_of(module)]
            return None if interp.check_early(owner, parts, node, frame) else UNKNOWN
        if self.name == "requires_grad" and owner.once is None and not owner.named:
            return Scalar("bool")
        return Bound(owner, self.name) if is_in_place(self.name) else UNKNOWN

    @method
    def requires_grad_(self, call: Arguments) -> Value:
        decided = self.interp.truth(call.given(0, "requires_grad", True))
        self.interp.set_parameters(self.value, decided, call.node, call.frame)
        return self.value

    @method
    def detach_(self, call: Arguments) -> Value:
        return self.value

    def other(self, call: Arguments) -> Value:
        self.interp.parameters_written(self.value, call.node, call.frame)
        return self.value


def is_module_method(name: str) -> bool:
    return name in ModuleMethods.methods


def _refuses(interp: Interpreter, module: Instance, method: str, name: str, value: Value, call: Arguments) -> None:
    """A buffer or parameter that nn.Module refuses: for its name, or as it is no tensor. One may be registered again."""
    kind, registered = method.removeprefix("register_"), as_kind(module.state.get("registered", ()), tuple)
    held, said = module.slots.get(name, MISSING), None
    own = registered is None or name in registered
    own = own or (isinstance(held, Tensor) and (held.buffer or held.parameter))
    if "." in name:
        said = f'{kind} name can\'t contain "."'
    elif held is not MISSING and not is_unknown(held) and not own:
        said = f"attribute '{name}' already exists"
    elif isinstance(value, bool | int | float | str | ListValue | Array):
        given = "numpy.ndarray" if isinstance(value, Array) else getattr(value, "type_name", type(value).__name__)
        said = f"cannot assign '{given}' object to {kind} '{name}' (torch Tensor or None required)"
    if said is not None:
        misuse.refuses(interp, f"torch.nn.Module.{method}", call, "KeyError", said)


def extended(interp: Interpreter, module: LibraryModule, more: Value, node: ast.AST, frame: Frame) -> Value:
    """``layers += [nn.Linear(8, 8)]``: a container that grows by what the other holds; unknown for other modules."""
    grows = module.path in _OF_LISTS or module.path == "torch.nn.ParameterList"
    return _grow(interp, module, "extend", Arguments((more,), {}, node, frame)) if grows else UNKNOWN


def _grow(interp: Interpreter, module: Value, name: str, call: Arguments) -> Value:
    """append, extend and insert of ModuleList and Sequential."""
    target = as_kind(module.native if isinstance(module, Instance) else module, LibraryModule)
    if target is None or target.children is None:
        return module
    children = [value for _, value in target.children]
    if target.path in PARAMETER_CONTAINERS:
        call = replace(call, args=tuple(_as_parameter(value) for value in call.args))
    if name == "append" and call.args:
        if target.path in _OF_LISTS and call.expression is not None and call.expression.args:
            misuse.holds(interp, target.path, call.args[0], call.expression.args[0], call.frame)
        children.append(call.args[0])
    elif name == "extend" and call.args:
        more = interp.sequence(call.args[0], call.node, call.frame)
        if more is None:
            interp.heap.set(target.slots, "children", UNKNOWN)
            return module
        children.extend(more)
    elif name == "insert" and len(call.args) == 2 and isinstance(call.args[0], int):
        children.insert(call.args[0], call.args[1])
    else:
        interp.heap.set(target.slots, "children", UNKNOWN)
        return module
    interp.heap.set(target.slots, "children", tuple((str(index), value) for index, value in enumerate(children)))
    return module


def module_attribute(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    """An attribute of a library module: a set one, a child, a size, or a parameter."""

    if name in module.slots["attributes"]:
        return module.slots["attributes"][name]
    if name in module.slots["tied"]:
        return module.slots["tied"][name]
    if name == "training":
        return training_of(module)
    if module.children is not None:
        for key, value in module.children:
            if key == name:
                return value
    if is_module_method(name) or name in _operators_of(module):
        return Bound(module, name)
    if name in WRAPPED:
        return module
    if module.built is not None:
        return published.attribute(interp, module, name)
    found = interp.oracle.static_method(module.path, name) or parameter(interp, module, name)
    return _of_symbols(interp, module, name) if is_unknown(found) else found


def _operators_of(module: LibraryModule | Instance) -> dict[str, tuple[str, ...]]:
    """The operators that the methods of a layer of PyTorch are."""
    path = module.path if isinstance(module, LibraryModule) else ""
    return OPERATORS.get(path.rpartition(".")[2], {}) if path.startswith("torch.") else {}


def _of_symbols(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    """A parameter of a layer that is made with symbols, or a number that it keeps."""
    try:
        spec = layers.own_parameter(interp, module, name)
    except LookupError:
        return _constant_of_symbols(interp, module, name)
    if spec is None:
        return None
    made = of_module(module, spec)
    made.member = name
    return made


def _constant_of_symbols(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    try:
        return layers.own_constant(interp, module, name) if interp.is_inferring() else UNKNOWN
    except (LookupError, NotASpec):
        return UNKNOWN
