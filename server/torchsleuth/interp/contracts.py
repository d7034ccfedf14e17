"""The contract of a module or function: what its symbols say, held against runs of the abstract interpreter with numbers."""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from torchsleuth.interp.callers import agreed, names_class
from torchsleuth.interp.inferred import InferredContracts
from torchsleuth.interp.inputs import ArgumentKey, argument_behind
from torchsleuth.interp.outcomes import Call, Outcome, Part
from torchsleuth.interp.planning import usual_names
from torchsleuth.interp.plans import Plan, Setting
from torchsleuth.interp.ranks import MOST, AnyRank, any_rank
from torchsleuth.interp.trace import Sighting
from torchsleuth.sifting import as_kind, of_kind, only
from torchsleuth.syntax.forms import is_literal
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.shapes import key
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_number
from torchsleuth.tensors.requirements import Condition, Numbers, number, read_off, required, simplified, together
from torchsleuth.values import ClassValue, Function, Site
from torchsleuth.values.frames import Frame
from torchsleuth.values.names import Names

ROUNDS = 8
"""How often an entry is run to find the ranks of its inputs."""
SAMPLES = 6
"""Choices of numbers that an entry is run with."""
FEWEST_SAMPLES = 3
"""Of those that work, as many at least stand behind a contract."""
DRAWS = 600
"""Numbers that are drawn to find some that fulfil the conditions."""
LARGEST = 512
"""The largest size that is tried where only a few work."""
MOST_RUNS = 160
"""Runs with numbers for one contract."""
WORK = 1_000_000
"""Work for one contract, counted in nodes, so that a contract says the same however busy the machine is."""
LITTLE_WORK = 25_000
"""Work of a run that begins when that for the contract is nearly done."""
CALLERS_WORK = 50_000
"""Work for the calls of what works with any number of dimensions: they need not tell it."""
TIMES = (2, 3)
"""How often loops go around of which the caller says that."""
MOST_USERS = 4
"""Other documents that are looked at for the calls of an entry."""
MOST_MAKERS = 16
"""Classes and functions that are run for the module that they make."""
_PERIODS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 32, 64)
_POOLS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"(\w+_)?(kernels?(_size)?|ks|ksize|k)", (3, 1, 5, 7)),
    (r"(\w+_)?(strides?|dilations?)", (1, 2)),
    (r"(\w+_)?(padding|pad)", (1, 2, 0, 3, 4)),
    (r"\w*scale\w*|upscale\w*", (2, 3, 4)),
    (r"\w*heads?|n_?h|h|\w*groups|cardinality|num_experts|n_experts", (2, 4, 1, 8)),
    (r"depth|\w*layers|\w*blocks|num_stages", (2, 3)),
    (r"\w*vocab\w*|num_embeddings|\w*num_tokens|n_token", (50, 100, 37)),
    (r"block_size|max_\w*len\w*|context_length|\w*seq_len\w*|num_patches|\w*positions", (64, 128, 96)),
    (r"im(a)?ge?_?size|img_size|resolution|input_size", (32, 64, 128)),
    (r"patch\w*", (4, 8, 16)),
    (r"\w*classes|n_out|num_outputs", (10, 7, 3)),
    (r"\w*(ratio|reduction|factor|expansion|mult|r)", (2, 4)),
)
_OF_LAYERS = re.compile(r"(\w+_)?(kernels?(_size)?|ks|ksize|k|strides?|dilations?|padding|pad|\w*scale\w*)")
"""Names of integers that layers are made with and that are no sizes of tensors."""
_PAIRS = ((4, 2), (3, 2), (2, 3), (2, 1), (3, 4), (2, 4), (4, 1), (3, 1), (4, 3))
"""Numbers of dimensions of two inputs that differ."""
MOST_MIXED = 24
"""Choices of different numbers of dimensions that are tried."""
_OTHERS = (1, 2, 0, 3, 4)
_UNKNOWN = Symbol("?", 0)
_SMALL = (2, 3, 4, 5, 6, 8)
_EXTRA = (4, 2, 3)
"""Sizes of dimensions that are put in where any number of them is supposed to work."""
_BATCH = (2, 3, 5, 4)
_SPATIAL = (64, 32, 96, 128, 48, 224, 256, 28, 16)
_LARGE = (256, 224, 320, 64, 288, 128, 32, 28, 96, 48, 384, 16)
"""Images for what makes them small before it looks at them."""
_LENGTHS = (16, 24, 12, 32, 64, 8)
_CHANNELS = (16, 32, 48, 24, 64, 96, 8, 3, 1)


@dataclass(frozen=True)
class Inside:
    """A tensor expression in what has a contract, in the contract's terms."""

    site: Site
    binding: str | None
    part: Part


@dataclass
class Found:
    """The findings about an entry. `form`: its inputs may have any number of dimensions; `rest`: those of their sizes that are
    told as ``...``. `training`: the conditions that hold in training mode only. `open`: what keeps the contract from being certain, as identifiers of
    messages with what they are about."""

    plan: Plan
    inputs: dict[str, tuple[Size, ...] | None]
    result: Part
    conditions: list[Condition] = field(default_factory=list)
    training: list[Condition] = field(default_factory=list)
    form: AnyRank | None = None
    rest: tuple[Symbol, ...] = ()
    open: list[tuple[str, str]] = field(default_factory=list)
    examples: int = 0
    numbers: dict[Symbol, int] = field(default_factory=dict)
    """Those of the first example."""
    inside: list[Inside] = field(default_factory=list)


@dataclass(frozen=True)
class _Settled:
    """The outcome of an entry whose inputs have ranks. `form`: of inputs that may have any, and `rest`, the sizes that are not told
    apart; `others`: inputs with other numbers of dimensions, with which symbols work, too."""

    outcome: Outcome
    form: AnyRank | None = None
    others: dict[int, dict[str, tuple[Size, ...] | None]] = field(default_factory=dict)
    rest: tuple[Symbol, ...] = ()


@dataclass
class _Example:
    numbers: dict[Symbol, int]
    outcome: Outcome


class Inference:
    """Finds the contracts of one document's modules and functions."""

    def __init__(self, interp: InferredContracts, source: SourceText) -> None:
        self.interp = interp
        tree = parse(source)
        names = Names(__name__=_module_name(source, tree), __file__=source.path)
        frame = Frame(source, names, names)
        self._path = source.path
        self._frames = {source.path: frame}
        """Those of the document and of others that use it, by path."""
        interp.begin_document(source, tree, frame)
        self.entries = interp.entries_of(source)
        self._calls = interp.calls_seen()
        self._asked: set[ast.AST] = set()
        self._runs = 0
        self._end = 0

    def contract(self, owner: ClassValue | None, function: Function, seconds: float = math.inf) -> Found:
        """The contract of a module or function. `seconds`: a limit for where the work does not tell how long that takes."""
        with self.interp.counted_anew(seconds):
            return self._contract(owner, function)

    def _contract(self, owner: ClassValue | None, function: Function) -> Found:
        end, first = self.interp.work + WORK, None
        self._runs, self._end = 0, end
        for plan in self._plans(owner, function):
            # Half of what is left for the first, as others may be simpler.
            now = self.interp.work
            self._runs, self._end = 0, now + (end - now) // (2 if first is None else 1)
            found = self._found(plan)
            if found.examples:
                return found
            first = first or found
            if self.interp.work > end:
                break
        assert first is not None
        return first

    def _plans(self, owner: ClassValue | None, function: Function) -> Iterator[Plan]:
        """The ways to choose what the caller chooses: anything, integers that are the defaults or that the code asks for, and the
        other switches."""
        plan = self.interp.plan(owner, function)
        if plan.objects:
            yield from self._as_made(owner, function)
        yield plan
        whole = self.interp.plan(owner, function, whole=True)
        if whole.tensors.keys() != plan.tensors.keys():
            yield whole
        usual = self.interp.plan(owner, function)
        compared = self.interp.compared(usual)
        for path, setting in usual.settings.items():
            setting.value = setting.default if is_number(setting.default) else compared.get(path)
        if any(setting.value is not None for setting in usual.settings.values()):
            yield usual
        switched = [name for name, given in plan.given.items() if is_literal(given, False)]
        if switched:
            other = self.interp.plan(owner, function)
            other.given |= {name: ast.copy_location(ast.Constant(True), plan.given[name]) for name in switched}
            yield other
        if not plan.objects:
            yield from self._as_made(owner, function)

    def _as_made(self, owner: ClassValue | None, function: Function) -> Iterator[Plan]:
        """The ways in which the code of the project makes a module, or what makes that."""
        made = as_kind(None if owner is None else self.interp.class_attribute(owner, "__init__"), Function)
        names, left = [owner.name] if owner is not None and made is not None else [], MOST_MAKERS
        asked = set(names)
        while names and owner is not None:
            name = names.pop(0)
            for maker, frame in self._makers(name, owner):
                left -= 1
                if left < 0 or self._spent():
                    break
                with self._in_time():
                    plans = self.interp.plans_made(owner, function, maker, frame)
                told = [plan for plan in plans if not plan.objects]
                yield from told
                if told:
                    continue
                # What makes the maker may tell what that passes on.
                further = (maker[0] or maker[1]).name
                names += [further] if further not in asked else []
                asked.add(further)

    def _makers(self, name: str, owner: ClassValue) -> Iterator[tuple[tuple[ClassValue | None, Function], Frame]]:
        """The classes and functions that use something of this name, the shortest first: of the document, and of others."""
        for path in self._users(name, owner.path):
            frame, found = self._frames[path], self.interp.makers_of(path)
            for maker in sorted(found, key=lambda one: _length((one[0] or one[1]).node)):
                node = (maker[0] or maker[1]).node
                if node is not owner.node and names_class(node, name):
                    yield maker, frame

    def _users(self, name: str, path: str) -> Iterator[str]:
        """The documents that use something of this name, once their bodies were run."""
        yield path
        for source in itertools.islice(self.interp.workspace.mentioning(name, path), MOST_USERS):
            if source.path not in self._frames:
                with self.interp.briefly():
                    self._frames[source.path] = self.interp.begin_user(source)
                    self._calls += self.interp.calls_seen()
            yield source.path

    def _found(self, plan: Plan) -> Found:
        first: Found | None = None
        working: Found | None = None
        usually = False
        for settled in self._settled(plan):
            outcome = settled.outcome
            shapes = dict(outcome.inputs)
            found = Found(plan, shapes, outcome.result, form=settled.form, rest=settled.rest)
            self._take_conditions(found, together(outcome.conditions))
            if None in shapes.values():
                lacking = ", ".join(name for name, shape in shapes.items() if shape is None)
                found.open.append(("contract.open.rank", lacking))
                found.result = _without_shapes(found.result)
            else:
                self._verify(found, outcome)
                if not self._is_general(found):
                    continue
                self._note_ranks(found, settled)
                if set(plan.tensors) - plan.dtypes.keys():
                    found.result = _without_dtypes(found.result)
                    found.inside = [replace(one, part=_without_dtypes(one.part)) for one in found.inside]
            first = first or found
            if found.examples:
                usual = not any(size == 1 for shape in shapes.values() for size in shape or ())
                if usual and _is_sized(found.result):
                    return found
                working = found if working is None or (usual and not usually) else working
                usually = usually or usual
            if self._spent():
                break
        assert first is not None
        return working or first

    def _take_conditions(self, found: Found, conditions: list[Condition]) -> None:
        """Tell the conditions on what the caller chooses, and that there are others: a size that was computed in a way that is not
        followed has no name for the caller."""
        own = set(self._symbols(found))
        own |= {setting.symbol for setting in found.plan.settings.values()}
        for condition in conditions:
            hidden = [symbol for symbol in condition.symbols if symbol not in own]
            if hidden:
                found.open.append(("contract.open.sufficient", hidden[0].name))
            else:
                found.conditions.append(condition)

    # -- with symbols --------------------------------------------------------------------------------------

    def _run(self, plan: Plan, numbers: dict[Symbol, int] | None = None, training: bool = True) -> Outcome:
        self._runs += 1
        frame = self._frames[(plan.owner or plan.function).path]
        with self._in_time():
            return self.interp.run_plan(plan, frame, numbers, training)

    def _in_time(self) -> contextlib.AbstractContextManager[None]:
        """A run does no more than what is left for the contract, and a little where nothing is."""
        return self.interp.no_more_than(max(self._end, self.interp.work + LITTLE_WORK))

    def _settled(self, plan: Plan) -> Iterator[_Settled]:
        """The outcomes of an entry once the ranks of its inputs are known, the likeliest first. The plan is that of the outcome
        which was given last."""
        outcome, told = self._as_declared(plan) or self._explored(plan), set[str]()
        lacking = _without_rank(plan)
        spread = self._of_any_rank(plan, lacking) if lacking and not plan.shapes else None
        if lacking and self._as_called(plan, lacking, None if spread is None else CALLERS_WORK):
            again = self._explored(plan)
            if again.works:
                outcome, told = again, plan.dtypes.keys() & set(lacking)
            else:
                for name in lacking:
                    plan.shapes.pop(name, None)
                    plan.dtypes.pop(name, None)
            lacking = _without_rank(plan)
        if lacking and spread is not None:
            plan.shapes.update({name: shape for name, shape in spread.outcome.inputs.items() if shape is not None})
            yield spread
            for name in lacking:
                plan.shapes.pop(name, None)
        if lacking:
            yield from self._by_trial(plan, outcome, lacking)
            return
        if not outcome.works or not outcome.result.whole:
            outcome = self._without_symbols(plan, outcome)
        yield _Settled(outcome)
        yield from self._with_defaults(plan)
        fixed = {path: setting.value for path, setting in plan.settings.items()}
        for path, value in self._other_numbers(plan):
            plan.settings[path].value = value
            yield _Settled(self._run(plan))
            plan.settings[path].value = fixed[path]
        yield from self._with_usual_numbers(plan)
        if told:
            # A caller may be wrong about a dtype, and right about the rank.
            plan.dtypes = {name: dtype for name, dtype in plan.dtypes.items() if name not in told}
            yield _Settled(self._without_symbols(plan, self._explored(plan)))

    def _as_declared(self, plan: Plan) -> Outcome | None:
        """The outcome with the shapes that are declared; None where there are none, or the body does not work with them."""
        shapes, dtypes = self.interp.declared_shapes(plan)
        if not shapes:
            return None
        before = dict(plan.shapes), dict(plan.dtypes)
        plan.shapes |= shapes
        plan.dtypes = dtypes | plan.dtypes
        outcome = self._explored(plan)
        if outcome.works:
            return outcome
        plan.shapes, plan.dtypes = before
        return None

    def _explored(self, plan: Plan) -> Outcome:
        """The outcome of an entry once nothing more is found out about its inputs by running it."""
        outcome = self._run(plan)
        for _ in range(ROUNDS):
            integers = [name for name in plan.tensors if name in outcome.integers]
            for name in integers:
                self.interp.as_integer(plan, name)
            if integers or self._ranked(plan, outcome) or self._numbered(plan, outcome):
                outcome = self._run(plan)
                continue
            before, outcome = outcome, self._of_other_kinds(plan, outcome)
            if outcome is before:
                break
        return outcome

    def _as_called(self, plan: Plan, lacking: list[str], work: int | None = None) -> bool:
        """Plan with the ranks of what calls in the document pass. Whether there are any. `work`: what that may take."""
        passed = agreed(self._calls, plan.function.node, lacking)
        with self._half(work):
            for calls in self._calls_by_users(plan):
                self._calls += calls
                passed = agreed(self._calls, plan.function.node, lacking)
                if passed.keys() >= set(lacking):
                    break
        for name, part in passed.items():
            usual = usual_names(len(part.shape or ()))
            plan.shapes[name] = tuple(
                size if size == 1 else self.interp.fresh_size(_plain_name(size, called))
                for size, called in zip(part.shape or (), usual)
            )
            if part.dtype is not None and not part.dtype.startswith(("float", "bfloat")):
                plan.dtypes.setdefault(name, part.dtype)
        return bool(passed)

    @contextlib.contextmanager
    def _half(self, work: int | None = None) -> Iterator[None]:
        """Runs of others take at most half of the work that is left, or so much, and none of the runs."""
        runs, end, now = self._runs, self._end, self.interp.work
        self._end = now + min((end - now) // 2, end - now if work is None else work)
        try:
            yield
        finally:
            self._runs, self._end = runs, end

    def _calls_by_users(self, plan: Plan) -> Iterator[list[Call]]:
        """The calls of the entries that use the class or function, here and in other documents, and were not asked yet."""
        called = plan.owner or plan.function
        self._asked.add(called.node)
        yield from self._calls_of_entries(self.entries, called.name)
        if called.path != self._path:
            return
        for source in itertools.islice(self.interp.workspace.mentioning(called.name, called.path), MOST_USERS):
            if self._spent():
                return
            if source.path not in self._frames:
                with self.interp.briefly():
                    self._frames[source.path] = self.interp.begin_user(source)
                    yield self.interp.calls_seen()
            yield from self._calls_of_entries(self.interp.entries_of(source), called.name)

    def _calls_of_entries(self, entries: list[tuple[ClassValue | None, Function]], name: str) -> Iterator[list[Call]]:
        """The calls of those entries that use something of this name, the shortest first."""
        for owner, function in sorted(entries, key=lambda one: _length((one[0] or one[1]).node)):
            user = (owner or function).node
            if user not in self._asked and names_class(user, name) and not self._spent():
                self._asked.add(user)
                yield self._ask(self.interp.plan(owner, function))

    def _ask(self, plan: Plan) -> list[Call]:
        """The calls of an entry that is run with the ranks that its inputs have, as far as that is known, or may have."""
        with self.interp.briefly():
            return self._calls_of(plan)

    def _calls_of(self, plan: Plan) -> list[Call]:
        outcome = self._explored(plan)
        lacking = _without_rank(plan)
        if lacking and self._as_called(plan, lacking):
            outcome, lacking = self._explored(plan), _without_rank(plan)
        tried: list[Outcome] = []
        for rank in (2, 3, 4) if lacking else ():
            plan.shapes.update({name: self._sizes(rank) for name in lacking})
            tried.append(self._run(plan))
            if tried[-1].works and tried[-1].result.whole and not any(_unlikely(tried[-1], plan)):
                return tried[-1].calls
        working = [one for one in tried if one.works and one.result.whole and _is_natural(one, plan)]
        return min(working, key=lambda one: _unlikely(one, plan), default=outcome).calls

    def _with_defaults(self, plan: Plan) -> Iterator[_Settled]:
        """The outcomes with the defaults of integers, which may say what branch is taken: each by itself, and all of them."""
        free = [one for one in plan.settings.values() if one.value is None and is_number(one.default)]
        groups = [[one] for one in free] + ([free] if len(free) > 1 else [])
        for group in groups:
            for setting in group:
                setting.value = as_kind(setting.default, int)
            yield _Settled(self._run(plan))
            for setting in group:
                setting.value = None

    def _with_usual_numbers(self, plan: Plan) -> Iterator[_Settled]:
        """The outcomes with numbers for what decides branches: the usual ones of what layers are made with, and those that the
        code asks for."""
        free = [one for one in plan.settings.values() if one.value is None]
        compared = self.interp.compared(plan)
        of_layers = [one for one in free if _OF_LAYERS.fullmatch(one.symbol.name)]
        asked = [one for one in free if one.path in compared]
        both = [*of_layers, *(one for one in asked if one not in of_layers)]
        for group in (of_layers, asked, both if of_layers and asked else []):
            for setting in group:
                setting.value = compared[setting.path] if group is asked else _pool(setting.symbol.name)[0]
            if group:
                yield _Settled(self._run(plan))
            for setting in group:
                setting.value = None

    @staticmethod
    def _other_numbers(plan: Plan) -> Iterator[tuple[str, int]]:
        """Numbers for integers that have no default, where the usual ones did not work."""
        for path, setting in plan.settings.items():
            if setting.value is not None and not is_number(setting.default) and not setting.counted:
                yield from ((path, value) for value in _OTHERS if value != setting.value)

    def _ranked(self, plan: Plan, outcome: Outcome) -> bool:
        """Plan with the ranks that a run has shown. Whether there are any."""
        changed = False
        certain = self._certain_ranks(plan, outcome)
        for name in plan.tensors:
            shape, demand = outcome.inputs.get(name), outcome.demands.get(name)
            if demand is not None and demand.dtype and name not in plan.dtypes:
                plan.dtypes[name], changed = demand.dtype, changed or name in plan.shapes
            if name in plan.shapes:
                continue
            if shape is not None:
                names = [_plain_name(size, name) for size, name in zip(shape, usual_names(len(shape)))]
                plan.shapes[name] = tuple(map(self.interp.fresh_size, names))
            elif name in certain:
                plan.shapes[name] = self._sizes(certain[name])
            elif demand is not None and demand.usual:
                names = demand.names.split() if len(demand.names.split()) == demand.ranks[0] else []
                plan.shapes[name] = self._sizes(demand.ranks[0], tuple(names))
            changed = changed or name in plan.shapes
        return changed

    @staticmethod
    def _certain_ranks(plan: Plan, outcome: Outcome) -> dict[str, int]:
        """Inputs that come to a layer which is for one number of dimensions, by the layer's name."""
        found: dict[str, int] = {}
        places = {(plan.function.path, *key(argument)): name for name, argument in plan.tensors.items()}
        for operation in outcome.stuck:
            layer = re.fullmatch(r"torch\.nn\.\w*(?:Norm|Pool|Pad|Dropout|Shuffle)([23])d", operation.target)
            tensor = argument_behind(operation.args[0]) if layer and operation.args else None
            if layer and tensor is not None and tensor.argument in places:
                found.setdefault(places[tensor.argument], int(layer[1]) + 2)
        return found

    def _sizes(self, rank: int, names: tuple[str, ...] = ()) -> tuple[Size, ...]:
        names = names or (usual_names(rank) if rank <= 5 else tuple(f"d{axis}" for axis in range(rank)))
        return tuple(self.interp.fresh_size(name) for name in names)

    def _numbered(self, plan: Plan, outcome: Outcome) -> bool:
        """Plan with numbers for integers that say how often a loop goes around. Whether there are any."""
        changed = False
        for path in outcome.counted:
            setting = plan.settings[path]
            if setting.value is None:
                setting.value, setting.counted, changed = TIMES[0], True, True
        return changed

    def _without_symbols(self, plan: Plan, outcome: Outcome) -> Outcome:
        """Layers that symbols cannot make get numbers: the usual ones of the parameters that they are made with."""
        stuck = {
            symbol
            for operation in outcome.stuck
            for value in of_kind(
                (
                    *(operation.module.args if operation.module is not None else ()),
                    *(operation.module.kwargs.values() if operation.module is not None else ()),
                    *operation.args,
                ),
                Dim,
            )
            for symbol in dims.symbols(value)
        }
        suspects = [
            setting
            for setting in plan.settings.values()
            if setting.value is None and (setting.symbol in stuck or not stuck)
        ]
        suspects.sort(key=lambda setting: not _OF_LAYERS.fullmatch(setting.symbol.name))
        before, best = outcome, outcome
        tried: list[Setting] = []
        for setting in suspects:
            if self.interp.work > self._end:
                break
            default = setting.default
            setting.value = default if is_number(default) else _pool(setting.symbol.name)[0]
            tried.append(setting)
            best = self._run(plan)
            if not _holes(best):
                break
        rest = [setting for setting in plan.settings.values() if setting.value is None]
        if _holes(best) and rest and self.interp.work < self._end:
            # What is stuck may be so for how many there are of something, which another number says.
            for setting in rest:
                setting.value = setting.default if is_number(setting.default) else _pool(setting.symbol.name)[0]
            tried += rest
            best = self._run(plan)
        if _holes(best) >= _holes(before):
            for setting in tried:
                setting.value = None
            return before
        for setting in tried[:-1]:
            value, setting.value = setting.value, None
            again = self._run(plan)
            if _holes(again) > _holes(best):
                setting.value = value
            else:
                best = again
        return best

    def _of_other_kinds(self, plan: Plan, outcome: Outcome) -> Outcome:
        """Inputs that do not work as numbers of which nothing tells the dtype, or of which something is not known then, may be indices
        or masks."""
        places = {(plan.function.path, *key(argument)): name for name, argument in plan.tensors.items()}
        suspects = {places.get(place) for place in _looked_into(outcome)} if outcome.works else plan.tensors.keys()
        open_to = [one for one in plan.tensors if one in suspects and one in plan.shapes and one not in plan.dtypes]
        best, told = outcome, dict(plan.dtypes)
        for name, dtype in itertools.product(open_to, ("int64", "bool")):
            if _open_ends(best) == (0, 0):
                break
            plan.dtypes[name] = dtype
            again = self._run(plan)
            if again.works and _open_ends(again) < _open_ends(best):
                best, told = again, dict(plan.dtypes)
            del plan.dtypes[name]
        plan.dtypes = told
        return best

    def _by_trial(self, plan: Plan, outcome: Outcome, lacking: list[str]) -> Iterator[_Settled]:
        """Try ranks for inputs of which nothing tells the rank."""
        known = tuple(dict.fromkeys(len(shape) for shape in plan.shapes.values()))
        demands = [outcome.demands[name] for name in lacking if name in outcome.demands]
        ranks = tuple(dict.fromkeys(known + (demands[0].ranks if demands else ()) + (2, 3, 4, 1)))
        working: dict[int, tuple[Outcome, dict[str, tuple[Size, ...]]]] = {}
        for rank, symbolic in ((rank, symbolic) for symbolic in (True, False) for rank in ranks):
            usual = [one for one in working if not working[one][0].unbatched and not _repeats(working[one][0], plan)]
            if usual and (not symbolic or not working.keys().isdisjoint(known)):
                break
            called = next((tuple(one.names.split()) for one in demands if len(one.names.split()) == rank), ())
            names = {name: self._sizes(rank, called) for name in lacking}
            plan.shapes.update(names)
            found = self._run(plan)
            while self._numbered(plan, found):
                found = self._run(plan)
            found = self._of_other_kinds(plan, found)
            if not symbolic and not (found.works and found.result.whole):
                found = self._without_symbols(plan, found)
            if found.works and found.result.whole:
                working[rank] = found, names
        for name in lacking:
            plan.shapes.pop(name, None)
        spread = (
            None
            if known or not working
            else self._spread(plan, lacking, {rank: one for rank, (one, _) in working.items()})
        )
        if spread is not None:
            yield spread
        ordered = sorted(working.items(), key=lambda one: _unlikely(one[1][0], plan))
        for rank, (found, names) in (one for one in ordered if _is_natural(one[1][0], plan)):
            plan.shapes.update(names)
            others = {other: dict(one.inputs) for other, (one, _) in sorted(working.items()) if other != rank}
            yield _Settled(found, others=others)
        odd = [found for found, _ in working.values() if not _is_natural(found, plan)]
        mixed = itertools.chain(self._mixed(plan, lacking, odd), odd)
        first = next(mixed, None)
        if first is not None or not working:
            yield _Settled(first or outcome)
        yield from map(_Settled, mixed)

    def _of_any_rank(self, plan: Plan, lacking: list[str]) -> _Settled | None:
        """The outcome for inputs that may have any number of dimensions, of which no call has to tell the number."""
        working: dict[int, Outcome] = {}
        for rank in (2, 3, 4, 1):
            outcome = self._with_rank(plan, lacking, self._sizes(rank))
            if outcome.works and outcome.result.whole:
                working[rank] = outcome
            elif rank > 1:
                break
        spread = self._spread(plan, lacking, working)
        for name in lacking:
            plan.shapes.pop(name, None)
        return spread

    def _spread(self, plan: Plan, lacking: list[str], working: dict[int, Outcome]) -> _Settled | None:
        """The outcome for inputs with any number of dimensions, where all numbers that are tried work alike."""
        if 4 not in working:
            return None
        least = min(working)
        for rank in range(5, MOST + (least == 4)):
            working[rank] = self._with_rank(plan, lacking, self._sizes(rank))
        if least == 1:
            working[0] = self._with_rank(plan, lacking, ())
        working = {rank: one for rank, one in working.items() if one.works and one.result.whole}
        form = any_rank(plan, lacking, working)
        if form is None:
            return None
        outcome = self._with_rank(plan, lacking, form.names())
        first = outcome.inputs.get(lacking[0]) or ()
        if len(set(first)) < len(first):
            return None
        rest = tuple(symbol for size in form.rest(first) if (symbol := dims.symbol(size)) is not None)
        return _Settled(outcome, form, rest=rest) if outcome.works and outcome.result.whole and len(rest) == 2 else None

    def _with_rank(self, plan: Plan, lacking: list[str], sizes: tuple[Size | str, ...]) -> Outcome:
        """A run with sizes of these names for the inputs whose rank nothing tells."""
        names = tuple(size if isinstance(size, str) else "d" for size in sizes)
        plan.shapes.update({name: tuple(map(self.interp.fresh_size, names)) for name in lacking})
        return self._run(plan)

    def _is_general(self, found: Found) -> bool:
        """Whether numbers bear out what is said of any number of dimensions."""
        if found.form is None or not found.examples:
            return True
        needed = {symbol for condition in (*found.conditions, *found.training) for symbol in condition.symbols}
        if needed & set(found.rest):
            return False
        own = tuple(map(dims.of, found.rest))
        for count in (0, 1, 3):
            shapes: dict[str, tuple[Size, ...] | None] = {}
            for name, shape in found.inputs.items():
                at = next((i for i in range(len(shape or ()) - 1) if (shape or ())[i : i + 2] == own), None)
                if shape is not None and at is not None:
                    shape = (*shape[:at], *_EXTRA[:count], *shape[at + 2 :])
                shapes[name] = shape
            if not self._works_with(found, shapes):
                return False
        return True

    def _note_ranks(self, found: Found, settled: _Settled) -> None:
        """Say which other numbers of dimensions work."""
        if found.examples:
            others = [str(rank) for rank, shapes in settled.others.items() if self._works_with(found, shapes)]
            found.open += [("contract.open.ranks", ", ".join(others))] if others else []

    def _works_with(self, found: Found, shapes: dict[str, tuple[Size, ...] | None]) -> bool:
        """Whether it works with numbers for other shapes than those that it is told with."""
        known = {name: shape for name, shape in shapes.items() if shape is not None}
        symbols = {one for shape in known.values() for size in shape for one in dims.symbols(size)}
        outcome = self._run(replace(found.plan, shapes=known), dict.fromkeys(symbols, _EXTRA[0]) | found.numbers)
        return outcome.works and outcome.result.whole

    def _mixed(self, plan: Plan, lacking: list[str], odd: list[Outcome]) -> Iterator[Outcome]:
        """The outcomes that work of inputs with different numbers of dimensions, the likeliest first. `odd`: gets those for
        which nobody would ask."""
        usual = _PAIRS if len(lacking) == 2 else ()
        several = sorted(itertools.product((3, 2, 4, 1), repeat=len(lacking)), key=lambda ranks: len(set(ranks)))
        for ranks in itertools.islice(dict.fromkeys((*usual, *several)), MOST_MIXED):
            if self._spent():
                return
            plan.shapes.update({name: self._sizes(rank) for name, rank in zip(lacking, ranks)})
            found = self._of_other_kinds(plan, self._run(plan))
            if found.works and found.result.whole:
                if _is_natural(found, plan):
                    yield found
                else:
                    odd.append(found)
        for name in lacking:
            plan.shapes.pop(name, None)

    # -- with numbers ----------------------------------------------------------------------------------------

    def _verify(self, found: Found, outcome: Outcome) -> None:
        """Run the entry with numbers; what that contradicts is not said, and what it needs is."""
        symbols = self._symbols(found)
        examples, failure = self._examples(found, symbols)
        if len(examples) < FEWEST_SAMPLES:
            why = failure or outcome.failure or ""
            found.open.append(("contract.open.time", "") if self._spent() and not why else ("contract.open.never", why))
            found.result = _without_shapes(found.result)
            return
        self._correct(found, examples, symbols)
        found.inside = list(self._inside(found, outcome, examples, symbols))
        for symbol in symbols:
            if self._spent():
                found.open.append(("contract.open.time", ""))
                break
            self._probe(found, examples, symbol)
        found.examples, found.numbers = len(examples), examples[0].numbers
        self._try_small(found, symbols)
        self._free(found, outcome)
        self._simplify(found)

    def _try_small(self, found: Found, symbols: list[Symbol]) -> None:
        """Small numbers that fulfil the conditions have to work, too. Where some do not, a condition is missing: of sizes that
        depend on one another, each cannot be tried by itself."""
        for numbers in itertools.islice(self._small(found, symbols), SAMPLES):
            if self._spent():
                break
            if self._works(found, numbers) is False:
                found.open.append(("contract.open.small", ""))
                break

    def _small(self, found: Found, symbols: list[Symbol]) -> Iterator[dict[Symbol, int]]:
        """Small numbers that fulfil the conditions."""
        chance = random.Random(3)
        for _ in range(DRAWS):
            numbers = {symbol: chance.choice(_SMALL) for symbol in symbols}
            if self._allowed(found, numbers):
                yield numbers

    def _free(self, found: Found, outcome: Outcome) -> None:
        """Integers that only say how often loops go around: where it makes no difference, they are any."""
        for setting in found.plan.settings.values():
            if setting.counted and setting.value == TIMES[0]:
                setting.value = TIMES[1]
                again = self._run(found.plan)
                setting.value = TIMES[0]
                same = again.works and again.inputs == outcome.inputs and _told(again.result) == _told(outcome.result)
                setting.free = same and {*again.conditions} == {*outcome.conditions}

    def _spent(self) -> bool:
        return self._runs > MOST_RUNS or self.interp.work > self._end

    def _symbols(self, found: Found) -> list[Symbol]:
        settings = [setting.symbol for setting in found.plan.settings.values() if setting.value is None]
        inputs = [one for shape in found.inputs.values() for size in shape or () for one in dims.symbols(size)]
        conditions = [one for condition in found.conditions for one in condition.symbols]
        own = set(settings) | set(inputs)
        return list(dict.fromkeys((*settings, *inputs, *(one for one in conditions if one in own))))

    def _examples(self, found: Found, symbols: list[Symbol]) -> tuple[list[_Example], str | None]:
        """Choices of numbers that the entry works with."""
        examples: list[_Example] = []
        failure: str | None = None
        tried: set[tuple[int, ...]] = set()
        failed = unknown = 0
        for numbers in self._choices(found, symbols, examples):
            mark = tuple(numbers.values())
            if mark in tried:
                continue
            tried.add(mark)
            outcome = self._try(found, numbers)
            if outcome.works and outcome.result.whole and not _is_empty(outcome.result):
                examples.append(_Example(numbers, outcome))
            else:
                failed += 1
                failure = failure or outcome.failure
                unknown += outcome.works and not outcome.result.whole
            # What is not known with so many numbers is so for another reason.
            hopeless = unknown > SAMPLES and not examples
            if len(examples) == SAMPLES or self._spent() or failed > 5 * SAMPLES or hopeless:
                break
        return examples, failure

    def _choices(self, found: Found, symbols: list[Symbol], examples: list[_Example]) -> Iterator[dict[Symbol, int]]:
        """Numbers for all symbols that fulfil the conditions, those first that are usual. `examples`: those that work so far; where the
        usual images do not, large ones may, and then those that are no smaller."""
        pools = {symbol: self._pool(found, symbol) for symbol in symbols}
        usual = dict(pools)
        images = [symbol for symbol, pool in pools.items() if pool is _SPATIAL]
        chance, given = random.Random(7), 0
        for attempt in range(DRAWS):
            if images and given - len(examples) > 3:
                least = min((one.numbers[symbol] for one in examples for symbol in images), default=0)
                pools |= dict.fromkeys(images, tuple(size for size in _LARGE if size >= least))
            if attempt < 4:
                numbers = {
                    symbol: pool[(attempt + place) % min(len(pool), 2)]
                    for place, (symbol, pool) in enumerate(pools.items())
                }
            else:
                numbers = {symbol: chance.choice(pool[: 3 + attempt // 8]) for symbol, pool in pools.items()}
            if attempt % 2:
                # Images that are square.
                numbers |= dict.fromkeys(images, chance.choice(pools[images[0]] if images else _SPATIAL))
            if attempt % 4 == 3:
                numbers = _aligned(found, numbers)
            if self._allowed(found, numbers):
                given += 1
                yield numbers
        yield from self._of_one_size(found, usual)

    def _of_one_size(self, found: Found, pools: dict[Symbol, tuple[int, ...]]) -> Iterator[dict[Symbol, int]]:
        """Numbers for inputs that some layer takes in a few sizes only: those of square images, and of series, that fulfil the
        conditions."""
        needed = {symbol for condition in found.conditions for symbol in condition.symbols}
        sizes = [symbol for symbol, pool in pools.items() if symbol in needed and pool in (_SPATIAL, _LENGTHS)]
        for attempt, size in itertools.product(range(FEWEST_SAMPLES), range(1, LARGEST + 1) if sizes else ()):
            numbers = {
                symbol: pool[(attempt + size) % min(len(pool), FEWEST_SAMPLES)] for symbol, pool in pools.items()
            }
            numbers |= dict.fromkeys(sizes, size)
            if self._allowed(found, numbers):
                yield numbers

    def _allowed(self, found: Found, numbers: Numbers) -> bool:
        if any(condition.holds(numbers) is False for condition in found.conditions):
            return False
        sizes = [number(size, numbers) for shape in found.inputs.values() for size in shape or ()]
        return all(size is not None and size > 0 for size in sizes)

    def _pool(self, found: Found, symbol: Symbol) -> tuple[int, ...]:
        for shape in found.inputs.values():
            for axis, size in enumerate(shape or ()):
                if dims.symbol(size) == symbol:
                    if any(setting.symbol == symbol for setting in found.plan.settings.values()):
                        if len(shape or ()) == 4 and axis >= 2:
                            return _SPATIAL
                        break
                    if axis == 0 and len(shape or ()) > 1:
                        return _BATCH
                    return _SPATIAL if len(shape or ()) >= 4 and axis >= 2 else _LENGTHS
        return _pool(symbol.name)

    def _try(self, found: Found, numbers: dict[Symbol, int], training: bool = True) -> Outcome:
        """Run the entry with these numbers."""
        plan = replace(found.plan, shapes={name: shape for name, shape in found.inputs.items() if shape is not None})
        outcome = self._run(plan, numbers, training)
        if outcome.works and not outcome.result.whole:
            outcome.failure = None
        return outcome

    def _correct(self, found: Found, examples: list[_Example], symbols: list[Symbol]) -> None:
        """Hold what the symbols say of the result against the examples: where they differ, the examples are right."""
        shown = [example.outcome.result for example in examples]
        if any(not _same_form(one, shown[0]) for one in shown):
            found.result = Part("unknown")
            found.open.append(("contract.open.form", ""))
            return
        formula = found.result if _same_form(found.result, shown[0]) else shown[0]
        numbers = [example.numbers for example in examples]
        found.result = self._held(formula, shown, numbers, symbols, found)

    def _inside(
        self, found: Found, outcome: Outcome, examples: list[_Example], symbols: list[Symbol]
    ) -> Iterator[Inside]:
        """The shapes of the expressions, held against the examples as that of the result is: one that some example does not
        have, or has with another rank, is not told."""
        numbers = [example.numbers for example in examples]
        for place, seen in examples[0].outcome.seen.items():
            sightings = [example.outcome.seen.get(place) for example in examples]
            shown = [part for one in sightings if one is not None and (part := _common(one)) is not None]
            if len(shown) < len(examples) or any(not _same_form(one, shown[0]) for one in shown):
                continue
            if found.form is not None and place not in found.form.places:
                continue
            general = outcome.seen.get(place)
            stated = _common(general) if general is not None else None
            stated = stated if stated is not None and _same_form(stated, shown[0]) else shown[0]
            yield Inside(seen.site, seen.binding, self._held(stated, shown, numbers, symbols, found))

    def _held(
        self, formula: Part, shown: list[Part], numbers: list[dict[Symbol, int]], symbols: list[Symbol], found: Found
    ) -> Part:
        if formula.kind == "tensor":
            first = shown[0].shape or ()
            sizes: list[Size] = []
            for axis in range(len(first)):
                values = [(part.shape or ())[axis] for part in shown]
                stated = formula.shape[axis] if formula.shape is not None else None
                sizes.append(self._size(stated, values, numbers, symbols))
            dtypes = {part.dtype for part in shown}
            return replace(formula, shape=tuple(sizes), dtype=only(dtypes))
        if formula.kind == "value":
            texts = {part.text for part in shown}
            return formula if len(texts) == 1 else replace(formula, text="int" if formula.text else "")
        parts = [
            self._held(part, [one.parts[place] for one in shown], numbers, symbols, found)
            for place, part in enumerate(formula.parts)
        ]
        return replace(formula, parts=tuple(parts))

    def _size(
        self, stated: Size | None, values: list[Size], numbers: list[dict[Symbol, int]], symbols: list[Symbol]
    ) -> Size:
        known = [(choice, value) for choice, value in zip(numbers, values) if isinstance(value, int)]
        if len(known) == len(values):
            if stated is not None and all(number(stated, choice) == value for choice, value in known):
                return stated
            read = read_off(known, symbols)
            if read is not None:
                return read
        return self.interp.fresh_size("?")

    # -- what else it needs ----------------------------------------------------------------------------------

    def _works(self, found: Found, numbers: dict[Symbol, int], training: bool = True) -> bool | None:
        """Whether the entry works with these numbers and gives what is stated."""
        outcome = self._try(found, numbers, training)
        if not outcome.returned or outcome.failure is not None or _is_empty(outcome.result):
            return False
        if not outcome.result.whole:
            return None
        found.result = self._uncontradicted(found.result, outcome.result, numbers)
        return True

    def _uncontradicted(self, stated: Part, shown: Part, numbers: dict[Symbol, int]) -> Part:
        """The statement about a result, but for the sizes that are others with these numbers."""
        if not _same_form(stated, shown):
            return stated
        sizes = zip(stated.shape, shown.shape) if stated.shape is not None and shown.shape is not None else ()
        shape = tuple(
            size if number(size, numbers) in (None, value) or isinstance(value, Dim) else self.interp.fresh_size("?")
            for size, value in sizes
        )
        parts = tuple(self._uncontradicted(*pair, numbers) for pair in zip(stated.parts, shown.parts))
        return replace(stated, shape=shape if stated.shape is not None else None, parts=parts)

    def _probe(self, found: Found, examples: list[_Example], symbol: Symbol) -> None:
        """Find out whether a size has to be a multiple of something, or has a least value."""
        base = examples[0]
        step = self._period(found, examples, symbol)
        if step is None:
            return
        low = self._least(found, base, symbol, base.numbers[symbol], step)
        if low is None or low <= step:
            return
        lows: list[tuple[Numbers, int]] = [(base.numbers, low)]
        for other in examples[1:]:
            if len(lows) > FEWEST_SAMPLES:
                break
            if other.numbers[symbol] % step == 0:
                at, below = ({**other.numbers, symbol: value} for value in (low, low - step))
                if self._allowed(found, at) and self._works(found, at) and self._works(found, below) is False:
                    lows.append((other.numbers, low))
                    continue
                least = self._least(found, other, symbol, other.numbers[symbol], step)
                lows += [] if least is None else [(other.numbers, least)]
        others = [one for one in base.numbers if one != symbol]
        bound: Size | None = low if {least for _, least in lows} == {low} else read_off(lows, others)
        if bound is None:
            found.open.append(("contract.open.sufficient", symbol.name))
            return
        smaller = {**base.numbers, symbol: low - step}
        training_only = self._works(found, smaller, training=False)
        (found.training if training_only else found.conditions).append(Condition(">=", dims.of(symbol), bound))

    def _period(self, found: Found, examples: list[_Example], symbol: Symbol) -> int | None:
        """1, or what the size has to be a multiple of; None where that is not known."""
        base = examples[0]
        value = base.numbers[symbol]
        near = [{**base.numbers, symbol: value + more} for more in (1, 2, 3, 5)]
        allowed = [numbers for numbers in near if self._allowed(found, numbers)]
        known = [condition for condition in found.conditions if symbol in condition.symbols]
        if not allowed:
            return self._stated_period(known, base, symbol)
        outcomes = [self._works(found, numbers) for numbers in allowed]
        if all(outcome is True for outcome in outcomes):
            return 1 if len(allowed) == len(near) else self._stated_period(known, base, symbol)
        for period in _PERIODS:
            more = [{**base.numbers, symbol: value + period * times} for times in (1, 2, 3)]
            if value % period == 0 and all(self._works(found, numbers) for numbers in more[:1]):
                others = [{**base.numbers, symbol: value + other} for other in (period - 1, period + 1)]
                fails = [self._works(found, numbers) is False for numbers in others]
                if all(fails) and all(self._works(found, numbers) for numbers in more[1:]):
                    if not all(self._is_period(found, other, symbol, period) for other in examples[1:3]):
                        break
                    condition = required("==", dims.modulo(dims.of(symbol), period), 0)
                    if condition is not None:
                        found.conditions.append(condition)
                    return period
        found.open.append(("contract.open.sufficient", symbol.name))
        return None

    def _is_period(self, found: Found, example: _Example, symbol: Symbol, period: int) -> bool:
        """Whether a size has to be a multiple of something with other numbers for the others, too."""
        value = example.numbers[symbol]
        more, less = ({**example.numbers, symbol: value + step} for step in (period, 1))
        return value % period == 0 and bool(self._works(found, more)) and self._works(found, less) is False

    def _stated_period(self, conditions: list[Condition], base: _Example, symbol: Symbol) -> int | None:
        value = base.numbers[symbol]
        for period in (1, *_PERIODS):
            numbers = {**base.numbers, symbol: value + period}
            if all(condition.holds(numbers) for condition in conditions):
                return period
        return None

    def _least(self, found: Found, base: _Example, symbol: Symbol, value: int, step: int) -> int | None:
        """The least number that the size may be."""

        def works(count: int) -> bool:
            numbers = {**base.numbers, symbol: count * step}
            return not self._allowed(found, numbers) or self._works(found, numbers) is not False

        if value % step:
            return None
        low, high = 1, value // step
        if works(low):
            return step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if works(middle) else (middle, high)
        return high * step

    def _simplify(self, found: Found) -> None:
        """Put into the sizes what the conditions say."""
        found.conditions = together(found.conditions)

        def simple(part: Part) -> Part:
            shape = None if part.shape is None else tuple(simplified(size, found.conditions) for size in part.shape)
            return replace(part, shape=shape, parts=tuple(map(simple, part.parts)))

        found.result = simple(found.result)
        found.inside = [replace(one, part=simple(one.part)) for one in found.inside]
        found.inputs = {
            name: None if shape is None else tuple(simplified(size, found.conditions) for size in shape)
            for name, shape in found.inputs.items()
        }
        # What the inputs say now needs no condition on a name that is nowhere else.
        own = set(self._symbols(replace(found, conditions=[])))
        found.conditions = [
            one for one in found.conditions if one.operator != "==" or dims.symbol(one.left) in {None, *own}
        ]


def _length(node: ast.AST) -> int:
    return (getattr(node, "end_lineno", None) or 0) - (getattr(node, "lineno", None) or 0)


def _without_rank(plan: Plan) -> list[str]:
    return [name for name in plan.tensors if name not in plan.shapes]


def _module_name(source: SourceText, tree: ast.Module) -> str:
    """The name of a document as a module; where it is a script, it is run as one: what it binds, its classes may read."""
    guards = (node.test for node in of_kind(tree.body, ast.If))
    if any("__name__" in ast.dump(test) for test in guards):
        return "__main__"
    return re.split(r"[\\/]", source.path)[-1].removesuffix(".py")


def _pool(name: str) -> tuple[int, ...]:
    return next((pool for pattern, pool in _POOLS if re.fullmatch(pattern, name)), _CHANNELS)


def _plain_name(size: Size, usual: str) -> str:
    """The name that the code gives to a size, otherwise the usual one."""
    symbol = dims.symbol(size)
    return symbol.name if symbol is not None and symbol.name != "?" else usual


def _holes(outcome: Outcome) -> int:
    if not outcome.works:
        return 1000
    return sum(part.shape is None for part in outcome.result.tensors()) + (0 if outcome.result.whole else 1)


def _looked_into(outcome: Outcome) -> Iterator[ArgumentKey]:
    """The inputs that operators take of which nobody knows the result, also as views."""
    for tensor in (one for operation in outcome.stuck for one in operation.tensors):
        for _ in range(MOST):
            if tensor.argument is not None:
                yield tensor.argument
            if tensor.origin is None or len(tensor.origin.sources) != 1:
                break
            tensor = tensor.origin.sources[0]


def _open_ends(outcome: Outcome) -> tuple[int, int]:
    """How much of a result is not known, and how many operators nobody knows the result of."""
    return _holes(outcome), len({operation.site for operation in outcome.stuck})


def _keeps_batch(outcome: Outcome, plan: Plan) -> bool:
    """Whether the first dimension of the inputs may be anything, and is that of the results: most code is for batches."""
    firsts = [shape[0] for shape in outcome.inputs.values() if shape]
    results = [part.shape[0] for part in outcome.result.tensors() if part.shape]
    chosen = {setting.symbol for setting in plan.settings.values()}
    free = bool(firsts) and dims.symbol(firsts[0]) not in {None, *chosen}
    return free and all(one == firsts[0] for one in (*firsts, *results))


def _unlikely(outcome: Outcome, plan: Plan) -> tuple[bool, ...]:
    """The marks of an outcome that nobody would ask for, the gravest first."""
    return _pins(outcome, plan), _repeats(outcome, plan), outcome.unbatched, not _keeps_batch(outcome, plan)


def _aligned(found: Found, numbers: dict[Symbol, int]) -> dict[Symbol, int]:
    """The numbers with one for each dimension of all the inputs, as those of a tensor and its mask are."""
    first: dict[int, int] = {}
    aligned: dict[Symbol, int] = {}
    chosen = {setting.symbol for setting in found.plan.settings.values()}
    for shape in found.inputs.values():
        for axis, size in enumerate(shape or ()):
            symbol = dims.symbol(size)
            if symbol in numbers and symbol not in chosen:
                aligned.setdefault(symbol, first.setdefault(axis, numbers[symbol]))
    return numbers | aligned


def _is_natural(outcome: Outcome, plan: Plan) -> bool:
    """Whether no dimension of an input has to be as large as a product of others; of what the caller chooses it may be one."""
    sizes = [size for shape in outcome.inputs.values() for size in shape or ()]
    products = (monomial for size in of_kind(sizes, Dim) for monomial, _ in size.terms)
    chosen = {setting.symbol for setting in plan.settings.values()}
    return not any(sum(power for atom, power in monomial if atom not in chosen) > 1 for monomial in products)


def _pins(outcome: Outcome, plan: Plan) -> bool:
    """Whether a run goes through for one number only of something that the caller chooses, or of a dimension."""
    chosen = {setting.symbol for setting in plan.settings.values()}
    fixed = any(
        one.operator == "==" and isinstance(one.right, int) and one.right != 0 and chosen.issuperset(one.symbols)
        for one in outcome.conditions
    )
    return fixed or any(size == 1 for shape in outcome.inputs.values() for size in shape or ())


def _repeats(outcome: Outcome, plan: Plan) -> bool:
    """Whether what the caller chooses is the size of two dimensions of one input."""
    chosen = {setting.symbol for setting in plan.settings.values()}
    return any(
        shape is not None and any(count > 1 and dims.symbol(size) in chosen for size, count in Counter(shape).items())
        for shape in outcome.inputs.values()
    )


def _is_sized(part: Part) -> bool:
    """Whether every size in a value has a name or a number."""
    shapes = [one.shape for one in part.tensors()]
    return part.whole and all(
        shape is not None and all(symbol.name != "?" for size in shape for symbol in dims.symbols(size))
        for shape in shapes
    )


def _told(part: Part) -> object:
    """A value but for why parts of it are not known."""
    return part.kind, part.shape, part.dtype, part.names, part.text, tuple(map(_told, part.parts))


def _common(seen: Sighting) -> Part | None:
    """The shape that all executions of an expression gave; None where their ranks differ."""
    shapes = [spec.shape for spec in seen.specs]
    known = [shape for shape in shapes if shape is not None]
    if not known or len(known) < len(shapes) or len({len(shape) for shape in known}) > 1:
        return None
    sizes = tuple(column[0] if len(set(column)) == 1 else dims.of(_UNKNOWN) for column in zip(*known))
    dtypes = {spec.dtype for spec in seen.specs}
    return Part("tensor", sizes, only(dtypes))


def _without_dtypes(part: Part) -> Part:
    return replace(part, dtype=None, parts=tuple(map(_without_dtypes, part.parts)))


def _is_empty(part: Part) -> bool:
    return any(0 in (one.shape or ()) for one in part.tensors())


def _without_shapes(part: Part) -> Part:
    return replace(part, shape=None, parts=tuple(map(_without_shapes, part.parts)))


def _same_form(one: Part, other: Part) -> bool:
    if one.kind != other.kind or len(one.parts) != len(other.parts) or one.names != other.names:
        return False
    if one.kind == "tensor" and len(one.shape or ()) != len(other.shape or ()):
        return one.shape is None
    return all(_same_form(*pair) for pair in zip(one.parts, other.parts))


__all__ = ["Found", "Inference", "Setting"]
