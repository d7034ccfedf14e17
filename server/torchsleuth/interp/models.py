"""The registry of models: what is known of the functions and classes of libraries, by their public names.

A model of a function takes the interpreter and the call. A model of a class is a class: its methods are those of the
objects, where they are marked with `method`, and its attributes those that are marked with `attribute`::

    @models("torch.utils.hooks.RemovableHandle")
    class Handle(Model):
        @method
        def remove(self, call: Arguments) -> Value: ...

Nothing here knows a library. Who asks by a name imports `interp.library.registered`, which imports what registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, TypeVar, overload

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Failure
from torchsleuth.values import UNKNOWN, Array, Bound, LibraryObject, Value
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

FunctionModel = Callable[[Interpreter, Arguments], Value]
"""A model of a function: the result of a call, and its effects on the state."""
Method = Callable[[Any, Arguments], Value]
Attribute = Callable[[Any, ast.AST, Frame], Value]
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])
_RegisteredT = TypeVar("_RegisteredT", bound=Callable[..., Any])

ABSENT: Any = MISSING

_functions: dict[str, FunctionModel] = {}
_classes: dict[str, type[Model]] = {}
_pure: set[str] = set()


def models(*names: str, pure: bool = False) -> Callable[[_RegisteredT], _RegisteredT]:
    """Register the model of what has these public names. One that ends with a star stands for all names that begin so; a
    longer name goes before a shorter one. `pure`: it changes nothing, even where nothing else is known of it."""

    def register(model: _RegisteredT) -> _RegisteredT:
        for name in names:
            assert name not in _functions, f"{name} has two models"
            if isinstance(model, type) and issubclass(model, Model):
                _classes[name] = model
                _functions[name] = model.made
            else:
                _functions[name] = model
            if pure:
                _pure.add(name)
        _look_up.cache_clear()
        return model

    return register


def registered() -> tuple[str, ...]:
    """All names that there are models for."""
    return tuple(_functions)


def of_function(path: str, whole: bool = False) -> FunctionModel | None:
    """The model of what is called by this name. `whole`: it is registered under just this name."""
    name = _look_up(path)
    return None if name is None or (whole and name != path) else _functions[name]


def is_pure(path: str) -> bool:
    return _look_up(path) in _pure


def of_class(path: str) -> type[Model]:
    """The model of the objects of a class; one that knows nothing of them where there is none."""
    name = _look_up(path)
    return Model if name is None else _classes.get(name, Model)


@lru_cache(maxsize=4096)
def _look_up(path: str) -> str | None:
    """The name under which the model of a path is registered."""
    if path in _functions:
        return path
    families = (name for name in _functions if name.endswith("*") and path.startswith(name[:-1]))
    return max(families, key=len, default=None)


@overload
def method(function: _FunctionT, /) -> _FunctionT: ...


@overload
def method(*names: str) -> Callable[[_FunctionT], _FunctionT]: ...


def method(*names: Any) -> Any:
    """A method of the objects, under its own name or under others."""
    return _mark("models_methods", names)


@overload
def attribute(function: _FunctionT, /) -> _FunctionT: ...


@overload
def attribute(*names: str) -> Callable[[_FunctionT], _FunctionT]: ...


def attribute(*names: Any) -> Any:
    """An attribute of the objects, under its own name or under others."""
    return _mark("models_attributes", names)


def _mark(kind: str, names: tuple[Any, ...]) -> Any:
    if len(names) == 1 and callable(names[0]):
        return _mark(kind, (names[0].__name__,))(names[0])

    def mark(function: _FunctionT) -> _FunctionT:
        setattr(function, kind, names)
        return function

    return mark


class Model:
    """The model of a value of one kind, such as an object of a class of a library. Made for each question about it."""

    methods: ClassVar[dict[str, Method]] = {}
    attributes: ClassVar[dict[str, Attribute]] = {}
    decorates: ClassVar[bool] = False
    """Whether the objects are decorators of functions."""
    closed: ClassVar[bool] = False
    """Whether the objects have nothing but what the installed package gives them: another name is misspelt."""
    kind: ClassVar[str | None] = None
    """A word for what the objects are, where Python refuses to loop over them, to call them, or to take a part of them."""

    def __init_subclass__(cls) -> None:
        cls.methods, cls.attributes = dict(cls.methods), dict(cls.attributes)
        for function in vars(cls).values():
            cls.methods.update(dict.fromkeys(getattr(function, "models_methods", ()), function))
            cls.attributes.update(dict.fromkeys(getattr(function, "models_attributes", ()), function))

    def __init__(self, interp: Interpreter, value: Any, name: str = "") -> None:
        """`name`: of the method or attribute that is asked for."""
        self.interp = interp
        self.value = value
        self.name = name

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        """A call of the class."""
        return cls.object(interp, call)

    @staticmethod
    def object(interp: Interpreter, call: Arguments) -> LibraryObject:
        """An object with the arguments of a call."""
        return LibraryObject(call.path, call.args, call.kwargs, interp.site(call.node, call.frame))

    def get(self, node: ast.AST, frame: Frame) -> Value:
        """The attribute."""
        held = self.value.slots
        if self.name in held:
            return held[self.name]
        found = self.attributes.get(self.name)
        return Bound(self.value, self.name) if found is None else found(self, node, frame)

    def run(self, call: Arguments) -> Value:
        """A call of the method."""
        found = self.methods.get(self.name)
        return self.other(call) if found is None else found(self, call)

    def other(self, call: Arguments) -> Value:
        """A call of a method that is not modelled: whatever it is given may be changed."""
        self.interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN

    def called(self, call: Arguments) -> Value:
        """A call of the object."""
        return UNKNOWN

    def length(self, frame: Frame) -> Size | None:
        """``len(value)``, None where it is not known."""
        return None

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        """``value[key]``"""
        return UNKNOWN

    def set_item(self, key: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """``value[key] = …``"""

    def delete_item(self, key: Value, node: ast.AST, frame: Frame) -> None:
        """``del value[key]``"""

    def combined(self, name: str, left: Value, right: Value, frame: Frame) -> Value:
        """An operator or a comparison of which the value is a side, ABSENT where it has none of its own."""
        return ABSENT

    def as_array(self, frame: Frame) -> Array | None:
        """``np.asarray(value)``, None where it is not known."""
        return None

    def for_torch(self, name: str, frame: Frame) -> Array | Failure | None:
        """The array that ``torch.tensor(value)``, or its like of this name, makes a tensor of; None where it is not known."""
        return None

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        """The elements that a loop over the value sees."""
        return Iteration((UNKNOWN,), exact=False)

    def lacks(self) -> bool:
        """Whether an attribute that is neither modelled nor set may be misspelt."""
        return self.closed


class Result(Model):
    """The model of objects that other calls give: of what a call of their class gives, nothing is known."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
