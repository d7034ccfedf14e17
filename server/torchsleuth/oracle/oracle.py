"""apply(operator, abstract arguments) → result and facts, the error PyTorch would raise, or undecided.

Pure: an operator sees nothing but its arguments, in canonical form (symbols renamed in order of their
first appearance), so every answer is remembered under (operator, arguments) and shared by all documents.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import operator as operators
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._python_dispatch import _disable_current_modes

from torchsleuth import wall
from torchsleuth.oracle import gate, limits, modules, names, options, overloads, published
from torchsleuth.oracle.autocast import casting, moved
from torchsleuth.oracle.execution import (
    EAGER_LIMIT,
    EVEN_WITNESSES,
    FILLINGS,
    SHORT_WITNESSES,
    WITNESSES,
    Witness,
    common,
    generalise,
)
from torchsleuth.oracle.fake import Mode, Session, Unsupported, plain_argument, plain_result
from torchsleuth.oracle.holes import filled, whatever
from torchsleuth.oracle.lengths import any_length
from torchsleuth.oracle.replay import Replay, Unknown
from torchsleuth.oracle.sizes import canonical, map_sizes, simplified
from torchsleuth.oracle.store import Store
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_index
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.tensors.program import Changes, Gap, Peak, Program
from torchsleuth.tensors.spec import (
    Autocast,
    DictSpec,
    DType,
    Equality,
    Failure,
    Hole,
    ListSpec,
    ModuleSpec,
    Native,
    ObjectSpec,
    Outcome,
    Parameter,
    PartAnswer,
    PartCall,
    PartSpec,
    Result,
    TensorSpec,
    Undecided,
    scalar_types,
    with_dtypes,
)

_SILENT_ERRORS = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
    GuardOnDataDependentSymNode,
    NotImplementedError,
    MemoryError,
    RecursionError,
)
_ENGINE_WORDS = (
    "symbolic", "SymInt", "unbacked", "fake tensor", "FakeTensor", "meta tensor", "data-dependent",
    "allocate memory", "not enough memory", "bad_alloc", "out of memory",
)  # fmt: skip
_CHECKED_ERRORS = (RuntimeError, ValueError, IndexError, AssertionError)
MOST_NEEDED = 4
"""Pairs of sizes that an operator may need to be equal, beside those that PyTorch defers."""
Pair = tuple[Size, Size]
_HARD_FACTS = frozenset(
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d matmul mm bmm addmm baddbmm "
    "cat concat concatenate stack view reshape unflatten embedding layer_norm batch_norm group_norm".split()
)
_DIVIDES = frozenset("chunk split unsafe_chunk unsafe_split tensor_split".split())
"""Operators of which the number of results is another one where sizes divide each other."""
_WRONG_FAKES = frozenset({"MultiLabelMarginLoss", "multilabel_margin_loss"})
"""Operators whose fake kernels return other shapes than the real ones."""
_UNCAST = frozenset({"operator.getitem"})
"""Operators that autocast leaves alone, and that fake tensors refuse on a device which is not there."""
_LAX_FAKES = frozenset(
    "softmax log_softmax softmin Softmax LogSoftmax Softmin index_select "
    "cross_entropy CrossEntropyLoss nll_loss NLLLoss index_add bucketize as_strided_scatter uniform_".split()
)
"""Operators whose fake kernels accept dimensions and sizes that the real ones refuse, whatever the data is."""
_TYPE_WORDS = tuple("type Long Float Double Half Int".split()) + (
    "bool tensor",
    "Boolean inputs",
    "not implemented for",
)
_CONCATENATES = frozenset({"cat", "concat", "concatenate"})
_OF_BITS = frozenset("and_ or_ xor iand ior ixor __and__ __or__ __xor__ lshift rshift".split()) | frozenset(
    [
        *(f"bitwise_{name}" for name in ("and", "or", "xor", "not", "left_shift", "right_shift")),
        "bincount",
        "gcd",
        "lcm",
    ]
)
"""Operators that take integers and booleans alone."""
_IN_PLACE = frozenset(f"__i{name}__" for name in "add sub mul truediv floordiv mod pow and or xor".split())
"""Operators of Python that write into their left operand."""
_EXACT_ARGUMENTS = frozenset({"multinomial"})
"""Operators whose fake kernels do not compare their arguments with sizes, while the real ones look at the data, too."""
_CTC = ("ctc_loss", "CTCLoss")
_SHAPE_WORDS = (
    "must match the size of tensor", "at least 2 dimensions", "Dimension out of range", "is of incorrect size",
    "is not valid", "cannot be converted to Scalar", "to Python scalars", "value of Tensor with", "cannot sample n_sample", "number of categories",
    "must be of size batch_size", "shape of the mask",
)  # fmt: skip
_CAST = "can't be cast to the desired output type"
"""An error about dtypes that comes whatever the sizes are."""

MAX_REMEMBERED = 10_000
"""Answers that are kept in memory between two requests."""
MAX_NUMBERS = 3
"""Sizes that may be 0 up to which an operator is asked with and without each."""
MAX_MODULES = 400
"""The same of modules that were built."""
MAX_DISPATCHED = 5_000
"""The same of the dispatches of fake tensors."""
_CLOSE = 0.01
"""Part of a peak of memory by which two may differ and still be one."""
RECENT = 1 << 13
"""Questions that are remembered as they were asked."""
ANEW, AGAIN = 250, 10
"""What a question costs, in nodes of the interpreter, and what it costs when it was asked before. That others have asked it,
and that the answer is in the store, makes no difference: what is done within a limit is the same every time."""

logging.getLogger("torch").setLevel(logging.CRITICAL)


def _forget_oldest(kept: dict[Any, Any], limit: int) -> None:
    for key in list(itertools.islice(kept, max(0, len(kept) - limit))):
        del kept[key]


_NO_TENSORS = tuple(f"'{kind}' object has no attribute" for kind in ("NoneType", "tuple", "list", "dict"))


def _asks_no_tensor(error: BaseException) -> bool:
    """Whether a function has asked None, or what holds tensors, for an attribute, as losses do for the size of a prediction."""
    return isinstance(error, AttributeError) and str(error).startswith(_NO_TENSORS)


class Oracle:
    """The memoised function, with the fake mode it runs in."""

    def __init__(self, store: Store | None = None) -> None:
        """`store`: where answers are kept, and those of others are found."""
        self._store = store
        self._mode = Mode()
        self._memo: dict[Any, Outcome] = {}
        self._new: dict[Any, Outcome] = {}
        """Answers that the store does not have."""
        self._recent: dict[Any, tuple[int, Outcome]] = {}
        """With what stands for the question in `_asked`."""
        self._asked: set[int] = set()
        """Questions since `count_anew`."""
        self.joint: dict[Any, Outcome | None] = {}
        self._built: dict[tuple[ModuleSpec, str], torch.nn.Module] = {}
        self._parameters: dict[tuple[ModuleSpec, bool], tuple[tuple[str, TensorSpec], ...]] = {}
        self._trees: dict[ModuleSpec, tuple[PartSpec, ...]] = {}
        self._place = "cpu"
        self.hits = 0
        self.misses = 0
        self.work = 0
        self.internal_errors: list[str] = []
        """Requests to the process that were refused on the way, each with the operator that asked, since `told`."""
        self.version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
        torch.set_num_threads(1)

    # -- the question ------------------------------------------------------------------------------

    def call(
        self,
        target: str | ModuleSpec,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        fresh: Callable[[str], Symbol],
        grad: bool = True,
        cast: Autocast | None = None,
    ) -> Outcome:
        """The outcome of ``target(*args, **kwargs)``.

        `target` is a dotted path, ``Tensor.NAME`` for a method, or a recipe for a module call. `fresh`
        makes symbols for sizes that depend on data. `grad`: grad mode is on.
        `cast`: the autocast that is in effect for the operands.
        """
        number, outcome = self._answer(target, args, kwargs, fresh, grad, cast)
        self.work += AGAIN if number in self._asked else ANEW
        self._asked.add(number)
        return outcome

    def count_anew(self) -> None:
        """Count work from here on as if no question had been asked before."""
        self._asked.clear()
        self.joint.clear()

    def _answer(
        self,
        target: str | ModuleSpec,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        fresh: Callable[[str], Symbol],
        grad: bool,
        cast: Autocast | None,
    ) -> tuple[int, Outcome]:
        """The outcome, and what stands for the question, whatever its symbols are called."""
        given = tuple(sorted(kwargs.items()))
        try:
            # 1, 1.0 and True are equal keys but different arguments.
            question = (target, args, given, grad, cast, scalar_types(args), scalar_types(given))
            known = self._recent.get(question)
            if known is not None:
                self.hits += 1
                return known
            (canonical_target, canonical_args, canonical_kwargs), back = canonical((target, args, given))
            key = (canonical_target, canonical_args, canonical_kwargs, *question[3:])
            outcome = self._memo.get(key) or self._known_before(key)
        except (TypeError, Unsupported) as error:
            return 0, Undecided(str(error))
        number = hash(key)
        if outcome is None:
            self.misses += 1
            told = len(self.internal_errors)
            outcome = (
                self._simplified((canonical_target, canonical_args, canonical_kwargs), grad, cast) if back else None
            )
            if outcome is None and limits.too_large(canonical_target, canonical_args, dict(canonical_kwargs)):
                outcome = Undecided("it takes too long")
            if outcome is None:
                setting = (bool(back), grad, cast)
                asked = (canonical_target, canonical_args, canonical_kwargs)
                outcomes = [self._evaluate(one, given, dict(named), *setting) for one, given, named in filled(asked)]
                outcome = whatever(outcomes)
            if len(self.internal_errors) > told:
                return number, Undecided(self.internal_errors[-1])  # not remembered: whoever asks again is told again
            self._memo[key] = self._new[key] = outcome
        else:
            self.hits += 1
        if not isinstance(outcome, Result):
            return self._remembered(question, number, outcome)
        count = len(back)

        def restore(symbol: Symbol) -> Size:
            if symbol not in back:
                back[symbol] = dims.of(fresh(symbol.name))
            return back[symbol]

        facts = tuple(
            Equality(dims.rebuild(fact.left, restore), dims.rebuild(fact.right, restore), fact.soft)
            for fact in outcome.facts
        )
        result = Result(map_sizes(outcome.value, lambda size: dims.rebuild(size, restore)), facts)
        return (number, result) if len(back) > count else self._remembered(question, number, result)

    def _simplified(self, asked: Any, grad: bool, cast: Autocast | None) -> Result | Failure | None:
        """The answer to a question with compound sizes, where it does not depend on how they are compounded; so it is with
        dtypes that are refused."""
        (target, args, kwargs), names = simplified(asked)
        if not names:
            return None
        unknown: list[str] = []

        def fresh(name: str) -> Symbol:
            unknown.append(name)
            return Symbol(name, -1)

        _, outcome = self._answer(target, args, dict(kwargs), fresh, grad, cast)
        if isinstance(outcome, Failure) and outcome.confirmed and _about_types(outcome.message):
            return outcome
        if not isinstance(outcome, Result) or outcome.facts or unknown:
            return None
        return Result(map_sizes(outcome.value, lambda size: dims.substitute(size, names)))

    def _remembered(self, question: Any, number: int, outcome: Outcome) -> tuple[int, Outcome]:
        """Keep the answer to a question as it was asked: with its own symbols, nothing is to be renamed."""
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[question] = number, outcome
        return number, outcome

    def told(self) -> list[str]:
        """The internal errors since this was asked last."""
        found, self.internal_errors = self.internal_errors, []
        return found

    @staticmethod
    def vocabulary() -> list[str]:
        return names.vocabulary()

    def __contains__(self, path: str) -> bool:
        """Whether there is an operator of that name: a dotted path, or ``Tensor.NAME``."""
        if path.startswith("Tensor."):
            return hasattr(torch.Tensor, path.removeprefix("Tensor."))
        try:
            return callable(gate.operator(path))
        except LookupError:
            return False

    def save(self) -> None:
        """Put the answers that are new into the store."""
        if self._store is None or self._store.add(self._new) or len(self._new) > MAX_REMEMBERED:
            self._new = {}
        # A process that lives for days does not grow for days: what is forgotten is in the store, or is computed again.
        _forget_oldest(self._memo, MAX_REMEMBERED)
        _forget_oldest(self.joint, MAX_REMEMBERED)
        for kept in (self._built, self._parameters, self._trees):
            _forget_oldest(kept, MAX_MODULES)
        if len(Mode.cache) > MAX_DISPATCHED:  # what fake tensors remember themselves, of concrete sizes
            Mode.cache_clear()

    def _known_before(self, key: Any) -> Outcome | None:
        """The answer that another worker found out."""
        outcome = self._store.get(key) if self._store is not None else None
        if not isinstance(outcome, Outcome):
            return None
        self._memo[key] = outcome
        return outcome

    def attribute(self, recipe: ModuleSpec, name: str) -> Any:
        """The value of an attribute of a library module as a spec: int, str, TensorSpec … Raises LookupError."""
        with self._quiet(recipe.path):
            try:
                value = published.attribute(self._module(recipe), name)
                if isinstance(value, torch.nn.Module) and recipe.package:
                    return self._recipe_of_part(recipe, value)
                return Session(self._mode, symbolic=False).from_fake(value)
            except Exception as error:
                raise LookupError(name) from error

    def setting(self, recipe: ObjectSpec, name: str) -> Any:
        """The plain value that a configuration of transformers has under a name. Raises LookupError."""
        with self._quiet(recipe.path):
            session = Session(self._mode, symbolic=False)
            try:
                return published.setting(recipe, name, session.to_fake)
            except Exception as error:
                raise LookupError(name) from error

    def parameters(self, recipe: ModuleSpec, buffers: bool = False) -> tuple[tuple[str, TensorSpec], ...]:
        """Names and specs of a library module's parameters, in order; with `buffers` of all that its state_dict() has.
        Raises LookupError."""
        known = self._parameters.get((recipe, buffers))
        if known is not None:
            return known
        with self._quiet(recipe.path):
            session = Session(self._mode, symbolic=False)
            try:
                module = self._module(recipe)
                entries = module.state_dict(keep_vars=True).items() if buffers else module.named_parameters()
                found = tuple((name, session.spec_of(value)) for name, value in entries)
            except Exception as error:
                raise LookupError(recipe.path) from error
        self._parameters[recipe, buffers] = found
        return found

    def construct(self, recipe: ModuleSpec) -> Failure | Undecided | None:
        """Whether a constructor call succeeds: None, or why not."""
        with self._quiet(recipe.path):
            try:
                self._module(recipe)
            except _SILENT_ERRORS as error:
                return Undecided(type(error).__name__)
            except Unsupported as error:
                return Undecided(str(error))
            except _CHECKED_ERRORS as error:
                if _is_internal(error):
                    return Undecided(str(error))
                return Failure(type(error).__name__, str(error), confirmed=True)
            except TypeError as error:
                if "cannot assign" in str(error):  # a number or a list for the weights of a loss
                    return Failure("TypeError", str(error), confirmed=True)
                return Undecided(str(error))
            except Exception as error:  # a TypeError may be our own misreading of the call
                return Undecided(str(error))
        return None

    def replay(self, program: Program, changes: Changes | None = None) -> Peak | Gap:
        """The peak of memory of a recorded training, or what is not known of it."""
        mode = Mode()

        def build(recipe: ModuleSpec) -> torch.nn.Module:
            if limits.too_many_layers(recipe):
                raise MemoryError(recipe.path)
            session = Session(mode, symbolic=False)
            with torch.enable_grad(), casting(None):
                if recipe.package:
                    with _disable_current_modes():
                        return published.build(recipe, self._constructor_argument(session), mode)
                return modules.construct(recipe, self._constructor_argument(session))

        with self._quiet("replay"):
            try:
                first = Replay(program, build, mode, changes or Changes())
                peak = first.run()
                if first.asked:
                    # Whichever way it goes: a mask is or is not causal, say.
                    other = Replay(program, build, mode, changes or Changes(), answer=True).run()
                    if abs(other.size - peak.size) > _CLOSE * peak.size:
                        return Gap("content", peak.place)
                    return max(peak, other, key=lambda one: one.size)
                return peak
            except Unknown as unknown:
                return unknown.gap

    def tree(self, recipe: ModuleSpec) -> tuple[PartSpec, ...]:
        """The submodules of a model of another package, as `published.tree`. Raises LookupError."""
        if recipe not in self._trees:
            with self._quiet(recipe.path):
                try:
                    self._trees[recipe] = published.tree(self._module(recipe))
                except Exception as error:
                    raise LookupError(recipe.path) from error
        return self._trees[recipe]

    @staticmethod
    def package_of(path: str) -> str | None:
        """The package whose model a call of this path builds, with its version; None where it builds none."""
        return published.package_of(path)

    def resolve(self, path: str) -> Any:
        """The abstract value of a dotted library name. Raises LookupError."""
        return names.resolve(path)

    def static_method(self, path: str, name: str) -> Any:
        """The function that a library class has under a name, if it takes no instance; None where there is none."""
        return names.static_method(path, name)

    def mro(self, path: str) -> tuple[str, ...]:
        """Canonical paths of a library class and its bases."""
        try:
            return names.mro_paths(path)
        except LookupError:
            return (path,)

    def public_names(self, path: str) -> tuple[str, ...]:
        """The names that ``from path import *`` binds."""
        return names.public_names(path)

    def signature(self, path: str) -> tuple[Parameter, ...] | None:
        """The parameters of a library function, constructor (without self) or method (with it), None where they are not known."""
        return names.signature(path)

    def overloads(self, path: str) -> tuple[tuple[Parameter, ...], ...]:
        """The ways to call an operator of PyTorch's own, those of a method without its tensor."""
        return overloads.overloads(path)

    def gives_tensor(self, path: str) -> bool:
        """Whether an operator returns one tensor whatever it is called with."""
        return overloads.gives_tensor(path)

    def keeps_form(self, path: str) -> bool:
        """Whether a method returns its tensor, which has new values and the shape and the dtype that it had."""
        return overloads.keeps_form(path)

    def refusal(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Failure | None:
        """The error that an optimizer or a schedule raises for options that are plain values of Python."""
        with self._quiet(path):
            return options.refusal(path, args, kwargs)

    def nearest(self, path: str, name: str) -> tuple[str, ...]:
        """The names of a library module or class that a name which it has not may be a slip for."""
        return names.nearest(path, name)

    def elsewhere(self, path: str, name: str) -> tuple[str, ...]:
        """The dotted names under which torch has what a module has not."""
        return names.elsewhere(path, name)

    def attributes(self, path: str) -> frozenset[str]:
        """The attributes that the instances of a library class may have, empty where that is not known."""
        return names.attributes(path)

    # -- evaluation --------------------------------------------------------------------------------

    def _evaluate(
        self,
        target: str | ModuleSpec,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        symbolic: bool,
        grad: bool,
        cast: Autocast | None,
    ) -> Outcome:
        if cast is not None and cast.device != "cpu" and target not in _UNCAST:
            return self._elsewhere(target, args, kwargs, symbolic, grad, cast)
        refused = _reads_beyond(target, args)
        if refused is not None:
            return refused
        with self._quiet(_path(target)), torch.set_grad_enabled(grad), casting(cast):
            try:
                target = self._materialized(target, args)
            except Unsupported as error:
                return Undecided(str(error))
            outcome = self._fake(target, args, kwargs, symbolic)
            if isinstance(outcome, Result) and _name(target) not in _WRONG_FAKES:
                return self._check_dtypes(target, args, kwargs, outcome, symbolic)
            if isinstance(outcome, Failure):
                outcome = self._confirm(target, args, kwargs, outcome)
            if isinstance(outcome, Failure) and symbolic:
                outcome = self._unless_one(target, args, kwargs, outcome)
            if isinstance(outcome, Failure) and _may_be_left_out(target, args, kwargs):
                return Undecided("a vector without elements is left out")
            if isinstance(outcome, Failure):
                return outcome
            if isinstance(outcome, Undecided) and symbolic:
                failure = self._whatever_number(target, args, kwargs)
                if failure is not None:
                    return failure
                outcome = self._by_witness(target, args, kwargs, outcome)
            if isinstance(outcome, Undecided) and symbolic and isinstance(target, str):
                outcome = self._needing(target, args, kwargs, outcome)
            if isinstance(outcome, Undecided) or _name(target) in _WRONG_FAKES:
                return self._by_example(target, args, kwargs, symbolic)
        return outcome

    def _elsewhere(
        self,
        target: str | ModuleSpec,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        symbolic: bool,
        grad: bool,
        cast: Autocast,
    ) -> Outcome:
        """Under the autocast of a device that need not be there: as on the CPU, with the dtypes of fake tensors on that
        device. None of them may require grad: an autograd graph needs the device itself."""
        outcome = self._evaluate(target, args, kwargs, symbolic, grad, Autocast("cpu", cast.dtype))
        if isinstance(outcome, Failure) and _about_types(outcome.message):
            return Undecided("the CPU casts other operators")
        if not isinstance(outcome, Result):
            return outcome
        self._place = cast.device
        try:
            with self._quiet(_path(target)), torch.no_grad(), casting(cast):
                target = self._materialized(target, args)
                placed = self._fake(target, args, kwargs, symbolic)
                if isinstance(target, ModuleSpec) and not _succeeded(placed, target):
                    # Some layers train with kernels of the device's own; dtypes are the same in both modes.
                    placed = self._fake(replace(target, training=False), args, kwargs, symbolic)
        finally:
            self._place = "cpu"
        dtypes = placed.value if isinstance(placed, Result) else None
        return Result(with_dtypes(outcome.value, dtypes), outcome.facts)

    def _by_example(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], symbolic: bool
    ) -> Outcome:
        """The common result of executions on real tensors with different contents, for operators that fake tensors cannot
        evaluate: those that look at the data, and those that have no fake kernel."""
        instances: list[tuple[Any, Witness]] = []
        if (
            _name(target) in _CTC
            and len(args) > 2
            and isinstance(args[1], TensorSpec)
            and len(args[1].shape or ()) == 1
        ):
            # As many targets in one row as their lengths say: none, for the lengths of zero that are tried.
            args = (args[0], args[1].with_(shape=(0,), strides=None), *args[2:])
            symbolic = any(spec.symbolic for spec in _tensors((args, tuple(kwargs.values()))))
        try:
            for values in _witnesses(target) if symbolic else WITNESSES[:1]:
                results: list[Any] = []
                errors: list[BaseException] = []
                for filling in FILLINGS:
                    witness = Witness(values, filling)
                    value = self._execute(target, args, kwargs, witness)
                    if isinstance(value, Unsupported):
                        raise value
                    if isinstance(value, BaseException):
                        errors.append(value)
                    else:
                        results.append(Session(self._mode, symbolic=False).from_fake(value))
                if not results:
                    return _agreed_failure(errors, symbolic)
                instances.append((common(results), witness))
            return Result(instances[0][0] if not symbolic else generalise(*instances))
        except Unsupported as error:
            return Undecided(str(error)[:200])

    def _fake(self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], symbolic: bool) -> Outcome:
        try:
            session = Session(self._mode, symbolic, self._place)
            # The module is built first, outside the session's sizes: its recipe is concrete.
            try:
                function = self._function(target)
            except LookupError as error:
                return Undecided(str(error))
            with self._mode, any_length(_name(target)):
                fake_args = [session.to_fake(value) for value in args]
                fake_kwargs = {name: session.to_fake(value) for name, value in kwargs.items()}
                if isinstance(target, ModuleSpec) and target.package:
                    return self._published(session, function, target, fake_args, fake_kwargs)
                _check_arguments(fake_args, fake_kwargs)
                value = function(*fake_args, **fake_kwargs)
                name = target.rpartition(".")[2] if isinstance(target, str) else "module"
                soft = name not in _HARD_FACTS and isinstance(target, str)
                return Result(session.from_fake(value), session.facts(soft))
        except (Unsupported, *_SILENT_ERRORS) as error:
            if isinstance(error, NotImplementedError) and _is_checked(error):
                return Failure(type(error).__name__, str(error), confirmed=False)
            return Undecided(f"{type(error).__name__}: {error}"[:200])
        except _CHECKED_ERRORS as error:
            if _is_internal(error):
                return Undecided(str(error)[:200])
            return Failure(type(error).__name__, str(error), confirmed=False)
        except TypeError as error:
            return Failure("TypeError", str(error), confirmed=False)
        except Exception as error:
            if _asks_no_tensor(error):
                return Failure("AttributeError", str(error), confirmed=False)
            return Undecided(f"{type(error).__name__}: {error}"[:200])

    @staticmethod
    def _published(
        session: Session, model: Any, target: ModuleSpec, args: list[Any], kwargs: dict[str, Any]
    ) -> Outcome:
        """The outcome of a call of a model, or the call of one of its parts that is to be answered first, or that fails.
        Raises whatever the model raises."""

        def described(value: Any) -> Any:
            return PartAnswer(*known[id(value)]) if id(value) in known else session.from_fake(value)

        with published.changed(model, target, session.to_fake) as answers:
            given = {id(value): ("", index) for index, value in enumerate(args) if isinstance(value, torch.Tensor)}
            known = {**given, **answers}
            try:
                value = published.method(model, target.method)(*args, **kwargs)
            except published.Reached as reached:
                call = reached.part, reached.args_given, reached.kwargs_given
            except (*_CHECKED_ERRORS, TypeError) as error:
                failing = None if _is_internal(error) else published.innermost(model, error.__traceback__)
                if failing is None:
                    raise
                call = failing
            else:
                return Result(described(value), session.facts(soft=False))
        part, positional, named = call
        pairs = tuple(sorted((name, described(value)) for name, value in named.items()))
        return Result(PartCall(part, tuple(map(described, positional)), pairs), session.facts(soft=False))

    def _function(self, target: str | ModuleSpec) -> Callable[..., Any]:
        if isinstance(target, ModuleSpec):
            return self._module(target)
        if target.startswith("Tensor."):
            return gate.method(target.removeprefix("Tensor."))
        value = gate.operator(target)
        if target.startswith("torch.distributions.") and not callable(value):
            # A property: of the class itself it is a descriptor.
            return operators.attrgetter(_name(target))
        if not callable(value):
            raise LookupError(target)
        return value

    def _materialized(self, target: str | ModuleSpec, args: tuple[Any, ...]) -> str | ModuleSpec:
        """Lazy modules become what their first input makes of them: the same constructor, with one more size."""
        if isinstance(target, str) or not names.is_lazy(target.path):
            return target
        if not args or not isinstance(args[0], TensorSpec) or args[0].shape is None:
            raise Unsupported("a lazy module and no tensor")
        path, axis = names.materialized(target.path, len(args[0].shape))
        if not is_index(axis, args[0].shape):
            raise Unsupported("a lazy module and a tensor of another rank")
        return replace(target, path=path, args=(args[0].shape[axis], *target.args))

    def _module(self, recipe: ModuleSpec) -> torch.nn.Module:
        """The module with fake parameters; its training flag and grad flag are those of the recipe."""
        if recipe.package:
            return self._part(recipe)
        module = self._built.get((recipe, self._place))
        if module is None and limits.too_many_layers(recipe):
            raise MemoryError(recipe.path)
        if module is None:
            session = Session(self._mode, symbolic=False)
            mode = contextlib.nullcontext() if names.is_lazy(recipe.path) else self._mode
            with mode, torch.enable_grad():
                module = modules.construct(recipe, self._constructor_argument(session))
                if self._place != "cpu":
                    module = moved(module, self._place)
            self._built[recipe, self._place] = module
        return module

    def _part(self, recipe: ModuleSpec) -> torch.nn.Module:
        """A part of a model of another package; the model is built once, whichever of its parts is asked for."""
        whole = ModuleSpec(recipe.path, recipe.args, recipe.kwargs, dtype=recipe.dtype, package=recipe.package)
        key = whole, self._place
        model = self._built.get(key)
        if model is None:
            session = Session(self._mode, symbolic=False)
            with torch.enable_grad(), casting(None):
                model = published.build(whole, self._constructor_argument(session), self._mode)
                with self._mode:
                    if recipe.dtype is not None:
                        modules.cast(model, getattr(torch, recipe.dtype))
                    if self._place != "cpu":
                        model = moved(model, self._place)
            self._built[key] = model
        part = model.get_submodule(recipe.part)
        part.train(recipe.training)
        part.requires_grad_(recipe.requires_grad)
        return part

    def _holds_tensors(self, recipe: ModuleSpec) -> bool:
        """Whether a part of a model has parameters or buffers, which are fake, or gets some from parts that were replaced."""
        module = self._module(recipe)
        return bool(recipe.changes) or any(True for held in (module.parameters(), module.buffers()) for _ in held)

    def _recipe_of_part(self, recipe: ModuleSpec, part: torch.nn.Module) -> ModuleSpec:
        """Raises LookupError."""
        whole = replace(recipe, part="")
        found = (name for name, other in self._module(whole).named_modules(remove_duplicate=False) if other is part)
        for name in found:
            return replace(recipe, part=name)
        raise LookupError(type(part).__name__)

    def _constructor_argument(self, session: Session) -> Callable[[Any], Any]:
        def convert(value: Any) -> Any:
            if isinstance(value, ModuleSpec):
                return modules.construct(value, convert)
            if isinstance(value, Dim):
                raise Unsupported("symbolic constructor argument")
            return session.to_fake(value) if isinstance(value, TensorSpec) else plain_argument(value, convert)

        return convert

    # -- what fake tensors do not know -------------------------------------------------------------

    def _check_dtypes(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], outcome: Result, symbolic: bool
    ) -> Outcome:
        """Fake kernels skip dtype checks (float32 @ float64): execute the operator where dtypes are mixed."""
        if _name(target) in _EXACT_ARGUMENTS:
            tried = self._by_example(target, args, kwargs, symbolic)
            if isinstance(tried, Failure):
                return tried
        dtypes = {spec.dtype for spec in _tensors((args, tuple(kwargs.values())))}
        if isinstance(target, ModuleSpec):
            dtypes.add(target.dtype or "float32")
            if _tensors(target.args):
                dtypes.update(spec.dtype for spec in _tensors(target.args))
        elif target.startswith(("torch.rand", "torch.zeros", "torch.ones", "torch.empty", "torch.arange")):
            return outcome
        lax = _name(target) in _LAX_FAKES or "out" in kwargs
        shared = _writes_to_shared(target, args)
        plain = len(dtypes) < 2 and dtypes <= {"float32", "float64"} and _name(target) not in _OF_BITS
        if plain and not lax and not shared:
            return outcome
        error = self._eager(target, args, kwargs)
        if shared and "single memory location" in str(error):
            return Failure("RuntimeError", str(error), confirmed=True)
        if lax and symbolic:
            # Sizes that only the witness tells apart prove nothing.
            lax = "Dimension out of range" in str(error)
        if isinstance(error, RuntimeError | ValueError | IndexError) and (lax or _about_types(error)):
            return Failure(type(error).__name__, str(error), confirmed=True)
        return outcome

    def _confirm(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], failure: Failure
    ) -> Outcome:
        """The failure with eager PyTorch's own message, or undecided if the real operator does not fail."""
        error = self._eager(target, args, kwargs)
        if isinstance(error, Unsupported):
            return Undecided(str(error)) if failure.exception == "TypeError" else failure
        if error is None or (
            isinstance(error, NotImplementedError) and not (_about_types(error) or _is_checked(error))
        ):
            return Undecided("only the fake operator fails")
        if isinstance(error, (*_CHECKED_ERRORS, TypeError)) or _asks_no_tensor(error):
            return Failure(type(error).__name__, str(error), confirmed=True)
        return Undecided(str(error))

    def _unless_one(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], failure: Failure
    ) -> Outcome:
        """Fake sizes are never 1: the failure, if it stays when a size is. Where one size has to be, that is a fact."""
        found: dict[Symbol, None] = {}

        def collect(size: Dim) -> Size:
            found.update(dict.fromkeys(symbol for symbol in dims.symbols(size) if symbol.positive))
            return size

        map_sizes((args, tuple(kwargs.values()), target), collect)
        works: list[tuple[tuple[Symbol, ...], Outcome]] = []
        for chosen in (*((symbol,) for symbol in found), tuple(found)):
            if len(chosen) > 1 and works:
                break
            ones: dict[Symbol, Size] = dict.fromkeys(chosen, 1)
            one = partial(dims.substitute, values=ones)
            named = {name: map_sizes(value, one) for name, value in kwargs.items()}
            symbolic = len(chosen) < len(found)
            outcome = self._fake(map_sizes(target, one), map_sizes(args, one), named, symbolic)
            if not isinstance(outcome, Failure):
                works.append((chosen, outcome))
        if not works:
            return failure
        chosen, outcome = works[0]
        if len(works) > 1 or len(chosen) > 1 or not isinstance(outcome, Result):
            return Undecided(f"{failure.message[:100]}, unless a size is 1")
        return replace(outcome, facts=(*outcome.facts, Equality(dims.of(chosen[0]), 1, soft=False)))

    def _whatever_number(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Failure | None:
        """The failure of an operator that is not decided because sizes of its tensors may be 0, if it fails with 0 as with
        any other number: what does not fit are other sizes."""
        shapes = [spec.shape or () for spec in _tensors((args, tuple(kwargs.values())))]
        within = {symbol for shape in shapes for size in shape for symbol in dims.symbols(size) if not symbol.positive}
        bare = {dims.symbol(size) for shape in shapes for size in shape}
        if not 0 < len(within) <= MAX_NUMBERS or not within <= bare:
            return None
        asked: set[Symbol] = set()

        def collect(size: Dim) -> Size:
            asked.update(size.symbols)
            return size

        map_sizes(_without_tensors((args, tuple(kwargs.values()), target)), collect)
        if asked & within:
            return None
        some: dict[Symbol, Size] = {one: dims.of(replace(one, positive=True)) for one in within}
        options: list[dict[Symbol, Size]] = [some, *({**some, one: 0} for one in within), dict.fromkeys(within, 0)]
        failure: Failure | None = None
        for values in options:
            given = partial(dims.substitute, values=values)
            named = {name: map_sizes(value, given) for name, value in kwargs.items()}
            changed = map_sizes(args, given)
            symbolic = any(spec.symbolic for spec in _tensors((changed, tuple(named.values()))))
            outcome = self._fake(map_sizes(target, given), changed, named, symbolic)
            if isinstance(outcome, Failure):
                outcome = self._confirm(map_sizes(target, given), changed, named, outcome)
            if isinstance(outcome, Failure) and symbolic:
                outcome = self._unless_one(map_sizes(target, given), changed, named, outcome)
            if not isinstance(outcome, Failure) or not outcome.confirmed:
                return None
            failure = failure or outcome
        return failure

    def _eager(self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
        """The error of the operator on real tensors of zeros, None if it runs, Unsupported if it can't be tried."""
        value = self._execute(target, args, kwargs, Witness(WITNESSES[0]))
        return value if isinstance(value, BaseException) else None

    def _execute(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], witness: Witness
    ) -> Any:
        """The operator's result on real tensors; the error if it fails, Unsupported if it can't be tried."""
        if isinstance(target, ModuleSpec) and target.package and self._holds_tensors(target):
            return Unsupported("a whole model")

        def convert(value: Any) -> Any:
            match value:
                case TensorSpec():
                    return witness.tensor(value)
                case Dim():
                    return witness.size(value)
                case ModuleSpec():
                    return modules.construct(value, convert)
            return plain_argument(value, convert)

        try:
            with torch.random.fork_rng(devices=[]):
                real_args = [convert(value) for value in args]
                real_kwargs = {name: convert(value) for name, value in kwargs.items()}
                if isinstance(target, ModuleSpec) and target.package:
                    function: Callable[..., Any] = self._module(target)
                elif isinstance(target, ModuleSpec):
                    if _parameter_count(self._module(target)) > EAGER_LIMIT:
                        return Unsupported("too large to execute")
                    function = modules.construct(target, convert)
                else:
                    function = self._function(target)
        except Unsupported as error:
            return error
        except Exception as error:
            return Unsupported(str(error))
        try:
            _check_arguments(real_args, real_kwargs)
            with torch.random.fork_rng(devices=[]):
                return function(*real_args, **real_kwargs)
        except Exception as error:
            return error

    def _by_witness(
        self, target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any], undecided: Undecided
    ) -> Outcome:
        """The result for operators that refuse symbolic sizes, read off two evaluations with concrete ones. Neither
        errors nor facts can be had this way."""
        values: list[Any] = []
        for witnesses in _witnesses(target):
            witness = Witness(witnesses)
            try:
                concrete_args, concrete_kwargs = (
                    map_sizes(part, witness.size) for part in (args, tuple(sorted(kwargs.items())))
                )
                concrete_target = target if isinstance(target, str) else map_sizes(target, witness.size)
            except Unsupported:
                return undecided
            outcome = self._fake(concrete_target, concrete_args, dict(concrete_kwargs), symbolic=False)
            if not isinstance(outcome, Result):
                return undecided
            values.append((outcome.value, witness))
        try:
            return Result(generalise(*values))
        except Unsupported:
            return undecided

    def _needing(
        self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any], undecided: Undecided
    ) -> Result | Undecided:
        """The result of an operator that compares sizes, where they are equal: if it fails wherever one of these pairs differs,
        that they do not is a fact."""
        given = (args, tuple(sorted(kwargs.items())))
        needed: list[Pair] = []
        outcome: Outcome = undecided
        while isinstance(outcome, Undecided):
            pair = self._compared(target, *_equal(given, needed))
            if pair is None or len(needed) == MOST_NEEDED:
                return undecided
            needed.append(pair)
            args, named = _equal(given, needed)
            outcome = self._fake(target, args, named, symbolic=True)
        if not isinstance(outcome, Result):
            return undecided
        for pair in needed:
            args, named = _equal(given, [other for other in needed if other is not pair])
            fails = {self._fails_with(target, args, named, values) for values in WITNESSES}
            if True not in fails or False in fails:
                return undecided
        soft = _name(target) not in _HARD_FACTS
        return Result(outcome.value, (*outcome.facts, *(Equality(*pair, soft) for pair in needed)))

    def _compared(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pair | None:
        """The sizes without whose comparison an evaluation does not go on."""
        session = Session(self._mode, True, self._place)
        try:
            with self._mode, any_length(_name(target)):
                fake_args = [session.to_fake(value) for value in args]
                fake_kwargs = {name: session.to_fake(value) for name, value in kwargs.items()}
                self._function(target)(*fake_args, **fake_kwargs)
        except GuardOnDataDependentSymNode as error:
            try:
                return session.compared(error.cond)
            except Unsupported:
                return None
        except Exception:
            return None
        return None

    def _fails_with(
        self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any], values: tuple[int, ...]
    ) -> bool | None:
        """Whether an operator fails with numbers for the symbols, different ones for different symbols; None where these are
        none for some size."""
        witness = Witness(values)
        try:
            given, named = (map_sizes(part, witness.size) for part in (args, tuple(kwargs.items())))
        except Unsupported:
            return None
        return isinstance(self._fake(target, given, dict(named), symbolic=False), Failure)

    @contextlib.contextmanager
    def _quiet(self, path: str) -> Iterator[None]:
        """Fake kernels warn and print tracebacks; none of it is the user's business. What the wall has refused on the way is
        an internal error of the operator or class at `path`."""
        try:
            with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                yield
        finally:
            self.internal_errors += [f"{path}: {what} was refused" for what in wall.refusals()]


def _equal(given: tuple[Any, Any], pairs: list[Pair]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with the sizes of each pair made equal."""
    for left, right in pairs:
        solution = dims.solve(dims.subtract(left, right))
        if solution is not None:
            given = map_sizes(given, partial(dims.substitute, values=dict([solution])))
    args, kwargs = given
    return args, dict(kwargs)


def _path(target: str | ModuleSpec) -> str:
    return target if isinstance(target, str) else target.path


def _witnesses(target: str | ModuleSpec) -> tuple[tuple[int, ...], ...]:
    """The sizes with which an operator is evaluated to see what it gives for any."""
    name = _name(target)
    chosen = SHORT_WITNESSES if name in ("RNN", "LSTM", "GRU") else WITNESSES
    return (*chosen, EVEN_WITNESSES) if name in _DIVIDES else chosen


def _name(target: str | ModuleSpec) -> str:
    return _path(target).rpartition(".")[2]


def _agreed_failure(errors: list[BaseException], symbolic: bool) -> Outcome:
    """The error that PyTorch raises whatever the data is, if it speaks of shapes or dtypes."""
    first = errors[0]
    agreed = all(type(error) is type(first) and str(error) == str(first) for error in errors)
    if not agreed or not isinstance(first, _CHECKED_ERRORS) or _is_internal(first):
        return Undecided(f"{type(first).__name__}: {first}"[:200])
    if _CAST not in str(first) and (symbolic or not any(words in str(first) for words in _SHAPE_WORDS)):
        return Undecided(f"{type(first).__name__}: {first}"[:200])
    return Failure(type(first).__name__, str(first), confirmed=True)


def _check_arguments(args: list[Any], kwargs: dict[str, Any]) -> None:
    """Raises Unsupported where an argument is more than data, however it came to be one."""
    if not gate.is_data((args, kwargs)):
        raise Unsupported("an argument that is not data")


def _succeeded(outcome: Outcome, target: ModuleSpec) -> bool:
    """Whether a module returned, or came to a part that is to be answered."""
    if isinstance(outcome, Result) and isinstance(outcome.value, PartCall):
        return outcome.value.part in dict(target.changes)
    return isinstance(outcome, Result)


def _is_internal(error: BaseException) -> bool:
    """Whether an error speaks of the machinery (or not at all) and says nothing about the user's code."""
    message = str(error)
    return not message.strip() or any(word in message for word in _ENGINE_WORDS)


def _reads_beyond(target: str | ModuleSpec, args: tuple[Any, ...]) -> Failure | None:
    """The failure of a call in which PyTorch reads memory that is not its own: batch_norm takes the size of dimension 1
    for the channels without looking whether there is one (seen in 2.13). Numbers that it finds there are refused unless they are 0,
    symbols crash."""
    given = args[0] if args and isinstance(target, str) and _name(target) == "batch_norm" else None
    if not isinstance(given, TensorSpec) or given.rank is None or given.rank > 1:
        return None
    if not any(spec.symbolic for spec in _tensors(args)):
        return None
    text = f"Expected at least 2 dimensions for input tensor but received {given.rank}"
    return Failure("RuntimeError", text, confirmed=True)


def _may_be_left_out(target: str | ModuleSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether cat is given a vector of unknown length beside tensors of other ranks: it leaves out one of length 0."""
    given = _tensors((args, tuple(kwargs.values()))) if _name(target) in _CONCATENATES else []
    ranks = {spec.rank for spec in given}
    return len(ranks) > 1 and any(spec.rank == 1 and spec.symbolic for spec in given)


def _writes_to_shared(target: str | ModuleSpec, args: tuple[Any, ...]) -> bool:
    """Whether an operator writes into a tensor whose elements share their memory, as those of ``x.expand(…)`` do."""
    given = args[0] if args and isinstance(args[0], TensorSpec) else None
    if given is None or isinstance(target, ModuleSpec) or not given.shape or not given.strides:
        return False
    name = _name(target)
    writes = name in _IN_PLACE or (target.startswith("Tensor.") and is_in_place(target))
    return writes and any(stride == 0 and size != 1 for size, stride in zip(given.shape, given.strides))


def _is_checked(error: Exception) -> bool:
    """Whether a function of PyTorch's in Python refuses its arguments, whatever the device."""
    trail = traceback.extract_tb(error.__traceback__)
    return bool(trail) and trail[-1].filename.endswith(("nn/functional.py", "nn\\functional.py"))


def _about_types(error: BaseException | str) -> bool:
    message = str(error)
    return any(word in message for word in _TYPE_WORDS) and "CUDA" not in message


def _parameter_count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _tensors(value: Any) -> list[TensorSpec]:
    if isinstance(value, TensorSpec):
        return [value]
    if isinstance(value, ListSpec):
        value = value.items
    if isinstance(value, DictSpec):
        value = tuple(item for _, item in value.items)
    if isinstance(value, ObjectSpec):
        value = (value.args, tuple(item for _, item in value.kwargs))
    if isinstance(value, tuple):
        return [spec for item in value for spec in _tensors(item)]
    return []


def _without_tensors(value: Any) -> Any:
    """Arguments, but for the tensors among them."""
    if isinstance(value, TensorSpec):
        return None
    if isinstance(value, ListSpec):
        return ListSpec(_without_tensors(value.items))
    return tuple(map(_without_tensors, value)) if isinstance(value, tuple) else value


_SCALARS = (bool, int, float, complex, str, type(None), DType, Native, Hole)


__all__ = ["Oracle", "plain_result"]
