"""Tests of the user's, as a test runner calls them: with fixtures, behind what sets them up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import by_position, last_word
from torchsleuth.tensors.spec import Native
from torchsleuth.values import UNKNOWN, ClassValue, Function, Instance, Value
from torchsleuth.values.frames import Frame

_SET_UP = ("setUpClass", "setup_class", "setUp", "setup_method", "setup")
_DEPTH = 4
"""Fixtures that one of them is made with."""
_NOT_RUN = frozenset({"xfail", "expectedFailure", "skip", "skipif", "skipIf", "skipUnless"})


def _marks(function: Function) -> set[str]:
    """The last words of its decorators."""
    decorators = getattr(function.node, "decorator_list", [])
    return {last_word(node.func if isinstance(node, ast.Call) else node) for node in decorators}


def may_fail(function: Function) -> bool:
    """Whether a test is said to fail, or not to be run everywhere."""
    return bool(_marks(function) & _NOT_RUN)


def is_fixture(function: Function) -> bool:
    """``@pytest.fixture``"""
    return "fixture" in _marks(function)


def fixture(interp: Interpreter, functions: Iterable[Function], name: str, frame: Frame, depth: int = _DEPTH) -> Value:
    """The value that a test gets for a parameter of this name."""
    found = [one for one in functions if one.name == name and one.owner is None and is_fixture(one)]
    if len(found) != 1 or not depth:
        return UNKNOWN
    given = {one.arg: fixture(interp, functions, one.arg, frame, depth - 1) for one in by_position(found[0].node.args)}
    value = interp.call_function(found[0], (), given, None, frame)
    if not found[0].is_generator:
        return value
    items = interp.iterate(value, found[0].node, frame).items
    return items[0] if items else UNKNOWN


def cases(classes: Iterable[ClassValue]) -> Iterator[tuple[ClassValue, Function]]:
    """The tests of classes that a test runner makes objects of."""
    for cls in classes:
        runs = cls.name.startswith("Test") or any(one.name == "TestCase" for one in of_kind(cls.mro(), Native))
        if runs and not cls.is_module() and "__init__" not in cls.slots:
            for name, method in list(cls.slots.items()):
                if isinstance(method, Function) and name.startswith("test") and not may_fail(method):
                    yield cls, method


def set_up(interp: Interpreter, cls: ClassValue, frame: Frame) -> Instance | None:
    """The object that a test is a method of."""
    instance = as_kind(interp.instantiate(cls, (), {}, None, frame), Instance)
    for name in _SET_UP if instance is not None else ():
        method = as_kind(interp.class_attribute(cls, name), Function)
        if method is not None and len(by_position(method.node.args)) == 1:
            owner: Value = cls if method.kind == "classmethod" else instance
            interp.call_function(method, (owner,), {}, None, frame)
    return instance


__all__ = ["cases", "fixture", "may_fail", "set_up"]
