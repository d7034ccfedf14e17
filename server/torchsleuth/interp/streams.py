"""Iterators whose elements are made when they are asked for: generators that do something besides, and endless ones.

The body of a generator is executed up to its next ``yield``, as long as every condition in it is decided. It is ahead of the
state once a branch in which it went on has been undone; from then on nothing is known of it (`Lost`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeGuard

from torchsleuth.interp import demands, exceptions
from torchsleuth.interp.exceptions import Thrown
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.forms import is_function_call, is_method_call, plain_name, stores
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    DictValue,
    Function,
    Instance,
    ListValue,
    Partial,
    Ref,
    Scalar,
    Several,
    Site,
    Value,
    is_unknown,
    new_identity,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import as_it_is

MAX_DRAWN = 512
"""Elements that are drawn from an iterator to know all of them."""
MAX_VAGUE = 24
"""Elements one after the other, each a number of which only the type is known, after which no more are drawn."""
_NORMAL, _BREAK, _CONTINUE, _RETURN, _RAISE = range(5)
Steps = Generator[Value, Value, Any]


class Lost(Exception):
    """The next element of an iterator is not known."""


class Stream(ListValue):
    """An iterator that makes its elements. `items`, the slot of a list: elements that stand for those to come."""

    def __init__(self, source: Steps, examples: tuple[Value, ...], type_name: str = "iterator") -> None:
        super().__init__(Several(examples) if examples else None, type_name)
        self.source = source
        self.drawn = 0
        self.vague = 0
        self.lost = False
        self.frame: Frame | None = None
        """Of a generator: where it is executed."""
        self.transient = False
        """Whether nothing is left of an element once the next one is asked for."""
        self.result: Value = None
        """The value that the generator returned."""
        self.slots["drawn"] = 0
        self.slots["ended"] = False
        self.once = Ref(spent=None)

    def pull(self, interp: Interpreter, step: Callable[[Steps], Value] = next) -> Value:
        """The next element. Raises StopIteration at the end, and Lost."""
        if self.slots["ended"]:
            raise StopIteration
        if self.lost or self.slots["drawn"] != self.drawn:
            self.lost = True
            raise Lost
        self.drawn += 1
        interp.heap.set(self.slots, "drawn", self.drawn)
        try:
            value = step(self.source)
            self._weigh(interp, value)
            return value
        except StopIteration as end:
            self.result = end.value
            interp.heap.set(self.slots, "ended", True)
            raise StopIteration(end.value) from None
        except Thrown:
            interp.heap.set(self.slots, "ended", True)
            raise
        except Lost:
            self.lost = True
            raise

    def _weigh(self, interp: Interpreter, value: Value) -> None:
        """Give up where the elements tell nothing new. Raises Lost."""
        self.vague = self.vague + 1 if isinstance(value, Scalar | Dim) else 0
        if self.vague > MAX_VAGUE:
            interp.heap.set(self.slots, "items", Several((value,)))
            raise Lost

    def elements_from_here(self, interp: Interpreter) -> Iterator[Value]:
        while True:
            try:
                value = self.pull(interp)
            except StopIteration:
                return
            yield value

    def whole(self, interp: Interpreter) -> Iteration:
        """All elements that a loop over it sees."""
        found: list[Value] = []
        try:
            for value in self.elements_from_here(interp):
                found.append(value)
                if len(found) > MAX_DRAWN:
                    self.lost = True
                    break
            else:
                return Iteration(tuple(found), exact=True)
        except Lost:
            pass
        return Iteration(tuple(self.elements or (UNKNOWN,)), exact=False)


class Rows(ListValue):
    """An iterator that looks into containers as it goes: what becomes of them in the meantime, it sees. `rows`: all that it
    would give now, from the first on, None where that is not known."""

    def __init__(self, rows: Callable[[], tuple[Value, ...] | None], *sources: Value) -> None:
        items = rows() or ()
        super().__init__(items, "iterator")
        self.rows = rows
        self.slots["whole"] = len(items)
        self.slots["ended"] = False
        self.once = Ref(spent=None)
        self.reads = reads_of(*sources)

    def anew(self) -> tuple[Value, ...] | None:
        left = as_kind(self.slots["items"], tuple)
        if left is None or isinstance(left, Several) or self.slots["ended"]:
            return left
        now = self.rows()
        return None if now is None else now[self.slots["whole"] - len(left) :]


def reads_of(*sources: Value) -> tuple[tuple[Any, str, Value], ...]:
    """The variables that an iterator over these containers reads as it goes."""
    held = of_kind(sources, ListValue, DictValue)
    return tuple((one.slots, "items", one.slots["items"]) for one in held if not isinstance(one, Stream))


def leave(interp: Interpreter, value: ListValue, left: tuple[Value, ...]) -> None:
    """Something has drawn from an iterator: these elements are left."""
    before = value.items
    if isinstance(value, Rows) and before is not None and not value.is_current:
        whole = value.rows() or before
        interp.heap.set(value.slots, "whole", len(whole))
    interp.heap.set(value.slots, "items", left)


# -- iterators that do something as they go ------------------------------------------------------------


def lazy(
    interp: Interpreter, now: Callable[[], Value], later: Callable[[], Steps], sources: tuple[Value, ...] = ()
) -> Value:
    """An iterator whose elements are made when they are asked for, where making them changes anything or fails: `later` makes
    them. Others are made `now`, all at once."""
    if any_are(sources, Stream):
        return Stream(later(), ())
    mark, born, events = interp.heap.mark(), new_identity(), len(interp.trace.events)
    examples: tuple[Value, ...] = ()
    try:
        made = as_kind(now(), ListValue)
        if made is None or made.items is None or len(interp.trace.events) > events:
            return made if made is not None else UNKNOWN
        changed = interp.heap.changes_before(mark, born) - {"spent"}
        # Another iterator that is executed step by step cannot go back.
        if not changed or "drawn" in changed:
            return made
        examples = tuple(as_it_is(one, {id(c.slots) for c in interp.heap.delta(mark).values()}) for one in made.items)
    except Thrown:
        pass
    interp.heap.rollback(mark)
    return Stream(later(), interp.heap.several(examples))


def each(interp: Interpreter, value: Value, node: ast.AST, frame: Frame) -> Iterator[Value]:
    """The elements of a value, one after the other as they are asked for. Raises Lost."""
    if is_live(value):
        yield from live(interp, value)
        return
    items = interp.sequence(value, node, frame)
    if items is None:
        raise Lost
    yield from items


# -- what a loop goes through ------------------------------------------------------------------------


def held_by(value: Value, depth: int = 3) -> Iterator[ListValue | DictValue]:
    """The lists and dicts that code can get at which is given a value."""
    parts: Iterable[Value] = ()
    match value:
        case Stream():
            parts = tuple(value.frame.names.values()) if value.frame is not None else ()
        case ListValue() | DictValue():
            yield value
            parts = value.elements or ()
        case tuple():
            parts = value
        case Partial():
            parts = (value.function, *value.args, *value.kwargs.values())
        case Bound():
            parts = (value.receiver,)
        case Instance() if not value.is_module:
            parts = tuple(value.slots.values())
    for part in tuple(parts) if depth else ():
        yield from held_by(part, depth - 1)


def is_live(value: Value) -> TypeGuard[ListValue]:
    """Whether a loop over a value sees what its body does to it: an iterator, a list that grows."""
    if isinstance(value, Stream):
        return True
    return isinstance(value, ListValue) and value.items is not None and value.type_name != "range"


def live(interp: Interpreter, value: ListValue) -> Iterator[Value]:
    """The elements one by one, each as it is when its turn comes. Raises Lost."""
    if isinstance(value, Stream):
        yield from value.elements_from_here(interp)
        return
    position = 0
    while True:
        items = value.items
        if items is None or position > MAX_DRAWN * 8:
            raise Lost
        if value.once is not None:
            if not items:
                if isinstance(value, Rows):
                    interp.heap.set(value.slots, "ended", True)
                return
            leave(interp, value, items[1:])
            yield items[0]
        else:
            if position >= len(items):
                return
            yield items[position]
        position += 1


# -- generators ----------------------------------------------------------------------------------------


def is_followed(function: Function) -> bool:
    """Whether a generator is executed step by step: it does something besides, or has no end, and each of its yields stands
    where it can be stopped."""
    node = function.node
    return not isinstance(node, ast.Lambda) and _matters(node) and can_stop(node)


def can_stop(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether each yield of a generator stands where its execution can be stopped."""
    return all(map(_can_stop, node.body))


_YIELDS = (ast.Yield, ast.YieldFrom)
_CHANGES = frozenset(
    "append appendleft extend insert add update setdefault pop popleft clear remove write send".split()
)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions in it."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(part))


def _yields(node: ast.AST) -> bool:
    return isinstance(node, _YIELDS) or any_are(_own(node), *_YIELDS)


def gives_one_of_several(node: ast.AST) -> bool:
    """Whether a context manager, written as a generator, enters with one of several values."""
    given = [part for part in of_kind(_own(node), ast.Yield) if part.value is not None]
    return len(given) > 1


def _matters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it makes a difference when the body of a generator is executed."""
    local = {part.id for part in of_kind(_own(node), ast.Name) if stores(part)}
    statements = of_kind(_own(node), ast.Expr)
    alone = {id(part.value) for part in statements}
    for part in _own(node):
        match part:
            case ast.Global() | ast.Nonlocal() | ast.Try():
                return True
            case ast.While() if isinstance(part.test, ast.Constant) and part.test.value:
                return True
            case ast.Return() if part.value is not None:
                return True
        if isinstance(part, _YIELDS) and id(part) not in alone:
            return True
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store | ast.Del):
            return True
        if is_method_call(part, *_CHANGES):
            if plain_name(part.func.value) not in local:
                return True
        if is_function_call(part, "next", "print"):
            return True
    return False


def _can_stop(node: ast.stmt) -> bool:
    """Whether the yields in a statement stand where its execution can be stopped and taken up again."""
    if not _yields(node):
        return True
    match node:
        case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return():
            value = node.value
            return isinstance(value, _YIELDS) and not (value.value is not None and _yields(value.value))
        case ast.If() | ast.While():
            return not _yields(node.test) and all(map(_can_stop, [*node.body, *node.orelse]))
        case ast.For():
            return not _yields(node.iter) and all(map(_can_stop, [*node.body, *node.orelse]))
        case ast.Try():
            parts = [*node.body, *node.orelse, *(part for handler in node.handlers for part in handler.body)]
            return all(map(_can_stop, parts)) and not any(map(_yields, node.finalbody))
    return False


class Execution:
    """The execution of the body of a generator."""

    def __init__(self, interp: Interpreter, frame: Frame) -> None:
        self.interp, self.frame = interp, frame
        self.catching = 0

    def run(self, body: list[ast.stmt]) -> Steps:
        ended = yield from self._block(body)
        if ended == _RAISE:
            if is_unknown(self.interp.thrown) or not self.interp.catching.at(self.interp.uncertain):
                raise Lost
            raise Thrown(self.interp.thrown)
        return self.frame.returned if ended == _RETURN else None

    def _block(self, body: list[ast.stmt]) -> Steps:
        for node in body:
            ended = yield from self._statement(node)
            if ended != _NORMAL:
                return ended
        return _NORMAL

    def _statement(self, node: ast.stmt) -> Steps:
        interp, frame = self.interp, self.frame
        interp.tick()
        if not _yields(node):
            ended = interp.statement(node, frame)
            if frame.returns:
                raise Lost
            return ended
        match node:
            case ast.If():
                ended = yield from self._block(node.body if self._decided(node.test) else node.orelse)
            case ast.While():
                ended = yield from self._loop(node, self._turns(node.test), None)
            case ast.For():
                value = interp.eval(node.iter, frame)
                source = live(interp, value) if is_live(value) else iter(self._all(value, node.iter))
                ended = yield from self._loop(node, source, node.target)
            case ast.Try():
                ended = yield from self._try(node)
            case _:
                ended = yield from self._plain(node)
        return ended

    def _all(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        items = self.interp.sequence(value, node, self.frame)
        if items is None:
            raise Lost
        return items

    def _decided(self, test: ast.expr) -> bool:
        verdict = demands.as_truth(self.interp, test, self.frame)
        if verdict is None:
            raise Lost
        return verdict

    def _turns(self, test: ast.expr) -> Iterator[Value]:
        while self._decided(test):
            yield None

    def _loop(self, node: ast.While | ast.For, source: Iterator[Value], target: ast.expr | None) -> Steps:
        for item in source:
            if target is not None:
                self.interp.assign(target, item, self.frame)
            ended = yield from self._block(node.body)
            if ended == _BREAK:
                return _NORMAL
            if ended not in (_NORMAL, _CONTINUE):
                return ended
        return (yield from self._block(node.orelse))

    def _plain(self, node: ast.stmt) -> Steps:
        value = yield from self._yielded(node.value)  # type: ignore[attr-defined]
        match node:
            case ast.Assign():
                for target in node.targets:
                    self.interp.assign(target, value, self.frame)
            case ast.AnnAssign():
                self.interp.assign(node.target, value, self.frame)
            case ast.AugAssign():
                raise Lost
            case ast.Return():
                self.frame.returned = value
                return _RETURN
        return _NORMAL

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> Steps:
        value = self.interp.eval(node.value, self.frame) if node.value is not None else None
        if isinstance(node, ast.Yield):
            return (yield from self._stopped(value))
        if isinstance(value, Stream):
            for item in value.elements_from_here(self.interp):
                yield from self._stopped(item)
            return value.result
        for item in self._all(value, node):
            yield from self._stopped(item)
        return None

    def _stopped(self, value: Value) -> Steps:
        """Give out a value. What catches exceptions in here does not while others go on."""
        levels = self.interp.catching.levels
        kept = len(levels) - self.catching
        del levels[kept:]
        try:
            return (yield value)
        finally:
            levels.extend([self.interp.uncertain] * self.catching)

    def _try(self, node: ast.Try) -> Steps:
        interp, levels = self.interp, self.interp.catching.levels
        watched = bool(node.handlers)
        levels.extend([interp.uncertain] * watched)
        self.catching += watched
        try:
            ended = yield from self._block(node.body)
        except Thrown as thrown:
            interp.thrown, ended = thrown.value, _RAISE
        except GeneratorExit:
            interp.block(node.finalbody, self.frame)
            raise
        finally:
            self.catching -= watched
            del levels[len(levels) - watched :]
        if ended == _RAISE and node.handlers:
            handler = self._handler(node)
            if handler is not None:
                if handler.name:
                    interp.heap.set(self.frame.names, handler.name, interp.thrown)
                ended = yield from self._block(handler.body)
        elif ended == _NORMAL:
            ended = yield from self._block(node.orelse)
        final = interp.block(node.finalbody, self.frame)
        return ended if final == _NORMAL else final

    def _handler(self, node: ast.Try) -> ast.ExceptHandler | None:
        for handler in node.handlers:
            kind = None if handler.type is None else self.interp.eval(handler.type, self.frame)
            verdict = True if handler.type is None else exceptions.catches(kind, self.interp.thrown)
            if verdict is None:
                raise Lost
            if verdict:
                return handler
        return None


def generator(interp: Interpreter, frame: Frame, examples: tuple[Value, ...], site: Site) -> Stream:
    """The generator that a call gives whose frame is ready."""
    assert frame.function is not None and not isinstance(frame.function.node, ast.Lambda)
    made = Stream(Execution(interp, frame).run(frame.function.node.body), examples, "generator")
    made.made = site
    made.frame = frame
    return made


def send(interp: Interpreter, stream: Stream, value: Value) -> Value:
    """``g.send(value)``"""
    return _stepped(interp, stream, lambda source: source.send(value))


def throw(interp: Interpreter, stream: Stream, error: Value) -> Value:
    """``g.throw(error)``"""
    return _stepped(interp, stream, lambda source: source.throw(Thrown(error)))


def close(interp: Interpreter, stream: Stream) -> None:
    """``g.close()``"""
    if stream.lost or stream.slots["drawn"] != stream.drawn:
        return
    interp.heap.set(stream.slots, "ended", True)
    try:
        stream.source.close()
    except (Lost, Thrown, RuntimeError):
        stream.lost = True


def following(interp: Interpreter, stream: Stream, default: tuple[Value, ...] = ()) -> Value:
    """``next(g)``"""
    return _stepped(interp, stream, next, default)


def _stepped(
    interp: Interpreter, stream: Stream, step: Callable[[Steps], Value], default: tuple[Value, ...] = ()
) -> Value:
    try:
        return stream.pull(interp, step)
    except StopIteration as end:
        if default:
            return default[0]
        returned = () if end.value is None else (end.value,)
        exceptions.throw(interp, exceptions.made("builtins.StopIteration", returned))
        return UNKNOWN
    except Lost:
        return interp.any_of(stream.elements) if stream.elements else UNKNOWN


def made_of(source: Iterator[Value], examples: tuple[Value, ...]) -> Stream:
    """An iterator over what an iterator of Python's own gives."""

    def steps() -> Steps:
        yield from source

    return Stream(steps(), examples)


__all__ = [
    "Lost",
    "Rows",
    "Stream",
    "close",
    "each",
    "following",
    "generator",
    "is_followed",
    "is_live",
    "lazy",
    "leave",
    "live",
    "made_of",
    "reads_of",
    "send",
    "throw",
]
