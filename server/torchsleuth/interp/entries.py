"""Entry points: the body of a document, and everything that nothing calls, with arguments that are not known or supposed."""

from __future__ import annotations

import ast
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from torchsleuth.interp import harness
from torchsleuth.interp.budget import OutOfBudget, OutOfTime
from torchsleuth.interp.declared import DeclaredShapes
from torchsleuth.interp.inputs import ArgumentKey, Demand, demanded, demanded_rank, used_as_tensors
from torchsleuth.interp.library.modules import move
from torchsleuth.interp.roles import Role, Roles, StandIns, annotations_of, names_called, roles_by_use
from torchsleuth.interp.suppositions import NOTHING, Entry, Supposition, Trial
from torchsleuth.interp.trace import LoopPoint, Operation, OperatorFailure, Place, Sighting, Trace
from torchsleuth.messages import message
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.changes import changed_attributes
from torchsleuth.syntax.forms import by_position, is_constant, is_function_call, is_method_call, nodes_in, stores
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.shapes import Declared
from torchsleuth.syntax.shapes import key as key_of
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import index
from torchsleuth.syntax.uses import Reader, kept_as, parameter_key
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, Native, TensorSpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    ListValue,
    Namespace,
    OpenArguments,
    Scalar,
    Tensor,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

_PASSING = (bool, int, float, str, tuple, ListValue, DictValue, Tensor, Scalar)
"""Values that an attribute holds for a while. Modules and optimizers are replaced by their like."""
MAX_TRIALS = 6
"""Combinations of ranks that are tried to prove that no argument makes a function work."""
TIMES = (2, 3)
"""How often loops go around of which an argument says that. What is true of both is taken for the rule."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)
SIZES = re.compile(
    r"(\w+_)?dim|dim_\w+|d_\w+|(\w+_)?embd|num_(heads|features|channels|classes|tokens|hidden)|n_(heads?|classes|hidden)"
    r"|heads|(in|out|mid|hidden|base|inter)_?(channels|features|planes|chs?|chans)|inplanes|planes|inp|oup"
    r"|(hidden|vocab|embedding|embed|latent|image|img|patch|window|input|output|kernel)_size|n[gdz]?f|nz|latents?"
    r"|(num|n)_(layers?|blocks?|patches|frames|groups|queries|experts)|depth|(max_)?(seq|sequence)_(len|length)|kernel|stride"
)
"""Names of constructor parameters that are sizes."""


class EntryPoints(DeclaredShapes):
    """Runs what there is to run."""

    entering = False
    _document: Frame | None = None
    """The frame of the body of the document."""
    _being_made: list[ClassValue]

    def run_document(self, source: SourceText) -> Trace:
        """Analyse a document: its body as ``__main__``, then whatever was not reached from there."""
        ran: bool | None = None
        try:
            tree = parse(source)
            self.read_declarations(source, tree)
            names = Names(__name__="__main__", __file__=os.path.abspath(source.path))
            frame = Frame(source, names, names)
            self._document, self._being_made = frame, []
            ran = self._protect(lambda: self.body(tree.body, frame))
            if not ran:
                self._lose_globals(tree, frame)
            entries = self._enter_all(source, frame)
            if ran and not self.overdue:
                self._suppose_all(entries)
            if not self.overdue:
                self.check_contracts(source, frame)
        except OutOfTime:
            self.overdue = True
            if self.entering or ran is None:
                self.trace.incomplete = message("analysis.time")
        if self.overdue:
            self.trace.overdue = message("analysis.time")
        return self.trace

    def check_contracts(self, source: SourceText, frame: Frame) -> None:
        """Run what shapes are declared of for whatever its names stand for."""

    def _lose_globals(self, tree: ast.Module, frame: Frame) -> None:
        """The body did not come to its end: what else it does to what it has made is not known."""
        for name, value in list(frame.names.items()):
            if not name.startswith("__") and not isinstance(value, Function | ClassValue | Native | Namespace):
                self.heap.set(frame.names, name, UNKNOWN)
        for node in nodes_in(tree, ast.Name):
            if stores(node) and node.id not in frame.names:
                self.heap.set(frame.names, node.id, UNKNOWN)

    def _enter_all(self, source: SourceText, frame: Frame) -> list[Entry]:
        """Run whatever the body of the document has not reached."""
        entries: list[Entry] = []
        self.entering = True
        for cls in list(self.classes):
            if cls.path == source.path and cls.is_module() and not self._was_run(cls) and not self.overdue:
                entries.append(self._enter(partial(self._try_class, cls, frame)))
        entries += self._enter_by_roles(source, frame)
        for cls, method in list(harness.cases(one for one in self.classes if one.path == source.path)):
            if method.node not in self.called and not self.overdue:
                entries.append(self._enter(partial(self._try_test, cls, method, frame)))
        for function in list(self.functions):
            if function.path == source.path and function.node not in self.called and not self.overdue:
                entries.append(self._enter(partial(self._try_function, function, frame)))
        self.entering = False
        if self.overdue:
            self.trace.incomplete = message("analysis.time")
        self.settle_facts()
        return entries

    def _enter_by_roles(self, source: SourceText, frame: Frame) -> list[Entry]:
        """Run the functions and the classes whose parameters and attributes are known by their use: first those that no
        other one in the file calls, so that those inherit what they are given."""
        entries: list[Entry] = []
        functions = [one for one in self.functions if one.path == source.path and isinstance(one.node, _DEFINED)]
        plain = {one.name: one for one in functions if one.owner is None}
        named = {name: one.node for name, one in plain.items() if isinstance(one.node, _DEFINED)}
        inner = {name for one in functions for name in names_called(one.node) if plain.get(name) is not one}
        for function in sorted(plain.values(), key=lambda one: one.name in inner):
            if function.node not in self.called and not self.overdue and isinstance(function.node, _DEFINED):
                uses = Reader(named, {}).read(function.node, bound=False)
                roles = roles_by_use(uses, annotations_of(function.node), self.oracle.attributes("torch.nn.Module"))
                if roles.of:
                    entries.append(self._enter(partial(self._try_with_roles, function, roles, frame)))
        for cls in list(self.classes):
            methods = {
                name: value.node
                for name, value in cls.slots.items()
                if isinstance(value, Function) and isinstance(value.node, _DEFINED) and value.kind == "function"
            }
            natives = {base.path for base in of_kind(cls.mro(), Native)}
            known = cls.has_known_bases() and natives <= {"builtins.object", "abc.ABC"}
            if cls.path == source.path and known and methods and not self._was_made(cls) and not self.overdue:
                reader = Reader(named, methods)
                for node in methods.values():
                    reader.read(node, bound=True)
                roles = roles_by_use(reader.uses, _annotations_in(methods), self.oracle.attributes("torch.nn.Module"))
                if roles.of:
                    entries += self._enter_methods(cls, methods, roles, frame)
        return entries

    def _was_made(self, cls: ClassValue) -> bool:
        """Whether something made an instance of a class, or of one that derives from it."""
        return any(cls in made.mro() for made in self.instantiated)

    def _enter_methods(
        self, cls: ClassValue, methods: Mapping[str, ast.AST], roles: Roles, frame: Frame
    ) -> list[Entry]:
        """Run the methods of a class that nothing makes an object of, first those that no other one calls."""
        inner = {name for node in methods.values() for name in names_called(node)}
        entries: list[Entry] = []
        for name in sorted(methods, key=lambda name: name in inner):
            method = cls.slots[name]
            special = name.startswith("__") and name != "__call__"
            if special or method.node in self.called or self.overdue:
                continue
            entries.append(self._enter(partial(self._try_method, cls, method, roles, frame)))
        return entries

    def _suppose_all(self, entries: list[Entry]) -> None:
        """Run the entries again with what is supposed of their arguments."""
        places, sightings = list(self.trace.facts), list(self.trace.declared)
        self.most_questions = self.oracle.misses + self.budget.supposed_questions
        for entry in entries:
            if entry.complete and self.oracle.misses <= self.most_questions and not self.overdue:
                self._suppose(entry, places, sightings)
        self.most_questions = None
        self.settle_facts()

    def _was_run(self, cls: ClassValue) -> bool:
        """Whether something made an instance of a class, or of one that derives from it and uses its ``forward``."""
        forward = as_kind(cls.slots.get("forward"), Function)
        used = forward is None or forward.node in self.called
        return cls in self.instantiated or (used and any(cls in made.mro() for made in self.instantiated))

    def _enter(self, run: Callable[[Supposition], Any]) -> Entry:
        """Run what nothing calls, as if it were called at the end of the document. Of what it changes, only the sizes
        that it finds out are kept. Not where the document has set other defaults for it."""
        entry = Entry(run)
        if self.other_defaults:
            return entry
        first, sighted = len(self.trace.facts), len(self.trace.declared)
        mark = self.heap.mark()
        self._begin(entry, NOTHING)
        self.settle_facts()
        entry.lacking = {tensor.argument for tensor in self.arguments if tensor.argument and tensor.spec.shape is None}
        for change in self.heap.rollback(mark).values():
            if change.slots is self.substitution:
                self.heap.set(change.slots, change.key, change.value)
                self.learned_aside.add(change.key)
        entry.places = (first, len(self.trace.facts))
        for seen in itertools.islice(self.trace.facts.values(), first, None):
            seen.uncalled = True
            seen.supposed = seen.supposed or (entry.defaults and any(map(_has_number, seen.specs)))
        entry.sightings = (sighted, len(self.trace.declared))
        return entry

    def _begin(self, entry: Entry, given: Supposition) -> None:
        grad = self.grad
        self.entry += 1
        self.entry_point, self.arguments, self.general = entry, [], given.general
        self.rigid = {}
        limit = self.step_limit
        self.step_limit = min(limit, self.steps + self.budget.entry_steps)
        entry.complete = self._protect(lambda: entry.run(given))
        self.step_limit = limit
        self.entry_point, self.general, self.rigid = None, False, {}
        self.grad = grad

    def aside(self, run: Callable[[], Any]) -> None:
        """Run what PyTorch calls at another time, without gradients; only the sizes that it finds out are kept."""
        mark, grad, loops = self.heap.mark(), self.grad, self.loop_points
        self.grad, self.loop_points = False, []
        self.uncertain += 1
        try:
            run()
        finally:
            self.uncertain -= 1
            self.grad, self.loop_points = grad, loops
            self.settle_facts()
            for change in self.heap.rollback(mark).values():
                if change.slots is self.substitution:
                    self.heap.set(change.slots, change.key, change.value)

    def maybe(self, run: Callable[[], Any]) -> None:
        """Run what may or may not be called here, without gradients."""
        mark, grad = self.heap.mark(), self.grad
        self.grad = False
        self.uncertain += 1
        try:
            run()
        finally:
            self.uncertain -= 1
            self.grad = grad
        self.heap.join([self.heap.rollback(mark), {}])

    def _protect(self, run: Callable[[], Any]) -> bool:
        """Run an entry point, and whether it came to its end; whatever stops it stops only it."""
        self.loop_points, self.guarded, self.uncertain, self.autocast = [], 0, 0, {}
        self.forward_depth = 0
        try:
            run()
            return True
        except OutOfBudget as error:
            self.trace.incomplete = str(error)
        except RecursionError:
            self.trace.incomplete = message("analysis.depth")
        return False

    # -- what nothing calls ------------------------------------------------------------------------

    def _try_class(self, cls: ClassValue, frame: Frame, given: Supposition) -> None:
        """A module class that nothing instantiates: built with its defaults, called with unknown tensors."""
        found = as_kind(self.class_attribute(cls, "__init__"), Function)
        kwargs = OpenArguments()
        if found is not None:
            kwargs = self._constructor_arguments(found, given)
            kwargs.update(_written_options(cls, found, frame))
        instance = self.instantiate(cls, (), kwargs, None, frame)
        native = as_kind(instance.native, LibraryModule) if isinstance(instance, Instance) else None
        if native is not None and native.children == ():
            # A container that others fill.
            self.heap.set(native.slots, "children", UNKNOWN)
        # Whoever makes one may move it.
        move(self, instance, None, None)
        forward = self.class_attribute(cls, "forward")
        if isinstance(forward, Function) and isinstance(instance, Instance):
            skip = forward.bound_parameters
            self._hand_out(forward, (instance,)[:skip], self._arguments(forward, skip, given), frame)
            self.forget_changed(instance)
            for method in of_kind(cls.slots.values(), Function):
                if method.node not in self.called and method.kind == "function":
                    self._hand_out(method, (instance,), self._arguments(method, 1, given), frame)

    def _try_with_roles(self, function: Function, roles: Roles, frame: Frame, given: Supposition) -> None:
        """A function whose parameters are known by their use."""
        values = self._arguments(function, 0, given)
        held = StandIns(self, roles, function.node, function.path).values
        values.update((name, held[name]) for name in values if is_unknown(values[name]) and name in held)
        with self._over_batches(roles):
            if roles.evaluated and not roles.trained and roles.batches:
                # Of a whole evaluation, nobody goes backward through the result.
                self.call_function(function, (), values, None, frame)
            else:
                for _ in self._times(function, roles, frame):
                    self._hand_out(function, (), values, frame)

    def _try_method(self, cls: ClassValue, method: Function, roles: Roles, frame: Frame, given: Supposition) -> None:
        """A method of an object whose attributes are known by their use."""
        found = as_kind(self.class_attribute(cls, "__init__"), Function)
        kwargs = self._constructor_arguments(found, given) if found is not None else OpenArguments()
        roles = roles.within(method.name)
        held = StandIns(self, roles, method.node, method.path).values
        for name, key in _kept_by(found).items():
            if name in kwargs and is_unknown(kwargs[name]):
                kwargs[name] = held.get(key, kwargs[name])
        instance = as_kind(self.instantiate(cls, (), kwargs, None, frame), Instance)
        if instance is None:
            return
        self.forget_changed(instance)
        for key, value in held.items():
            name = key.removeprefix("self.")
            if name != key and is_unknown(instance.slots.get(name, UNKNOWN)):
                self.heap.set(instance.slots, name, value)
        self.heap.set(instance.state, "open", True)
        values = self._arguments(method, 1, given)
        for name in values:
            if is_unknown(values[name]):
                values[name] = held.get(parameter_key(method.name, name), values[name])
        with self._over_batches(roles):
            for _ in self._times(method, roles, frame):
                self._hand_out(method, (instance,), values, frame)
                self.forget_changed(instance, kept=method.name)

    def _times(self, function: Function, roles: Roles, frame: Frame) -> Iterator[None]:
        """How often an entry is called: a step of a training again and again, in a loop of its caller's."""
        if isinstance(function.node, ast.Lambda) or not _is_a_step(function.node, roles):
            yield None
            return
        loop = ast.While(ast.Constant(True), function.node.body, [])
        ast.copy_location(loop, function.node)
        execution, span = next(self.loop_executions), frame.source.span(function.node)
        for iteration in range(2):
            self.loop_points.append(LoopPoint(loop, span, execution, iteration, False, supposed=True))
            yield None
            self.loop_points.pop()

    def forget_changed(self, instance: Instance, kept: str | None = None) -> None:
        """An object that has lived for a while: what its methods change is not what its constructor made. `kept`: but for
        this one. What it holds of other classes has lived as long."""
        methods = _methods_of(instance)
        methods.pop(kept or "", None)
        self._forget_attributes(instance, *changed_attributes(methods))
        for name, part in list(instance.slots.items()):
            if isinstance(part, Instance) and part.native is None and part is not instance:
                of_itself, of_holder = changed_attributes(_methods_of(part)), changed_attributes(methods, part=name)
                self._forget_attributes(part, of_itself[0] | of_holder[0], of_itself[1] | of_holder[1])

    def _forget_attributes(self, instance: Instance, bound: set[str], filled: set[str]) -> None:
        """The attributes of an object of these names are no longer known: what was bound to them, and what containers held."""
        for name, value in list(instance.slots.items()):
            if isinstance(value, ListValue | DictValue) and (name in filled or not value.slots["items"]):
                # An empty one only waits for what somebody puts into it.
                self.heap.set(value.slots, "items", _held_before(value))
            elif value is None or (name in bound and isinstance(value, _PASSING)):
                # None only holds the place of what somebody sets.
                self.heap.set(instance.slots, name, UNKNOWN)

    @contextmanager
    def _over_batches(self, roles: Roles) -> Iterator[None]:
        """The loops of an entry that go over batches."""
        before, self.batch_loops = self.batch_loops, roles.batches
        try:
            yield
        finally:
            self.batch_loops = before

    def _try_function(self, function: Function, frame: Frame, given: Supposition) -> None:
        if function.owner is None and not isinstance(function.node, ast.Lambda) and not harness.may_fail(function):
            values = self._with_fixtures(self._arguments(function, 0, given), frame)
            self._hand_out(function, (), values, frame)

    def _try_test(self, cls: ClassValue, method: Function, frame: Frame, given: Supposition) -> None:
        """A test of a class, behind what sets it up."""
        instance = harness.set_up(self, cls, frame)
        if instance is not None:
            values = self._with_fixtures(self._arguments(method, 1, given), frame)
            self._hand_out(method, (instance,), values, frame)

    def _with_fixtures(self, values: OpenArguments, frame: Frame) -> OpenArguments:
        for name, value in values.items():
            if is_unknown(value):
                values[name] = harness.fixture(self, self.functions, name, frame)
        return values

    def _hand_out(self, function: Function, args: tuple[Value, ...], kwargs: OpenArguments, frame: Frame) -> None:
        """Call what nothing calls. Whoever does may use the result for anything."""
        self.escape((self.call_function(function, args, kwargs, None, frame),))

    def _constructor_arguments(self, function: Function, given: Supposition) -> OpenArguments:
        """Arguments for what has no default. Those without an annotation are unknown, or sizes by their names."""
        values = OpenArguments()
        self._note_defaults(function)
        for argument in _required(function, skip=1):
            place = (function.path, *key_of(argument))
            value = self._annotated(argument, place, given)
            if is_unknown(value) and argument.annotation is None and SIZES.fullmatch(argument.arg):
                assert self.entry_point is not None
                self.entry_point.sizes = True
                if given.sizes:
                    value = self._integer(argument.arg, place, given)
            values[argument.arg] = value
        return values

    def _note_defaults(self, function: Function) -> None:
        """Whoever calls it may pass other integers than the defaults."""
        spec = function.node.args
        defaults = of_kind((*spec.defaults, *spec.kw_defaults), ast.Constant)
        if self.entry_point is not None and any(is_number(one.value) for one in defaults):
            self.entry_point.defaults = True

    def _arguments(self, function: Function, skip: int, given: Supposition) -> OpenArguments:
        """Arguments for what has no default. Those of `forward` are tensors."""
        values = OpenArguments()
        self._note_defaults(function)
        written = self.declared.get(function.path)
        names: dict[str, Size] = {}
        for argument in _required(function, skip):
            place = (function.path, *key_of(argument))
            value = self._annotated(argument, place, given)
            declared = written.parameters.get(key_of(argument)) if written else None
            in_forward = function.owner is not None and function.name == "forward" and argument.annotation is None
            stated = declared is not None and (declared.kind == "annotation" or given.declared or place in given.ranks)
            nameless = is_unknown(value) and not in_forward and argument.annotation is None
            by_use = nameless and argument.arg in used_as_tensors(function)
            if by_use and self.entry_point is not None:
                self.entry_point.used = True
            if isinstance(value, Tensor) or in_forward or stated or (by_use and given.tensors):
                value = self._tensor_argument(place, declared, given, names)
            if declared is not None and self.entry_point is not None:
                self.entry_point.declared[place] = declared
            values[argument.arg] = value
        return values

    def _annotated(self, argument: ast.arg, place: ArgumentKey, given: Supposition) -> Value:
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        if annotation == "int":
            return self._integer(argument.arg, place, given)
        if annotation in ("float", "str"):
            return Scalar(annotation)
        if annotation.rpartition(".")[2] == "Tensor":
            return Tensor(UNKNOWN_TENSOR)
        made = [cls for cls in self.classes if cls.name == annotation and cls.path == place[0] and cls.is_module()]
        return self._made_by_others(made[0], given) if len(made) == 1 else UNKNOWN

    def _made_by_others(self, cls: ClassValue, given: Supposition) -> Value:
        """A module of a class of the document that a caller makes and passes."""
        if self._document is None or cls in self._being_made:
            return UNKNOWN
        self._being_made.append(cls)
        try:
            found = as_kind(self.class_attribute(cls, "__init__"), Function)
            kwargs = self._constructor_arguments(found, given) if found is not None else OpenArguments()
            instance = self.instantiate(cls, (), kwargs, None, self._document)
        finally:
            self._being_made.pop()
        if isinstance(instance, Instance):
            move(self, instance, None, None)
            self.heap.set(instance.state, "training", None)
        return instance

    def _integer(self, name: str, place: ArgumentKey, given: Supposition) -> Size:
        """A size that stays the same as long as the entry runs."""
        if place in given.counted:
            return given.count
        symbol = self.fresh_symbol(name)
        self.lasting[symbol] = place
        return dims.of(symbol)

    def differ(self, left: Size, right: Size) -> bool:
        """Whether two sizes, of which nobody gives any, are taken to be different ones."""
        names = [dims.symbol(size) for size in (left, right) if not isinstance(size, int)]
        return self.general and all(name in self.lasting for name in names)

    def goes_around(self, times: Size) -> None:
        """A loop goes around as often as this says."""
        if self.entry_point is not None:
            self.entry_point.counted.update(
                self.lasting[symbol] for symbol in dims.symbols(times) if symbol in self.lasting
            )

    def counted(self) -> frozenset[ArgumentKey]:
        return frozenset() if self.entry_point is None else frozenset(self.entry_point.counted)

    def tabulated(self, before: frozenset[ArgumentKey]) -> None:
        if self.entry_point is not None:
            self.entry_point.counted.intersection_update(before)

    def _tensor_argument(
        self, place: ArgumentKey, declared: Declared | None, given: Supposition, names: dict[str, Size]
    ) -> Tensor:
        """A tensor of unknown shape, of the declared one or of the supposed rank."""
        shape: tuple[Size, ...] | None = None
        if given.declared and declared is not None and declared.spread is None:
            sizes: list[Size] = []
            for part in declared.dims:
                if isinstance(part.size, int):
                    sizes.append(part.size)
                elif part.size is None or part.may_be_one:
                    sizes.append(self.fresh_size("?"))
                else:
                    if part.size not in names:
                        names[part.size] = self.fresh_size(part.size)
                        self.rigid.update(dict.fromkeys(dims.symbols(names[part.size]), True))
                    sizes.append(names[part.size])
            shape = tuple(sizes)
        elif place in given.ranks:
            shape = tuple(self.fresh_size(name) for name in given.ranks[place])
        tensor = Tensor(TensorSpec(shape, given.dtypes.get(place), None, None))
        tensor.argument = place
        self.arguments.append(tensor)
        return tensor

    def demand(self, operation: Operation) -> None:
        """An operator meets a tensor of unknown shape: what it says of the argument that the tensor comes from."""
        self._demand(demanded(operation))

    def demand_rank(self, tensor: Tensor, shape: tuple[Size, ...]) -> None:
        """Something takes a tensor of unknown shape only if it has as many dimensions as these."""
        names = tuple("?" if isinstance(size, int) else dims.text(size) for size in shape)
        self._demand(demanded_rank(tensor, tuple(name if name.isidentifier() else "?" for name in names)))

    def _demand(self, found: tuple[Tensor, Demand] | None) -> None:
        """Keep the first that is asked of an argument, unless a later one leaves less choice."""
        if found is None or self.entry_point is None or found[0].argument is None:
            return
        demands, place, demand = self.entry_point.demands, found[0].argument, found[1]
        known = demands.setdefault(place, demand)
        if set(demand.ranks) < set(known.ranks):
            demands[place] = replace(demand, dtype=demand.dtype or known.dtype)

    # -- what is supposed of it --------------------------------------------------------------------

    def _suppose(self, entry: Entry, places: list[Place], sightings: list[Any]) -> None:
        """Run an entry again with arguments that have a shape. What becomes known that way is kept for those who read
        the code; it proves nothing, unless every rank fails."""
        demands = {place: demand for place, demand in entry.demands.items() if place in entry.lacking}
        # What is declared with a rank that the code does not take is no knowledge.
        wrong = {place for place, demand in demands.items() if not _accepts(demand, entry.declared.get(place))}
        declared = {place: shape for place, shape in entry.declared.items() if place not in wrong}
        usual = {place: demand for place, demand in demands.items() if demand.usual and place not in declared}
        dtypes, ranks = _dtypes(demands), _ranks(usual)
        sane = True
        if declared and not wrong:
            trial = self._trial(entry, Supposition(True, ranks, dtypes, entry.sizes))
            if trial.sane:
                self._take_over(entry, trial, places, sightings if not usual else [])
                return
            fixed = {place: _words(shape) for place, shape in declared.items() if shape.spread is None}
            trial = self._trial(entry, Supposition(False, fixed, dtypes, False))
            if trial.sane:
                self._refute(entry, trial, sightings)
                return
            if all(place in fixed and len(fixed[place]) == demand.ranks[0] for place, demand in demands.items()):
                self._tell(trial.trace.failures)  # the rank is both what is written and what is usual
                return
            sane = False
        elif usual or entry.sizes:
            for sizes in (True, False) if entry.sizes else (False,):
                trial = self._trial(entry, Supposition(False, ranks, dtypes, sizes, general=sizes and not wrong))
                sane = trial.sane
                if sane:
                    self._take_over(entry, trial, places, [])
                    if wrong:
                        self._refute(entry, trial, sightings)
                    break
        if entry.used and not declared:
            self._suppose_tensors(entry, places)
        if demands and not (sane and len(usual) == len(demands)):
            self._prove(entry, demands)

    def _suppose_tensors(self, entry: Entry, places: list[Place]) -> None:
        """Run an entry again with tensors for the arguments that it uses as tensors: what becomes known proves nothing."""
        trial = self._trial(entry, Supposition(tensors=True, sizes=entry.sizes))
        usual = {place: demand for place, demand in trial.demands.items() if demand.usual}
        if usual:
            ranked = self._trial(entry, Supposition(False, _ranks(usual), _dtypes(usual), entry.sizes, True))
            trial = ranked if ranked.sane else trial
        if trial.sane:
            self._take_over(entry, trial, places, [])

    def _trial(self, entry: Entry, given: Supposition) -> Trial:
        """Run an entry with a trace of its own; everything is as before afterwards."""
        kept = self.trace, self.failures_seen, dict(self.pending)
        classes, functions, mark = len(self.classes), len(self.functions), self.heap.mark()
        self.trace, self.failures_seen = Trace(), set()
        attempt = Entry(entry.run)
        try:
            self._begin(attempt, given)
            self.settle_facts()
            shapes = {
                argument.argument: self.resolved_spec(argument.spec).shape
                for argument in self.arguments
                if argument.argument is not None
            }
            return Trial(given, self.trace, attempt.demands, shapes, frozenset(attempt.counted))
        finally:
            self.heap.rollback(mark)
            del self.classes[classes:], self.functions[functions:]
            self.trace, self.failures_seen, self.pending = kept

    def _take_over(self, entry: Entry, trial: Trial, places: list[Place], sightings: list[Any]) -> None:
        """Take over what an entry shows when its arguments have a shape."""
        self._adopt(entry, trial, trial.trace.facts, places)
        if trial.counted:
            given = replace(trial.given, counted=trial.counted, count=TIMES[0], general=True)
            few = self._trial(entry, given)
            asked = {place: demand for place, demand in few.demands.items() if demand.usual and place in entry.lacking}
            if asked:
                given = replace(given, ranks=given.ranks | _ranks(asked), dtypes=given.dtypes | _dtypes(asked))
                few = self._trial(entry, given)
            more = self._trial(entry, replace(given, count=TIMES[1]))
            if few.sane and more.sane:
                self._adopt(entry, few, _common(few.trace.facts, more.trace.facts), places)
        if sightings:
            self._forget_unknown(entry, sightings)
            self.trace.declared.update(trial.trace.declared)

    def _adopt(self, entry: Entry, trial: Trial, found: dict[Place, Sighting], places: list[Place]) -> None:
        facts, own = self.trace.facts, set(places[slice(*entry.places)])
        for place, seen in found.items():
            before = facts.get(place)
            lacking = [spec.shape is None for spec in before.specs] if before is not None else []
            if before is None or (any(lacking) if place in own else all(lacking) and not before.certain):
                if place not in trial.trace.obscure and all(spec.shape is not None for spec in seen.specs):
                    seen.supposed = seen.uncalled = True
                    facts[place] = seen
                    self.trace.obscure.discard(place)

    def _forget_unknown(self, entry: Entry, sightings: list[Any]) -> None:
        for mark in sightings[slice(*entry.sightings)]:
            if self.trace.declared[mark].shape is None:
                del self.trace.declared[mark]

    def _refute(self, entry: Entry, trial: Trial, sightings: list[Any]) -> None:
        """With the declared ranks all goes well, with the declared sizes it does not: what the sizes turn out to be."""
        self._forget_unknown(entry, sightings)
        for sighting in list(trial.trace.declared.values()):
            node = sighting.site.node
            if isinstance(node, ast.arg):
                place = (sighting.site.span.path, *key_of(node))
                shape = trial.shapes.get(place)
                if shape is not None and place in entry.declared:
                    self.trace.declared[(place[0], sighting.declared.start, shape, ())] = replace(sighting, shape=shape)

    def _prove(self, entry: Entry, demands: dict[ArgumentKey, Demand]) -> None:
        """Report the errors that come whichever ranks the arguments have."""
        ranks = [[_names(demand, rank) for rank in demand.ranks] for demand in demands.values()]
        if not all(demand.closed for demand in demands.values()) or math.prod(map(len, ranks)) > MAX_TRIALS:
            return
        usual = _ranks({place: demand for place, demand in demands.items() if demand.usual})
        common: dict[Any, OperatorFailure] | None = None
        of_usual: dict[Any, OperatorFailure] = {}
        for combination in itertools.product(*ranks):
            given = dict(zip(demands, combination))
            trial = self._trial(entry, Supposition(False, given))
            found = {
                (failure.operation.site.span, failure.failure.exception): failure for failure in trial.trace.failures
            }
            if not found:
                return
            common = found if common is None else {mark: one for mark, one in common.items() if mark in found}
            if given == usual:
                of_usual = found
        self._tell((common or of_usual).values())

    def _tell(self, failures: Iterable[OperatorFailure]) -> None:
        """Report errors that were met on trial, one at each place."""
        for failure in failures:
            if not any(other.operation.site.span == failure.operation.site.span for other in self.trace.failures):
                self.trace.failures.append(failure)


def _is_a_step(function: ast.AST, roles: Roles) -> bool:
    """Whether a function goes backward and steps an optimizer in no loop of its own, as one for a single batch does."""
    if not isinstance(function, _DEFINED) or not roles.named(Role.OPTIMIZER):
        return False
    within = index(function)
    called = {
        part.func.attr
        for part in within.of_type(ast.Call)
        if is_method_call(part) and not any_are(within.trail(part), *_LOOPS)
    }
    return {"backward", "step"} <= called


def _methods_of(instance: Instance) -> dict[str, ast.AST]:
    """The methods of an object that the user has written, by name."""
    return {
        name: value.node
        for cls in reversed(of_kind(instance.cls.mro(), ClassValue))
        for name, value in cls.slots.items()
        if isinstance(value, Function)
    }


def _held_before(container: ListValue | DictValue) -> Any:
    """The possible contents of a container that others have filled: nothing is known of it, but that a defaultdict of lists holds lists."""
    made = container.factory if isinstance(container, DictValue) else None
    is_of_lists = isinstance(made, Native) and made.path == "builtins.list"
    return {OTHERS: (UNKNOWN, ListValue(None))} if is_of_lists else None


def _kept_by(constructor: Function | None) -> dict[str, str]:
    """The attributes that a constructor keeps its parameters as."""
    node = None if constructor is None else constructor.node
    return kept_as(node) if isinstance(node, _DEFINED) else {}


def _annotations_in(methods: Mapping[str, ast.AST]) -> dict[str, str]:
    """The annotations of the parameters of methods, and so of the attributes that the constructor keeps them as."""
    found: dict[str, str] = {}
    for method in of_kind(methods.values(), ast.FunctionDef, ast.AsyncFunctionDef):
        kept = kept_as(method)
        for name, text in annotations_of(method).items():
            found[kept.get(name, parameter_key(method.name, name))] = text
    return found


def _common(facts: dict[Place, Sighting], others: dict[Place, Sighting]) -> dict[Place, Sighting]:
    """The sightings that two runs show in the same words: their symbols are not the same."""
    return {
        place: seen
        for place, seen in facts.items()
        if place in others and list(map(_text, seen.specs)) == list(map(_text, others[place].specs))
    }


def _text(spec: TensorSpec) -> tuple[Any, ...]:
    return (None if spec.shape is None else dims.texts(spec.shape), spec.dtype, spec.device, spec.requires_grad)


def _accepts(demand: Demand, declared: Declared | None) -> bool:
    return declared is None or not demand.closed or not demand.usual or any(map(declared.aligned, demand.ranks))


def _ranks(demands: dict[ArgumentKey, Demand]) -> dict[ArgumentKey, tuple[str, ...]]:
    return {place: _names(demand, demand.ranks[0]) for place, demand in demands.items()}


def _dtypes(demands: dict[ArgumentKey, Demand]) -> dict[ArgumentKey, str]:
    return {place: demand.dtype for place, demand in demands.items() if demand.dtype}


def _words(shape: Declared) -> tuple[str, ...]:
    """The names that a written shape has for its dimensions, each a size of its own."""
    return tuple(part.size if isinstance(part.size, str) and part.size.isidentifier() else "?" for part in shape.dims)


def _names(demand: Demand, rank: int) -> tuple[str, ...]:
    """Names for the dimensions of an argument of this rank."""
    names = demand.names.split()
    return tuple(names) if rank == len(names) else ("?",) * rank


def _written_options(cls: ClassValue, constructor: Function, frame: Frame) -> dict[str, Value]:
    """The constants that the first call of a class in its file gives for parameters with defaults: what only the defaults
    would break is not what is made of it."""
    named = constructor.node.args
    optional = {one.arg for one in by_position(named)[-len(named.defaults) or None :]} if named.defaults else set()
    optional |= {one.arg for one, default in zip(named.kwonlyargs, named.kw_defaults) if default is not None}
    for call in index(parse(frame.source)).of_type(ast.Call):
        if is_function_call(call, cls.name):
            given = {part.arg: part.value for part in call.keywords if part.arg in optional}
            found: dict[str, Value] = {
                name: value.value for name, value in given.items() if name and is_constant(value, int, float, str)
            }
            if found:
                return found
    return {}


def _has_number(spec: TensorSpec) -> bool:
    """Whether a size is known that may be another one with other arguments."""
    return any(is_number(size) and size > 1 for size in spec.shape or ())


def _required(function: Function, skip: int) -> Iterator[ast.arg]:
    """The parameters without a default."""
    spec = function.node.args
    positional = by_position(spec)[skip:]
    yield from positional[: len(positional) - len(spec.defaults)] if spec.defaults else positional
    yield from (argument for argument, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is None)
