"""Contracts that nobody has written: a module or a function is run with symbols for what its caller chooses, under the
caller's names, and then with numbers, which show whether what the symbols say is true."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping

from torchsleuth.interp import passed, plurals
from torchsleuth.interp.compounds import Compound
from torchsleuth.interp.fields import last_word, words
from torchsleuth.interp.library import records
from torchsleuth.interp.outcomes import Outcome, Running
from torchsleuth.interp.planning import Planning, field_of
from torchsleuth.interp.plans import Maker, Plan, Setting
from torchsleuth.interp.suppositions import Entry, Supposition
from torchsleuth.interp.trace import Operation, Trace
from torchsleuth.interp.written import parameters_of
from torchsleuth.messages import message
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments, meant
from torchsleuth.syntax.fallbacks import fallback, imported
from torchsleuth.syntax.forms import by_position
from torchsleuth.syntax.shapes import key
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_number
from torchsleuth.tensors.requirements import number
from torchsleuth.tensors.spec import Native, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Partial,
    Scalar,
    Tensor,
    Value,
    is_plain,
    is_unknown,
)
from torchsleuth.values.frames import Frame

MOST_CALLS = 400
"""Calls of the document's functions that are kept of a run."""
FEW_TIMES = 2
"""How often loops go around in the code that makes a module."""
MOST_COUNTED = 3
"""Runs to find out which of the integers say that."""
_OF_DIMENSIONS = re.compile(r"torch\.nn\.\w+([23])d")
"""Layers of images or volumes."""
ASSUMED = "float32"
"""The dtype of inputs of which nothing tells it; no contract states it."""


class Reached(BaseException):
    """The module that is looked for was made. No `Exception`: nothing on the way may take it for a fault of its own."""

    def __init__(self, instance: Instance, passed: dict[str, Value], call: ast.Call | None, caller: Frame) -> None:
        super().__init__()
        self.instance, self.passed, self.call = instance, passed, call
        self.around = None if caller.function is None else caller.function.node


class InferredContracts(Planning):
    """Runs modules and functions for what they ask of their inputs."""

    wanted: ClassValue | None = None
    """The class of the module that code is run for."""
    only_passed = False
    """Whether that code is run for what it passes alone, so that the module need not be made."""

    # -- a run -------------------------------------------------------------------------------------------

    def run_plan(
        self, plan: Plan, frame: Frame, numbers: Mapping[Symbol, int] | None = None, training: bool = True
    ) -> Outcome:
        """Run an entry as planned. `numbers`: what the symbols of the plan are."""
        outcome = Outcome()
        running = Running(plan, numbers is not None)

        def run(given: object) -> None:
            self.inference, self.calls = running, []
            value, tensors = self._run_entry(plan, frame, numbers or {}, training)
            outcome.result = self._part(value)
            outcome.inputs = {name: self.resolved_spec(tensor.spec).shape for name, tensor in tensors.items()}
            outcome.returned = not running.raised
            outcome.calls = self.calls_seen()
            for symbol, name in list(plan.aliases.items()):
                same = dims.symbol(self.resolved(dims.of(symbol)))
                if same is not None:
                    plan.aliases.setdefault(same, name)
            outcome.conditions = self._settled(running)

        try:
            entry = Entry(run)
            trial = self._trial(entry, Supposition(general=True))
        finally:
            self.inference = None
        outcome.stuck = running.stuck
        places = {(plan.function.path, *key(argument)): name for name, argument in plan.tensors.items()}
        outcome.demands = {places[place]: demand for place, demand in trial.demands.items() if place in places}
        counted = {place[0] for place in trial.counted}
        outcome.counted = frozenset(path for path in plan.settings if path in counted)
        used = {one.argument for one in passed.sizes(running.stuck)}
        outcome.integers = frozenset(name for place, name in places.items() if place in used)
        outcome.failure = _failure(trial.trace)
        outcome.unbatched = any(map(_is_unbatched, trial.trace.operations))
        first, last = _lines(plan)
        outcome.seen = {
            place: seen
            for place, seen in trial.trace.facts.items()
            if place[0] == plan.function.path and first <= place[1] <= last and place not in trial.trace.obscure
        }
        return outcome

    def _run_entry(
        self, plan: Plan, frame: Frame, numbers: Mapping[Symbol, int], training: bool
    ) -> tuple[Value, dict[str, Tensor]]:
        receiver: tuple[Value, ...] = ()
        if plan.owner is not None:
            instance = self._instance(plan, plan.owner, numbers, frame)
            receiver = (instance,)[: plan.function.bound_parameters]
            if not training:
                from torchsleuth.interp.library.modules import set_training

                set_training(self, instance, False)
        values = self._given(plan, plan.function, len(receiver), numbers, frame)
        tensors: dict[str, Tensor] = {}
        for name, argument in plan.tensors.items():
            planned = plan.shapes.get(name)
            shape = None if planned is None else tuple(number(size, numbers) or size for size in planned)
            dtype = plan.dtypes.get(name) or (None if planned is None else ASSUMED)
            tensor = Tensor(TensorSpec(shape, dtype, None, None))
            tensor.argument = (plan.function.path, *key(argument))
            self.arguments.append(tensor)
            tensors[name] = tensor
        within = {path for paths in plan.sequences.values() for path in paths}
        values |= {name: tensor for name, tensor in tensors.items() if name not in within}
        rest: tuple[Value, ...] = ()
        for name, paths in plan.sequences.items():
            parts = tuple(tensors[path] for path in paths if path in tensors)
            if parts and plan.function.node.args.vararg is not None and plan.function.node.args.vararg.arg == name:
                rest = parts
            elif parts and name in plan.compounds:
                values[name] = self._compounded(plan.compounds[name], parts, plan.function, frame)
            elif parts:
                values[name] = ListValue(parts)
        if rest:
            positional = [argument.arg for argument in plan.function.node.args.args[len(receiver) :]]
            rest = (*(values.pop(name, UNKNOWN) for name in positional), *rest)
        return self.call_function(plan.function, (*receiver, *rest), values, None, frame), tensors

    def _compounded(self, compound: Compound, parts: tuple[Tensor, ...], function: Function, frame: Frame) -> Value:
        """The value of a parameter that has these tensors for its parts."""
        held: dict[str, Value] = dict(zip(compound.names, parts))
        if compound.keyed:
            return DictValue(dict(held))
        if compound.cls is not None:
            return self.instantiate(compound.cls, (), held, None, frame)
        made = _open_object("object", function)
        made.slots.update(held)
        return made

    def _instance(self, plan: Plan, owner: ClassValue, numbers: Mapping[Symbol, int], frame: Frame) -> Value:
        """The module of a plan."""
        made = self.class_attribute(owner, "__init__")
        taken: dict[str, Value] = {}
        if plan.maker is not None:
            reached = self._made_by(plan.maker, owner, numbers, bool(plan.taken))
            if reached is None or not plan.taken:
                return UNKNOWN if reached is None else reached.instance
            taken = {name: reached.passed[name] for name in plan.taken}
        if isinstance(made, Function):
            chosen = self._given(plan, made, 1, numbers, frame) | taken
            return self.instantiate(owner, (), chosen, None, frame)
        passed_on = (one for one in plan.settings.values() if not one.called)
        given: dict[str, Value] = {one.path: self._number(one, numbers) for one in passed_on}
        return self.instantiate(owner, (), given, None, frame)

    @staticmethod
    def _parameters(plan: Plan, function: Function, skip: int) -> Iterator[tuple[ast.arg, bool]]:
        """The parameters of a function; for a constructor those that it passes on, too, and that have no default there."""
        yield from parameters_of(function, skip)
        for one in passed.behind(plan.owner, function) if plan.owner is not None and skip else ():
            yield from (
                (argument, False) for argument, _ in parameters_of(one.function, 1) if argument.arg in one.names
            )

    def _given(
        self, plan: Plan, function: Function, skip: int, numbers: Mapping[Symbol, int], frame: Frame
    ) -> dict[str, Value]:
        """The arguments of a call that passes nothing else."""
        values: dict[str, Value] = {}
        for argument, has_default in self._parameters(plan, function, skip):
            name = argument.arg
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            if name in plan.taken and function is not plan.function:
                continue
            if name in plan.configurations:
                values[name] = self._configuration(plan, name, numbers, frame)
            elif name in plan.settings:
                values[name] = self._number(plan.settings[name], numbers)
            elif name in plan.sequences and plan.sequences[name][0] in plan.settings:
                sizes = tuple(self._number(plan.settings[path], numbers) for path in plan.sequences[name])
                values[name] = sizes if name in plan.tuples else ListValue(sizes)
            elif name in plan.given and function is not plan.function:
                values[name] = self.eval(plan.given[name], frame)
            elif name in plan.absent and function is plan.function:
                values[name] = None
            elif not has_default:
                told = "float" if name in plan.floats and function is not plan.function else annotation
                values[name] = Scalar(told) if told in ("float", "str", "bool") else self._by_name(name)
        return values

    @staticmethod
    def _by_name(name: str) -> Value:
        """The value for a parameter of which only the name is known."""
        return Scalar("float") if re.fullmatch(r"dropout|drop|p|\w*_(prob|rate|p|dropout|drop)|eps", name) else UNKNOWN

    def _number(self, setting: Setting, numbers: Mapping[Symbol, int]) -> Size:
        known = numbers.get(setting.symbol)
        if known is not None:
            return known
        if setting.value is None:
            # By this, loops tell which integer says how often they go around, and layers that it is no passing one.
            self.lasting[setting.symbol] = (setting.path, 0, 0)
        return setting.given

    def _configuration(self, plan: Plan, name: str, numbers: Mapping[Symbol, int], frame: Frame) -> Value:
        planned = plan.configurations[name]
        given: dict[str, Value] = {
            one: self._number(plan.settings[field_of(name, one)], numbers) for one in planned.integers
        }
        if planned.cls is not None:
            for one, owner in records.fields(planned.cls).items():
                if one not in given and one not in owner.slots:
                    kinds = {label: ast.unparse(annotation) for label, annotation in owner.annotations}
                    given[one] = Scalar(kinds[one]) if kinds.get(one) in ("float", "str", "bool") else UNKNOWN
            made = self.instantiate(planned.cls, (), given, None, frame)
            return made if isinstance(made, Instance) else UNKNOWN
        values: dict[str, Value] = {}
        for path in planned.read:
            told = plan.given.get(field_of(name, path))
            usual = self._by_name(last_word(path)) if told is None else self.eval(told, frame)
            values[path] = given.get(path, usual)
        return self._nested(name, [(words(path), value) for path, value in values.items()], plan.function)

    def _nested(self, name: str, fields: list[tuple[list[tuple[str, bool]], Value]], function: Function) -> Value:
        """A configuration with these fields: a dictionary where all of them are its items, otherwise an object."""
        parts: dict[tuple[str, bool], list[tuple[list[tuple[str, bool]], Value]]] = {}
        for (first, *rest), value in fields:
            parts.setdefault(first, []).append((rest, value))
        made = {
            word: within[0][1] if not within[0][0] else self._nested(word[0], within, function)
            for word, within in parts.items()
        }
        if all(keyed for _, keyed in made):
            return DictValue({key: value for (key, _), value in made.items()})
        root = _open_object(name, function)
        root.slots.update({attribute: value for (attribute, keyed), value in made.items() if not keyed})
        return root

    def without_package(self, node: ast.Try, frame: Frame) -> list[ast.stmt] | None:
        """The part that is executed of a ``try`` that imports a package which is not there, and has something else instead."""
        lacking = [
            place for place, one in enumerate(node.body) if any(self._is_lacking(name, frame) for name in imported(one))
        ]
        handler = fallback(node) if lacking and self.is_trusting() else None
        return None if handler is None else [*node.body[: lacking[0]], *handler.body, *node.finalbody]

    def _is_lacking(self, name: str, frame: Frame) -> bool:
        """Whether a package is neither in the workspace nor beside the interpreter."""
        own = self.workspace.find(name, frame.path, 0) is not None or self.workspace.is_folder(name, frame.path)
        return not own and importlib.util.find_spec(name.partition(".")[0]) is None

    # -- modules that other code makes ------------------------------------------------------------------

    def plans_made(
        self, owner: ClassValue, function: Function, by: tuple[ClassValue | None, Function], frame: Frame
    ) -> list[Plan]:
        """The plans of a module as other code makes it; none where that code does not, or not in every execution. The first has what it
        passes in the place of what nobody tells, and everything else is chosen; the other one is made as that code does. What it passes
        as it is has the name of the module's parameter, everything else that it chooses is told with its own name before it."""
        maker = Maker(Plan(*by), frame)
        if by[0] is None:
            self._plan_settings(maker.plan, by[1], 0)
        else:
            maker.plan.floats = passed.numbers(by[0], by[1], self.oracle.signature)
            self._plan_constructor(maker.plan, by[1])
        plan = Plan(owner, function, tensors=self._tensors_of(function, owner), maker=maker)
        self._plan_sequences(plan)
        reached = self._reach(plan, maker)
        if reached is None:
            return []
        self._tell_passed(plan, maker, reached)
        made = self.class_attribute(owner, "__init__")
        if isinstance(made, Function):
            objects = (name for name in reached.passed if plurals.is_object(owner.node, made.node, name))
            plan.objects = frozenset(name for name in objects if _is_uncalled(reached.passed[name], owner, made, name))
        self._plan_settings(plan, function, function.bound_parameters)
        return [*self._plan_taken(plan, maker, reached), plan]

    def _plan_taken(self, whole: Plan, maker: Maker, reached: Reached) -> Iterator[Plan]:
        """The plan of a module with what code passes in the place of what nobody tells, where that depends on nothing that the code is
        given."""
        plan = self.plan(whole.owner, whole.function)
        told = all(_is_settled(reached.passed.get(name)) for name in plan.objects)
        if plan.objects and told and not plan.objects & whole.objects:
            plan.maker, plan.taken, plan.objects = maker, plan.objects, frozenset()
            plan.given |= {name: text for name, text in whole.given.items() if name in plan.taken}
            yield plan

    @staticmethod
    def _tell_passed(plan: Plan, maker: Maker, reached: Reached) -> None:
        """Name what the code that makes a module chooses, and tell what it passes."""
        own, passed = _by_place(plan, reached)
        free = {setting.symbol: setting for setting in maker.plan.settings.values()}
        for name, written in arguments(reached.call, own).items() if reached.call is not None else ():
            expression = meant(written, reached.around)
            value = passed.get(name)
            symbol = dims.symbol(value) if isinstance(value, Dim) else None
            if symbol in free:
                setting = free.pop(symbol)
                setting.path = name
                plan.settings[name] = setting
            else:
                short = expression if isinstance(expression, ast.Constant) or name not in own else _written(value)
                plan.given[name] = ast.copy_location(short or expression, expression)
        passed_on = (node for text in plan.given.values() for node in ast.walk(text))
        said = {ast.unparse(node) for node in of_kind(passed_on, ast.Name, ast.Attribute)}
        maker_name = (maker.plan.owner or maker.plan.function).name
        for setting in free.values():
            setting.maker = maker_name
            if setting.path in plan.settings or setting.path not in said:
                setting.path = f"{maker_name}.{setting.path}"
            plan.settings[setting.path] = setting

    def _reach(self, plan: Plan, maker: Maker) -> Reached | None:
        """Run the code that makes a module until it has done so: with any integers, otherwise with those that are its defaults, or
        that it compares them with."""
        reached = self._reach_with(plan, maker)
        if reached is None:
            compared = self.compared(maker.plan)
            chosen = [one for one in maker.plan.settings.values() if one.value is None]
            for setting in chosen:
                setting.value = setting.default if is_number(setting.default) else compared.get(setting.path)
            if any(setting.value is not None for setting in chosen):
                reached = self._reach_with(plan, maker)
        return reached

    def _reach_with(self, plan: Plan, maker: Maker) -> Reached | None:
        """Run the code that makes a module, once it is known how often its loops go around."""
        found: list[Reached | None] = []

        def run(given: object) -> None:
            self.inference = Running(plan, False)
            found.append(self._made_by(maker, plan.owner, {}))

        for _ in range(MOST_COUNTED):
            try:
                trial = self._trial(Entry(run), Supposition(general=True))
            finally:
                self.inference = None
            counted = {place[0] for place in trial.counted}
            lacking = [one for one in maker.plan.settings.values() if one.path in counted and one.value is None]
            if not lacking:
                break
            for setting in lacking:
                setting.value, setting.counted = FEW_TIMES, True
        return found[-1] if found else None

    def _made_by(
        self, maker: Maker, owner: ClassValue | None, numbers: Mapping[Symbol, int], only_passed: bool = False
    ) -> Reached | None:
        """The first module of a class that some code makes, and what it passes."""
        plan, frame = maker.plan, maker.frame
        before = self.wanted, self.only_passed
        self.wanted, self.only_passed = owner, only_passed
        state = self.loop_points, self.guarded, self.uncertain, self.autocast, self.forward_depth
        try:
            given = self._given(plan, plan.function, 0 if plan.owner is None else 1, numbers, frame)
            if plan.owner is not None:
                self.instantiate(plan.owner, (), given, None, frame)
            else:
                self.call_function(plan.function, (), given, None, frame)
        except Reached as reached:
            self.loop_points, self.guarded, self.uncertain, self.autocast, self.forward_depth = state
            return reached
        finally:
            self.wanted, self.only_passed = before
        return None

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
        document = self.document
        if document is not None and self.calls is not None and len(self.calls) < MOST_CALLS:
            entry = self.inference is not None and function is self.inference.plan.function
            if not entry and function.path == document[1].path:
                self.calls.append((function.node, dict(names)))
        passed_on = dict(names)
        instance = self._wanted_instance(function, args)
        if instance is not None and self.only_passed and not self.uncertain:
            raise Reached(instance, passed_on, node, caller)
        result = super()._run(function, args, kwargs, names, node, caller, body)
        if instance is not None and not self.uncertain:
            raise Reached(instance, passed_on, node, caller)
        return result

    def _wanted_instance(self, function: Function, args: tuple[Value, ...]) -> Instance | None:
        """The module that is looked for, where this function is its constructor."""
        instance = args[0] if args and self.wanted is not None and function.name == "__init__" else None
        # A file that imports the document has classes of its own, of the same text.
        if not isinstance(instance, Instance) or self.wanted is None or instance.cls.node is not self.wanted.node:
            return None
        made = self.class_attribute(instance.cls, "__init__")
        return instance if isinstance(made, Function) and made.node is function.node else None


def _by_place(plan: Plan, reached: Reached) -> tuple[list[str], dict[str, Value]]:
    """The names of what a constructor is given, in order, and the values: what it takes as ``*args`` is told by its place there."""
    passed = dict(reached.passed)
    own = list(passed)[1:]
    made = as_kind(plan.owner.slots.get("__init__"), Function) if plan.owner is not None else None
    spec = made.node.args if made is not None else None
    if spec is None or spec.vararg is None:
        return own, passed
    rest = as_kind(passed.get(spec.vararg.arg), tuple) or ()
    passed |= {f"{spec.vararg.arg}[{place}]": value for place, value in enumerate(rest)}
    return [
        *(one.arg for one in by_position(spec)[1:]),
        *(f"{spec.vararg.arg}[{place}]" for place in range(len(rest))),
    ], passed


def _written(value: Value) -> ast.expr | None:
    """A value that code passes on, as it is written where it comes from; None where it has no short form."""
    match value:
        case ClassValue() | Function() if value.name.isidentifier():
            return ast.Name(value.name, ast.Load())
        case Native():
            return ast.Name(value.path.rpartition(".")[2], ast.Load())
        case tuple() | ListValue():
            items = value.items if isinstance(value, ListValue) else value
            parts = [_written(one) for one in items or ()]
            if items is None or any(one is None for one in parts):
                return None
            elements = list(filter(None, parts))
            return ast.Tuple(elements, ast.Load()) if isinstance(value, tuple) else ast.List(elements, ast.Load())
    return ast.Constant(value) if is_plain(value) else None


def _is_uncalled(value: Value, owner: ClassValue, made: Function, name: str) -> bool:
    """Whether a value for a parameter is nothing that is called, or not known."""
    none = value is None and not plurals.is_replaced(owner.node, made.node, name)
    return none or is_unknown(value) or isinstance(value, Dim)


def _is_settled(value: Value) -> bool:
    """Whether a value is none that depends on what somebody chooses: a class, a text, a table of those."""
    match value:
        case ClassValue() | Native():
            return True
        case Function():
            return not value.closure
        case Partial():
            return all(map(_is_settled, (value.function, *value.args, *value.kwargs.values())))
        case tuple():
            return all(map(_is_settled, value))
        case ListValue():
            return value.items is not None and all(map(_is_settled, value.items))
        case DictValue():
            return value.items is not None and all(map(_is_settled, value.items.values()))
    return is_plain(value)


def _lines(plan: Plan) -> tuple[int, int]:
    """The lines of the class or function that is run."""
    node = plan.function.node if plan.owner is None else plan.owner.node
    return node.lineno, node.end_lineno or node.lineno


def _open_object(name: str, function: Function) -> Instance:
    """An object of which some attributes are known."""
    node = ast.copy_location(ast.ClassDef(name, [], [], [], []), function.node)
    made = Instance(ClassValue(name, (), node, function.path))
    made.state["open"] = True
    return made


def _is_unbatched(operation: Operation) -> bool:
    """Whether a layer of images or volumes is applied to one alone."""
    layer = _OF_DIMENSIONS.fullmatch(operation.target)
    shape = operation.specs[0].shape if layer and operation.specs else None
    return layer is not None and shape is not None and len(shape) == int(layer[1]) + 1


def _failure(trace: Trace) -> str | None:
    """The first failure of a run, None where there was none."""
    if trace.failures:
        return trace.failures[0].failure.message
    if trace.unpackings:
        return message("contract.unpacking")
    return message("contract.devices") if trace.conflicts else trace.incomplete


__all__ = ["InferredContracts"]
