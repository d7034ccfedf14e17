"""The arguments that a module or function is run with for its contract, as its text tells them before anything is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from torchsleuth.interp import compounds, optional, passed, plurals
from torchsleuth.interp.declared import declared_size
from torchsleuth.interp.fields import Fields, fields, last_word, words
from torchsleuth.interp.inputs import used_as_tensors
from torchsleuth.interp.library import records
from torchsleuth.interp.library.hierarchy import CONTAINERS
from torchsleuth.interp.needs import NeededSizes
from torchsleuth.interp.plans import Configuration, Plan, Setting
from torchsleuth.interp.switches import numbers, switches
from torchsleuth.interp.usual import usual
from torchsleuth.interp.written import default_of, parameters_of
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments, calls, settled
from torchsleuth.syntax.forms import is_dotted, is_function, is_literal, is_name, is_text, loads, nodes_in, plain_name
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.shapes import Dimension, key
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import (
    ClassValue,
    Function,
    Value,
    is_int,
    is_native,
)
from torchsleuth.values.join import MISSING

_NO_SIZES = re.compile(
    r"bias|\w*bias|\w*drop\w*|p|\w*prob|(?!growth)\w*rate|eps\w*|\w*_eps|\w*epsilon|\w*theta|\w*_range|norm(?!alized_shape)\w*|act|act_\w*|activation\w*|\w*_act|device|dtype|\w*mode|(?!n_|num_)\w*layer|"
    r"use_\w+|with_\w+|is_\w+|alpha|beta|gamma|momentum|slope|std|init\w*|block|lr|name|verbose|transform\w*|lambd\w*|\w+_id|\w+_idx|\w+_index|seed"
)
"""Names of parameters that are not taken for integers."""


_DTYPES = {"Int": "int64", "Integer": "int64", "Bool": "bool"}
"""Classes of dtypes in annotations that are no numbers with fractions."""
_NAMES = {1: ("N",), 2: ("N", "C"), 3: ("N", "L", "C"), 4: ("N", "C", "H", "W"), 5: ("N", "C", "D", "H", "W")}


_SIZES = re.compile(r"\w*(size|shape|resolution|hw)", re.IGNORECASE)
"""Names of inputs that are the sizes of an image."""


_INTEGER = re.compile(r"^(Optional|Union)\[(.*, )?int\b|\bint \||\| int$")
"""Annotations of what may be an integer, beside other things."""
_TENSOR = re.compile(r"\b(\w*Tensor|Variable)\b(?!\.)")
_SEVERAL = re.compile(r"\b(list|tuple|sequence|iterable|callable|type)\[", re.IGNORECASE)
"""Annotations of a tensor, maybe as one of several kinds, and of what only holds or makes some."""


class Planning(NeededSizes):
    """Plans the arguments of modules and functions."""

    @cached_property
    def attributes_read(self) -> dict[str, frozenset[str]]:
        """The attributes that the code of each file reads, of those files that were asked about."""
        return {}

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
            made = as_kind(cls.slots.get("__init__"), Function) if cls.path == path else None
            found += [(cls, made)] if made is not None else []
        for function in self.functions:
            if function.path == path and isinstance(function.node, ast.FunctionDef) and function.owner is None:
                found += [] if function.closure else [(None, function)]
        return found

    def _tensors_of(self, function: Function, owner: ClassValue | None, whole: bool = False) -> dict[str, ast.arg]:
        """The parameters without a default that are tensors, and those without which the function raises. `whole`: maybe."""
        written = self.declared.get(function.path)
        used = used_as_tensors(function)
        found: dict[str, ast.arg] = {}
        for argument, has_default in parameters_of(function, 0 if owner is None else function.bound_parameters):
            if has_default:
                continue
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            declared = written.parameters.get(key(argument)) if written else None
            tensor = _TENSOR.search(annotation) is not None and not _SEVERAL.search(annotation)
            tensor = tensor or is_native(function.globals.get(annotation), "torch.Tensor")
            likely = (owner is not None or argument.arg in used) and not self._is_object(function.node, argument.arg)
            if declared or tensor or (not annotation and likely):
                found[argument.arg] = argument
        found = found or self._optional_tensor(function, owner)
        needed = self._needed(function, owner, whole) if owner is not None else {}
        single = {name: one for name, one in needed.items() if not _SEVERAL.search(ast.unparse(one.annotation or one))}
        return {**found, **{name: one for name, one in single.items() if not self._is_object(function.node, name)}}

    @staticmethod
    def _needed(function: Function, owner: ClassValue, whole: bool) -> dict[str, ast.arg]:
        """The tensors that may be None by their default, and without which a forward raises, in any case or (`whole`) maybe."""
        body = optional.Body(function.node, function.globals, owner)
        return {
            argument.arg: argument
            for argument, has_default in parameters_of(function, function.bound_parameters)
            if has_default and argument.annotation is not None and default_of(function, argument) is None
            if _TENSOR.search(ast.unparse(argument.annotation))
            if optional.is_needed(body, argument.arg, whole)
        }

    def _is_object(self, function: ast.AST, name: str) -> bool:
        """Whether a parameter is called, or a method of it that no tensor has: it is a model, or another object."""
        called = [node.func for node in nodes_in(function, ast.Call)]
        methods = {func.attr for func in called if is_dotted(func, name)}
        of_tensors = self.oracle.attributes("torch.Tensor") if methods else frozenset()
        return any(is_name(func, name) for func in called) or bool(of_tensors and methods - of_tensors)

    @staticmethod
    def _optional_tensor(function: Function, owner: ClassValue | None) -> dict[str, ast.arg]:
        """The first tensor of a forward all of whose parameters have defaults: without any it has nothing to compute."""
        for argument, has_default in parameters_of(function, 0 if owner is None else function.bound_parameters):
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            if owner is not None and has_default and re.search(r"\b(\w*Tensor|Tensor\w*)\b", annotation):
                return {argument.arg: argument}
        return {}

    def plan(self, owner: ClassValue | None, function: Function, whole: bool = False) -> Plan:
        """The first arguments of an entry, before anything is known of it. `whole`: with the tensors that may be None."""
        plan = Plan(owner, function, tensors=self._tensors_of(function, owner, whole))
        needed = self._needed(function, owner, whole) if owner is not None else {}
        may_be = (name for name, one in plan.tensors.items() if _may_be_none(one) and name not in needed)
        absent = frozenset(may_be if not whole else ())
        if owner is not None and len(absent) < len(plan.tensors):
            plan.tensors = {name: one for name, one in plan.tensors.items() if name not in absent}
            plan.absent = absent
        self._plan_sequences(plan, needed)
        if owner is not None:
            made = as_kind(self.class_attribute(owner, "__init__"), Function)
            if made is not None:
                plan.floats = passed.numbers(owner, made, self.oracle.signature)
                self._plan_constructor(plan, made)
                self._plan_given(plan, made)
            else:
                self._plan_layer(plan, owner)
        self._plan_settings(plan, function, 0 if owner is None else function.bound_parameters)
        return plan

    def declared_shapes(self, plan: Plan) -> tuple[dict[str, tuple[Size, ...]], dict[str, str]]:
        """The shapes that are declared of the inputs of a plan, under the names that stand there, and their dtypes. A number in a
        comment may be an example: only an annotation states it."""
        written = self.declared.get(plan.function.path)
        shapes: dict[str, tuple[Size, ...]] = {}
        dtypes: dict[str, str] = {}
        names: dict[str, Size] = {}
        for name, argument in plan.tensors.items() if written is not None else ():
            declared = written.parameters.get(key(argument)) if written is not None else None
            if declared is None:
                continue
            if declared.dtype in _DTYPES:
                dtypes[name] = _DTYPES[declared.dtype]
            if declared.spread is None:
                names |= {one: self.fresh_size(one) for one in declared.names if one not in names}
                shapes[name] = tuple(
                    self._declared_size(part, usual, declared.kind, names)
                    for part, usual in zip(declared.dims, usual_names(len(declared.dims)))
                )
        return shapes, dtypes

    def _declared_size(self, part: Dimension, usual: str, kind: str, names: Mapping[str, Size]) -> Size:
        stated = declared_size(part, names)
        if stated is None or part.may_be_one or (is_number(stated) and kind != "annotation"):
            return self.fresh_size(part.name or usual)
        return stated

    def _plan_layer(self, plan: Plan, owner: ClassValue) -> None:
        """The integers that a class without a constructor passes on to the layer of the library which it is."""
        base = owner.native_base()
        layer = base is not None and base.kind == "module-class" and base.path not in ("torch.nn.Module", *CONTAINERS)
        for parameter in (self.oracle.signature(base.path) or ()) if layer and base is not None else ():
            if parameter.required and parameter.kind == "either" and not _NO_SIZES.fullmatch(parameter.name):
                self._add_setting(plan, parameter.name, None)

    def _plan_sequences(self, plan: Plan, needed: Container[str] = ()) -> None:
        """Inputs that are several tensors, or the height and the width. `needed`: those that have a default, and no use for it."""
        function = plan.function
        some = list(parameters_of(function, 0 if plan.owner is None else function.bound_parameters))
        some += [(function.node.args.vararg, False)] if function.node.args.vararg is not None else []
        for argument, has_default in some if plan.owner is not None else ():
            name, tensor = argument.arg, argument.arg in plan.tensors
            has_default = has_default and name not in needed
            sizes = self._sizes_in(function, argument) if tensor and _SIZES.fullmatch(name) else None
            if argument.annotation is not None and not has_default and argument is not function.node.args.vararg:
                sizes = sizes or plurals.integers(function.node, argument)
            if sizes is not None:
                plan.tensors.pop(name, None)
                self._add_settings(plan, name, sizes)
                for path in plan.sequences[name]:
                    plan.settings[path].called = True
                continue
            rest = argument is function.node.args.vararg
            parts: plurals.Sequence | compounds.Compound | None = None
            if not has_default:
                parts = plurals.tensors(function.node, argument, rest) or self._compound(function, argument, plan.owner)
            if isinstance(parts, compounds.Compound):
                plan.compounds[name] = parts
            if parts is not None:
                plan.tensors.pop(name, None)
                plan.sequences[name] = parts.paths(name)
                for index, path in enumerate(plan.sequences[name]):
                    # Each has a place of its own, by which what is asked of it is known.
                    place = ast.copy_location(ast.arg(path), argument)
                    place.col_offset += index
                    plan.tensors[path] = place
        plan.tensors = dict(sorted(plan.tensors.items(), key=lambda one: key(one[1])))

    def _compound(self, function: Function, argument: ast.arg, owner: ClassValue | None) -> compounds.Compound | None:
        """The parts of an input that is a dictionary or an object of tensors."""
        if argument.annotation is not None:
            cls = self._class_named(ast.unparse(argument.annotation), function)
            found = None if cls is None else compounds.made_of_tensors(cls)
            if found is not None:
                return found
            if _TENSOR.fullmatch(ast.unparse(argument.annotation)):
                return None
        around = None if owner is None else owner.node
        of_tensors = self.oracle.attributes("torch.Tensor")
        return compounds.read_for_parts(function.node, argument.arg, around, of_tensors)

    def _sizes_in(self, function: Function, argument: ast.arg) -> plurals.Sequence | None:
        """The sizes that an input is: as the function unpacks it, or another one of the file to which it is passed on as it is."""
        found = plurals.integers(function.node, argument, True)
        passed_on = {name for call in nodes_in(function.node, ast.Call) for name in map(plain_name, call.args)}
        for other in self.functions if found is None and argument.arg in passed_on else ():
            same = (one for one in other.node.args.args if one.arg == argument.arg and other.path == function.path)
            for one in same:
                found = found or plurals.integers(other.node, one, True)
        return found

    def _add_settings(self, plan: Plan, name: str, sizes: plurals.Sequence) -> None:
        plan.sequences[name] = sizes.paths(name)
        plan.tuples |= {name} if sizes.is_tuple else set()
        for path, called in zip(plan.sequences[name], sizes.names):
            plan.settings[path] = Setting(path, self.fresh_symbol(called or name))

    def _plan_constructor(self, plan: Plan, made: Function) -> None:
        """The integers that the constructor of a module takes, also as keyword arguments that it passes on."""
        self._plan_settings(plan, made, 1)
        for one in passed.behind(plan.owner, made) if plan.owner is not None else ():
            plan.floats |= passed.numbers(one.owner, one.function, self.oracle.signature) & set(one.names)
            self._plan_settings(plan, one.function, 1, one)

    def _plan_settings(self, plan: Plan, function: Function, skip: int, behind: passed.Behind | None = None) -> None:
        uses = _uses(function.node)
        constructor = function.name == "__init__"
        before = set(plan.settings)
        owner = plan.owner if behind is None else behind.owner
        usual = passed.defaults(owner, function) if owner is not None and constructor else {}
        for argument, has_default in parameters_of(function, skip):
            name = argument.arg
            if name in usual or (behind is not None and name not in behind.names):
                continue
            if name in (plan.floats if constructor else plan.tensors.keys() | plan.absent) or name in plan.sequences:
                continue
            if constructor and owner is not None and plurals.is_called(owner.node, function.node, name):
                continue
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            default = default_of(function, argument) if has_default else None
            integer = is_number(default)
            cls = self._class_named(annotation, function)
            several = (
                plurals.integers(function.node, argument, owner=owner.node if owner else None)
                if constructor and not has_default
                else None
            )
            if several is not None:
                self._add_settings(plan, name, several)
            elif not constructor and has_default and default is None:
                continue
            elif cls is not None and (cls.is_dataclass or name in uses.attributes) and not cls.is_module():
                self._plan_configuration(plan, name, cls, fields(owner, function, name))
            elif has_default and not integer:
                continue
            elif (
                annotation == "int" or (not annotation and integer) or (not has_default and _INTEGER.search(annotation))
            ):
                self._add_setting(plan, name, default)
            elif not annotation and not has_default and constructor:
                read = fields(owner, function, name)
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
        lacking = {
            one.arg
            for one, has_default in parameters
            if one.arg not in known and (not has_default or self._is_needed(made, one))
        }
        if not lacking or plan.owner is None:
            return
        told = self._told_by_a_call(plan, made, lacking)
        if told is None:
            others = self._switches(plan) | passed.defaults(plan.owner, made) | self._usual(plan)
            left = [one for one, _ in parameters if one.arg in lacking - plan.sequences.keys() and one.arg in others]
            told = {one.arg: others[one.arg] for one in left if _is_of_kind(others[one.arg], one.annotation)}
        for name in told.keys() & plan.sequences.keys():
            for path in plan.sequences.pop(name):
                del plan.settings[path]
        plan.given |= told
        unknown = lacking - told.keys() - plan.sequences.keys()
        plan.objects = frozenset(
            one
            for one in unknown
            if plurals.is_object(plan.owner.node, made.node, one) or fields(plan.owner, made, one).paths
        )

    @staticmethod
    def _is_needed(made: Function, argument: ast.arg) -> bool:
        """Whether a parameter is called in any case, though None is its default."""
        default = default_of(made, argument)
        mentions = [node for node in nodes_in(made.node, ast.Name) if node.id == argument.arg]
        called = {node.func for node in nodes_in(made.node, ast.Call)}
        tests = (node.test for node in nodes_in(made.node, ast.If, ast.IfExp))
        tested = {node for test in tests for node in ast.walk(test)}
        return (
            default is None
            and any(one in called for one in mentions)
            and all(loads(one) and one not in tested for one in mentions)
        )

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

    def as_integer(self, plan: Plan, name: str) -> None:
        """Take an input for an integer that whoever calls chooses."""
        del plan.tensors[name]
        plan.shapes.pop(name, None)
        self._add_setting(plan, name, None)
        plan.settings[name].called = plan.owner is not None

    def _add_setting(self, plan: Plan, path: str, default: Value) -> None:
        if path in plan.settings:
            return
        plan.settings[path] = Setting(path, self.fresh_symbol(last_word(path)), None, default)

    def _plan_configuration(self, plan: Plan, name: str, cls: ClassValue | None, read: Fields) -> None:
        """A parameter that is read for its fields: those that are integers are chosen by whoever makes it."""
        direct = {words(path)[0][0] for path in read.paths}
        if cls is None or (cls.is_dataclass and not self._has(cls, direct)):
            derived = [one for one in self.classes if one.is_dataclass and (cls is None or cls in one.mro())]
            cls = next((one for one in derived if self._has(one, direct)), cls)
        integers: tuple[str, ...] = ()
        if cls is None:
            switched = switches(plan.function.node, *read.readers)
            told = {path: switched[last] for path in read.paths if (last := last_word(path)) in switched}
            plan.given |= {field_of(name, path): value for path, value in told.items()}
            for path in read.ordered:
                if path not in told.keys() | read.containers and not _NO_SIZES.fullmatch(last_word(path)):
                    self._add_setting(plan, field_of(name, path), None)
                    integers += (path,)
        else:
            integers = tuple(self._integers_of(cls, plan.function.path))
            for one in integers:
                self._add_setting(plan, f"{name}.{one}", self._field_default(cls, one))
        plan.configurations[name] = Configuration(cls, integers, read.ordered)

    def _has(self, cls: ClassValue, names: set[str]) -> bool:
        """Whether the objects of a dataclass have all of these, and most as fields: the rest is computed, or the same for all."""
        others = names - records.fields(cls).keys()
        return len(others) < len(names) and all(self.class_attribute(cls, one) is not MISSING for one in others)

    def _switches(self, plan: Plan) -> dict[str, ast.Constant]:
        """Values that parameters and fields are compared with, as the forward says it, otherwise the class."""
        roots: list[ast.AST] = [plan.function.node if plan.owner is None else plan.owner.node]
        if self.document is not None and self.document[1].path == plan.function.path:
            roots.append(self.document[0])  # Functions that it is passed on to, by the same name as a rule.
        return switches(plan.function.node, *roots)

    @staticmethod
    def compared(plan: Plan) -> dict[str, int]:
        """Integers that parameters and fields are compared with, by the paths of those that the caller chooses."""
        found = numbers(plan.function.node if plan.owner is None else plan.owner.node)
        named = {path: found.get(last_word(path)) for path in plan.settings}
        return {path: value for path, value in named.items() if value is not None}

    def _usual(self, plan: Plan) -> dict[str, ast.expr]:
        """Values that other code of the document takes for parameters of the same name."""
        if self.document is None or plan.owner is None or plan.owner.path != self.document[1].path:
            return {}
        tree, frame = self.document
        return usual(tree, plan.owner.name, frame.names)

    def _class_named(self, annotation: str, function: Function) -> ClassValue | None:
        """The class of the user's that an annotation names, also as one of several."""
        for part in annotation.strip("'\"").removeprefix("Optional[").removesuffix("]").split("|"):
            text = part.strip(" '\"")
            if text.isidentifier():
                found = as_kind(function.globals.get(text), ClassValue)
                if found is not None:
                    return found
        return None

    def _integers_of(self, cls: ClassValue, path: str) -> Iterator[str]:
        """The integers that whoever makes a configuration chooses, as far as the file reads them."""
        read = self._read_in(path)
        made = as_kind(self.class_attribute(cls, "__init__"), Function)
        if made is not None:
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
        made = as_kind(self.class_attribute(cls, "__init__"), Function)
        if made is not None:
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


def usual_names(rank: int) -> tuple[str, ...]:
    """The names of the dimensions of a tensor where nothing else tells them."""
    return _NAMES.get(rank, ("?",) * rank)


def field_of(name: str, path: str) -> str:
    """The path of a field with the name of the configuration before it."""
    return f"{name}{path}" if path.startswith("[") else f"{name}.{path}"


def _is_of_kind(value: ast.expr, annotation: ast.expr | None) -> bool:
    """Whether a value may be one of a parameter with this annotation: False is none of a list or an object."""
    return not is_literal(value, False) or annotation is None or "bool" in ast.unparse(annotation)


def _is_forward(node: ast.stmt) -> bool:
    return is_function(node, "forward")


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
            if plain_name(node.func) in _OF_SEVERAL:
                parts += node.args
        elif isinstance(node, ast.Starred) or (isinstance(node, ast.Subscript) and not is_text(node.slice)):
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


def _may_be_none(argument: ast.arg) -> bool:
    """Whether the annotation of a parameter without a default says that it may be None."""
    match argument.annotation:
        case ast.BinOp(right=ast.Constant(value=None)) | ast.BinOp(left=ast.Constant(value=None)):
            return True
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional")):
            return True
    return False


__all__ = ["Planning", "field_of", "usual_names"]
