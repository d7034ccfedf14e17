"""Calls: binding of arguments, user functions and classes, library functions and modules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from torchsleuth.interp import (
    exceptions,
    installed_sources,
    kinds,
    misuse,
    operations,
    reasons,
    signatures,
    streams,
    unparsed,
    unset,
)
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.autocast import entered as autocast_inside
from torchsleuth.interp.budget import OutOfBudget
from torchsleuth.interp.choices import Choices
from torchsleuth.interp.decorators import hands_back
from torchsleuth.interp.exceptions import Thrown
from torchsleuth.interp.library import (
    bookkeeping,
    classes,
    detection,
    dispatch,
    einops,
    hierarchy,
    hooks,
    launchers,
    modules,
    packed,
    plain,
    python,
    records,
    replicas,
)
from torchsleuth.interp.trace import LOOP_METHODS, LibraryCall, MethodCall
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.changes import FILLS, containers_changed
from torchsleuth.syntax.forms import (
    by_position,
    is_attribute,
    is_function,
    is_function_call,
    is_name,
    last_word,
    nodes_in,
    stored_in,
    stores,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, Native
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    AnyModule,
    Array,
    Bound,
    Builtin,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Globals,
    Image,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Managed,
    Maybe,
    NamedResult,
    OpenArguments,
    Partial,
    PossibleArguments,
    Scalar,
    Several,
    Site,
    Tensor,
    Unknown,
    Value,
    Wrapped,
    elements_of,
    is_module,
    is_native,
    is_native_kind,
    is_unknown,
    owners,
    unwrapped,
)
from torchsleuth.values.conditions import Condition, Fact, identity
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING, as_it_is
from torchsleuth.values.names import Names

RAISE = 4
"""How a body ends that raises; see `interp/interpreter.py`."""
MAX_RECURSION = 6
"""Activations of one function inside of one another."""
MAX_PLAIN_RECURSION = 24
"""The same of one that is given plain values alone."""
MAX_RECURSIVE_CALLS = 200
"""Calls of one function inside of one activation of it."""


def whose_attributes(node: ast.expr) -> ast.expr | None:
    """The object whose attributes an expression is the dict of: ``config`` of ``config.__dict__`` or ``vars(config)``."""
    if is_attribute(node, "__dict__"):
        return node.value
    called = is_function_call(node, "vars")
    return node.args[0] if isinstance(node, ast.Call) and called and len(node.args) == 1 else None


def _method_path(receiver: Value, name: str) -> str:
    """The name under which a method of a library value is known, empty for most methods of plain Python values."""
    match receiver:
        case Tensor():
            return f"Tensor.{name}"
        case ListValue() if name == "append":
            return "list.append"
    if isinstance(receiver, LibraryModule) or is_module(receiver):
        return f"torch.nn.Module.{name}"
    return f"{receiver.path}.{name}" if isinstance(receiver, LibraryObject) else ""


def _is_users(callee: Value) -> bool:
    """Whether a call only hands its arguments on: to code of the user's, or into a container."""
    if isinstance(callee, Bound):
        return isinstance(callee.function, Function) or isinstance(callee.receiver, ListValue | DictValue)
    return isinstance(callee, Function | ClassValue | Partial | Instance)


def _looks_at(callee: Value) -> bool:
    """Whether a function only tells what an object is, or what it has."""
    return is_native_kind(callee, "builtin") and callee.name in _LOOKS


def _takes_sizes(callee: Value) -> bool:
    """Whether the positional arguments of a function are the sizes of its result: ``torch.zeros``, ``x.view``."""
    if isinstance(callee, Bound):
        return isinstance(callee.receiver, Tensor) and callee.function in _SIZED_METHODS
    return is_native(callee, *_SIZED_FUNCTIONS)


def _of_modules(call: Arguments) -> Arguments:
    """With the modules in the place of what wraps them."""
    if Wrapped not in map(type, (*call.args, *call.kwargs.values())):
        return call
    kwargs = copy(call.kwargs)
    kwargs.update({name: unwrapped(value) for name, value in call.kwargs.items()})
    return replace(call, args=tuple(map(unwrapped, call.args)), kwargs=kwargs)


_LOOKS = frozenset("isinstance hasattr getattr type".split())
_QUESTIONS = frozenset({"builtins.len", "builtins.isinstance", "builtins.bool"})
"""Functions that tell something of their argument, and change nothing."""

_SIZED_FUNCTIONS = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn"))
_SIZED_METHODS = frozenset("view reshape expand repeat permute new_zeros new_ones new_empty".split())
"""Functions and methods that take sizes, or dimensions, as so many arguments."""


class Calls(Choices):
    """Everything that is called."""

    first_unknown: Unknown | None = None
    """The unknown that was met first in the expression that is being evaluated: what it gives, comes from this."""

    def on_Call(self, node: ast.Call, frame: Frame) -> Value:
        if is_name(node.func, "super", "locals", "globals", "vars"):
            special = python.frame_builtin(self, node, frame)
            if special is not None:
                return special
        if is_attribute(node.func, *FILLS):
            owner = self.owner_of_attributes(node.func.value, frame)
            if owner is not None:
                self._fill_attributes(owner, node, frame)
                return UNKNOWN
        callee = self.eval(node.func, frame)
        args: list[Value] = []
        kwargs = PossibleArguments()
        exact = placed = named = True
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = self.eval(argument.value, frame)
                more = self.sequence(spread, argument, frame)
                if more is None and len(node.args) == 1 and isinstance(callee, Native):
                    columns = python.transposed(self, callee.path, spread, argument, frame)
                    if columns is not None:
                        return columns
            else:
                more = (self.eval(argument, frame),)
            if more is None:
                exact = placed = False
            elif placed:
                args.extend(more)
            else:
                self.escape(more)
        for keyword in node.keywords:
            inner = whose_attributes(keyword.value) if keyword.arg is None else None
            value = self.eval(keyword.value if inner is None else inner, frame)
            value = value if inner is None else records.attributes(value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, DictValue) and value.entries is not None:
                # Of an argument that may be left out, nothing is known.
                given = {key: item for key, item in value.entries.items() if isinstance(key, str)}
                possible = frozenset(key for key, item in given.items() if isinstance(item, Maybe))
                kwargs.update({key: UNKNOWN if key in possible else item for key, item in given.items()})
                kwargs.possible |= possible
                named = named and OTHERS not in value.entries
            else:
                named = False
        if not placed and named and _takes_sizes(callee):
            args, exact = [UNKNOWN], True  # ``x.view(2, *sizes)``: sizes that are not known, however many.
        value = self.call(callee, Arguments(tuple(args), kwargs, node, frame, exact and named))
        receiver = (callee.receiver,) if isinstance(callee, Bound) else tuple(owners(callee))
        self.carries(value, (*receiver, *args, *kwargs.values()), node)
        if is_native(callee, *_QUESTIONS) and exact and named and not kwargs:
            return self._asked(callee.path, tuple(args), value, node, frame)
        if isinstance(callee, Unknown | Native):
            # What is not followed may change what it gets, or is a method of.
            for one in of_kind((*owners(callee), *args), Unknown):
                one.attributes = None
        return value

    def _asked(self, path: str, args: tuple[Value, ...], value: Value, node: ast.Call, frame: Frame) -> Value:
        """The answer of a builtin about its argument: where it is not known, the same as when it was asked before."""
        conditions = self.heap.conditions
        if isinstance(value, Unknown):
            value = reasons.reasoned(value, node, frame, self.first_unknown)
        if path == "builtins.len" and len(args) == 1:
            return value if isinstance(value, int) else conditions.length(args[0], value)
        if path == "builtins.isinstance" and len(args) == 2 and isinstance(value, Scalar | Unknown):
            operands = identity(args[0]), identity(args[1])
            if None not in operands:
                conditions.types.setdefault(operands[1], args[1])
                fact = Fact(Condition("isinstance", operands), True)
                held = conditions.holds(fact)
                if held is not None:
                    return held
                value = Scalar("bool")
                conditions.tell(value, fact)
        elif path == "builtins.bool" and len(args) == 1 and isinstance(value, Scalar | Unknown):
            same = conditions.of(args[0])
            if same is not None:
                value = Scalar("bool")
                conditions.tell(value, same)
        return value

    def _fill_attributes(self, owner: Instance | LibraryObject, node: ast.Call, frame: Frame) -> None:
        """``owner.__dict__.update(…)`` and its like."""
        values = [self.eval(argument, frame) for argument in node.args]
        given = {keyword.arg: self.eval(keyword.value, frame) for keyword in node.keywords}
        for value in values:
            items = value.items if isinstance(value, DictValue) else None
            given.update({None: UNKNOWN} if items is None else items)
        if all(isinstance(name, str) for name in given) and isinstance(node.func, ast.Attribute):
            for name, value in given.items() if node.func.attr == "update" else ():
                self.set_attribute(owner, str(name), value, node, frame)
        else:
            self.forget_attributes(owner)

    def call(self, callee: Value, call: Arguments) -> Value:
        """The value of a call; unknown where the callee is."""
        self.tick()
        undecided = Choice in map(type, (callee, *call.args, *call.kwargs.values()))
        if undecided and (isinstance(callee, Choice) or not _is_users(callee)):
            return self.call_each(callee, call, self.call)
        callee = unwrapped(callee)
        if is_module(callee):
            call = replicas.inputs(self, callee, call)
        if not _is_users(callee) and not _looks_at(callee):
            call = _of_modules(call)
        if not call.exact and not isinstance(callee, Builtin):
            if not self._takes_unknown(callee):
                self.escape((*call.args, *call.kwargs.values()))
                return UNKNOWN
            known = OpenArguments(call.kwargs)
            known.defaults = False
            call = replace(call, kwargs=known)
        node = call.expression
        match callee:
            case Function():
                self._fits(callee, callee, call)
                return self.call_function(callee, call.args, call.kwargs, node, call.frame)
            case Bound():
                return self._call_bound(callee, call)
            case Builtin():
                return callee.call(call)
            case Partial():
                joined = Arguments(
                    (*callee.args, *call.args),
                    {**callee.kwargs, **call.kwargs},
                    call.node,
                    call.frame,
                    call.exact,
                )
                return self.call(callee.function, joined)
            case ClassValue():
                made = classes.called_through_metaclass(self, callee, call)
                if made is not plain.ABSENT:
                    return made
                return self.instantiate(callee, call.args, call.kwargs, node, call.frame)
            case Instance():
                return self._call_instance(callee, call)
        return self._call_foreign(callee, call)

    def _call_bound(self, callee: Bound, call: Arguments) -> Value:
        """A method: of a class of the user's, or of any other value."""
        if isinstance(callee.receiver, Wrapped):
            value = self._call_bound(Bound(callee.receiver.inner, callee.function), call)
            return callee.receiver if value is callee.receiver.inner else value
        node = call.expression
        if node is not None and is_module(callee.receiver):
            name = callee.function if isinstance(callee.function, str) else callee.function.name
            site = self.site(node, call.frame)
            self.trace.method_calls.append(MethodCall(name, site, callee.receiver, callee.function))
        if isinstance(callee.function, Function):
            if node is not None and callee.function.name in LOOP_METHODS:
                self.trace.own_calls.add(call.frame.source.span(node))
            self._fits(callee, callee.function, call)
            return self.call_function(callee.function, (callee.receiver, *call.args), call.kwargs, node, call.frame)
        path = _method_path(callee.receiver, callee.function)
        told = path.startswith("torch.optim.") and callee.function == "step"  # by rules of their own
        opaque = isinstance(callee.receiver, Instance) and callee.receiver.cls.opaque
        if not told and not opaque:
            parameters = self.oracle.signature(path)
            misuse.misfits(self, parameters and parameters[1:], callee, call)
        value = operations.of(self, callee.receiver).method(callee.function, call)
        self._record_call(path, callee.receiver, call, value)
        return value

    def _call_foreign(self, callee: Value, call: Arguments) -> Value:
        """A function or module of a library, or a callee that is not known."""
        node = call.expression
        misuse.calls(self, callee, node, call.frame)
        kinds.calls(self, callee, node, call.frame)
        match callee:
            case LibraryModule():
                return self.call_module(callee, call)
            case NamedResult():
                misuse.lacks(self, callee, None, call.node, call.frame)
        if isinstance(callee, Native):
            parameters = self.oracle.signature(callee.path)
            misuse.misfits(self, parameters or installed_sources.signature(callee.path), callee, call)
            kinds.numbers(self, parameters or (), call)
            misuse.computes_with(self, callee.path, call)
            value = dispatch.call_native(self, callee, call)
            self._record_call(callee.path, None, call, value)
            return value
        method = node.func.attr if node is not None and isinstance(node.func, ast.Attribute) else None
        if is_unknown(callee) and node is not None and method in LOOP_METHODS and not call.args:
            self.event(method, UNKNOWN, node, call.frame)
        if is_unknown(callee) and method == "requires_grad_":
            self.unknown_set()
        value = operations.of(self, callee).called(call)
        if is_unknown(value):
            self.escape((*call.args, *call.kwargs.values()))
            if method not in _LOOKING_ON:
                self.may_move((*call.args, *call.kwargs.values()))
                self.may_fill((*call.args, *call.kwargs.values()))
        return value

    def _fits(self, callee: Function | Bound, function: Function, call: Arguments) -> None:
        """Whether a function of the user's takes these arguments; decorators may change what it takes."""
        held = as_kind(callee.receiver, Instance) if isinstance(callee, Bound) else None
        if held is not None and not held.cls.has_known_bases():
            return  # The method may be that of another base.
        if function.kind == "function" and not getattr(function.node, "decorator_list", None):
            parameters = signatures.of(function, bound=isinstance(callee, Bound))
            misuse.misfits(self, parameters, callee, call)

    @staticmethod
    def _takes_unknown(callee: Value) -> bool:
        """Whether a call with unknown ``*args`` or ``**kwargs`` says something all the same."""
        if isinstance(callee, Native):
            return callee.kind == "module-class"
        function = as_kind(
            callee.function if isinstance(callee, Bound | Partial) else callee, Function, ClassValue, Instance
        )
        return function is not None

    def _record_call(self, path: str, receiver: Value, call: Arguments, result: Value) -> None:
        if path and not path.startswith("builtins."):
            self.trace.calls.append(
                LibraryCall(
                    path,
                    self.site(call.node, call.frame),
                    receiver,
                    call.args,
                    call.kwargs,
                    result,
                    tuple(self.loop_points),
                    self.uncertain == 0,
                    self.grad,
                    len(self.trace.events),
                    bool(self.guarded),
                    self.heap.conditions.unavailable,
                )
            )

    def record_method(self, path: str, receiver: Value, result: Value, node: ast.AST, frame: Frame) -> None:
        """Record something that is no call, and of interest like one: ``x.data``."""
        self._record_call(path, receiver, Arguments((), {}, node, frame), result)

    # -- functions of the user's -------------------------------------------------------------------

    def call_function(
        self,
        function: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.Call | None,
        caller: Frame,
        body: Callable[[Value], None] | None = None,
    ) -> Value:
        """Runs a user function in a frame of its own. `body`: of the ``with`` that it is the context manager of."""
        if function.kind == "contextmanager" and body is None:
            return Managed(function, args, kwargs)
        if isinstance(function.node, ast.AsyncFunctionDef) and not function.is_generator:
            # What it does is taken to happen at once; its result is there for whoever waits for it.
            value = self._called(function, args, kwargs, node, caller, body)
            return value if function.name.startswith("__a") else launchers.coroutine(value)
        remembered = _key_of(function, args, kwargs)
        if remembered is not None and function.memo is not None:
            memo = function.memo
            value = memo[remembered] if remembered in memo else self._called(function, args, kwargs, node, caller, body)
            self.heap.set(memo, remembered, MISSING)
            self.heap.set(memo, remembered, value)
            if function.most is not None and len(memo) > function.most:
                self.heap.set(memo, next(iter(memo)), MISSING)  # the one that was asked for least recently
            return value
        return self._called(function, args, kwargs, node, caller, body)

    def _called(
        self,
        function: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.Call | None,
        caller: Frame,
        body: Callable[[Value], None] | None,
    ) -> Value:
        self.called.add(function.node)
        names = self._bind(function, args, kwargs)
        too_deep = caller.depth >= self.budget.depth or self._recursing(function, args, names or {}, caller)
        if names is None or too_deep:
            self.lose(args[:1])
            if too_deep:
                self.forget_captured(function)
            elif not isinstance(kwargs, OpenArguments):
                exceptions.throw(self, exceptions.made("builtins.TypeError", (UNKNOWN,)))
            return UNKNOWN
        spec = function.node.args
        if spec.vararg is not None and is_unknown(names[spec.vararg.arg]):
            self.lose(args[len(by_position(spec)) :])
        if args and isinstance(args[0], Function | ClassValue) and self._hands_back(function):
            # Such as a decorator that registers it, or writes its documentation.
            steps = self.budget.decoration_steps
            self.limited(steps, lambda: self._run(function, args, kwargs, names, node, caller, body))
            return args[0]
        return self._run(function, args, kwargs, names, node, caller, body)

    def lose(self, values: tuple[Value, ...]) -> None:
        """Objects that code gets which is not followed: it may run their constructor, and set attributes."""
        self.may_be_initialised(*values)
        for value in of_kind(values, Instance):
            self.heap.set(value.state, "open", True)

    def _hands_back(self, function: Function) -> bool:
        """Whether a function of an imported module returns its first argument, whatever it does besides."""
        if not isinstance(function.globals, Globals):
            return False
        found = self.handing_back.get(function.node)
        if found is None:
            found = self.handing_back[function.node] = hands_back(function, self._meaning)
        return found

    def _meaning(self, name: str, function: Function) -> Value:
        """The meaning of a name in a function that is not one of its own."""
        scopes = (*function.closure, function.globals)
        found = next((scope[name] for scope in scopes if name in scope), MISSING)
        return self.elsewhere(name, function.globals) if found is MISSING else found

    def limited(self, steps: int, run: Callable[[], Value]) -> Value:
        """The result of `run`, UNKNOWN if it takes too long."""
        mark, limit = self.heap.mark(), self.step_limit
        self.step_limit = min(limit, self.steps + steps)
        try:
            return run()
        except OutOfBudget:
            self.heap.rollback(mark)
            if self.steps <= self.step_limit or self.steps > limit:
                raise
            return UNKNOWN
        finally:
            self.step_limit = limit

    def _run(
        self,
        function: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        names: dict[str, Value],
        node: ast.Call | None,
        caller: Frame,
        body: Callable[[Value], None] | None,
    ) -> Value:
        kept = bookkeeping.given(self, function, names, caller)
        if kept is not MISSING:
            return kept
        source = caller.source if caller.path == function.path else self.source_of(function.path, caller)
        name = f"{function.owner.name}.{function.name}" if function.owner is not None else function.name
        if not self.parts.begin(source, function.node, name):
            unparsed.leave_out_call(self, function, source, (*args, *kwargs.values()), caller)
            return UNKNOWN
        try:
            return self._follow(function, source, args, names, node, caller, body)
        finally:
            self.parts.end()

    def _take_arguments(self, function: Function, frame: Frame) -> None:
        """Bind the parameters to what is given, or was observed, with the reason of what is not known."""
        for argument in nodes_in(function.node.args, ast.arg):
            if argument.arg in frame.names:
                value = reasons.argument(frame.names[argument.arg], argument, frame)
                if self.observed:
                    value = self.observed.instead(value, _name_of(argument), frame, self.fresh_size)
                frame.names[argument.arg] = value
            self.record_fact(_name_of(argument), frame.names.get(argument.arg), frame, argument.arg)

    def _follow(
        self,
        function: Function,
        source: SourceText,
        args: tuple[Value, ...],
        names: dict[str, Value],
        node: ast.Call | None,
        caller: Frame,
        body: Callable[[Value], None] | None,
    ) -> Value:
        frame = Frame(
            source,
            Names(names),
            function.globals,
            function.closure,
            function,
            args[0] if args and function.owner is not None else None,
            caller,
            node,
            caller.depth + 1,
            self.heap.mark(),
        )
        frame.body = body
        frame.certain = self.uncertain
        frame.given = given = dict(names)
        events = len(self.trace.events)
        if function.is_generator:
            frame.yields = []
        self._take_arguments(function, frame)
        self.meet_arguments(function, frame)
        grad, grad_off, autocast, guarded = self.grad, self.grad_off, self.autocast, self.guarded
        first_unknown = self.first_unknown
        if function.autocast is not None:
            self.autocast = autocast_inside(autocast, function.autocast, self.truth)
        if function.grad_mode is not None:
            self.set_grad(function.grad_mode, self.site(function.node, frame))
        if function.is_generator and body is None and any_are(given.values(), streams.Stream):
            # Another generator that is executed step by step cannot go back: nor does this one run ahead.
            if not isinstance(function.node, ast.Lambda) and streams.can_stop(function.node):
                return self._generator(frame, given)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.eval(function.node.body, frame)
            completion = self.block(function.node.body, frame)
        except Thrown as thrown:
            if not function.is_generator or body is not None:
                raise
            completion, self.thrown = RAISE, thrown.value
        finally:
            self.running = caller
            self.autocast, self.guarded, self.first_unknown = autocast, guarded, first_unknown
            if function.grad_mode is not None:
                self.grad, self.grad_off = grad, grad_off
        stepped = function.is_generator and body is None and self._is_stepped(frame, events, completion == RAISE)
        value = self._generator(frame, given) if stepped else self._result(frame, completion)
        self.meet_result(function, value, frame)
        return value

    def started(self, managed: Managed, caller: Frame) -> Value:
        """The generator of a context manager that is not entered by a ``with``."""
        function = managed.function
        names = self._bind(function, managed.args, managed.kwargs)
        if names is None or isinstance(function.node, ast.Lambda) or not streams.can_stop(function.node):
            return UNKNOWN
        source = caller.source if caller.path == function.path else self.source_of(function.path, caller)
        receiver = managed.args[0] if managed.args and function.owner is not None else None
        frame = Frame(
            source, names, function.globals, function.closure, function, receiver, caller, None, caller.depth + 1
        )
        frame.start, frame.certain = self.heap.mark(), self.uncertain
        return streams.generator(self, frame, (), self.site(function.node, frame))

    def _is_stepped(self, frame: Frame, events: int, raises: bool) -> bool:
        """Whether a generator whose body was executed for what it shows is executed again, step by step."""
        assert frame.function is not None
        quiet = len(self.trace.events) == events and self.uncertain == frame.certain
        if raises and quiet and not isinstance(frame.function.node, ast.Lambda):
            return streams.can_stop(frame.function.node)
        return quiet and streams.is_followed(frame.function)

    def _generator(self, frame: Frame, names: dict[str, Value]) -> Value:
        """The generator that a call gives: nothing is done yet."""
        changed = {id(change.slots) for change in self.heap.delta(frame.start).values()}
        examples = tuple(as_it_is(value, changed) for value in frame.yields or ())
        self.heap.rollback(frame.start)
        again = replace(
            frame, names=names, yields=None, returned=None, returns=[], loops=[], handling=[], start=self.heap.mark()
        )
        site = Site(frame.source.span(frame.call or frame.function.node), frame.call or frame.function.node, frame)  # type: ignore[union-attr]
        return streams.generator(self, again, self.heap.several(examples), site)

    def _result(self, frame: Frame, completion: int) -> Value:
        """Joins the paths that returned early with the one that reached the end."""
        falls_through = completion in (0, 3)
        value = frame.returned if completion == 3 else None
        if frame.returns:
            last = self.heap.rollback(frame.start)
            deltas = [delta for _, delta in frame.returns]
            values = [value for value, _ in frame.returns]
            if falls_through:
                deltas.append(last)
                values.append(value)
            value = self.heap.join(deltas, values=values, branches=True)
        elif not falls_through:
            exceptions.throw(self, self.thrown)
            value = UNKNOWN
        if frame.returns and completion == 0:
            # Past conditions that were not decided, to an end that nobody has written: it may never be reached.
            values.pop()
        self.outcomes = tuple(values) if frame.returns else (value,) if falls_through or completion == 3 else ()
        if frame.yields is not None:
            yields = tuple(frame.yields)
            if not frame.yields_all or frame.returns:
                yields = Several(yields)
            elif len(yields) > self.budget.unroll:
                yields = Several.counted(self.heap.several(yields), len(yields))
            made = ListValue(yields, "generator")
            call = frame.call or frame.function.node  # type: ignore[union-attr]
            return misuse.iterator(self, made, call, frame.caller or frame)
        return value

    def _recursing(
        self, function: Function, args: tuple[Value, ...], names: Mapping[str, Value], caller: Frame
    ) -> bool:
        """Whether a function is inside of itself too deep, was called there too often, or goes on with what is as unknown as
        before."""
        depth = 0
        frame: Frame | None = caller
        while frame is not None:
            if frame.function is not None and frame.function.node is function.node:
                depth += 1
                if _tells_no_more(names, frame.given):
                    return True
            frame = frame.caller
        calls = self.recursive_calls[function.node] = self.recursive_calls.get(function.node, 0) + 1 if depth else 0
        deepest = MAX_RECURSION if not all(map(_is_told_apart, args)) else MAX_PLAIN_RECURSION
        return depth >= deepest or calls > MAX_RECURSIVE_CALLS

    def _bind(self, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value] | None:
        """Parameter names to values, None where the call does not fit."""
        spec = function.node.args
        positional = [argument.arg for argument in by_position(spec)]
        names: dict[str, Value] = {}
        for name, value in zip(positional, args):
            names[name] = value
        if len(args) > len(positional):
            if spec.vararg is None:
                return None
        if spec.vararg is not None:
            names[spec.vararg.arg] = UNKNOWN if isinstance(kwargs, OpenArguments) else args[len(positional) :]
        keyword_only = {argument.arg for argument in spec.kwonlyargs}
        extra: dict[Any, Value] = {}
        possible = kwargs.possible if isinstance(kwargs, PossibleArguments) else frozenset[str]()
        placed = {argument.arg for argument in spec.posonlyargs}
        for name, value in kwargs.items():
            if name in placed and spec.kwarg is not None:
                extra[name] = Maybe(value) if name in possible else value
                continue
            if name in names or name in placed:
                return None
            if name in positional or name in keyword_only:
                names[name] = value
            elif spec.kwarg is not None:
                extra[name] = Maybe(value) if name in possible else value
            elif name not in possible:
                return None
        if spec.kwarg is not None:
            names[spec.kwarg.arg] = DictValue(None if isinstance(kwargs, OpenArguments) else extra)
        if isinstance(kwargs, OpenArguments) and not kwargs.defaults:
            for name in (*positional, *keyword_only):
                names.setdefault(name, UNKNOWN)
        left_out = _of_entry if isinstance(kwargs, OpenArguments) else _as_it_is
        for name, default in zip(reversed(positional), reversed(function.defaults)):
            names.setdefault(name, left_out(default))
        for name in keyword_only:
            if name not in names:
                names[name] = left_out(function.keyword_defaults.get(name, UNKNOWN))
        if any(name not in names for name in positional):
            return None
        return names

    def source_of(self, path: str, caller: Frame) -> SourceText:
        source = self.workspace.source(path)
        return source if source is not None else caller.source

    # -- classes of the user's ---------------------------------------------------------------------

    def instantiate(
        self,
        cls: ClassValue,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.Call | None,
        frame: Frame,
    ) -> Value:
        exact = not isinstance(kwargs, OpenArguments) or kwargs.defaults
        if exact:
            self.instantiated.add(cls)
        if records.is_enum(cls):
            return records.member(self, cls, args, frame)
        if records.is_named_tuple(cls):
            return records.make_named_tuple(self, cls, args, kwargs) if exact else UNKNOWN
        if classes.is_abstract(self, cls):
            exceptions.throw(self, exceptions.made("builtins.TypeError", (f"abstract class {cls.name}",)))
        instance = Instance(cls)
        classes.begin(self, instance, args)
        maker = as_kind(self.class_attribute(cls, "__new__"), Function)
        if maker is not None:
            made = self.call_function(maker, (cls, *args), kwargs, node, frame)
            if not isinstance(made, Instance) or made.cls is not cls:
                return made
            instance = made
        if node is not None:
            instance.site = self.site(node, frame)
        init = MISSING if records.has_made_constructor(cls) else self.class_attribute(cls, "__init__")
        if isinstance(init, Function):
            if node is not None and cls.is_made_plainly():
                misuse.misfits(self, signatures.of(init), cls, Arguments(args, kwargs, node, frame, exact))
            self.call_function(init, (instance, *args), kwargs, node, frame)
            if not is_function(init.node, "__init__"):
                self.may_be_initialised(instance)  # by what a decorator has put in its place
        elif cls.is_dataclass or records.has_made_constructor(cls):
            if not exact:
                return UNKNOWN
            records.fill(self, instance, args, kwargs, frame)
            instance.state["filled"] = True
            if node is not None and cls.has_known_bases():
                self.meet_fields(instance, node, frame)
        elif init is MISSING and classes.fill_contents(
            self, instance, Arguments(args, kwargs, node or ast.Pass(), frame, exact)
        ):
            return instance
        elif init is MISSING and cls.native_base() is not None:
            dispatch.native_init(self, instance, Arguments(args, kwargs, node or ast.Pass(), frame, exact))
        elif cls.opaque:
            return UNKNOWN
        elif init is not MISSING:
            self.may_be_initialised(instance)
        return instance

    def _call_instance(self, instance: Instance, call: Arguments) -> Value:
        node = call.expression
        method = self.class_attribute(instance.cls, "__call__")
        if not isinstance(method, Function) and instance.is_module:
            stored = instance.slots.get("forward", MISSING)
            if stored is not MISSING:
                return self._stored_forward(instance, stored, call, node)
            method = self.class_attribute(instance.cls, "forward")
            if isinstance(method, Builtin):
                value = method.call(call)
                return value if "loss" in instance.cls.slots else self.mark_forward(instance, value, call)
            if not isinstance(method, Function):
                if instance.native is None:
                    unset.without_forward(self, instance, call.node, call.frame)
                    return UNKNOWN
                return self.call_module(instance.native, call)
            return self._forward(instance, method, call, node)
        if not isinstance(method, Function):
            return UNKNOWN
        return self.call_function(method, (*_bound_to(instance, method), *call.args), call.kwargs, node, call.frame)

    def _stored_forward(self, instance: Instance, stored: Value, call: Arguments, node: ast.Call | None) -> Value:
        """A call of a module whose forward was set: ``self.forward = self.forward_split``, or a function that takes no module."""
        if isinstance(stored, Bound) and stored.receiver is instance and isinstance(stored.function, Function):
            return self._forward(instance, stored.function, call, node)
        value = self.call(stored, call)
        return self.mark_forward(instance, value, call) if self.forward_depth == 0 else value

    def _forward(self, instance: Instance, method: Function, call: Arguments, node: ast.Call | None) -> Value:
        """A call of a user module: an event, and a new piece of graph when it is the outermost one."""
        outermost = self.forward_depth == 0
        self.forward_depth += 1
        if self.tape is not None:
            self.tape.entered(self, instance.cls.name, call)
        try:
            if self.hooked:
                call = hooks.before(self, instance, call)
            if not self.hooked and not instance.cls.opaque:
                parameters = signatures.of(method, bound=method.kind != "staticmethod")
                misuse.misfits(self, parameters, instance, call)
            args = (*_bound_to(instance, method), *call.args)
            value = self.call_function(method, args, call.kwargs, node, call.frame)
            if self.hooked:
                value = hooks.after(self, instance, call, value)
        finally:
            self.forward_depth -= 1
            if self.tape is not None:
                self.tape.left(self, instance.cls.name, call)
        if outermost:
            value = self.mark_forward(instance, value, call)
        return value

    def call_module(self, module: Value, call: Arguments) -> Value:
        """A call of a library module: containers run their children, the rest is asked of the oracle."""
        if isinstance(module, Instance):
            return self._call_instance(module, call)
        if not isinstance(module, LibraryModule):
            return UNKNOWN
        self.first_unknown = self.first_unknown or next(
            filter(is_unknown, (*module.args, *module.kwargs.values())), None
        )
        outermost = self.forward_depth == 0 and not hierarchy.is_loss(module.path)
        self.forward_depth += 1
        if self.tape is not None:
            self.tape.entered(self, module.type_name, call)
        try:
            if self.hooked:
                call = hooks.before(self, module, call)
            elif module.built is None:
                parameters = self.oracle.signature(f"{module.path}.forward")
                misuse.misfits(self, parameters and parameters[1:], module, call)
            if module.path == "torch.nn.Sequential":
                value = modules.run_sequential(self, module, call)
            elif module.path in einops.LAYERS:
                value = einops.run(self, module, call)
            elif detection.is_detector(module):
                value = detection.run(self, module, call)
            elif call.args and packed.is_packed(call.args[0]):
                value = packed.run(self, module, call)
            elif module.path == "torch.nn.Identity" and call.args and isinstance(call.args[0], Array | Image):
                value = call.args[0]
            else:
                misuse.layer_takes(self, module, call)
                value = self.apply_module(module, call)
            if self.hooked:
                value = hooks.after(self, module, call, value)
        finally:
            self.forward_depth -= 1
            if self.tape is not None:
                self.tape.left(self, module.type_name, call)
        if outermost and module.children is not None or outermost and hierarchy.has_parameters(self, module):
            value = self.mark_forward(module, value, call)
        return value

    def mark_forward(self, module: AnyModule, value: Value, call: Arguments) -> Value:
        """Give the tensors of an outermost forward an identity, by which rules follow its graph."""
        forward_id = next(self.forward_ids)
        tensors = hierarchy.tensors_in(value)
        for tensor in tensors:
            if tensor.spec.requires_grad is not False and self.grad:
                self.heap.set(tensor.slots, "history", tensor.history | {forward_id})
        self.event(
            "forward",
            module,
            call.node,
            call.frame,
            training=hierarchy.training_of(module),
            tensor=tensors[0] if tensors else None,
            forward_id=forward_id,
        )
        return value

    def escape(self, values: Any) -> None:
        """Values handed to code that is not known: whatever graph they carry may be used there."""
        values = tuple(map(unwrapped, values))
        # A backward() may run there.
        self.passes += any(hierarchy.tensors_in(value) or hierarchy.objects_in(value) for value in values)
        for tensor in hierarchy.tensors_in(values):
            self.trace.consumed.update(tensor.history)
            # It may be asked for a gradient there.
            self.heap.set(tensor.slots, "has_grad", True)
        self.may_be_initialised(*values)
        for value in values:
            self.trace.escaped.update(hierarchy.objects_in(value))
            self.may_thaw(value)
            if isinstance(value, Bound) and isinstance(value.receiver, ListValue | DictValue):
                self.heap.set(value.receiver.slots, "items", None)  # `log.append`, which may be called at any time
            called = [value, *(hooks.functions(value) if self.hooked else ())]
            for function in (function for part in called for function in python.functions_in(part)):
                if function not in self.loose and any(captured := _captured(function.node)):
                    self.loose[function] = captured
        for function, captured in self.loose.items():
            self._forget_filled(function, *captured)

    def may_move(self, values: tuple[Value, ...]) -> None:
        """Code that is not known may take modules to another device."""
        for value in map(unwrapped, values):
            if is_module(value):
                modules.move_somewhere(self, value)
            elif isinstance(value, tuple | ListValue):
                held = elements_of(value)
                self.may_move(tuple(one for one in held or () if is_module(one)))

    def may_fill(self, values: tuple[Value, ...]) -> None:
        """Code that is not known may put something into lists and dicts. What is in them is taken to stay."""
        for held in streams.held_by(values):
            self.trace.handed.add(held.identity)
            if not held.items and held.items is not None:
                self.heap.set(held.slots, "items", None)

    def may_be_initialised(self, *values: Value) -> None:
        """Code that is not known may have run the constructor of a base class, and so what methods set in the class itself."""
        for value in of_kind(values, Instance):
            value.state["ready"] = True
            for cls in of_kind(value.cls.mro(), ClassValue):
                for name in set_by_class_methods(cls.node) & cls.slots.keys():
                    self.heap.set(cls.slots, name, UNKNOWN)

    def forget_captured(self, function: Function) -> None:
        """A function that may be called at any time: what the containers hold that it fills is not known any more, nor the
        variables of others that it sets."""
        self._forget_filled(function, *_captured(function.node))

    def _forget_filled(self, function: Function, names: set[str], filled: list[ast.Name]) -> None:
        for name in names:
            scope = next((one for one in (*function.closure, function.globals) if name in one), None)
            if scope is not None:
                self.heap.set(scope, name, UNKNOWN)
        for target in filled:
            scopes = (*function.closure, function.globals)
            held = as_kind(
                next((scope[target.id] for scope in scopes if target.id in scope), None), ListValue, DictValue
            )
            if held is not None:
                self.heap.set(held.slots, "items", None)
                self.heap.set(held.slots, "filled", True)  # and again, after it was cleared

    def site(self, node: ast.AST, frame: Frame) -> Site:
        return Site(frame.source.span(node), node, frame, self.heap.moment)

    @staticmethod
    def is_module(value: Value) -> bool:
        return is_module(value)


@lru_cache(maxsize=512)
def set_by_class_methods(cls: ast.ClassDef) -> frozenset[str]:
    """The attributes that class methods give to the class: ``cls.count = 0``."""
    found: set[str] = set()
    for method in of_kind(cls.body, ast.FunctionDef):
        first = by_position(method.args)[:1]
        if any(last_word(one) == "classmethod" for one in method.decorator_list) and first:
            written = (part for part in nodes_in(method, ast.Attribute) if stores(part))
            found.update(part.attr for part in written if is_name(part.value, first[0].arg))
    return frozenset(found)


def _key_of(function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The key by which a function under ``lru_cache`` finds its result, None where it does not keep it."""
    if function.memo is None or function.kind == "property":
        return None
    if not all(map(_is_told_apart, (*args, *kwargs.values()))):
        return None
    if len(args) == 1 and not kwargs and type(args[0]) in (int, str):
        return (type(args[0]), args[0])
    return (args, tuple(kwargs.items()))


def _tells_no_more(names: Mapping[str, Value], before: Mapping[str, Value]) -> bool:
    """Whether a call inside of another one of the same function has no other arguments, of which one is unknown."""
    if not any(map(is_unknown, names.values())) or names.keys() != before.keys():
        return False
    return all(
        one is two or (is_unknown(one) and is_unknown(two)) or (_is_told_apart(one) and one == two)
        for one, two in ((value, before[name]) for name, value in names.items())
    )


def _is_told_apart(value: Value) -> bool:
    """Whether a value is known, so that it equals another one only if they are the same."""
    if isinstance(value, tuple):
        return all(map(_is_told_apart, value))
    same = (
        isinstance(value, Instance)
        and not value.may_be
        and "__eq__" not in {name for base in of_kind(value.cls.mro(), ClassValue) for name in base.slots}
        and not value.cls.is_dataclass
        and not value.cls.opaque
    )
    return same or isinstance(value, str | int | float | Function | ClassValue | type(None))


def _bound_to(instance: Instance, method: Function) -> tuple[Value, ...]:
    """The arguments that a method is given in front of those written."""
    return () if method.kind == "staticmethod" else (instance.cls if method.kind == "classmethod" else instance,)


def _as_it_is(default: Value) -> Value:
    """A default, for a call that leaves the argument out."""
    return default


def _of_entry(default: Value) -> Value:
    """A default, for a function that nothing calls: tensors, devices and empty containers stand for what callers give
    instead."""
    if _is_empty(default):
        return UNKNOWN
    match default:
        case Tensor():
            return Tensor(UNKNOWN_TENSOR)
        case Device():
            return UNKNOWN
        case tuple():
            return tuple(_of_entry(part) for part in default)
    return default


def _is_empty(default: Value) -> bool:
    """Whether a default only holds the place of something that every caller gives: ``()``, ``[]``, ``{}``."""
    if isinstance(default, ListValue):
        return default.items == ()
    return default == () if isinstance(default, tuple) else isinstance(default, DictValue) and default.items == {}


def _name_of(argument: ast.arg) -> ast.AST:
    """The place of a parameter's name, without its annotation."""
    if argument.annotation is None:
        return argument
    place = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
    place.end_lineno, place.end_col_offset = argument.lineno, argument.col_offset + len(argument.arg.encode())
    return place


_LOOKING_ON = frozenset(
    "append add add_graph watch info debug warning print log log_graph summary register dump save setdefault update".split()
)
"""Methods of objects that are not known which leave the modules that they get where they are."""


def _captured(function: ast.AST) -> tuple[set[str], list[ast.Name]]:
    """The variables of others that a function sets, and the containers that it fills."""
    return _shared(function), of_kind(containers_changed(function), ast.Name)


def _shared(function: ast.AST) -> set[str]:
    """Variables of others that a function sets: ``global x``, ``nonlocal x``."""
    declared = {name for node in nodes_in(function, ast.Global) for name in node.names}
    declared |= {name for node in nodes_in(function, ast.Nonlocal) for name in node.names}
    return declared & stored_in(function)
