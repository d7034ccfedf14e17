"""Statements: runs module bodies and functions over abstract values, forking and joining at unknown conditions."""

from __future__ import annotations

import ast
import itertools
import math
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from torchsleuth.installed import version_of
from torchsleuth.interp import (
    demands,
    exceptions,
    kinds,
    misuse,
    patterns,
    private,
    reasons,
    special,
    streams,
    unparsed,
    unset,
)
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.autocast import Regions
from torchsleuth.interp.autocast import entered as autocast_inside
from torchsleuth.interp.budget import LOOK_EVERY, SLOTS_A_NODE, Budget, OutOfBudget, Withdrawn
from torchsleuth.interp.calls import whose_attributes
from torchsleuth.interp.catching import Catching
from torchsleuth.interp.exceptions import Thrown
from torchsleuth.interp.expected import expects_errors
from torchsleuth.interp.importing import Importing
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.inputs import ArgumentKey
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    arrays,
    classes,
    contained,
    contents,
    contexts,
    data,
    dictionaries,
    groups,
    hierarchy,
    modules,
    parameters,
    pure,
    python,
    records,
)
from torchsleuth.interp.library.options import asks_for_more, is_choice_of_values
from torchsleuth.interp.models import of_class
from torchsleuth.interp.numbers import Numbers
from torchsleuth.interp.observed import Observations
from torchsleuth.interp.parts import Parts
from torchsleuth.interp.tape import MOST_ITERATIONS
from torchsleuth.interp.trace import Alias, AttributeSet, LoopPoint, PartSet, SubsetSet, Trace, Unpacking
from torchsleuth.messages import message
from torchsleuth.oracle import Operators
from torchsleuth.sifting import as_kind, of_kind, only
from torchsleuth.syntax.forms import (
    is_attribute,
    is_dotted,
    is_method_call,
    is_name,
    is_reference,
    last_word,
    nodes_in,
    plain_name,
    returned_by,
    stores,
)
from torchsleuth.syntax.parse import parse as parsed
from torchsleuth.syntax.shapes import Declarations
from torchsleuth.syntax.trees import index
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol, is_index
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Array,
    AttributesView,
    Choice,
    ClassValue,
    DictValue,
    DictView,
    FactSlots,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Managed,
    Namespace,
    Parameters,
    Record,
    Ref,
    Scalar,
    Several,
    Site,
    SliceValue,
    Slots,
    Tensor,
    Unknown,
    Value,
    elements_of,
    is_int,
    is_module,
    is_native_kind,
    is_object,
    is_unknown,
    unwrapped,
)
from torchsleuth.values.changes import Delta
from torchsleuth.values.conditions import Fact
from torchsleuth.values.frames import Frame, LoopState
from torchsleuth.values.heap import Heap
from torchsleuth.values.join import MISSING, alike

NORMAL, BREAK, CONTINUE, RETURN, RAISE = range(5)


EXITS_UNROLLED = 4
"""Iterations that are executed one by one of a loop that may end before the last of them."""
MAX_PARAMETERS = 256
"""Parameters that a loop goes through one by one, where it tells them apart."""
SHOWN = 4
"""Elements of a generator that a loop executes one by one, even if they are alike."""
FORGOTTEN_AFTER = 3
"""Iterations of a loop of unknown length after which what changes in it is forgotten."""
_NUMBERS = ("int", "float", "bool")
"""The types of numbers, as annotations name them."""


def _does_nothing(node: ast.stmt, frame: Frame) -> int:
    return NORMAL


class Execution(Importing):
    """Runs one document (and what it imports from the workspace) and fills a `Trace`."""

    entered_by_case = 0
    """Bodies of ``with`` statements around, each entered with one of several values under a test that is not decided."""

    def __init__(
        self, oracle: Operators, workspace: Workspace, budget: Budget | None = None, parts: Parts | None = None
    ) -> None:
        self.parts = parts or Parts()
        self.oracle = oracle
        self.workspace = workspace
        self.evaluators = {}
        self.executors: dict[type[ast.stmt], Callable[[Any, Frame], int | None]] = {}
        self.budget = budget or Budget()
        self.trace = Trace()
        self._symbol_ids = itertools.count(1)
        self.heap = Heap(self.fresh_symbol)
        self.substitution: Slots = FactSlots()
        self.collating = 0
        self.numbers = Numbers(self.heap.ranges)
        self.steps = 0
        self.step_limit = self.budget.steps
        self.deadline = time.process_time() + self.budget.seconds
        self.work_limit = sys.maxsize if self.budget.work is None else self.budget.work
        self.next_look = 0
        self.work_before = oracle.work
        self.overdue = False
        self.most_questions: int | None = None
        self.grad: bool | None = True
        self.grad_off: Site | None = None
        self.autocast: Regions = {}
        self.freed: Slots = {}
        self.passes = 0
        self.clears: Slots = FactSlots()
        self.settings: Slots = {"unknown": False, "placed": False}
        self.entry = 0
        self.guarded = self.uncertain = self.undecided_raises = 0
        self.catching = Catching()
        self.being_made: list[tuple[ClassValue, dict[str, Value]]] = []
        self.thrown: Value = UNKNOWN
        self.named_by_hand: set[str] = set()
        self.hooked = False
        self.pending: dict[Any, Callable[[], Any]] = {}
        self.learned_aside: set[Symbol] = set()
        self.fitting = False
        self.observed = Observations()
        self.loop_points: list[LoopPoint] = []
        self.loop_executions = itertools.count(1)
        self.forward_ids = itertools.count(1)
        self.forward_depth = 0
        self.declared: dict[str, Declarations] = {}
        self.arguments: list[Tensor] = []
        self.lasting: dict[Symbol, ArgumentKey] = {}
        self.rigid: dict[Symbol, bool] = {}
        self.called: set[ast.AST] = set()
        self.handing_back: dict[ast.AST, bool] = {}
        self.recursive_calls: dict[ast.AST, int] = {}
        self.instantiated: set[ClassValue] = set()
        self.modules: dict[str, Namespace] = {}
        self.import_steps = self.budget.import_steps
        self.failures_seen: set[Any] = set()
        self.tested: Fact | None = None
        self.files = Ref()
        self.loose: dict[Function, tuple[set[str], list[ast.Name]]] = {}
        self.kept: list[Value] = []
        self.classes: list[ClassValue] = []
        self.functions: list[Function] = []

    # -- the engine room ---------------------------------------------------------------------------

    def fresh_symbol(self, name: str, positive: bool = True) -> Symbol:
        return Symbol(name, next(self._symbol_ids), positive)

    def fresh_size(self, name: str = "?", positive: bool = True) -> Size:
        return dims.of(self.fresh_symbol(name, positive))

    def tick(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > self.step_limit:
            raise OutOfBudget(message("analysis.steps"))
        if self.most_questions is not None and self.oracle.misses > self.most_questions:
            raise OutOfBudget(message("analysis.supposed"))
        if self.steps + self.heap.work >= self.next_look:
            self.next_look = self.steps + self.heap.work + LOOK_EVERY
            self.overdue = self.overdue or self.is_over()
            if self.parts.withdrawn:
                raise Withdrawn
        if self.overdue:
            raise OutOfBudget(message("analysis.time"))

    @property
    def work(self) -> int:
        return self.steps + self.heap.work // SLOTS_A_NODE + self.oracle.work - self.work_before

    def is_over(self) -> bool:
        return time.process_time() > self.deadline or self.work > self.work_limit

    # -- statements --------------------------------------------------------------------------------

    def block(self, statements: Iterable[ast.stmt], frame: Frame) -> int:
        for statement in statements:
            completion = self.statement(statement, frame)
            if completion != NORMAL:
                return completion
        return NORMAL

    def statement(self, node: ast.stmt, frame: Frame) -> int:
        self.tick()
        self.first_unknown = None
        self.running = frame
        kind = type(node)
        if kind not in self.executors:
            self.executors[kind] = getattr(self, f"do_{kind.__name__}", _does_nothing)
        try:
            completion = self.executors[kind](node, frame)
        except (OutOfBudget, RecursionError):
            raise
        except Thrown as thrown:
            self.thrown = thrown.value
            return RAISE
        except MemoryError:
            self._forget(node, frame)
            return NORMAL
        except Exception as error:
            self.internal_error(error, node, frame)
            self._forget(node, frame)
            return NORMAL
        return NORMAL if completion is None else completion

    def _forget(self, node: ast.stmt, frame: Frame) -> None:
        """A statement that could not be analysed may have assigned anything to the names it assigns to."""
        for part in nodes_in(node, ast.Name):
            if stores(part):
                self.assign_name(part.id, UNKNOWN, frame)

    def do_Expr(self, node: ast.Expr, frame: Frame) -> int | None:
        if unparsed.is_placeholder(getattr(node.value, "value", None)):
            return self._placeholder(node, frame)
        value = self.eval(node.value, frame)
        kinds.stands_alone(self, value, node, frame)
        call = node.value
        if isinstance(value, Tensor) and is_method_call(call):
            name = call.func.attr
            if name in _CONVERSIONS and isinstance(call.func.value, ast.Name):
                receiver = as_kind(self.lookup(call.func.value.id, frame), Tensor)
                if receiver is not None and _converted(receiver, value):
                    self.trace.discarded.append(self.site(call, frame))
        return None

    def _placeholder(self, node: ast.Expr, frame: Frame) -> int | None:
        """``...`` where code is still to be written: of a function that ends with it nobody knows what it will return."""
        inside = index(parsed(frame.source)).parents.get(node)
        if unparsed.to_be_written(node, inside):
            unparsed.leave_open(self, node, frame)
            if isinstance(inside, ast.FunctionDef) and inside.body[-1] is node:
                frame.returned = UNKNOWN
                return RETURN
        return None

    def do_Assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.eval(node.value, frame)
        if unparsed.is_placeholder(value):
            value = UNKNOWN
        if self.is_module(value) and (is_reference(node.value) or self._was_given_before(node.value, value, frame)):
            self._note_alias(node, value, frame)
        if value is None and isinstance(node.targets[0], ast.Name):
            kinds.keeps_nothing(self, frame.names.get(node.targets[0].id), value, node, frame)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, LibraryObject):
                count = data.measured(self, value, node, frame)
                kinds.unpacks(self, value, count, target, node.value, frame)
            self.assign(target, value, frame)
        self.meet_statement(node, value, frame)

    def _was_given_before(self, call: ast.expr, module: Value, frame: Frame) -> bool:
        """Whether a call gave a module that is somewhere else already: its function keeps its results (``functools.cache``)."""
        known = as_kind(unwrapped(module), LibraryModule, Instance)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or known is None or known.name is None:
            return False
        function = as_kind(self.lookup(call.func.id, frame), Function)
        return function is not None and function.memo is not None

    def _note_alias(self, node: ast.Assign, value: Value, frame: Frame) -> None:
        """A module gets another name, or the place of another one."""
        target = node.targets[0]
        before: Value = None
        if isinstance(target, ast.Name):
            before = frame.names.get(target.id)
        elif is_dotted(target):
            owner = as_kind(frame.names.get(target.value.id), Instance)
            before = owner.slots.get(target.attr) if owner is not None else None
        else:
            return
        site = self.site(node.value, frame)
        self.trace.aliases.append(Alias(site, target, value, before, len(self.trace.events)))

    def _note_subset(self, target: ast.Attribute, owner: Value, value: Value, frame: Frame) -> None:
        """Something is set on a part of a data set, or by way of it on the whole."""
        subset, whole = owner, owner
        if is_attribute(target.value, "dataset"):
            subset = self.eval(target.value.value, frame)
        if not isinstance(subset, LibraryObject) or not subset.path.endswith(".Subset"):
            return
        whole = subset.slots.get("dataset", subset.given(0, "dataset", UNKNOWN))
        before = whole.slots.get(target.attr) if isinstance(whole, Instance | LibraryObject) else None
        site = self.site(target, frame)
        self.trace.subsets_set.append(SubsetSet(site, target, subset, whole, value, before))

    def do_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            value = self.eval(node.value, frame)
            if unparsed.is_placeholder(value) or (isinstance(value, str) and is_name(node.annotation, *_NUMBERS)):
                value = (
                    UNKNOWN  # A text stands for a number that somebody else puts there: ``width: int = "from_data"``.
                )
            self.assign(node.target, value, frame)
            self.meet_statement(node, value, frame)

    def do_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        load = ast.copy_location(_as_load(node.target), node.target)
        left = self.eval(load, frame)
        right = self.eval(node.value, frame)
        if unparsed.is_placeholder(right):
            right = UNKNOWN
        value = self.binary(type(node.op), left, right, node, frame, inplace=True)
        self.assign(node.target, value, frame)
        self.meet_statement(node, value, frame)

    def do_Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            match target:
                case ast.Name():
                    self._delete_name(target.id, frame)
                case ast.Subscript():
                    self.delete_item(self.eval(target.value, frame), self.eval(target.slice, frame), target, frame)
                case ast.Attribute():
                    owner = self.eval(target.value, frame)
                    self.delete_attribute(owner, private.named(target.attr, target, frame), target, frame)

    def _delete_name(self, name: str, frame: Frame) -> None:
        scopes: tuple[Slots, ...] = (frame.names,)
        if name in frame.global_names:
            scopes = (frame.globals,)
        elif name in frame.nonlocal_names:
            scopes = frame.closure
        scope = next((one for one in scopes if name in one), None)
        if scope is not None:
            self.heap.set(scope, name, MISSING)
        else:
            exceptions.throw(self, exceptions.made("builtins.NameError", (UNKNOWN,)))

    def delete_item(self, container: Value, key: Value, node: ast.AST, frame: Frame) -> None:
        if isinstance(container, Choice):
            self.over(container, lambda option: self.delete_item(option, key, node, frame), without_none=True)
            return
        if isinstance(container, Instance):
            if special.call(self, container, "__delitem__", (key,), frame) is not special.ABSENT:
                return
            container = container if container.native is not None else special.contents(container)
        container = parameters.as_dict(self, container)
        match container:
            case ListValue() if pure.delete(self, container, key, Arguments((), {}, node, frame)):
                self.trace.emptied.add(container.identity)
            case DictValue():
                dictionaries.delete(self, container, self.resolved(key))
            case LibraryObject():
                of_class(container.path)(self, container).delete_item(self.resolved(key), node, frame)
            case LibraryModule() | Instance():
                modules.delete_item(self, container, self.resolved(key))
            case ListValue() if container.elements is not None:
                self.trace.emptied.add(container.identity)
                items, kept = container.items, list(container.elements)
                if isinstance(key, SliceValue) and key.start is None and key.stop is None and key.step in (None, 1, -1):
                    self.heap.set(container.slots, "items", ())
                elif items is not None and is_index(key, items):
                    del kept[key]
                    self.heap.set(container.slots, "items", tuple(kept))
                else:
                    self.heap.set(container.slots, "items", self.heap.several(tuple(kept)))

    def do_Return(self, node: ast.Return, frame: Frame) -> int:
        frame.returned = self.eval(node.value, frame) if node.value is not None else None
        if unparsed.is_placeholder(frame.returned):
            frame.returned = UNKNOWN
        self.meet_statement(node, frame.returned, frame)
        return RETURN

    def do_Pass(self, node: ast.Pass, frame: Frame) -> None:
        if node.lineno in frame.source.blanked:
            unparsed.pass_over(self, node, frame)

    def do_Raise(self, node: ast.Raise, frame: Frame) -> int:
        if self.catching.at(self.uncertain):
            self.thrown = self._raised(node, frame)
        else:
            self.thrown = UNKNOWN
        return RAISE

    def _raised(self, node: ast.Raise, frame: Frame) -> Value:
        """The exception that a statement raises."""
        if node.exc is None:
            return frame.handling[-1] if frame.handling else UNKNOWN
        value = self.eval(node.exc, frame)
        if isinstance(value, ClassValue | Native) and exceptions.class_of(value) is not None:
            value = self.call(value, Arguments((), {}, node, frame))
        if node.cause is not None and isinstance(value, LibraryObject | Instance):
            self.heap.set(value.slots, "__cause__", self.eval(node.cause, frame))
        return value

    def do_Break(self, node: ast.Break, frame: Frame) -> int:
        return BREAK

    def do_Continue(self, node: ast.Continue, frame: Frame) -> int:
        return CONTINUE

    def do_Global(self, node: ast.Global, frame: Frame) -> None:
        frame.global_names.update(node.names)

    def do_Nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocal_names.update(node.names)

    def do_Assert(self, node: ast.Assert, frame: Frame) -> int:
        self.told(node.test, True, frame)
        decided = self._demanded(node.test, frame)
        if decided is None and self._is_of_another_version(node.test, frame):
            decided = False
        if decided is None:
            self.assume(self.tested)
        if decided is False:
            demands.refused(self, node.test, True, None, frame)
        if decided is False and self.catching.at(self.uncertain):
            text = () if node.msg is None else (self.eval(node.msg, frame),)
            self.thrown = exceptions.made("builtins.AssertionError", text)
        return RAISE if decided is False else NORMAL

    def _is_of_another_version(self, test: ast.expr, frame: Frame) -> bool:
        """Whether the code asks for one version of a package, and another one is installed: ``assert timm.__version__ == "0.4.5"``."""
        match test:
            case ast.Compare(ast.Attribute(owner, "__version__"), [ast.Eq()], [ast.Constant(str() as wanted)]):
                package = self.eval(owner, frame)
                installed = version_of(package.path) if is_native_kind(package, "external") else None
                return installed is not None and re.match(rf"{installed[0]}\.{installed[1]}(\.|$)", wanted) is None
        return False

    def _demanded(self, test: ast.expr, frame: Frame) -> bool | None:
        """Whether a condition holds which the code asks of its arguments: whoever calls it sees to that."""
        general, self.general = self.general, False
        try:
            return demands.as_truth(self, test, frame)
        finally:
            self.general = general

    def do_If(self, node: ast.If, frame: Frame) -> int:
        last = node.body[-1]
        raises = isinstance(last, ast.Raise)
        if raises:
            self.told(node.test, False, frame)
        decided = self._demanded(node.test, frame) if raises else demands.as_truth(self, node.test, frame)
        if decided is None and not node.orelse and is_choice_of_values(node.body):
            decided = False if asks_for_more(self, node.test, frame) else None
        if decided and isinstance(last, ast.Raise):
            demands.refused(self, node.test, False, last.exc, frame)
        if decided is not None:
            return self.block(node.body if decided else node.orelse, frame)
        guarded, returns, fact = self.guarded, len(frame.returns), self.tested
        # What was entered may depend on the same test, too.
        self.guarded += self.dispatches(node.test, frame) or self.entered_by_case > 0
        try:
            branches = [lambda: self._branch(node, fact, True, frame), lambda: self._branch(node, fact, False, frame)]
            return self.fork(branches, frame, _is_coin(node.test, frame))
        finally:
            # Where one of the branches returns, what follows is the other one.
            if len(frame.returns) == returns:
                self.guarded = guarded

    def _branch(self, node: ast.If, fact: Fact | None, outcome: bool, frame: Frame) -> int:
        self.assume(fact, outcome)
        return self.block(node.body if outcome else node.orelse, frame)

    def fork(self, branches: list[Callable[[], int]], frame: Frame, coin: bool = False) -> int:
        """Run every branch from the present state and join those that go on. `coin`: chance decides which one is taken."""
        mark = self.heap.mark()
        going: list[Delta] = []
        left: list[tuple[int, Delta, tuple[list[Any], Any] | None]] = []
        grad, grads = self.grad, set()
        self.uncertain += 1
        try:
            for branch in branches:
                self.grad = grad
                completion = branch()
                recorded = self._record_exit(completion, frame)
                delta = self.heap.rollback(mark)
                if completion == NORMAL:
                    going.append(delta)
                    grads.add(self.grad)
                else:
                    left.append((completion, delta, recorded))
        finally:
            self.uncertain -= 1
        self.grad = grad if not grads else only(grads)
        if any(completion == RAISE for completion, _, _ in left) and (going or len(left) > 1):
            self.undecided_raises += 1
        if going:
            self.heap.join(going, coin, branches=True)
            return NORMAL
        # No branch goes on: one of the recorded early exits becomes the way this statement ends.
        for wanted in (RETURN, BREAK, CONTINUE):
            for completion, delta, recorded in left:
                if completion == wanted:
                    if recorded is not None:
                        # The exits of later branches stand behind that of this one.
                        kept, entry = recorded
                        kept[:] = [one for one in kept if one is not entry]
                        if wanted == RETURN:
                            frame.returned = entry[0]
                    self.heap.apply(delta)
                    return completion
        self.thrown = UNKNOWN
        return RAISE

    def _record_exit(self, completion: int, frame: Frame) -> tuple[list[Any], Any] | None:
        """Keep the state of a branch that leaves the function or the loop early; returns the list it went to, and its entry."""
        kept: list[Any]
        if completion == RETURN:
            kept = frame.returns
            kept.append((frame.returned, self.heap.delta(frame.start)))
        elif completion == BREAK and frame.loops:
            kept = frame.loops[-1].breaks
            kept.append(self.heap.delta(frame.loops[-1].start))
        elif completion == CONTINUE and frame.loops:
            kept = frame.loops[-1].continues
            kept.append(self.heap.delta(frame.loops[-1].iteration))
        else:
            return None
        return kept, kept[-1]

    def do_For(self, node: ast.For | ast.AsyncFor, frame: Frame) -> int:
        value = self.eval(node.iter, frame)
        if isinstance(value, Parameters):
            self._record_parameters(node.target, value, frame)
        if not _leaves_early(node):
            misuse.consume(self, value, node.iter, frame)
        kinds.goes_through(self, value, parameters.listed(self, value) or (), node.target, node.iter, frame)
        if isinstance(value, streams.Stream):
            iteration = Iteration(tuple(value.elements or (UNKNOWN,)), exact=True)
        else:
            held = value.items if isinstance(value, ListValue) else None
            chosen = parameters.listed(self, value) if _chooses(node, value) else None
            if chosen is not None and len(chosen) <= MAX_PARAMETERS:
                iteration = Iteration(chosen, exact=True)
            else:
                iteration = _thinned(value, self.iterate(value, node.iter, frame))
            if isinstance(value, ListValue) and value.once is not None and held is not None and iteration.exact:
                self.heap.set(value.slots, "items", held)
                if isinstance(value, streams.Rows):
                    self.heap.set(value.slots, "ended", False)
        if node in self.batch_loops:
            iteration = replace(iteration, over_loader=True)
        return self._loop(node, frame, iteration, value=value)

    do_AsyncFor = do_For

    def _record_parameters(self, target: ast.expr, value: Parameters, frame: Frame) -> None:
        """The value of the variable of a loop over parameters: each of them in turn, though all share one analysis."""
        if value.named:
            target = target.elts[-1] if isinstance(target, ast.Tuple) else target
        if isinstance(target, ast.Name):
            for parameter in parameters.listed(self, value) or ():
                self.record_fact(target, parameter, frame, target.id)

    def do_While(self, node: ast.While, frame: Frame) -> int:
        decided = demands.as_truth(self, node.test, frame)
        if decided is False:
            return self.block(node.orelse, frame)
        return self._loop(node, frame, Iteration((None,), exact=False), decided=decided is True)

    def _loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        frame: Frame,
        iteration: Iteration,
        decided: bool = False,
        value: Value = None,
    ) -> int:
        """Known short sequences one by one; anything else twice as it is, then with what changed forgotten. `decided`: it
        is known that a ``while`` is entered. `value`: what a ``for`` goes through."""
        execution = next(self.loop_executions)
        state = LoopState(self.heap.mark(), self.heap.mark(), decided=decided)
        frame.loops.append(state)
        span = frame.source.span(node)
        returns_before, yields_before = len(frame.returns), len(frame.yields or ())
        after: list[Delta] = []
        try:
            completion, left_early, iteration = self._iterations(node, frame, iteration, value, execution, after)
            counted = iteration.exact or state.ended or (left_early and state.decided)
            if not counted and not left_early and after and completion == NORMAL:
                self._widen(node, frame, iteration, state, after, span, execution)
            if not counted and isinstance(value, ListValue) and value.once is not None and value.items:
                self.heap.set(value.slots, "items", self.heap.several(iteration.items))
            exits = bool(state.breaks) or len(frame.returns) > returns_before
            if len(frame.yields or ()) > yields_before and (exits or not counted):
                frame.yields_all = False
        finally:
            frame.loops.pop()
        if left_early and completion == BREAK:
            completion = NORMAL
        if state.breaks:
            self._join_with(state.start, state.breaks)
        if completion == NORMAL and not left_early and node.orelse:
            return self.block(node.orelse, frame)
        return completion

    def _iterations(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        frame: Frame,
        iteration: Iteration,
        value: Value,
        execution: int,
        after: list[Delta],
    ) -> tuple[int, bool, Iteration]:
        """The iterations that are executed, and what each leaves behind in `after`: how the last one ended, whether it left the
        loop, and what is known then of how many there are."""
        state, span = frame.loops[-1], frame.source.span(node)
        steps_before, returns_before = self.steps, len(frame.returns)
        backward_before = 0 if self.tape is None else self.tape.trained
        count = len(iteration.items) if iteration.exact and not isinstance(value, streams.Stream) else None
        left_early, completion = False, NORMAL
        for number, item in enumerate(self._items(node, frame, iteration, state, value)):
            state.iteration = self.heap.mark()
            state.continues = []
            last = number == 1 and item is iteration.last
            over, loader = iteration.over_loader, iteration.loader
            point = LoopPoint(node, span, execution, number, over, last, loader, count=count)
            completion = self._iterate(node, frame, item, point)
            completion, left_early = self._end_iteration(completion, frame, state)
            if left_early:
                break
            if number == 0 or (number < FORGOTTEN_AFTER and not iteration.exact):
                after.append(self.heap.delta(state.start))
            exits = bool(state.breaks) or len(frame.returns) > returns_before
            state.decided &= not exits
            if self._goes_on(backward_before):
                state.limit = MOST_ITERATIONS
                continue
            # How many iterations there are depends on the data where some leave the loop.
            is_open = number == 1 and exits and len(iteration.items) > EXITS_UNROLLED
            if is_open and iteration.exact:
                after.append(self.heap.delta(state.start))
            is_long = number == 0 and not self._affordable(len(iteration.items), steps_before)
            if iteration.exact and (is_open or is_long):
                iteration = iteration.uncounted()
                state.limit = 2
        return completion, left_early, iteration.uncounted() if state.lost else iteration

    def _iterate(self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, item: Value, point: LoopPoint) -> int:
        self.loop_points.append(point)
        try:
            if isinstance(node, ast.For | ast.AsyncFor):
                self.assign(node.target, self.renewed(item), frame)
            return self.block(node.body, frame)
        finally:
            self.loop_points.pop()

    def _end_iteration(self, completion: int, frame: Frame, state: LoopState) -> tuple[int, bool]:
        """How an iteration ends whose paths have come together, and whether that leaves the loop."""
        if completion in (NORMAL, CONTINUE):
            self._join_with(state.iteration, state.continues)
            return NORMAL, False
        if not state.continues:
            return completion, True
        left = self.heap.rollback(state.iteration)
        if completion == BREAK:
            self.heap.apply(left)
            state.breaks.append(self.heap.delta(state.start))
            self.heap.rollback(state.iteration)
        elif completion == RETURN:
            self.heap.apply(left)
            frame.returns.append((frame.returned, self.heap.delta(frame.start)))
            self.heap.rollback(state.iteration)
        self.heap.join(state.continues)
        return NORMAL, False

    def _goes_on(self, backward_before: int) -> bool:
        """Whether more iterations of a training loop are executed as they are: its steps are recorded."""
        return self.tape is not None and self.tape.trained > backward_before and not self.uncertain

    def _affordable(self, count: int, steps_before: int) -> bool:
        """Whether a loop whose first iteration is done can be executed to its end."""
        if count <= 2:
            return True
        allowed = self.budget.loop_steps if count <= self.budget.unroll else self.budget.long_loop_steps
        return (self.steps - steps_before) * count <= allowed

    def _items(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        frame: Frame,
        iteration: Iteration,
        state: LoopState,
        value: Value,
    ) -> Iterable[Value]:
        if isinstance(node, ast.For | ast.AsyncFor):
            if iteration.exact and streams.is_live(value):
                given = 0
                try:
                    for item in streams.live(self, value):
                        if given == state.limit:
                            return
                        given += 1
                        yield item
                except streams.Lost:
                    state.lost = True
                    # What follows is as any of its elements may be.
                    yield from (iteration.items[:1] or (UNKNOWN,)) * (2 - given)
                return
            items = iteration.items
            if not iteration.exact:
                items = items[:2] if len(items) > 1 else items * 2
                if self.tape is not None:
                    items = _following(items, MOST_ITERATIONS)
                elif iteration.last is not None and not _leaves_early(node):
                    items = (items[0], iteration.last)
            for number, item in enumerate(items):
                if number == (state.limit or (2 if not iteration.exact else None)):
                    return
                yield item
                if isinstance(value, DictValue | DictView) and iteration.exact:
                    dictionaries.refuses_another_size(self, value, len(items))
            return
        steps, distances = self.steps, [self._distance(node.test, frame)]
        yield None
        for number in range(1, self.budget.unroll):
            decided = demands.as_truth(self, node.test, frame)
            state.decided &= decided is not None
            state.ended = decided is False and state.decided
            if decided is False or (decided is None and number > 1):
                return
            distances.append(self._distance(node.test, frame))
            if number > 2 and not (state.decided and self._ends_soon(distances, self.steps - steps)):
                state.decided = False
                return
            yield None
            if decided is None:
                return

    def _ends_soon(self, distances: list[float | None], steps: int) -> bool:
        """Whether a ``while`` that has gone around some times can be executed to its end, as far as can be told: from how
        far its condition was from it each time."""
        done = len(distances) - 1
        nearer = {one - two for one, two in pairwise(distances) if one is not None and two is not None}
        now = distances[-1]
        if now is None or len(nearer) != 1:
            return steps / done * (done + 1) <= self.budget.open_loop_steps
        left = now / rate if (rate := nearer.pop()) else math.inf
        return 0 <= left <= self.budget.unroll and steps / done * (done + left) <= self.budget.loop_steps

    def _distance(self, test: ast.expr, frame: Frame) -> float | None:
        """How far the two sides of a comparison of numbers are apart."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not all(map(_is_cheap, ast.walk(test))):
            return None
        left, right = (
            as_kind(self.eval(test.left, frame), int, float),
            as_kind(self.eval(test.comparators[0], frame), int, float),
        )
        return left - right if left is not None and right is not None else None

    def _widen(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        frame: Frame,
        iteration: Iteration,
        state: LoopState,
        after: list[Delta],
        span: Any,
        execution: int,
    ) -> None:
        """Run the body once more with everything that changes from iteration to iteration joined."""
        if len(after) > 1 and self._stable(after[-2], after[-1]) and isinstance(node, ast.For | ast.AsyncFor):
            return
        self.heap.rollback(state.start)
        self.heap.join(after)
        state.iteration = self.heap.mark()
        state.continues = []
        count = len(iteration.items) if iteration.exact else None
        over = iteration.over_loader
        self.loop_points.append(LoopPoint(node, span, execution, len(after), over, joined=True, count=count))
        self.uncertain += 1
        try:
            if isinstance(node, ast.For | ast.AsyncFor):
                items = iteration.items if iteration.last is None else (*iteration.items, iteration.last)
                self.assign(node.target, self.any_of(items), frame)
            self.block(node.body, frame)
        finally:
            self.uncertain -= 1
            self.loop_points.pop()
        last = self.heap.rollback(state.start)
        self.heap.join([*after, last])

    def _stable(self, first: Delta, second: Delta) -> bool:
        """Whether one more iteration changed nothing."""
        assumed = id(self.heap.conditions.assumed)
        if {place for place in first if place[0] != assumed} != {place for place in second if place[0] != assumed}:
            return False
        for place, change in first.items():
            if place[0] == assumed:
                continue
            one, two = change.value, second[place].value
            if one is two or (type(one) is type(two) and isinstance(one, Unknown | Scalar) and one == two):
                continue
            if isinstance(one, Tensor) and isinstance(two, Tensor) and one.spec == two.spec:
                continue
            if type(one) is type(two) and isinstance(one, int | float | str | tuple) and one == two:
                continue
            return False
        return True

    def _join_with(self, mark: int, others: list[Delta]) -> None:
        if others:
            current = self.heap.rollback(mark)
            self.heap.join([current, *others])

    def do_With(self, node: ast.With, frame: Frame) -> int:
        return self._with(node, 0, frame)

    def _with(self, node: ast.With, position: int, frame: Frame) -> int:
        """The body inside of those managers that are not entered yet."""
        if position == len(node.items):
            return self.block(node.body, frame)
        item = node.items[position]
        grad, guarded, grad_off, autocast = self.grad, self.guarded, self.grad_off, self.autocast
        try:
            manager = self.eval(item.context_expr, frame)
            mode = python.grad_mode(self, manager)
            if is_unknown(manager) and not self._is_foreign(item.context_expr, frame):
                mode = Scalar("bool")
            if mode is not None:
                self.set_grad(mode, self.site(node, frame))
            # What is not known may be an autocast, in a file that speaks of it.
            if not is_unknown(manager) or "autocast" in frame.source.text:
                self.autocast = autocast_inside(self.autocast, manager, self.truth)
            if python.expects_error(item.context_expr):
                self.guarded += 1
            return self._inside(manager, item, node, position, frame)
        finally:
            self.grad, self.guarded, self.grad_off, self.autocast = grad, guarded, grad_off, autocast

    def _inside(self, manager: Value, item: ast.withitem, node: ast.With, position: int, frame: Frame) -> int:
        """Enter a manager, run the body, and leave it."""
        completions: list[int] = []

        def body(entered: Value) -> int:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, frame)
            completions.append(self._with(node, position + 1, frame))
            return completions[-1]

        if isinstance(manager, Managed):
            # A generator: the body runs where it yields.
            call = as_kind(item.context_expr, ast.Call)
            return self._through(manager, call, frame, completions, body)
        misuse.enters(self, manager, item.context_expr, frame)
        kinds.uses(self, manager, "enter", item.context_expr, frame)
        suppressed = python.suppressed(manager)
        if suppressed is not None:
            completion = self._watched(lambda: body(UNKNOWN), True)
            kept = completion == RAISE and exceptions.catches(suppressed, self.thrown) is not False
            return NORMAL if kept else completion
        if isinstance(manager, Instance):
            return self._object_entered(manager, frame, body)
        if is_object(manager, contexts.STACK):
            enters = any(is_method_call(part, "enter_context", "push") for part in nodes_in(node, ast.Call))
            ended = self._watched(lambda: body(manager), enters or self.catching.at(self.uncertain))
            raised = self.thrown if ended == RAISE else None
            leaving = Arguments((), {}, item.context_expr, frame)
            return NORMAL if contexts.unwind(self, manager, leaving, raised) else ended
        body(python.entered(self, manager))
        python.left(self, manager, item.context_expr, frame)
        return NORMAL if NORMAL in completions else completions[-1]

    def _through(
        self,
        manager: Managed,
        call: ast.Call | None,
        frame: Frame,
        completions: list[int],
        body: Callable[[Value], int],
    ) -> int:
        """A context manager that is written as a generator: what the body raises is raised where it yields."""

        followed, certain = False, self.uncertain
        several = streams.gives_one_of_several(manager.function.node)

        def run(entered: Value) -> None:
            nonlocal followed
            by_case = several and self.uncertain > certain
            self.entered_by_case += by_case
            try:
                body(entered)
            finally:
                self.entered_by_case -= by_case
            if completions[-1] == RAISE:
                followed = self.catching.at(self.uncertain)
                exceptions.throw(self, self.thrown)

        self.call_function(manager.function, manager.args, manager.kwargs, call, frame, run)
        if not completions:
            body(python.entered(self, manager))
        return NORMAL if NORMAL in completions or followed else completions[-1]

    def _object_entered(self, manager: Instance, frame: Frame, body: Callable[[Value], int]) -> int:
        """A context manager of the user's: ``__exit__`` sees what the body raises, and may keep it."""
        entered = self._own_method(manager, "__enter__", (), frame)
        leaves = self.class_attribute(manager.cls, "__exit__")
        keeps = _may_suppress(leaves)
        self.guarded += keeps
        watched = keeps or self.catching.at(self.uncertain)
        ended = self._watched(lambda: body(entered), watched)
        if ended == RAISE and not watched:
            return RAISE
        thrown = self.thrown
        if ended == RAISE and not exceptions.is_exception(thrown):
            return RAISE
        given = (None, None, None) if ended != RAISE else (classes.class_of(thrown), thrown, UNKNOWN)
        kept = self._own_method(manager, "__exit__", given, frame)
        if ended == RAISE:
            self.thrown = thrown
            return NORMAL if self.truth(kept) else RAISE
        return ended

    do_AsyncWith = do_With

    def _own_method(self, instance: Instance, name: str, args: tuple[Value, ...], frame: Frame) -> Value:
        """A call of a method that the class of the user's has, unknown where it has none."""
        method = as_kind(self.class_attribute(instance.cls, name), Function)
        return self.call_function(method, (instance, *args), {}, None, frame) if method is not None else UNKNOWN

    def _is_foreign(self, manager: ast.expr, frame: Frame) -> bool:
        """Whether a context manager comes from a package that has nothing to do with grad mode."""
        return isinstance(manager, ast.Call) and isinstance(self.eval(manager.func, frame), Native)

    def do_Try(self, node: ast.Try, frame: Frame) -> int:
        instead = self.without_package(node, frame)
        if instead is not None:
            return self.block(instead, frame)
        expected = expects_errors(self, node, frame)
        self.guarded += expected
        try:
            completion = self._watched(lambda: self.block(node.body, frame), bool(node.handlers))
        finally:
            self.guarded -= expected
        if completion == RAISE and node.handlers:
            raised = self.thrown
            completion = self._watched(
                lambda: self._during(raised, lambda: self._handled(node, frame)), bool(node.finalbody), inherited=True
            )
        elif completion == NORMAL:
            completion = self.block(node.orelse, frame)
        if node.finalbody:
            returned, thrown = frame.returned, self.thrown
            raised = thrown if completion == RAISE else UNKNOWN
            final = self._during(raised, lambda: self.block(node.finalbody, frame))
            if final == NORMAL:
                frame.returned, self.thrown = returned, thrown
            else:
                completion = final
        return completion

    def _during(self, earlier: Value, run: Callable[[], int]) -> int:
        """A handler at work on an exception: it is the context of another one that is raised there."""
        try:
            completion = run()
        except Thrown as thrown:
            self._note_context(thrown.value, earlier)
            raise
        if completion == RAISE:
            self._note_context(self.thrown, earlier)
        return completion

    def _note_context(self, raised: Value, earlier: Value) -> None:
        if raised is earlier or not exceptions.is_exception(earlier):
            return
        if isinstance(raised, LibraryObject | Instance) and "__context__" not in raised.slots:
            self.heap.set(raised.slots, "__context__", earlier)

    def _watched(self, run: Callable[[], int], catches: bool, inherited: bool = False) -> int:
        """How something ends that may raise. `catches`: what it raises is caught here. `inherited`: only where it would be
        caught further out."""
        if not catches or (inherited and not self.catching.at(self.uncertain)):
            return run()
        self.catching.levels.append(self.uncertain)
        try:
            return run()
        except Thrown as thrown:
            self.thrown = thrown.value
            return RAISE
        finally:
            self.catching.levels.pop()

    def _handled(self, node: ast.Try, frame: Frame) -> int:
        """Run the handler that takes what was raised, or those that may."""
        thrown, possible = self.thrown, list[ast.ExceptHandler]()
        for handler in node.handlers:
            kind = None if handler.type is None else self.eval(handler.type, frame)
            verdict = True if handler.type is None else exceptions.catches(kind, thrown)
            if verdict is not False:
                possible.append(handler)
            if verdict:
                break
        else:
            if not possible:
                return RAISE
        if len(possible) == 1:
            return self._handler(possible[0], thrown, frame)()
        return self.fork([self._handler(handler, thrown, frame) for handler in possible], frame)

    def do_TryStar(self, node: ast.Try, frame: Frame) -> int:
        """Each handler takes its part of a group of exceptions; what none of them takes goes on."""
        completion = self._watched(lambda: self.block(node.body, frame), True)
        if completion == RAISE:
            completion = self._handled_in_parts(node, self.thrown, frame)
        elif completion == NORMAL:
            completion = self.block(node.orelse, frame)
        final = self.block(node.finalbody, frame)
        return completion if final == NORMAL else final

    def _handled_in_parts(self, node: ast.Try, left: Value, frame: Frame) -> int:
        try:
            for handler in node.handlers:
                taken, left = groups.taken(left, self.eval(handler.type, frame) if handler.type else UNKNOWN)
                if taken is not None:
                    ended = self._handler(handler, taken, frame)()
                    if ended != NORMAL:
                        return ended
                if left is None:
                    return NORMAL
        except groups.Undecided:
            return self.fork([self._handler(one, UNKNOWN, frame) for one in node.handlers] + [lambda: NORMAL], frame)
        self.thrown = left
        exceptions.throw(self, left)
        return RAISE

    def _handler(self, handler: ast.ExceptHandler, thrown: Value, frame: Frame) -> Callable[[], int]:
        def run() -> int:
            if handler.name:
                self.heap.set(frame.names, handler.name, thrown)
            frame.handling.append(thrown)
            try:
                return self.block(handler.body, frame)
            finally:
                frame.handling.pop()
                if handler.name:
                    self.heap.set(frame.names, handler.name, MISSING)

        return run

    def do_Match(self, node: ast.Match, frame: Frame) -> int:
        subject = self.eval(node.subject, frame)
        branches: list[Callable[[], int]] = []
        for case in node.cases:
            names: dict[str, Value] = {}
            verdict = patterns.fits(self, case.pattern, subject, frame, names)
            if verdict is not False and case.guard is not None:
                self._bind_names(names, frame)
                guard = self.truth(self.eval(case.guard, frame))
                verdict = verdict if guard else guard
            if verdict is False:
                continue
            branches.append(self._case(case, names, frame))
            if verdict:
                break
        else:
            branches.append(lambda: NORMAL)
        return branches[0]() if len(branches) == 1 else self.fork(branches, frame)

    def _case(self, case: ast.match_case, names: dict[str, Value], frame: Frame) -> Callable[[], int]:
        def run() -> int:
            self._bind_names(names, frame)
            return self.block(case.body, frame)

        return run

    def _bind_names(self, names: dict[str, Value], frame: Frame) -> None:
        for name, value in names.items():
            self.assign_name(name, value, frame)

    # -- definitions -------------------------------------------------------------------------------

    def do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        decorators = self.decorators(node, frame)
        function = self.make_function(node, node.name, frame)
        self.functions.append(function)
        name = private.named(node.name, node, frame)
        self.assign_name(name, self.decorate(function, decorators, frame), frame)

    do_AsyncFunctionDef = do_FunctionDef

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame
    ) -> Function:
        spec = node.args
        return Function(
            name,
            node,
            frame.path,
            frame.globals,
            frame.scopes,
            tuple(self.eval(default, frame) for default in spec.defaults),
            {
                argument.arg: self.eval(default, frame)
                for argument, default in zip(spec.kwonlyargs, spec.kw_defaults)
                if default is not None
            },
            is_generator=_is_generator(node),
        )

    def decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, frame: Frame
    ) -> list[tuple[ast.expr, Value]]:
        """The decorators of a definition, which are evaluated before it, from top to bottom."""
        found = []
        for decorator in node.decorator_list:
            grad = self.grad
            found.append((decorator, self.eval(decorator, frame)))
            self.grad = grad
        return found

    def decorate(self, made: Value, decorators: list[tuple[ast.expr, Value]], frame: Frame) -> Value:
        """The result of decorating a function or class: they are called from bottom to top."""
        for node, decorator in reversed(decorators):
            made = python.decorated(self, decorator, made, node, frame)
        return made

    def do_ClassDef(self, node: ast.ClassDef, frame: Frame) -> None:
        decorators = self.decorators(node, frame)
        bases = tuple(self.eval(base, frame) for base in node.bases)
        keywords = {keyword.arg: self.eval(keyword.value, frame) for keyword in node.keywords if keyword.arg}
        cls = ClassValue(node.name, bases, node, frame.path)
        cls.site = self.site(node, frame)
        body = Frame(
            frame.source,
            cls.slots,
            frame.globals,
            frame.scopes,
            caller=frame,
            depth=frame.depth,
            start=self.heap.mark(),
            of_class=cls,
        )
        before = len(self.functions)
        self.block(node.body, body)
        for name, value in list(cls.slots.items()):
            for function in python.functions_in(value):
                if function.owner is None and name in (function.name, private.mangled(function.name, cls.name)):
                    function.owner = cls
        for function in self.functions[before:]:
            if function.owner is None and function.node in node.body:
                function.owner = cls  # also when a decorator has put another function in its place
        for statement in of_kind(node.body, ast.AnnAssign):
            if isinstance(statement.target, ast.Name):
                cls.annotations.append((private.mangled(statement.target.id, cls.name), statement.annotation))
        self.classes.append(cls)
        made = classes.completed(self, cls, keywords, frame)
        self.assign_name(private.named(node.name, node, frame), self.decorate(made, decorators, frame), frame)

    # -- assignment --------------------------------------------------------------------------------

    def assign_name(self, name: str, value: Value, frame: Frame) -> None:
        value = self.named(value, name)
        if frame.of_class is not None:
            value = records.numbered(self, frame.of_class, name, value, frame)
        if name in frame.global_names:
            self.heap.set(frame.globals, name, value)
            return
        if name in frame.nonlocal_names:
            for names in frame.closure:
                if name in names:
                    self.heap.set(names, name, value)
                    return
        self.heap.set(frame.names, name, value)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        value = reasons.bound(value, target, frame, self.first_unknown)
        if self.observed and is_reference(target):
            value = self.observed.instead(value, target, frame, self.fresh_size)
        match target:
            case ast.Name():
                self.assign_name(private.named(target.id, target, frame), value, frame)
                self.record_fact(target, value, frame, target.id)
            case ast.Tuple() | ast.List():
                self._unpack(target, value, frame)
            case ast.Starred():
                self.assign(target.value, value, frame)
            case ast.Attribute():
                owner = self.eval(target.value, frame)
                self._note_subset(target, owner, value, frame)
                self.set_attribute(owner, private.named(target.attr, target, frame), value, target, frame)
                self.record_fact(target, value, frame, ast.unparse(target))
            case ast.Subscript() if (owner := self.owner_of_attributes(target.value, frame)) is not None:
                # `config.__dict__[name] = value`
                self._set_in_dict(owner, self.eval(target.slice, frame), value, target, frame)
            case ast.Subscript():
                self.set_item(self.eval(target.value, frame), self.eval(target.slice, frame), value, target, frame)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        parts = target.elts
        items = self.unpacked(value, len(parts), [ast.unparse(part) for part in parts], target, frame)
        star = next((index for index, part in enumerate(parts) if isinstance(part, ast.Starred)), None)
        if items is not None and star is not None and len(items) >= len(parts) - 1:
            tail = len(parts) - star - 1
            middle = ListValue(tuple(items[star : len(items) - tail]))
            items = (*items[:star], middle, *items[len(items) - tail :])
        if items is None or len(items) != len(parts):
            self._misfit(target, value, items, star is not None, frame)
            items = tuple(UNKNOWN for _ in parts)
        elif isinstance(value, DictValue) and _is_of_library(value) and not self.guarded:
            self._unpacked_wrong(target, value, items, frame)
        for part, item in zip(parts, items):
            self.assign(part, item, frame)

    def _misfit(
        self, target: ast.Tuple | ast.List, value: Value, items: tuple[Value, ...] | None, starred: bool, frame: Frame
    ) -> None:
        """Record that a value has more or fewer parts than there are targets, where that is known."""
        count: Value = len(items) if items is not None else None
        if isinstance(value, Tensor):
            shape = self.resolved_spec(value.spec).shape
            count = shape[0] if shape else None
        wanted = len(target.elts)
        if not isinstance(count, int) or count == wanted or (starred and count >= wanted - 1):
            return
        if not self.guarded:
            self._unpacked_wrong(target, value, items, frame, count)
        exceptions.throw(self, exceptions.made("builtins.ValueError", (_of_unpacking(wanted, count, starred),)))

    def _unpacked_wrong(
        self, target: ast.expr, value: Value, items: tuple[Value, ...] | None, frame: Frame, count: int | None = None
    ) -> None:
        key = (frame.source.span(target), "unpacking")
        if key not in self.failures_seen:
            self.failures_seen.add(key)
            count = len(items or ()) if count is None else count
            certain = self.uncertain <= frame.outermost.certain
            self.trace.unpackings.append(Unpacking(self.site(target, frame), value, items, count, certain))

    def set_item(self, container: Value, key: Value, value: Value, node: ast.expr, frame: Frame) -> None:
        if isinstance(container, Choice):
            self.over(container, lambda option: self.set_item(option, key, value, node, frame), without_none=True)
            return
        container = parameters.as_dict(self, container)
        misuse.indexes(self, container, key, node, frame)
        if isinstance(container, Instance):
            made = special.call(self, container, "__setitem__", (key, value), frame)
            container = _content(container) if made is special.ABSENT else None
        if is_unknown(container):
            self.placed(value)
        match container:
            case ListValue():
                self.trace.emptied.add(container.identity)
                if isinstance(key, SliceValue) and pure.put(
                    self, container, key, value, Arguments((), {}, node, frame)
                ):
                    return
                self.heap.set(container.slots, "items", self._replaced(container.elements, self.resolved(key), value))
            case AttributesView() if isinstance(container.owner, Instance | LibraryObject):
                self._set_in_dict(container.owner, key, value, node, frame)
            case DictValue():
                dictionaries.set_item(self, container, self.resolved(key), value)
            case LibraryModule():
                if isinstance(key, str):
                    modules.refuses_names(self, container.path, [key], node, frame)
                modules.set_child(self, container, key, value)
            case LibraryObject():
                of_class(container.path)(self, container).set_item(key, value, node, frame)
            case Tensor():
                self.tensor_set_item(container, key, value, node, frame)
            case Array():
                self.heap.set(container.slots, "bounds", None)
                self.heap.set(container.slots, "spread", None)
                self.heap.set(container.slots, "count", None)
                contained.write(self, container, key, self.resolved(value))
                contents.put(self, container, key, value)

    def _replaced(self, elements: tuple[Value, ...] | None, key: Value, value: Value) -> tuple[Value, ...] | None:
        """The elements of a list in which one was replaced; where it is not known which, each of them may be it."""
        if elements is not None and isinstance(key, SliceValue):
            new = elements_of(value)
            return None if new is None else Several(self.heap.several((*elements, *new)))
        if elements is None or not is_int(key):
            return None
        if isinstance(elements, Several):
            return Several.counted(self.heap.several((*elements, value)), elements.length)
        if not isinstance(key, int):
            return tuple(self.any_of((element, value)) for element in elements)
        if not is_index(key, elements):
            return None
        place = key % len(elements)
        return (*elements[:place], value, *elements[place + 1 :])

    def owner_of_attributes(self, node: ast.expr, frame: Frame) -> Instance | LibraryObject | None:
        """The object whose attributes an expression is the dict of: ``config.__dict__``, ``vars(config)``."""
        inner = whose_attributes(node)
        owner = self.eval(inner, frame) if inner is not None else None
        return owner if isinstance(owner, Instance) or is_object(owner, *records.NAMESPACES) else None

    def _set_in_dict(
        self, owner: Instance | LibraryObject, name: Value, value: Value, node: ast.AST, frame: Frame
    ) -> None:
        """``owner.__dict__[name] = value``: nothing in the class stands between."""
        if isinstance(name, str) and not is_module(owner):
            self.heap.set(owner.slots, name, value)
        else:
            self.set_attribute_named(owner, name, value, node, frame)

    def set_attribute_named(self, owner: Value, name: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """``setattr(owner, name, value)``. Where the name is not known, it may be any."""
        if isinstance(name, str):
            self.set_attribute(owner, name, value, node, frame)
        elif isinstance(owner, Choice):
            self.over(owner, lambda option: self.set_attribute_named(option, name, value, node, frame))
        elif isinstance(owner, Instance):
            self.heap.set(owner.state, "open", True)
            if not self.is_module(value):
                self.forget_attributes(owner)
        elif is_object(owner, *records.NAMESPACES):
            self.forget_attributes(owner)

    def forget_attributes(self, owner: Instance | LibraryObject) -> None:
        """Forget what an object holds but modules, or has from its class but methods: it may be something else now."""
        named = {**owner.slots}
        if isinstance(owner, LibraryObject):
            for name in named:
                self.heap.set(owner.slots, name, UNKNOWN)
            self.heap.set(owner.slots, python.OPEN, True)
            return
        for base in reversed(of_kind(owner.cls.mro(), ClassValue)):
            named = {**base.slots, **named}
        for name, value in named.items():
            if not isinstance(value, Function) and not self.is_module(value):
                self.heap.set(owner.slots, name, UNKNOWN)

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, frame: Frame) -> None:
        if isinstance(owner, Choice):
            self.over(owner, lambda option: self.set_attribute(option, name, value, node, frame), without_none=True)
            return
        owner = unwrapped(owner)
        if is_module(owner):
            value = unwrapped(value)
        self.check_attribute(owner, name, node, frame)
        kinds.looks_up(self, owner, name, node, frame)
        if is_unknown(owner) and name == "requires_grad":
            self.unknown_set()
        if is_unknown(owner):
            self.placed(value)
        match owner:
            case Instance() | ClassValue():
                if isinstance(owner, Instance):
                    if classes.set_through_class(self, owner, name, value, node, frame):
                        return
                    if not owner.is_module and not owner.cls.opaque and records.refuses(owner.cls, name):
                        exceptions.throw(self, exceptions.made("builtins.AttributeError", (name,)))
                    if isinstance(value, LibraryModule | Instance) and value.name is None:
                        value.name = name
                    if owner.is_module:
                        misuse.assigned(self, owner.slots.get(name), value, node, frame)
                        site = self.site(node, frame)
                        self.trace.attributes.append(
                            AttributeSet(owner, name, value, site, bool(owner.state.get("ready")))
                        )
                    native = owner.native
                    if isinstance(native, LibraryModule) and native.children is not None and self.is_module(value):
                        modules.set_module_attribute(self, native, name, value)
                    if is_object(native, data.LOADER) and name in data.SETTABLE:
                        self.heap.set(native.slots, name, value)
                self.heap.set(owner.slots, name, value)
            case Namespace():
                self.heap.set(owner.slots, name, value)
            case Record():
                dictionaries.set_item(self, owner, name, value)
            case LibraryModule():
                unset.size_of_layer(self, owner, name, value, node, frame)
                if isinstance(value, Tensor):
                    misuse.assigned(self, self.attribute(owner, name, node, frame), value, node, frame)
                if owner.built is not None:
                    self.trace.parts_set.append(PartSet(owner, name, value, self.site(node, frame)))
                modules.set_module_attribute(self, owner, name, value)
            case LibraryObject():
                unset.option_of_optimizer(self, owner, name, node, frame)
                self.heap.set(owner.slots, name, value)
            case Function():
                self.heap.set(owner.attributes, name, value)
            case Tensor():
                self.set_tensor_attribute(owner, name, value, node, frame)
            case Array():
                arrays.set_attribute(self, owner, name, value)
            case Unknown():
                owner.attributes = None
                self.carries(owner, (value,))
            case Parameters() if name == "requires_grad":
                self.set_parameters(owner, self.truth(value), node, frame)
            case Parameters():
                self.event("grad_touched", owner, node, frame)
                self.cleared(part for module in owner.modules for part in hierarchy.parts_of(module))
                self.passes += value is not None

    def delete_attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> None:
        if isinstance(owner, Choice):
            self.over(owner, lambda option: self.delete_attribute(option, name, node, frame), without_none=True)
            return
        owner = unwrapped(owner)
        if isinstance(owner, Instance) and classes.deleted_through_class(self, owner, name, node, frame):
            return
        if isinstance(owner, Instance | ClassValue | Namespace | LibraryObject) and name in owner.slots:
            self.heap.set(owner.slots, name, MISSING)
        native = as_kind(owner.native if isinstance(owner, Instance) else owner, LibraryModule)
        if native is not None:
            modules.delete_module_attribute(self, native, name)


def _is_of_library(value: DictValue) -> bool:
    """Whether a dict is a batch that a loader has made, or what a model returns: its keys are nothing that one wants."""
    return isinstance(value, Record) or value.slots.get("collated") is not None


def _of_unpacking(wanted: int, count: int, starred: bool) -> str:
    """Python's message about a value with another number of parts than there are targets."""
    if count > wanted:
        return f"too many values to unpack (expected {wanted})"
    expected = f"at least {wanted - 1}" if starred else f"{wanted}"
    return f"not enough values to unpack (expected {expected}, got {count})"


def _following(items: tuple[Value, ...], count: int) -> tuple[Value, ...]:
    """As many elements as stand for those of a loop, one after the other; with their numbers, where they are numbered."""
    first, second = items[0], items[-1]
    numbered = type(first) is tuple and type(second) is tuple and first and second and is_int(second[0])
    if not numbered or not isinstance(first, tuple) or not isinstance(first[0], int):
        return (first,) * count
    return tuple((first[0] + number, *first[1:]) for number in range(count))


def _thinned(value: Value, iteration: Iteration) -> Iteration:
    """Execute a loop over a generator: like the batches of a loader, what it yields mostly differs in the last only."""
    items = iteration.items
    if isinstance(value, ListValue) and value.type_name == "generator" and iteration.exact and len(items) > SHOWN:
        if all(alike(items[0], item) for item in items[1:-1]):
            last = None if alike(items[0], items[-1]) else items[-1]
            return Iteration(items[:2], exact=False, last=last, count=len(items))
    return iteration


def _content(owner: Instance) -> Value:
    """The container that an object is by its base."""
    held = special.contents(owner)
    return held if held is not None else as_kind(owner.native, LibraryModule)


def _is_cheap(part: ast.AST) -> bool:
    """Whether a part of a condition can be evaluated once more, and says nothing new."""
    if isinstance(part, ast.Call):
        return is_name(part.func, "len")
    kinds = ast.Compare | ast.Name | ast.Attribute | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Subscript
    return isinstance(part, kinds | ast.cmpop | ast.operator | ast.unaryop | ast.expr_context)


def _is_coin(test: ast.expr, frame: Frame) -> bool:
    """Whether a test draws a number, ``random.random() < 0.5``, or asks a variable for which one was drawn."""
    if isinstance(test, ast.Name) and frame.function is not None:
        given = [
            one.value
            for one in nodes_in(frame.function.node, ast.Assign)
            if any(is_name(target, test.id) for target in one.targets)
        ]
        return len(given) == 1 and not isinstance(given[0], ast.Name) and _is_coin(given[0], frame)
    called = [part.func for part in nodes_in(test, ast.Call)]
    names = {last_word(func) for func in called}
    return not names.isdisjoint(_DRAWS)


_DRAWS = frozenset("random rand randn randint uniform getrandbits integers choice".split())


def _may_suppress(method: Value) -> bool:
    """Whether ``__exit__`` may keep an error from leaving the with statement."""
    if not isinstance(method, Function):
        return False
    returned = returned_by(method.node)
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in returned)


_CONVERSIONS = frozenset(
    "to cuda cpu float double half bfloat16 long int bool detach unsqueeze squeeze permute transpose".split()
)
"""Methods of a tensor that only give another one."""


def _converted(before: Tensor, after: Tensor) -> bool:
    """Whether a conversion is known to have changed the device, the dtype, the shape or the graph. What is a tensor by its use
    alone may be an object that has a method of this name."""
    old, new = before.spec, after.spec
    if (
        old.requires_grad is True
        and new.requires_grad is False
        and (old.rank is not None or old.dtype is not None)
        or None not in (old.shape, new.shape)
        and old.shape != new.shape
    ):
        return True
    moved = old.device is not None and new.device is not None and old.device != new.device
    return moved or (old.dtype is not None and new.dtype is not None and old.dtype != new.dtype)


def _as_load(target: ast.expr) -> ast.expr:
    copied: ast.expr
    match target:
        case ast.Name():
            copied = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            copied = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            copied = ast.Subscript(target.value, target.slice, ast.Load())
        case _:
            copied = target
    return copied


def _chooses(node: ast.For | ast.AsyncFor, value: Value) -> bool:
    """Whether a loop goes through all parameters, and tests their names, or which one each of them is."""
    if not isinstance(value, Parameters) or _leaves_early(node):
        return False
    if any(is_name(call.func, "id") for statement in node.body for call in nodes_in(statement, ast.Call)):
        return True
    target = as_kind(node.target, ast.Tuple)
    if not value.named or target is None:
        return False
    name = plain_name(target.elts[0])
    tests = [part.test for statement in node.body for part in nodes_in(statement, ast.If)]
    tests += [one.value for one in of_kind(node.body, ast.Assign) if is_attribute(one.targets[0], "requires_grad")]
    return any(is_name(part, name) for test in tests for part in ast.walk(test))


def _leaves_early(node: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop may end before its last element."""
    pending: list[tuple[ast.AST, bool]] = [(part, True) for part in node.body]
    while pending:
        part, own = pending.pop()
        if isinstance(part, ast.Return | ast.Yield | ast.YieldFrom) or (own and isinstance(part, ast.Break)):
            return True
        if isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] in ("exit", "_exit", "quit"):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            inside = own and not isinstance(part, ast.For | ast.While | ast.AsyncFor)
            pending += [(inner, inside) for inner in ast.iter_child_nodes(part)]
    return False


def _is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    pending: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(part))
    return False
