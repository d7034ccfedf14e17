"""Written contracts are checked for every size: a function is run with the shapes that it declares, its names standing for any numbers."""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from torchsleuth.interp.divisions import equal_parts
from torchsleuth.interp.entries import SIZES, TIMES, EntryPoints
from torchsleuth.interp.inputs import ArgumentKey
from torchsleuth.interp.library import records
from torchsleuth.interp.questions import Target
from torchsleuth.interp.suppositions import Entry, Supposition, Trial
from torchsleuth.interp.trace import DeclaredSighting, Operation, SizesMeet, Unpacking
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.forms import by_position, every_parameter, is_attribute, is_text, names_in, nodes_in
from torchsleuth.syntax.shapes import Declarations, Declared, DeclaredParts, Dimension, Written, counted, key
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol, is_number
from torchsleuth.tensors.generality import differ_in_general
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, Autocast, Equality, Outcome, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    Function,
    Instance,
    OpenArguments,
    Scalar,
    Site,
    Tensor,
    Value,
    is_int,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

SPREADS = (1, 2)
"""How many dimensions stand for a name of several, such as ``*batch``."""
TIME_LEFT = 0.3
"""The part of the time for a document that has to be left for another function to be checked."""
_DTYPES = {
    "Float": "float32",
    "Inexact": "float32",
    "Real": "float32",
    "Num": "float32",
    "Int": "int64",
    "Integer": "int64",
    "Bool": "bool",
    "UInt": "uint8",
    "Complex": "complex64",
    "BFloat16": "bfloat16",
}
_EXACT = frozenset("float16 float32 float64 int8 int16 int32 int64 uint8 complex64 complex128".split())


@dataclass
class Contract:
    """The declarations of a function, in one run of it.

    `sizes`: its names, as symbols. `declared`: the names in its shapes; the others are integers that it, or the constructor
    of its object, takes. `usual`: the defaults of such integers. `spread`: the number of dimensions that stand for ``*batch``,
    `spreads`: these. `times`: in how many shapes of parameters and of the result a name stands. `complete`: optional arguments are passed, too. `loose`: tensors have the declared numbers of
    dimensions only. `annotated`: it is written in annotations alone, whose names are those of one scheme; in comments and
    docstrings a size that the constructor takes may have another name. `bound`: sizes that the body makes, by the names that comments
    have for them; `called`: the first name of each of these sizes, which may be a variable's; `equal`: what they turn out to be. `counted`: parameters that say how often loops go around, which are `count`. `ranked`: all of its shapes say how many dimensions there
    are. `together`: the names in each shape.
    """

    function: Function
    owner: ClassValue | None
    declared: frozenset[str]
    spread: int
    complete: bool
    loose: bool = False
    annotated: bool = True
    ranked: bool = True
    together: list[frozenset[str]] = field(default_factory=list)
    sizes: dict[str, Size] = field(default_factory=dict)
    spreads: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    usual: dict[Symbol, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    bound: dict[str, Size] = field(default_factory=dict)
    called: dict[Symbol, str] = field(default_factory=dict)
    equal: dict[Symbol, Size] = field(default_factory=dict)
    counted: frozenset[ArgumentKey] = frozenset()
    count: int = 0

    def tells_apart(self, left: Size, right: Size) -> bool:
        """Whether two sizes that the body makes have different names, which stand together in a shape, and stay different."""
        names = {self.called.get(symbol, "") for symbol in (dims.symbol(left), dims.symbol(right)) if symbol}
        if len(names) < 2 or "" in names or len({counted(name).lower() for name in names}) < 2:
            return False
        same = dims.substitute(left, self.equal) == dims.substitute(right, self.equal)
        beside = (*self.together, *_unpacked_sizes(self.function.node))
        return not same and any(names <= shape for shape in beside)


_SIZES = re.compile(rf"{SIZES.pattern}|(\w+_)?(hidden|width|channels|features)")
"""Names of constructor parameters without an annotation that are sizes."""


class WrittenContracts(EntryPoints):
    """Runs functions for what is written about them."""

    contract: Contract | None = None
    deadline: float
    """When the time for the document is over, in seconds of the processor."""

    def check_contracts(self, source: SourceText, frame: Frame) -> None:
        """Check every function of a document of which shapes are declared."""
        written = self.declared.get(source.path)
        if written is None:
            return
        owners = {node: cls for cls in self.classes if cls.path == source.path for node in cls.node.body}
        self.most_questions = self.oracle.misses + self.budget.supposed_questions
        seen: set[ast.AST] = set()
        for function in list(self.functions):
            node = function.node
            if function.path != source.path or node in seen or isinstance(node, ast.Lambda):
                continue
            if self.overdue or time.process_time() > self.deadline - self.budget.seconds * TIME_LEFT:
                break
            seen.add(node)
            places = _declared_places(node, written)
            if places and self.oracle.misses <= self.most_questions and not function.is_generator:
                self._check(function, owners.get(node), written, frame)
        self.most_questions = None
        self.settle_facts()

    def _check(self, function: Function, owner: ClassValue | None, written: Declarations, frame: Frame) -> None:
        parameters = [written.parameters.get(key(one)) for one in every_parameter(function.node.args)]
        spreads = any(one is not None and one.spread is not None for one in parameters)
        optional = any(
            one is not None and has_default for one, (_, has_default) in zip(parameters, parameters_of(function, 0))
        )
        for spread in SPREADS if spreads else SPREADS[:1]:
            for complete in (False, True) if optional else (False,):
                self._check_once(function, owner, written, frame, spread, complete)

    def _check_once(
        self,
        function: Function,
        owner: ClassValue | None,
        written: Declarations,
        frame: Frame,
        spread: int,
        complete: bool,
    ) -> None:
        together = _named_together(function, owner, written)
        contract = Contract(function, owner, frozenset().union(*together), spread, complete)
        contract.together = together
        contract.times = _times(function, written)
        made = as_kind(None if owner is None else self.class_attribute(owner, "__init__"), Function)
        for argument in every_parameter(made.node.args) if made is not None and made is not function else ():
            # The constructor says what it is, too.
            contract.times[argument.arg] = contract.times.get(argument.arg, 0) + 1
        shapes = list(_declared(function, written))
        contract.annotated = all(one.kind == "annotation" for one in shapes)
        contract.ranked = all(one.spread is None for one in shapes)
        trial = self._run_as(contract, written, frame)
        self._keep(contract, trial)
        self._keep_of_loops(contract, trial, written, frame)
        trace = trial.trace
        stated = [
            one for one in map(written.parameters.get, map(key, every_parameter(function.node.args))) if one is not None
        ]
        annotated = all(one.kind == "annotation" and one.spread is None for one in stated)
        if trace.failures and not trace.incomplete and annotated:
            self._explain_failure(contract, trial, written, frame)

    def _run_as(self, contract: Contract, written: Declarations, frame: Frame) -> Trial:
        """Run a function as its contract says."""

        def run(given: Supposition) -> None:
            self.contract = contract
            self._run_contract(contract, written, frame)

        try:
            return self._trial(Entry(run), Supposition(declared=True, general=True))
        finally:
            self.contract = None

    def _keep_of_loops(self, contract: Contract, trial: Trial, written: Declarations, frame: Frame) -> None:
        """Take over what holds however often loops go around of which a parameter says that: what two numbers show."""
        own = {
            self.lasting[symbol]
            for name, size in contract.sizes.items()
            for symbol in dims.symbols(size)
            if name not in contract.declared
        }
        counted = trial.counted & own
        if not counted:
            return
        found: list[dict[tuple[object, ...], DeclaredSighting]] = []
        for count in TIMES:
            again = replace(contract, counted=counted, count=count, sizes={}, spreads={}, bound={}, called={}, equal={})
            attempt = self._run_as(again, written, frame)
            seen = self._sighted(again, attempt) if attempt.sane else {}
            found.append({_place_in_words(one): one for one in seen.values() if one.general})
        few, more = found
        self.trace.declared.update((("loops", *place), one) for place, one in few.items() if place in more)

    def _keep(self, contract: Contract, trial: Trial) -> None:
        """Take over what the run has shown to be contradicted."""
        trace = trial.trace
        self.trace.internal_errors += trace.internal_errors
        for place, sighting in self._sighted(contract, trial).items():
            self.trace.declared[("general", place)] = sighting
        meets = {(one.site.span, one.names) for one in self.trace.sizes_meet}
        self.trace.sizes_meet += [one for one in trace.sizes_meet if (one.site.span, one.names) not in meets]
        differing = {one.site.span for one in self.trace.parts_differ}
        self.trace.parts_differ += [one for one in trace.parts_differ if one.site.span not in differing]
        if contract.ranked:
            known = {one.site.span for one in (*self.trace.unpackings, *self.trace.unpacked_otherwise)}
            unpacked = _unpacked(contract, trial)
            self.trace.unpacked_otherwise += [one for one in unpacked if one.site.span not in known]

    def _sighted(self, contract: Contract, trial: Trial) -> dict[tuple[object, ...], DeclaredSighting]:
        """The sizes that a run shows of the declared shapes, as far as it holds whichever sizes their names are."""
        trace = trial.trace
        rigid = {symbol for size in contract.sizes.values() for symbol in dims.symbols(size)}
        rigid |= {symbol for sizes in contract.spreads.values() for size in sizes for symbol in dims.symbols(size)}
        raised = min((one.site.span.start.line for one in _unpacked(contract, trial)), default=None)
        found: dict[tuple[object, ...], DeclaredSighting] = {}
        for place, sighting in trace.declared.items():
            own = _is_in(sighting.site, contract.function)
            if raised is not None and own and sighting.site.span.start.line > raised:
                continue  # It is not executed.
            if sighting.general:
                found[place] = self._in_general(sighting, contract, frozenset(rigid))
        return found

    def _explain_failure(self, contract: Contract, trial: Trial, written: Declarations, frame: Frame) -> None:
        """An operator fails with what is declared. Where the body works with other sizes of the same ranks, the declared ones
        are wrong; otherwise the body is."""
        loose = replace(contract, loose=True, sizes={}, spreads={}, usual={})
        again = self._run_as(loose, written, frame)
        parameters = {(contract.function.path, *key(one)): one for one in every_parameter(contract.function.node.args)}
        if again.sane:
            site_of = self.sites_of_parameters(contract.function, frame)
            for place, shape in again.shapes.items():
                argument = parameters.get(place)
                declared = argument and written.parameters.get(key(argument))
                if argument is not None and declared and shape is not None:
                    for other, known in list(self.trace.declared.items()):
                        if known.declared is declared and known.call is None:
                            del self.trace.declared[other]
                    mark = (place[0], declared.start, shape, ())
                    seen = DeclaredSighting(declared, site_of(argument), shape, ())
                    self.trace.declared.setdefault(mark, seen)
            return
        failure = trial.trace.failures[0]
        spans = {other.operation.site.span for other in self.trace.failures}
        if failure.operation.site.span not in spans:
            self.trace.failures.append(failure)

    def sites_of_parameters(self, function: Function, frame: Frame) -> Callable[[ast.arg], Site]:
        """The places of parameters of a function, in a frame that nothing has run in."""
        source = frame.source if frame.path == function.path else self.source_of(function.path, frame)
        own = Frame(source, Names(), function.globals, function.closure, function, caller=frame)
        return lambda argument: self.site(argument, own)

    def _in_general(self, sighting: DeclaredSighting, contract: Contract, rigid: frozenset[Symbol]) -> DeclaredSighting:
        """A shape as it is seen, with sizes only where they differ from those that are declared."""
        expected, shape = sighting.expected, sighting.shape
        if expected is None or shape is None:
            return sighting
        own = frozenset(
            symbol
            for name, size in contract.sizes.items()
            if name in contract.declared
            for symbol in dims.symbols(size)
        )

        # Sizes in another order: that a name and a product are equal, as may be meant elsewhere, does not make these right.
        permuted = None not in expected and Counter(expected) == Counter(shape)

        def differs(wanted: Size | None, size: Size) -> bool:
            if wanted is None:
                return False
            if sighting.declared.kind != "annotation" and contract.tells_apart(wanted, size):
                return True
            if permuted and rigid >= {*dims.symbols(wanted), *dims.symbols(size)}:
                return dims.equal(wanted, size) is not True
            if sighting.call is not None and (isinstance(wanted, int) or isinstance(size, int)):
                return dims.equal(wanted, size) is False  # A name for a number that its callers rely on.
            if isinstance(wanted, int) and not own.issuperset(dims.symbols(size)):
                return dims.equal(wanted, size) is False  # A number for what whoever makes the object says.
            return differ_in_general(wanted, size, rigid, contract.usual)

        # The other sizes that shapes say, by which those are known that stand in the wrong place.
        others = tuple((name, size) for name, size in contract.sizes.items() if name in contract.declared)
        others += tuple((contract.called[one], size) for size in shape if (one := dims.symbol(size)) in contract.called)
        return replace(
            sighting,
            sizes=(*sighting.sizes, *others) if sighting.declared.kind != "annotation" else sighting.sizes,
            expected=tuple(wanted if differs(wanted, size) else None for wanted, size in zip(expected, shape)),
        )

    # -- the run -----------------------------------------------------------------------------------------

    def _run_contract(self, contract: Contract, written: Declarations, frame: Frame) -> None:
        function, owner = contract.function, contract.owner
        node = function.node
        assert not isinstance(node, ast.Lambda)
        receiver: tuple[Value, ...] = ()
        kinds = {part.id for part in of_kind(node.decorator_list, ast.Name)}
        # The names of the shapes come first: integers of the same names are the same.
        skip = 1 if owner is not None and "staticmethod" not in kinds else 0
        values = OpenArguments()
        for argument, has_default in list(parameters_of(function, skip)):
            value = self._contract_argument(contract, function, argument, has_default, written, frame)
            if value is not None:
                values[argument.arg] = value
        if owner is not None and "classmethod" in kinds:
            receiver = (owner,)
        elif skip:
            made = self._contract_object(contract, owner, written, frame)
            if node.name == "__init__":
                return
            receiver = (made,)
        self.escape((self.call_function(function, receiver, values, None, frame),))
        contract.equal = {
            symbol: known for symbol in contract.called if is_int(known := self.resolved(dims.of(symbol)))
        }

    def _contract_object(
        self, contract: Contract, owner: ClassValue | None, written: Declarations, frame: Frame
    ) -> Value:
        assert owner is not None
        found = as_kind(self.class_attribute(owner, "__init__"), Function)
        kwargs = OpenArguments()
        if found is None and owner.is_dataclass:
            return self._contract_record(contract, owner, None, frame)
        if found is not None:
            for argument, has_default in parameters_of(found, 1):
                value = self._contract_argument(contract, found, argument, has_default, written, frame)
                if value is not None:
                    kwargs[argument.arg] = value
        made = as_kind(self.instantiate(owner, (), kwargs, None, frame), Instance)
        if made is not None and not owner.is_module():
            self.forget_changed(made)
        return made if made is not None else UNKNOWN

    @staticmethod
    def _named_apart(contract: Contract, declared: Declared, written: Declarations) -> Contract:
        """The names of each function's annotations are its own: whoever makes the object knows which are equal."""
        if declared.kind != "annotation":
            return contract
        return replace(contract, declared=frozenset[str]().union(*_named_together(contract.function, None, written)))

    def _contract_argument(
        self,
        contract: Contract,
        function: Function,
        argument: ast.arg,
        has_default: bool,
        written: Declarations,
        frame: Frame,
    ) -> Value | None:
        """The value for an argument; None where it is left out."""
        place = (function.path, *key(argument))
        declared = written.parameters.get(key(argument)) if function.path == contract.function.path else None
        if declared is not None:
            if declared.kind == "docstring" and _goes_through(function.node, argument.arg):
                return None if has_default else UNKNOWN
            own = contract if function is contract.function else self._named_apart(contract, declared, written)
            return self._contract_tensor(own, declared, place) if not has_default or contract.complete else None
        annotation = ast.unparse(argument.annotation) if argument.annotation is not None else ""
        named = argument.arg in contract.declared
        made = function is not contract.function and not has_default and _SIZES.fullmatch(argument.arg) is not None
        if annotation == "int" or (not annotation and (named or made)):
            if not has_default:
                return self._contract_size(contract, argument.arg, place)
            usual = default_of(function, argument)
            if named and is_number(usual) and usual > 0:
                size = self._contract_size(contract, argument.arg, place)
                contract.usual.update((symbol, usual) for symbol in dims.symbols(size))
                return size
            return None
        if has_default:
            return None
        if annotation in ("float", "str", "bool"):
            return Scalar(annotation)
        if annotation.rpartition(".")[2] == "Tensor":
            return Tensor(UNKNOWN_TENSOR)
        cls = as_kind(function.globals.get(annotation), ClassValue) if annotation.isidentifier() else None
        if cls is not None and cls.is_dataclass:
            return self._contract_record(contract, cls, place, frame)
        if argument.annotation is None and function is contract.function:
            tensor = Tensor(TensorSpec(None, None, None, None))
            return tensor if function.owner is not None and function.name == "forward" else UNKNOWN
        return UNKNOWN

    def _contract_record(self, contract: Contract, cls: ClassValue, place: ArgumentKey | None, frame: Frame) -> Value:
        """A configuration: the integers in it whose names shapes have are any, the others are as they are by default."""
        kwargs: dict[str, Value] = {}
        written = self.declared.get(cls.path)
        own = replace(contract, sizes={}, spreads={}, declared=frozenset(), bound={}, called={})
        for name, owner in records.fields(cls).items():
            annotation = dict(owner.annotations)[name]
            kind = ast.unparse(annotation)
            default = owner.slots.get(name)
            has_default = name in owner.slots
            declared = written.fields.get(key(annotation)) if written is not None and owner.path == cls.path else None
            if declared is not None and not has_default:
                # The names of a class are its own: that they are sizes of the function, too, is left to whoever makes the object.
                kwargs[name] = self._contract_tensor(own, declared, None)
            elif kind == "int" and (name in contract.declared or not has_default):
                size = self._contract_size(contract, name, place)
                if is_number(default):
                    contract.usual.update((symbol, default) for symbol in dims.symbols(size))
                kwargs[name] = size
            elif not has_default:
                kwargs[name] = Scalar(kind) if kind in ("float", "str", "bool") else UNKNOWN
        return self.instantiate(cls, (), kwargs, None, frame)

    def _contract_size(
        self, contract: Contract, name: str, place: ArgumentKey | None, stated: bool | None = None
    ) -> Size:
        """The size of a name. `stated`: a shape says it."""
        stated = name in contract.declared if stated is None else stated
        if place in contract.counted and not stated:
            return contract.count
        if name not in contract.sizes:
            symbol = self.fresh_symbol(name)
            self.lasting[symbol] = place or (contract.function.path, *key(contract.function.node))
            self.rigid[symbol] = stated
            contract.sizes[name] = dims.of(symbol)
        return contract.sizes[name]

    def _contract_tensor(self, contract: Contract, declared: Declared, place: ArgumentKey | None) -> Tensor:
        """A tensor of a declared shape. `place`: the parameter that it is passed for; None for a field of one."""
        for name in declared.names:
            self._contract_size(contract, name, place)
        shape = [
            self.fresh_size("?") if part.may_be_one or contract.loose else _stated(self, part, contract)
            for part in declared.dims
        ]
        if declared.spread is not None:
            name = declared.spread_name
            stands = contract.spreads.get(name)
            if stands is None:
                names = [f"{name or '?'}{number}" for number in range(contract.spread)]
                stands = tuple(
                    self._contract_size(contract, one, place, True) if name else self.fresh_size() for one in names
                )
                if name:
                    contract.spreads[name] = stands
            shape[declared.spread : declared.spread] = list(stands)
        dtype = declared.dtype.lower() if declared.dtype.lower() in _EXACT else _DTYPES.get(declared.dtype)
        tensor = Tensor(TensorSpec(tuple(shape), dtype, None, None))
        tensor.argument = place
        if place is not None:
            self.arguments.append(tensor)
        return tensor

    # -- what a contract changes -----------------------------------------------------------------------

    def is_checked(self, frame: Frame) -> bool:
        contract, function = self.contract, frame.function
        if contract is None or function is None:
            return False
        if function.node is contract.function.node:
            return not _is_inside_of(frame.caller, contract.function)  # sizes are others where it calls itself
        made = isinstance(frame.receiver, Instance) and frame.receiver.cls is contract.owner
        return made and function.name == "__init__" and frame.caller is not None and frame.caller.function is None

    def is_general(self) -> bool:
        return self.contract is not None

    def outcome(
        self, operation: Operation, target: Target, casts: tuple[Autocast | None, ...], guessed: bool
    ) -> Outcome | None:
        """As for any sizes; what a body divides into parts is a multiple of their number."""
        divided = equal_parts(operation) if self.contract is not None else None
        return divided or super().outcome(operation, target, casts, guessed)

    def contract_sizes(self, frame: Frame) -> Mapping[str, Size]:
        if self.contract is None or not self.is_checked(frame):
            return super().contract_sizes(frame)
        return {**self.contract.bound, **self.contract.sizes}

    def note_names(
        self, declared: Declared, aligned: tuple[Dimension | None, ...], shape: tuple[Size, ...], frame: Frame
    ) -> None:
        contract = self.contract
        if contract is None or declared.kind == "annotation" or not self.is_checked(frame):
            return
        for part, size in zip(aligned, shape):
            symbol = dims.symbol(size)
            if symbol is None or self.rigid.get(symbol):
                continue
            for name in (symbol.name, *declared.names):
                variable = frame.names.get(name)
                if is_int(variable) and self.resolved(variable) == size:
                    contract.called.setdefault(symbol, name)
            if part is not None and isinstance(part.size, str):
                contract.called.setdefault(symbol, part.size)
                contract.bound.setdefault(part.size, size)

    def contract_spreads(self, frame: Frame) -> Mapping[str, tuple[Size, ...]]:
        if self.contract is None or not self.is_checked(frame):
            return super().contract_spreads(frame)
        return self.contract.spreads

    def is_noted(self, node: ast.AST, declared: Declared, frame: Frame) -> bool:
        if self.contract is None:
            return True
        if self.guarded:
            return False
        if not self.is_checked(frame):
            caller = frame.caller
            return (
                isinstance(node, ast.arg)
                and declared.kind == "annotation"
                and caller is not None
                and self.is_checked(caller)
            )
        function = frame.function
        if self.uncertain > frame.certain and function is not None and _compares_sizes(function.node):
            return False
        # What stands for an argument has the declared shape.
        return not isinstance(node, ast.arg)

    def keeps_apart(self, difference: Size, fact: Equality, site: Site | None) -> bool:
        """Whether an equality that an operator needs is one of two sizes that a contract names differently, which stay
        different then. Of a run that checks the contract it is a contradiction."""
        left, right = self.resolved(fact.left), self.resolved(fact.right)
        if not is_int(left) or not is_int(right) or not self.rigid.keys() >= set(dims.symbols(difference)):
            return False
        solved = dims.solve(dims.without_common_factor(difference))
        if solved is not None and dims.symbol(solved[1]) is not None:
            left, right = dims.of(solved[0]), solved[1]
        names = [dims.symbol(left), dims.symbol(right)]
        contract = self.contract
        plain = all(name is not None for name in names)
        if contract is None:
            return plain
        if not plain and fact.soft and any_are((left, right), int):
            self.unify(left, right)  # a size that the body itself broadcasts to a number
            return True
        if not all(self.rigid[name] for name in dims.symbols(dims.subtract(left, right))):
            # A condition of whoever chooses a number that no shape of the function says.
            if plain and fact.soft:
                self.unify(left, right)
            return plain and fact.soft
        if not plain:
            if not contract.annotated:
                return False  # Comments leave unsaid that a length is that of so many chunks.
            shared = set(dims.symbols(left)) & set(dims.symbols(right))
            if not shared or not differ_in_general(left, right, frozenset(self.rigid), contract.usual):
                return False
        if not contract.annotated and self._is_synonym(contract, {name.name for name in names if name is not None}):
            self.unify(left, right)
            return True
        if fact.soft and any(contract.times.get(dims.text(size), 0) < 2 for size in (left, right)):
            # What is broadcast may have been given a name of its own that nothing else refers to.
            self.unify(left, right)
        elif site is not None:
            self._note_meeting(contract, site, left, right)
        return True

    def _is_synonym(self, contract: Contract, names: Set[str]) -> bool:
        """Whether two names count the same thing, or the same of two arguments; or one is a size that the constructor takes, the other is none, and no shape
        has both."""
        if len({counted(name) for name in names}) == 1:
            return True
        parts = [name.rpartition("_") for name in names]
        given = {one.arg for one in every_parameter(contract.function.node.args)}
        if len({stem for stem, _, _ in parts}) == 1 and given.issuperset(tensor for _, _, tensor in parts):
            return True  # `len_q` and `len_k`: what `q` and `k` have of one kind
        made = as_kind(None if contract.owner is None else self.class_attribute(contract.owner, "__init__"), Function)
        taken = {one.arg for one in every_parameter(made.node.args)} if made is not None else set()
        return len(names) == 2 and len(names & taken) == 1 and not any(names <= shape for shape in contract.together)

    def _note_meeting(self, contract: Contract, site: Site, left: Size, right: Size) -> None:
        """Two sizes that the contract names differently have to be equal there."""
        frame: Frame = site.frame
        if self.guarded or self.uncertain > frame.outermost.certain:
            return
        node: ast.AST = site.node
        while frame.function is None or frame.function.node is not contract.function.node:
            if frame.caller is None or frame.call is None:
                return
            node, frame = frame.call, frame.caller
        texts = sorted({dims.text(left), dims.text(right)})
        if len(texts) == 2:
            self.trace.sizes_meet.append(SizesMeet(self.site(node, frame), contract.function, (texts[0], texts[1])))

    def told(self, test: ast.expr, holds: bool, frame: Frame) -> None:
        """The code demands that a test holds, or does not: sizes that it says are equal are, whatever they are called."""
        if not self.rigid:
            return
        for left, right in _equalities(test, holds):
            one, other = self.eval(left, frame), self.eval(right, frame)
            pairs = zip(one, other) if isinstance(one, tuple) and isinstance(other, tuple) else ((one, other),)
            for mine, yours in pairs:
                if is_int(mine) and is_int(yours) and not is_unknown(mine) and not is_unknown(yours):
                    self.unify(mine, yours)

    def unify(self, left: Size, right: Size) -> None:
        """Two sizes are equal."""
        one, other = self.resolved(left), self.resolved(right)
        solution = dims.solve(dims.subtract(one, other), self.rigid) if is_int(one) and is_int(other) else None
        if solution is not None:
            self.heap.set(self.substitution, solution[0], solution[1])


def _goes_through(function: ast.AST, name: str) -> bool:
    """Whether a function loops over an argument: a docstring may tell the shape of each of several."""
    loops = nodes_in(function, ast.For, ast.comprehension)
    return any(name in names_in(loop.iter) and not is_attribute(loop.iter, "shape") for loop in loops)


def _place_in_words(sighting: DeclaredSighting) -> tuple[object, ...]:
    """Where a shape is declared, and what it is and is expected to be there, in the words of a reader: symbols of two runs differ."""
    shape, expected = sighting.shape, sighting.expected
    wanted = None if expected is None else tuple(size if size is None else dims.text(size) for size in expected)
    return sighting.site.span, sighting.declared.start, None if shape is None else dims.shape_text(shape), wanted


def _unpacked(contract: Contract, trial: Trial) -> list[Unpacking]:
    """The unpackings in the function that fail in a run of it."""
    return [one for one in trial.trace.unpackings if one.certain and _is_in(one.site, contract.function)]


def _is_in(site: Site, function: Function) -> bool:
    """Whether a place is in the body of a function."""
    return site.frame.function is not None and site.frame.function.node is function.node


def _stated(interp: WrittenContracts, part: object, contract: Contract) -> Size:
    from torchsleuth.interp.declared import declared_size

    size = declared_size(part, contract.sizes)  # type: ignore[arg-type]
    return interp.fresh_size("?") if size is None else size


def _is_inside_of(frame: Frame | None, function: Function) -> bool:
    """Whether a frame, or one that led to it, is that of a call of the function."""
    while frame is not None:
        if frame.function is not None and frame.function.node is function.node:
            return True
        frame = frame.caller
    return False


def parameters_of(function: Function, skip: int) -> Iterator[tuple[ast.arg, bool]]:
    """The parameters from a place on, and whether each of them has a default."""
    spec = function.node.args
    positional = by_position(spec)
    first = len(positional) - len(spec.defaults)
    for position, argument in enumerate(positional):
        if position >= skip:
            yield argument, position >= first
    for argument, default in zip(spec.kwonlyargs, spec.kw_defaults):
        yield argument, default is not None


def default_of(function: Function, argument: ast.arg) -> Value:
    """The default of a parameter that has one."""
    spec = function.node.args
    positional = by_position(spec)
    if argument in positional:
        return function.defaults[positional.index(argument) - len(positional)]
    return function.keyword_defaults.get(argument.arg)


def _declared_places(node: ast.FunctionDef | ast.AsyncFunctionDef, written: Declarations) -> bool:
    """Whether shapes are declared of a function's parameters, of its result or in its body."""
    spec = node.args
    if any(key(one) in written.parameters for one in every_parameter(spec)):
        return True
    return key(node) in written.results or any(
        isinstance(part, ast.stmt) and key(part) in written.statements for part in ast.walk(node)
    )


def _named_together(function: Function, owner: ClassValue | None, written: Declarations) -> list[frozenset[str]]:
    """The names in each of the shapes that are declared of a function, and in the constructor of its object."""
    nodes: list[ast.AST] = [function.node]
    if owner is not None:
        nodes += [part for part in of_kind(owner.node.body, ast.FunctionDef) if part.name == "__init__"]
    found: list[Written | None] = []
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.arg):
                found.append(written.parameters.get(key(part)))
            elif isinstance(part, ast.stmt):
                found.append(written.statements.get(key(part)))
                found.append(written.results.get(key(part)) if part is function.node else None)
    return [frozenset(shape.names) for shape in found if shape is not None]


def _unpacked_sizes(function: ast.AST) -> Iterator[frozenset[str]]:
    """The names that a function gives to the sizes of one tensor: ``B, T, C = x.shape``."""
    for node in nodes_in(function, ast.Assign):
        target, value = node.targets[0], node.value.func if isinstance(node.value, ast.Call) else node.value
        if isinstance(target, ast.Tuple) and is_attribute(value, "shape", "size"):
            yield frozenset(part.id for part in of_kind(target.elts, ast.Name))


def _times(function: Function, written: Declarations) -> dict[str, int]:
    """In how many of the shapes of a function's parameters and of its result each name stands."""
    found: Counter[str] = Counter()
    for shape in _declared(function, written):
        spreads = {f"{shape.spread_name}{number}" for number in range(max(SPREADS))} if shape.spread_name else set()
        found.update({*shape.names, *spreads})
    return dict(found)


def _declared(function: Function, written: Declarations) -> Iterator[Declared]:
    """The shapes of a function's parameters and of its result."""
    shapes: list[Written | None] = [written.parameters.get(key(one)) for one in every_parameter(function.node.args)]
    shapes.append(written.results.get(key(function.node)))
    while shapes:
        shape = shapes.pop()
        if isinstance(shape, DeclaredParts):
            shapes += shape.parts
        elif shape is not None:
            yield shape


def _compares_sizes(function: ast.AST) -> bool:
    """Whether a function decides by something that may be a size."""
    for node in ast.walk(function):
        test = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else None
        for part in nodes_in(test, ast.Compare) if test is not None else ():
            if any_are(part.ops, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE):
                if not any(is_text(one) for one in part.comparators):
                    return True
    return False


def _equalities(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The pairs of expressions that are equal where a test holds, or where it does not."""
    match test:
        case ast.BoolOp() if isinstance(test.op, ast.And if holds else ast.Or):
            for value in test.values:
                yield from _equalities(value, holds)
        case ast.UnaryOp(op=ast.Not()):
            yield from _equalities(test.operand, not holds)
        case ast.Compare() if all(isinstance(op, ast.Eq if holds else ast.NotEq) for op in test.ops):
            if holds or len(test.ops) == 1:
                yield from zip((test.left, *test.comparators), test.comparators)
