"""Contracts that nobody has written: a module or a function is run with symbols for what its caller chooses, under the
caller's names, and then with numbers, which show whether what the symbols say is true."""

from __future__ import annotations

import ast
import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torchsleuth.interp import passed, plurals
from torchsleuth.interp.budget import Budget
from torchsleuth.interp.fields import Fields, fields
from torchsleuth.interp.fitting import divided_sizes, stated_size
from torchsleuth.interp.inputs import Demand, used_as_tensors
from torchsleuth.interp.library import records
from torchsleuth.interp.suppositions import Entry, Supposition
from torchsleuth.interp.switches import switches
from torchsleuth.interp.trace import Operation, Place, Sighting, Trace
from torchsleuth.interp.written import WrittenContracts, default_of, parameters_of
from torchsleuth.messages import message
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.calls import arguments, calls, meant, settled
from torchsleuth.syntax.forms import is_dotted
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.shapes import key
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_number
from torchsleuth.tensors.requirements import Condition, number, required
from torchsleuth.tensors.spec import Equality, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    ListValue,
    NamedResult,
    Scalar,
    Site,
    Tensor,
    Unknown,
    Value,
    is_int,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_NO_SIZES = re.compile(
    r"bias|\w*bias|\w*drop\w*|p|\w*prob|(?!growth)\w*rate|eps\w*|\w*_eps|\w*epsilon|\w*theta|\w*_range|norm(?!alized_shape)\w*|act|act_\w*|activation\w*|\w*_act|device|dtype|\w*mode|(?!n_|num_)\w*layer|"
    r"use_\w+|with_\w+|is_\w+|alpha|beta|gamma|momentum|slope|std|init\w*|block|lr|name|verbose|transform\w*|lambd\w*|\w+_id|\w+_idx|\w+_index|seed"
)
"""Names of parameters that are not taken for integers."""


CALLER_STEPS = 8_000
"""Nodes evaluated in a run of what calls an entry."""
CALLER_BODY_STEPS = 30_000
"""Nodes evaluated in the body of another document that calls an entry."""
CALLER_QUESTIONS = 100
"""New questions to the oracle in all the runs of one such."""
FEW_TIMES = 2
"""How often loops go around in the code that makes a module."""
MOST_COUNTED = 3
"""Runs to find out which of the integers say that."""
MOST_CALLS = 400
"""Calls of the document's functions that are kept of a run."""
_OF_DIMENSIONS = re.compile(r"torch\.nn\.\w+([23])d")
"""Layers of images or volumes."""
_SIZES = re.compile(r"\w*(size|shape|resolution|hw)", re.IGNORECASE)
"""Names of inputs that are the sizes of an image."""
ASSUMED = "float32"
"""The dtype of inputs of which nothing tells it; no contract states it."""


@dataclass
class Setting:
    """An integer that whoever calls chooses. `path`: how the caller calls it, with the name of the configuration that it is a
    field of. `symbol` stands for it, `value` does where the engine needs a number. `default`: its own. `counted`: it says how
    often a loop goes around; `free`: that makes no difference. `called`: it is passed with the inputs of a module. `maker`: the
    class or function whose parameter it is, where that makes the module."""

    path: str
    symbol: Symbol
    value: int | None = None
    default: Value = None
    counted: bool = False
    free: bool = False
    called: bool = False
    maker: str = ""

    @property
    def given(self) -> Size:
        return dims.of(self.symbol) if self.value is None else self.value


@dataclass(frozen=True)
class Configuration:
    """An argument that is read for its fields. `cls`: its class, where that is known. `integers`: the fields that whoever makes it
    chooses; `read`: all that are read."""

    cls: ClassValue | None
    integers: tuple[str, ...]
    read: tuple[str, ...]


@dataclass
class Plan:
    """The arguments of an entry. `configurations`: by parameter of the constructor."""

    owner: ClassValue | None
    function: Function
    settings: dict[str, Setting] = field(default_factory=dict)
    configurations: dict[str, Configuration] = field(default_factory=dict)
    sequences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters that are several integers or tensors: the paths of those."""
    tensors: dict[str, ast.arg] = field(default_factory=dict)
    shapes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    given: dict[str, ast.expr] = field(default_factory=dict)
    """Arguments of the constructor that are no sizes, as a call in the document passes them."""
    floats: frozenset[str] = frozenset()
    """Parameters of the constructor that are numbers and no sizes."""
    aliases: dict[Symbol, str] = field(default_factory=dict)
    """Variables that sizes of the inputs are unpacked into."""
    objects: frozenset[str] = frozenset()
    """Parameters of the constructor that nothing tells of, and that the class calls later."""
    maker: Maker | None = None
    """The code that makes the module, where it is not made from its parameters alone."""


@dataclass(frozen=True)
class Maker:
    """Code that makes a module on its way: a class whose constructor does, or a function. `frame`: of its document."""

    plan: Plan
    frame: Frame


class Reached(BaseException):
    """The module that is looked for was made. No `Exception`: nothing on the way may take it for a fault of its own."""

    def __init__(self, instance: Instance, passed: dict[str, Value], call: ast.Call | None, caller: Frame) -> None:
        super().__init__()
        self.instance, self.passed, self.call = instance, passed, call
        self.around = None if caller.function is None else caller.function.node


@dataclass(frozen=True)
class Part:
    """A value that a function returns, as far as a contract tells it. `kind`: tensor, tuple, list, dict, record, value, unknown."""

    kind: str
    shape: tuple[Size, ...] | None = None
    dtype: str | None = None
    device: str | None = None
    parts: tuple[Part, ...] = ()
    names: tuple[str, ...] = ()
    text: str = ""
    cause: Unknown | None = None

    def tensors(self) -> Iterator[Part]:
        if self.kind == "tensor":
            yield self
        for part in self.parts:
            yield from part.tensors()

    @property
    def whole(self) -> bool:
        """Whether the ranks of all the tensors in it are known."""
        if self.kind == "tensor":
            return self.shape is not None
        return self.kind != "unknown" and all(part.whole for part in self.parts)


@dataclass(frozen=True)
class Call:
    """A call of a function of the document: what is passed for each parameter."""

    function: ast.AST
    passed: dict[str, Part]


@dataclass
class Outcome:
    """One run of an entry. `failure`: what went wrong. `returned`: whether it came to its end."""

    returned: bool = False
    failure: str | None = None
    result: Part = Part("unknown")
    inputs: dict[str, tuple[Size, ...] | None] = field(default_factory=dict)
    demands: dict[str, Demand] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    stuck: list[Operation] = field(default_factory=list)
    counted: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    """Inputs that are used as sizes."""
    seen: dict[Place, Sighting] = field(default_factory=dict)
    """The tensor expressions in what was run, but those that some execution gave another kind of value."""
    calls: list[Call] = field(default_factory=list)
    """The calls of the document's functions."""
    unbatched: bool = False
    """Whether a layer of images or volumes is applied to one without a batch."""

    @property
    def works(self) -> bool:
        return self.returned and self.failure is None


@dataclass(frozen=True)
class Learned:
    """A comparison of sizes that something needs, in the symbols of the moment. `site`: of the operator or the test."""

    operator: str
    left: Size
    right: Size
    site: Site | None


@dataclass
class Running:
    """The record of a run of an entry. `concrete`: all that the caller chooses are numbers."""

    plan: Plan
    concrete: bool
    required: list[tuple[str, Size, Size]] = field(default_factory=list)
    learned: list[Learned] = field(default_factory=list)
    stuck: list[Operation] = field(default_factory=list)
    raised: bool = False


class InferredContracts(WrittenContracts):
    """Runs modules and functions for what they ask of their inputs."""

    inference: Running | None = None
    document: tuple[ast.Module, Frame] | None = None
    calls: list[tuple[ast.AST, dict[str, Value]]] | None = None
    """The calls of the document's functions since the run began."""
    wanted: ClassValue | None = None
    """The class of the module that code is run for."""

    @cached_property
    def attributes_read(self) -> dict[str, frozenset[str]]:
        """The attributes that the code of each file reads, of those files that were asked about."""
        return {}

    # -- what there is to infer ------------------------------------------------------------------------

    def begin_document(self, source: SourceText, tree: ast.Module, frame: Frame) -> None:
        """Run the body of a document, so that its classes and functions are there."""
        self.document = (tree, frame)
        self._run_body(source, tree, frame)

    def begin_user(self, source: SourceText) -> Frame:
        """Run the body of another document, as far as it does not go on for long, for the calls of this one in it."""
        names = Names(__name__="__main__", __file__=source.path)
        frame = Frame(source, names, names)
        with self._no_longer_than(CALLER_BODY_STEPS):
            self._run_body(source, parse(source), frame)
        return frame

    def _run_body(self, source: SourceText, tree: ast.Module, frame: Frame) -> None:
        self.read_declarations(source, tree)
        self.calls = []
        if not self._protect(lambda: self._define_and_run(tree, frame)):
            self._lose_globals(tree, frame)

    def _define_and_run(self, tree: ast.Module, frame: Frame) -> None:
        """Execute a body. What comes behind its last definition takes no longer than where a document is only checked."""
        definitions = [
            place for place, one in enumerate(tree.body, 1) if isinstance(one, ast.ClassDef | ast.FunctionDef)
        ]
        last = max(definitions, default=0)
        if not self.body(tree.body[:last], frame):
            with self._no_longer_than(Budget.steps):
                self.body(tree.body[last:], frame)

    @contextlib.contextmanager
    def _no_longer_than(self, steps: int) -> Iterator[None]:
        """A limit on nodes, and on the time that the body of a document may take."""
        limit, deadline = self.step_limit, self.deadline
        self.step_limit = min(limit, self.steps + steps)
        self.deadline = min(deadline, time.process_time() + Budget.seconds)
        try:
            yield
        finally:
            self.step_limit, self.deadline = limit, deadline
            self.overdue = time.process_time() > deadline

    @contextlib.contextmanager
    def briefly(self) -> Iterator[None]:
        """Runs that are only for the calls in them do not go on for long."""
        kept = self.budget, self.most_questions
        self.budget = replace(self.budget, entry_steps=CALLER_STEPS)
        self.most_questions = self.oracle.misses + CALLER_QUESTIONS
        try:
            yield
        finally:
            self.budget, self.most_questions = kept

    def calls_seen(self) -> list[Call]:
        """The calls since the run began, with everything put in that was found out later."""
        calls, self.calls = self.calls or [], []
        return [Call(node, {name: self._part(value) for name, value in passed.items()}) for node, passed in calls]

    def entries_of(self, source: SourceText) -> list[tuple[ClassValue | None, Function]]:
        """The modules of a document with a forward of their own, and its functions of tensors, in the order of the text."""
        found: list[tuple[ClassValue | None, Function]] = []
        written = {function.node: function for function in self.functions}
        for cls in self.classes:
            forward = next((written[node] for node in cls.node.body if node in written and _is_forward(node)), None)
            if cls.path == source.path and (cls.is_module() or not cls.has_known_bases()) and forward is not None:
                found.append((cls, forward))
        for function in self.functions:
            named = isinstance(function.node, ast.FunctionDef) and function.owner is None and not function.closure
            if function.path == source.path and named and self._tensors_of(function, None):
                found.append((None, function))
        unique = {function.node: (owner, function) for owner, function in found}
        return sorted(unique.values(), key=lambda one: one[1].node.lineno)

    def makers_of(self, path: str) -> list[tuple[ClassValue | None, Function]]:
        """The classes of a document with a constructor of their own, and its functions."""
        found: list[tuple[ClassValue | None, Function]] = []
        for cls in self.classes:
            made = cls.slots.get("__init__") if cls.path == path else None
            found += [(cls, made)] if isinstance(made, Function) else []
        for function in self.functions:
            if function.path == path and isinstance(function.node, ast.FunctionDef) and function.owner is None:
                found += [] if function.closure else [(None, function)]
        return found

    def _tensors_of(self, function: Function, owner: ClassValue | None) -> dict[str, ast.arg]:
        """The parameters without a default that are tensors."""
        written = self.declared.get(function.path)
        used = used_as_tensors(function)
        found: dict[str, ast.arg] = {}
        for argument, has_default in parameters_of(function, 0 if owner is None else function.bound_parameters):
            if has_default:
                continue
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            declared = written.parameters.get(key(argument)) if written else None
            tensor = annotation.strip("'\"").rpartition(".")[2] in ("Tensor", "Tensor | None", "Optional[Tensor]")
            if declared or tensor or (not annotation and (owner is not None or argument.arg in used)):
                found[argument.arg] = argument
        return found or self._optional_tensor(function, owner)

    @staticmethod
    def _optional_tensor(function: Function, owner: ClassValue | None) -> dict[str, ast.arg]:
        """The first tensor of a forward all of whose parameters have defaults: without any it has nothing to compute."""
        for argument, has_default in parameters_of(function, 0 if owner is None else function.bound_parameters):
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            if owner is not None and has_default and re.search(r"\b(\w*Tensor|Tensor\w*)\b", annotation):
                return {argument.arg: argument}
        return {}

    def plan(self, owner: ClassValue | None, function: Function) -> Plan:
        """The first arguments of an entry, before anything is known of it."""
        plan = Plan(owner, function, tensors=self._tensors_of(function, owner))
        self._plan_sequences(plan)
        if owner is not None:
            made = self.class_attribute(owner, "__init__")
            if isinstance(made, Function):
                plan.floats = passed.numbers(owner, made, self.oracle.signature)
                self._plan_settings(plan, made, 1)
                self._plan_given(plan, made)
        self._plan_settings(plan, function, 0 if owner is None else function.bound_parameters)
        return plan

    def _plan_sequences(self, plan: Plan) -> None:
        """Inputs that are several tensors, or the height and the width."""
        function = plan.function
        some = list(parameters_of(function, 0 if plan.owner is None else function.bound_parameters))
        some += [(function.node.args.vararg, False)] if function.node.args.vararg is not None else []
        for argument, has_default in some if plan.owner is not None else ():
            name, tensor = argument.arg, argument.arg in plan.tensors
            sizes = plurals.integers(function.node, argument, True) if tensor and _SIZES.fullmatch(name) else None
            if sizes is not None:
                del plan.tensors[name]
                self._add_settings(plan, name, sizes)
                for path in plan.sequences[name]:
                    plan.settings[path].called = True
                continue
            rest = argument is function.node.args.vararg
            parts = plurals.tensors(function.node, argument, rest) if not has_default else None
            if parts is not None:
                plan.tensors.pop(name, None)
                plan.sequences[name] = parts.paths(name)
                for index, path in enumerate(plan.sequences[name]):
                    # Each has a place of its own, by which what is asked of it is known.
                    place = ast.copy_location(ast.arg(path), argument)
                    place.col_offset += index
                    plan.tensors[path] = place
        plan.tensors = dict(sorted(plan.tensors.items(), key=lambda one: key(one[1])))

    def _add_settings(self, plan: Plan, name: str, sizes: plurals.Sequence) -> None:
        plan.sequences[name] = sizes.paths(name)
        for path, called in zip(plan.sequences[name], sizes.names):
            plan.settings[path] = Setting(path, self.fresh_symbol(called or name))

    def _plan_settings(self, plan: Plan, function: Function, skip: int) -> None:
        uses = _uses(function.node)
        constructor = function.name == "__init__"
        before = set(plan.settings)
        for argument, has_default in parameters_of(function, skip):
            name = argument.arg
            if name in (plan.floats if constructor else plan.tensors) or name in plan.sequences:
                continue
            if constructor and plan.owner is not None and plurals.is_called(plan.owner.node, function.node, name):
                continue
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            default = default_of(function, argument) if has_default else None
            integer = is_number(default)
            cls = self._class_named(annotation, function)
            several = (
                plurals.integers(function.node, argument, owner=plan.owner.node if plan.owner else None)
                if constructor and not has_default
                else None
            )
            if several is not None:
                self._add_settings(plan, name, several)
            elif cls is not None and (cls.is_dataclass or name in uses.attributes) and not cls.is_module():
                self._plan_configuration(plan, name, cls, fields(plan.owner, function, name))
            elif has_default and not integer:
                continue
            elif annotation == "int" or (not annotation and integer):
                self._add_setting(plan, name, default)
            elif not annotation and not has_default and constructor:
                read = fields(plan.owner, function, name)
                if read.paths and name not in uses.other:
                    self._plan_configuration(plan, name, None, read)
                elif name not in uses.other | uses.attributes and not _NO_SIZES.fullmatch(name):
                    self._add_setting(plan, name, default)
            elif not annotation and not constructor and not has_default and name not in uses.other | uses.attributes:
                self._add_setting(plan, name, default)
        for path, setting in plan.settings.items():
            setting.called = setting.called or (path not in before and not constructor and plan.owner is not None)

    def _plan_given(self, plan: Plan, made: Function) -> None:
        """Arguments that are not known otherwise are those of the first call in the document that tells all of them."""
        known = plan.settings.keys() | plan.configurations.keys() | plan.floats
        known |= {path.partition(".")[0] for path in plan.settings}
        parameters = list(parameters_of(made, 1))
        lacking = {one.arg for one, has_default in parameters if not has_default and one.arg not in known}
        if not lacking or plan.owner is None:
            return
        told = self._told_by_a_call(plan, made, lacking)
        if told is None:
            switched = self._switches(plan)
            told = {name: switched[name] for name in lacking - plan.sequences.keys() if name in switched}
        for name in told.keys() & plan.sequences.keys():
            for path in plan.sequences.pop(name):
                del plan.settings[path]
        plan.given |= told
        unknown = lacking - told.keys() - plan.sequences.keys()
        plan.objects = frozenset(one for one in unknown if plurals.is_called(plan.owner.node, made.node, one))

    def _told_by_a_call(self, plan: Plan, made: Function, lacking: set[str]) -> dict[str, ast.expr] | None:
        """The arguments of the first call in the document that passes all of these in a way that can be told."""
        if self.document is None or plan.owner is None or made.path != plan.function.path:
            return None
        tree, frame = self.document
        for call, around in calls(tree).get(plan.owner.name, ()):
            given = arguments(call, [one.arg for one, _ in parameters_of(made, 1)])
            meant = {name: settled(given[name], around, frame.names) for name in given if name in lacking}
            told = {name: value for name, value in meant.items() if value is not None}
            if told.keys() == lacking:
                return told
        return None

    def plan_made(
        self, owner: ClassValue, function: Function, by: tuple[ClassValue | None, Function], frame: Frame
    ) -> Plan | None:
        """The plan of a module as other code makes it; None where that code does not, or not in every execution. What it passes
        as it is has the name of the module's parameter, everything else that it chooses is told with its own name before it."""
        maker = Maker(Plan(*by), frame)
        if by[0] is not None:
            maker.plan.floats = passed.numbers(by[0], by[1], self.oracle.signature)
        self._plan_settings(maker.plan, by[1], 0 if by[0] is None else 1)
        plan = Plan(owner, function, tensors=self._tensors_of(function, owner), maker=maker)
        self._plan_sequences(plan)
        reached = self._reach(plan, maker)
        if reached is None:
            return None
        self._tell_passed(plan, maker, reached)
        self._plan_settings(plan, function, function.bound_parameters)
        return plan

    @staticmethod
    def _tell_passed(plan: Plan, maker: Maker, reached: Reached) -> None:
        """Name what the code that makes a module chooses, and tell what it passes."""
        own = list(reached.passed)[1:]
        free = {setting.symbol: setting for setting in maker.plan.settings.values()}
        for name, written in arguments(reached.call, own).items() if reached.call is not None else ():
            expression = meant(written, reached.around)
            value = reached.passed.get(name)
            symbol = dims.symbol(value) if isinstance(value, Dim) else None
            if symbol in free:
                setting = free.pop(symbol)
                setting.path = name
                plan.settings[name] = setting
            elif name in own and (value is None or isinstance(value, bool | int | float | str)):
                plan.given[name] = ast.copy_location(ast.Constant(value), expression)
            else:
                plan.given[name] = expression
        passed_on = (node for text in plan.given.values() for node in ast.walk(text))
        said = {ast.unparse(node) for node in passed_on if isinstance(node, ast.Name | ast.Attribute)}
        maker_name = (maker.plan.owner or maker.plan.function).name
        for setting in free.values():
            setting.maker = maker_name
            if setting.path in plan.settings or setting.path not in said:
                setting.path = f"{maker_name}.{setting.path}"
            plan.settings[setting.path] = setting

    def _reach(self, plan: Plan, maker: Maker) -> Reached | None:
        """Run the code that makes a module until it has done so."""
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

    def _made_by(self, maker: Maker, owner: ClassValue | None, numbers: Mapping[Symbol, int]) -> Reached | None:
        """The first module of a class that some code makes, and what it passes."""
        plan, frame = maker.plan, maker.frame
        before, self.wanted = self.wanted, owner
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
            self.wanted = before
        return None

    def as_integer(self, plan: Plan, name: str) -> None:
        """Take an input for an integer that whoever calls chooses."""
        del plan.tensors[name]
        plan.shapes.pop(name, None)
        self._add_setting(plan, name, None)
        plan.settings[name].called = plan.owner is not None

    def _add_setting(self, plan: Plan, path: str, default: Value) -> None:
        if path in plan.settings:
            return
        plan.settings[path] = Setting(path, self.fresh_symbol(path.rpartition(".")[2]), None, default)

    def _plan_configuration(self, plan: Plan, name: str, cls: ClassValue | None, read: Fields) -> None:
        """A parameter that is read for its fields: those that are integers are chosen by whoever makes it."""
        direct = {path.partition(".")[0] for path in read.paths}
        if cls is None or (cls.is_dataclass and not direct <= records.fields(cls).keys()):
            derived = [one for one in self.classes if one.is_dataclass and (cls is None or cls in one.mro())]
            cls = next((one for one in derived if direct <= records.fields(one).keys()), cls)
        integers: tuple[str, ...] = ()
        if cls is None:
            switched = switches(plan.function.node, *read.readers)
            told = {path: switched[last] for path in read.paths if (last := path.rpartition(".")[2]) in switched}
            plan.given |= {f"{name}.{path}": value for path, value in told.items()}
            for path in read.ordered:
                if path not in told.keys() | read.containers and not _NO_SIZES.fullmatch(path.rpartition(".")[2]):
                    self._add_setting(plan, f"{name}.{path}", None)
                    integers += (path,)
        else:
            integers = tuple(self._integers_of(cls, plan.function.path))
            for one in integers:
                self._add_setting(plan, f"{name}.{one}", self._field_default(cls, one))
        plan.configurations[name] = Configuration(cls, integers, read.ordered)

    def _switches(self, plan: Plan) -> dict[str, ast.Constant]:
        """Values that parameters and fields are compared with, as the forward says it, otherwise the class."""
        return switches(plan.function.node, plan.function.node if plan.owner is None else plan.owner.node)

    def _class_named(self, annotation: str, function: Function) -> ClassValue | None:
        """The class of the user's that an annotation names, also as one of several."""
        for part in annotation.strip("'\"").removeprefix("Optional[").removesuffix("]").split("|"):
            text = part.strip(" '\"")
            if text.isidentifier():
                found = function.globals.get(text)
                if isinstance(found, ClassValue):
                    return found
        return None

    def _integers_of(self, cls: ClassValue, path: str) -> Iterator[str]:
        """The integers that whoever makes a configuration chooses, as far as the file reads them."""
        read = self._read_in(path)
        made = self.class_attribute(cls, "__init__")
        if isinstance(made, Function):
            for argument, has_default in parameters_of(made, 1):
                default = default_of(made, argument) if has_default else None
                if argument.arg in read and is_int(default) and not _NO_SIZES.fullmatch(argument.arg):
                    yield argument.arg
            return
        for one, owner in records.fields(cls).items():
            kinds = {label: ast.unparse(annotation) for label, annotation in owner.annotations}
            default = owner.slots.get(one)
            if kinds.get(one) == "int" or (is_int(default) and "int" in kinds.get(one, "")):
                if one in read and not _NO_SIZES.fullmatch(one):
                    yield one

    def _field_default(self, cls: ClassValue, name: str) -> Value:
        made = self.class_attribute(cls, "__init__")
        if isinstance(made, Function):
            given = {argument.arg: argument for argument, has_default in parameters_of(made, 1) if has_default}
            return default_of(made, given[name])
        return records.fields(cls)[name].slots.get(name)

    def _read_in(self, path: str) -> frozenset[str]:
        """The attributes that the code of a file reads."""
        known = self.attributes_read.get(path)
        if known is None:
            source = self.workspace.source(path)
            nodes = ast.walk(parse(source)) if source is not None else ()
            known = frozenset(node.attr for node in of_kind(nodes, ast.Attribute))
            self.attributes_read[path] = known
        return known

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
            elif parts:
                values[name] = ListValue(parts)
        if rest:
            positional = [argument.arg for argument in plan.function.node.args.args[len(receiver) :]]
            rest = (*(values.pop(name, UNKNOWN) for name in positional), *rest)
        return self.call_function(plan.function, (*receiver, *rest), values, None, frame), tensors

    def _instance(self, plan: Plan, owner: ClassValue, numbers: Mapping[Symbol, int], frame: Frame) -> Value:
        """The module of a plan."""
        if plan.maker is not None:
            reached = self._made_by(plan.maker, owner, numbers)
            return UNKNOWN if reached is None else reached.instance
        made = self.class_attribute(owner, "__init__")
        given = self._given(plan, made, 1, numbers, frame) if isinstance(made, Function) else {}
        return self.instantiate(owner, (), given, None, frame)

    def _given(
        self, plan: Plan, function: Function, skip: int, numbers: Mapping[Symbol, int], frame: Frame
    ) -> dict[str, Value]:
        """The arguments of a call that passes nothing else."""
        values: dict[str, Value] = {}
        for argument, has_default in parameters_of(function, skip):
            name = argument.arg
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            if name in plan.configurations:
                values[name] = self._configuration(plan, name, numbers, frame)
            elif name in plan.settings:
                values[name] = self._number(plan.settings[name], numbers)
            elif name in plan.sequences and plan.sequences[name][0] in plan.settings:
                sizes = tuple(self._number(plan.settings[path], numbers) for path in plan.sequences[name])
                unpacked = plan.settings[plan.sequences[name][0]].symbol.name != name
                values[name] = sizes if unpacked else ListValue(sizes)
            elif name in plan.given and function is not plan.function:
                values[name] = self.eval(plan.given[name], frame)
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
            one: self._number(plan.settings[f"{name}.{one}"], numbers) for one in planned.integers
        }
        if planned.cls is not None:
            for one, owner in records.fields(planned.cls).items():
                if one not in given and one not in owner.slots:
                    kinds = {label: ast.unparse(annotation) for label, annotation in owner.annotations}
                    given[one] = Scalar(kinds[one]) if kinds.get(one) in ("float", "str", "bool") else UNKNOWN
            made = self.instantiate(planned.cls, (), given, None, frame)
            return made if isinstance(made, Instance) else UNKNOWN
        root = _open_object(name, plan.function)
        for path in planned.read:
            *around, last = path.split(".")
            holder = root
            for word in around:
                holder = holder.slots.setdefault(word, _open_object(word, plan.function))
            told = plan.given.get(f"{name}.{path}")
            holder.slots[last] = given.get(path, self._by_name(last) if told is None else self.eval(told, frame))
        return root

    # -- what a run shows --------------------------------------------------------------------------------

    def _part(self, value: Value) -> Part:
        value = records.plain(value)
        match value:
            case Tensor():
                spec = self.resolved_spec(value.spec)
                device = None if spec.device is None else str(spec.device)
                return Part("tensor", spec.shape, spec.dtype, device, cause=value.obscured)
            case NamedResult():
                return Part("tuple", parts=tuple(map(self._part, value)), names=value.fields)
            case tuple():
                return Part("tuple", parts=tuple(map(self._part, value)))
            case ListValue() if value.items is not None:
                return Part("list", parts=tuple(map(self._part, value.items)))
            case DictValue() if value.items is not None:
                names = tuple(map(str, value.items))
                return Part("dict", parts=tuple(map(self._part, value.items.values())), names=names)
            case Instance() if value.cls.is_dataclass:
                return self._record(value)
        if is_int(value) and not isinstance(value, bool):
            return Part("value", text=dims.text(self.resolved(value)))
        if value is None or isinstance(value, bool | float | str):
            return Part("value", text=repr(value))
        if isinstance(value, Scalar):
            return Part("value", text=value.type)
        return Part("unknown", cause=value if isinstance(value, Unknown) else None)

    def _record(self, value: Instance) -> Part:
        """The fields of a dataclass that are not None."""
        filled = {name: value.slots.get(name, UNKNOWN) for name in records.fields(value.cls)}
        told = {name: one for name, one in filled.items() if one is not None}
        return Part("record", parts=tuple(map(self._part, told.values())), names=tuple(told), text=value.cls.name)

    def _settled(self, running: Running) -> list[Condition]:
        """The conditions of a run, with everything put in that was found out later."""
        chosen = {setting.symbol for setting in running.plan.settings.values()}

        def known(size: Size) -> Size:
            """The size with what was found out, but for what the caller chooses: that two of these are equal is a condition."""
            if isinstance(size, int):
                return size
            return dims.rebuild(size, lambda one: dims.of(one) if one in chosen else self._kept(one, known))

        found: dict[str, Condition] = {}
        for operator, left, right in running.required:
            condition = required(operator, known(left), known(right))
            if condition is not None:
                found.setdefault(condition.text, condition)
        return list(found.values())

    def _kept(self, symbol: Symbol, known: Callable[[Size], Size]) -> Size:
        value = self.substitution.get(symbol)
        return dims.of(symbol) if value is None else known(value)

    def learn(self, fact: Equality, site: Site | None = None) -> None:
        running = self.inference
        if running is None:
            return super().learn(fact, site)
        left, right = self.resolved(fact.left), self.resolved(fact.right)
        if not is_int(left) or not is_int(right):
            return None
        if not self.uncertain:
            running.learned.append(Learned("==", left, right, site))
        settings = {setting.symbol: True for setting in running.plan.settings.values()}
        solution = dims.solve(dims.subtract(left, right), settings)
        chosen = solution is None or solution[0] in settings
        if chosen and not self.uncertain:
            running.required.append(("==", left, right))
        if solution is not None:
            self.heap.set(self.substitution, solution[0], solution[1])
        return None

    def is_inferring(self) -> bool:
        return self.inference is not None

    def is_trusting(self) -> bool:
        return self.document is not None

    def is_general(self) -> bool:
        return self.inference is not None or super().is_general()

    def told(self, test: ast.expr, holds: bool, frame: Frame) -> None:
        running = self.inference
        if running is None:
            return super().told(test, holds, frame)
        if running.concrete or self.uncertain:
            return None
        for operator, one, other in _comparisons(test, holds):
            left, right = self.resolved(self.eval(one, frame)), self.resolved(self.eval(other, frame))
            pairs = zip(left, right) if isinstance(left, tuple) and isinstance(right, tuple) else [(left, right)]
            for mine, yours in pairs:
                if is_int(mine) and is_int(yours) and (isinstance(mine, Dim) or isinstance(yours, Dim)):
                    site = self.site(test, frame)
                    if operator == "==":
                        self.learn(Equality(mine, yours, soft=False), site)
                    else:
                        running.learned.append(Learned(operator, mine, yours, site))
                        running.required.append((operator, mine, yours))
        return None

    def named(self, value: Value, name: str) -> Value:
        running = self.inference
        symbol = dims.symbol(value) if running is not None and isinstance(value, Dim) else None
        if running is None or symbol is None or name == "_" or symbol.name == "?":
            return super().named(value, name)
        own = {one for shape in running.plan.shapes.values() for size in shape for one in dims.symbols(size)}
        if symbol in own:
            running.plan.aliases.setdefault(symbol, name)
        return value

    def apply_module(self, module: LibraryModule, call: Any) -> Value:
        given = call.args[0] if self.inference is not None and call.args else None
        stated = stated_size(module) if isinstance(given, Tensor) else None
        if stated is not None and isinstance(given, Tensor):
            axis, size = stated
            shape = self.resolved_spec(given.spec).shape
            if shape is not None and -len(shape) <= axis < len(shape) and is_int(size):
                self.learn(Equality(shape[axis], size, soft=False), self.site(call.node, call.frame))
        if self.inference is not None:
            for whole, part in divided_sizes(module):
                if is_int(whole) and is_int(part) and part != 1 and not self.uncertain:
                    with contextlib.suppress(ZeroDivisionError):
                        remainder = dims.modulo(self.resolved(whole), self.resolved(part))
                        self.inference.learned.append(Learned("==", remainder, 0, self.site(call.node, call.frame)))
                        self.inference.required.append(("==", remainder, 0))
            self._indexed(module, call)
        attended = self._attended(module, call) if self.inference is not None else None
        return super().apply_module(module, call) if attended is None else attended

    def _indexed(self, module: LibraryModule, call: Any) -> None:
        """A table has to have as many rows as numbers are counted up that are looked up in it."""
        rows = module.argument(0, "num_embeddings") if module.path == "torch.nn.Embedding" else None
        count = _counted_up(call.args[0]) if call.args else None
        if self.inference is None or count is None or rows is None or not is_int(rows) or self.uncertain:
            return
        count = self.resolved(count)
        if isinstance(count, Dim) or isinstance(rows, Dim):
            self.inference.learned.append(Learned("<=", count, rows, self.site(call.node, call.frame)))
            self.inference.required.append(("<=", count, rows))

    def _attended(self, module: LibraryModule, call: Any) -> Value | None:
        """The result of attention and of the layers of a transformer, made with symbols; None for others."""
        name = module.path.removeprefix("torch.nn.")
        given = [self.resolved_spec(one.spec) for one in of_kind(call.args, Tensor)]
        if name not in _ATTENDING or not given or len(given) < len(call.args) or given[0].shape is None:
            return None
        size = module.argument(0, "d_model" if name != "MultiheadAttention" else "embed_dim")
        others = [self.resolved_spec(one.spec) for one in of_kind(call.kwargs.values(), Tensor)]
        known = all(one.shape is not None for one in others) and not any(map(is_unknown, call.kwargs.values()))
        if known and not isinstance(self.resolved(size), Dim) and _is_plain(module):
            return None
        if any(one.shape is None or len(one.shape) != 3 for one in given) or not set(module.kwargs) <= _ATTENDING[name]:
            return None
        first = module.kwargs.get("batch_first", False)
        shapes = [one.shape for one in given if one.shape is not None]
        if not is_int(size) or not isinstance(first, bool) or len(module.args) > 2 + (name != "MultiheadAttention"):
            return None
        batch, length = (0, 1) if first else (1, 0)
        for shape in shapes:
            site = self.site(call.node, call.frame)
            self.learn(Equality(shape[-1], size, soft=False), site)
            self.learn(Equality(shape[batch], shapes[0][batch], soft=False), site)
        operation = self.operation(module.path, call.args, call.kwargs, call.node, call.frame, module, call.written)
        spec = given[0].with_(shape=(*shapes[0][:2], size), strides=None)
        make = self._maker(operation, spec.device)
        if name != "MultiheadAttention":
            return make(spec)
        if len(shapes) != 3 or call.kwargs.get("average_attn_weights", True) is not True:
            return None
        self.learn(Equality(shapes[1][length], shapes[2][length], soft=False))
        weights = spec.with_(shape=(shapes[0][batch], shapes[0][length], shapes[1][length]))
        return make(spec), None if call.kwargs.get("need_weights") is False else make(weights)

    def _undecided(self, operation: Operation, place: object) -> Value:
        if self.inference is not None:
            spec = self._reshaped(operation)
            if spec is not None:
                return self._maker(operation, spec.device)(spec)
            self.inference.stuck.append(operation)
        return super()._undecided(operation, place)  # type: ignore[arg-type]

    def _reshaped(self, operation: Operation) -> TensorSpec | None:
        """The result of a view with symbols, which has as many elements as its operand; None for anything else."""
        shape = operation.specs[0].shape if len(operation.specs) == 1 else None
        if operation.target not in _VIEWS or shape is None or self.inference is None or operation.kwargs:
            return None
        given = operation.args[1:]
        parts = (given[0].items if isinstance(given[0], ListValue) else given[0]) if len(given) == 1 else given
        parts = (parts,) if is_int(parts) else parts
        if not isinstance(parts, tuple) or not all(map(is_int, parts)):
            return None
        before = [self.resolved(size) for size in shape]
        after = [self.resolved(size) for size in parts]
        if self.uncertain or not any(isinstance(size, Dim) for size in (*before, *after)):
            return None
        for size in list(after):
            if size in before:
                before.remove(size)
                after.remove(size)
        if -1 not in after:
            self.learn(Equality(dims.product(before), dims.product(after), soft=False), operation.site)
            return operation.specs[0].with_(shape=tuple(map(self.resolved, parts)), strides=None)
        after.remove(-1)
        whole, known = dims.product(before), dims.product(after)
        if known == 0 or any(isinstance(size, int) and size < 0 for size in after):
            return None
        remainder = dims.modulo(whole, known)
        self.inference.learned.append(Learned("==", remainder, 0, operation.site))
        self.inference.required.append(("==", remainder, 0))
        rest = dims.floor_divide(whole, known)
        sizes = tuple(rest if size == -1 else self.resolved(size) for size in parts)
        return operation.specs[0].with_(shape=sizes, strides=None)

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
        result = super()._run(function, args, kwargs, names, node, caller, body)
        instance = args[0] if args and self.wanted is not None and function.name == "__init__" else None
        if isinstance(instance, Instance) and instance.cls is self.wanted and not self.uncertain:
            made = self.class_attribute(instance.cls, "__init__")
            if isinstance(made, Function) and made.node is function.node:
                raise Reached(instance, passed_on, node, caller)
        return result

    def _result(self, frame: Frame, completion: int) -> Value:
        running = self.inference
        if running is not None and completion == _RAISE and not frame.returns and not self.uncertain:
            running.raised = running.raised or not self.catching.at(self.uncertain)
        return super()._result(frame, completion)


def _is_forward(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "forward"


def _lines(plan: Plan) -> tuple[int, int]:
    """The lines of the class or function that is run."""
    node = plan.function.node if plan.owner is None else plan.owner.node
    return node.lineno, node.end_lineno or node.lineno


def _counted_up(value: object) -> Size | None:
    """How many numbers ``torch.arange(count)`` made, of which a tensor is another view."""
    while isinstance(value, Tensor) and value.origin is not None:
        node = value.origin.site.node
        if value.origin.operator == "torch.arange":
            plain = (
                isinstance(node, ast.Call)
                and len(node.args) == 1
                and {"end", "step"}.isdisjoint(keyword.arg for keyword in node.keywords)
            )
            return value.spec.shape[0] if plain and value.spec.shape else None
        if value.origin.operator.rpartition(".")[2] not in _KEEPING or len(value.origin.sources) != 1:
            return None
        value = value.origin.sources[0]
    return None


_KEEPING = frozenset("unsqueeze expand view reshape repeat to long expand_as".split())
"""Operators that put the same numbers into another shape."""
_RAISE = 4
_VIEWS = frozenset({"Tensor.view", "Tensor.reshape", "torch.reshape"})
_ATTENDING = {
    "MultiheadAttention": frozenset({"embed_dim", "num_heads", "dropout", "bias", "batch_first", "device", "dtype"}),
    "TransformerEncoderLayer": frozenset(
        {"d_model", "nhead", "dim_feedforward", "dropout", "activation", "batch_first", "norm_first"}
    ),
}
"""Layers whose results are known where they are made with symbols, and the options that make no difference."""


def _open_object(name: str, function: Function) -> Instance:
    """An object of which some attributes are known."""
    node = ast.copy_location(ast.ClassDef(name, [], [], [], []), function.node)
    made = Instance(ClassValue(name, (), node, function.path))
    made.state["open"] = True
    return made


def _is_plain(module: LibraryModule) -> bool:
    return not any(isinstance(value, Dim) for value in (*module.args, *module.kwargs.values()))


@dataclass(frozen=True)
class _Uses:
    """Parameters by what is done with them: their attributes are read; or something that nobody does with an integer."""

    attributes: frozenset[str]
    other: frozenset[str]


_OF_SEVERAL = frozenset("len enumerate zip list isinstance tuple set sorted reversed iter sum any all".split())
"""Functions that nobody gives an integer."""


def _uses(function: ast.AST) -> _Uses:
    attributes: set[str] = set()
    other: set[str] = set()
    for node in ast.walk(function):
        parts: list[ast.expr | None] = []
        if is_dotted(node):
            attributes.add(node.value.id)
        elif isinstance(node, ast.Call):
            parts = [node.func]
            if isinstance(node.func, ast.Name) and node.func.id in _OF_SEVERAL:
                parts += node.args
        elif isinstance(node, ast.Subscript | ast.Starred):
            parts = [node.value]
        elif isinstance(node, ast.For | ast.comprehension):
            parts = [node.iter]
        elif isinstance(node, ast.Compare) and any(map(_is_no_number, node.comparators)):
            parts = [node.left]
        other.update(part.id for part in of_kind(parts, ast.Name))
    return _Uses(frozenset(attributes), frozenset(other))


def _is_no_number(node: ast.expr) -> bool:
    """Whether an expression is a text or None, or holds such."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(_is_no_number, node.elts))
    return isinstance(node, ast.Constant) and (isinstance(node.value, str) or node.value is None)


def _comparisons(test: ast.expr, holds: bool) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """The comparisons that are true where a test holds, or where it does not."""
    match test:
        case ast.BoolOp() if isinstance(test.op, ast.And if holds else ast.Or):
            for value in test.values:
                yield from _comparisons(value, holds)
        case ast.UnaryOp(op=ast.Not()):
            yield from _comparisons(test.operand, not holds)
        case ast.Compare() if holds or len(test.ops) == 1:
            for operator, left, right in zip(test.ops, (test.left, *test.comparators), test.comparators):
                name = _COMPARISONS.get(type(operator))
                if name is not None:
                    yield (name if holds else _OPPOSITES[name]), left, right
        case _ if not holds and isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod):
            yield "==", test, ast.copy_location(ast.Constant(0), test)


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


__all__ = ["Call", "InferredContracts", "Learned", "Outcome", "Part", "Plan", "Running", "Setting"]
