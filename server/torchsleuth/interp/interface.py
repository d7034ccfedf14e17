"""The interpreter as its parts and the models of libraries see it: what they may ask, without knowing who answers.

`Execution` answers. Nothing else has to be imported to write a model; nothing here imports what uses it.
"""

from __future__ import annotations

import ast
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, overload

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.autocast import Regions
from torchsleuth.interp.budget import Budget
from torchsleuth.interp.catching import Catching
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.inputs import ArgumentKey
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.numbers import Numbers
from torchsleuth.interp.observed import Observations
from torchsleuth.interp.parts import Parts
from torchsleuth.interp.suppositions import Entry
from torchsleuth.interp.trace import LoopPoint, Operation, Trace
from torchsleuth.oracle import Operators
from torchsleuth.syntax.shapes import Declarations
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.tensors.spec import Equality, Failure, ModuleSpec, Native, TensorSpec
from torchsleuth.values import (
    ClassValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    Managed,
    Namespace,
    Parameters,
    Ref,
    Site,
    Slots,
    Tags,
    Tensor,
    Value,
)
from torchsleuth.values.conditions import Fact
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault, Cut
from torchsleuth.values.heap import Heap
from torchsleuth.values.names import Names


class Interpreter(ABC):
    """One execution of a document over abstract values."""

    oracle: Operators
    """The operators of the installed torch."""
    workspace: Workspace
    """Where modules are found."""
    budget: Budget
    """How much work there may be."""
    trace: Trace
    """The record of what was seen."""
    parts: Parts
    """The functions and statements that are being followed."""
    heap: Heap
    """The state that forks and joins."""
    substitution: Slots
    """Facts about symbols that are known by now."""
    rigid: dict[Symbol, bool]
    """The sizes that a written contract names, and whether a shape does, not only an integer of that name."""
    steps: int
    """Nodes that were evaluated."""
    step_limit: int
    """Nodes that may be evaluated."""
    work_limit: int
    """Work that may be done."""
    next_look: int
    """When it is looked at next."""
    batch_loops: frozenset[ast.AST] = frozenset()
    """The loops over batches of a loader that nobody passes."""
    overdue: bool
    """Whether the time for the document is over."""
    other_defaults: bool = False
    """Whether the defaults of what makes tensors, their device and dtype, have been changed."""
    most_questions: int | None
    """Questions that the oracle may be asked in all, while suppositions are tried."""
    grad: bool | None
    """Grad mode, None where it is not known."""
    grad_off: Site | None
    """Where it was switched off."""
    autocast: Regions
    """The regions in which operators work on copies of their operands in another dtype."""
    freed: Slots
    """Parts of graphs that a backward() has freed."""
    passes: int
    """How many times gradients may have come into being: in a backward(), by assignment, in code that is not known."""
    clears: Slots
    """`passes` as they were when zero_grad() let the gradients of something go, by its identity."""
    settings: Slots
    """Global settings of PyTorch, such as the default dtype."""
    entry: int
    """The number of the entry that is being run, 0 in the body of the document."""
    entry_point: Entry | None = None
    """The entry that is being run."""
    guarded: int
    """Above 0 where a failure would only rule out one of several possibilities."""
    uncertain: int
    """The number of undecided conditions that the present state depends on."""
    undecided_raises: int
    """Branches that raised under undecided conditions so far."""
    tested: Fact | None
    """The conclusions from the test that was evaluated last."""
    running: Frame
    tape: Any = None
    """The `Tape` that what is executed is recorded on, None where nothing is."""
    held: Callable[[Tensor], Any] | None = None
    """The description of tensors that takes the place of their specs while a call is recorded."""
    entering: bool
    """The frame whose statement is being executed."""
    catching: Catching
    """Who may catch an exception now."""
    thrown: Value
    """The exception that is on its way."""
    being_made: list[tuple[ClassValue, dict[str, Value]]]
    """Classes of which an object is being made."""
    stopped: bool = False
    """Whether an operator failed: no execution goes on there."""
    named_by_hand: set[str]
    """Attributes that the code gives to tensors."""
    hooked: bool
    """Whether something was hooked into all modules."""
    pending: dict[Any, Callable[[], Any]]
    """The actions for when the module that is being called has returned."""
    collating: int
    """Above 0 while the samples of a batch are put together."""
    numbers: Numbers
    """Knowledge of the integers that only an execution tells."""
    arguments: list[Tensor]
    """Tensors that the entry was given."""
    lasting: dict[Symbol, ArgumentKey]
    """Symbols that stand for arguments of entries in every run of them."""
    learned_aside: set[Symbol]
    """Sizes that were found out in code which nothing calls."""
    fitting: bool
    """Whether layers that do not fit are taken to be given what they are made for."""
    observed: Observations
    """The tensors that stand for what is unknown, since a run has seen them there."""
    general: bool = False
    """Whether integers with different names are different."""
    loop_points: list[LoopPoint]
    """The loops that are being executed, the innermost last."""
    loop_executions: itertools.count[int]
    """Numbers for the executions of loops."""
    forward_ids: itertools.count[int]
    """Numbers for the calls of modules."""
    forward_depth: int
    """How many calls of modules are going on."""
    declared: dict[str, Declarations]
    """Declared shapes of the files that are analysed, by path; files without any are not in it."""
    called: set[ast.AST]
    """Definitions of functions that were called."""
    handing_back: dict[ast.AST, bool]
    """By definition: whether a decorator returns what it is given."""
    recursive_calls: dict[ast.AST, int]
    """By definition: calls of it inside of one activation."""
    instantiated: set[ClassValue]
    """Classes that were called."""
    modules: dict[str, Namespace]
    """Modules of the workspace that were imported, by path."""
    failures_seen: set[Any]
    """Faults that are recorded already."""
    files: Ref
    """The values that were written to files."""
    loose: dict[Function, tuple[set[str], list[ast.Name]]]
    """Functions that code which is not known has been given, and may call whenever it runs: the variables of others that each
    sets, and the containers that it fills."""
    kept: list[Value]
    """Values that have to stay alive, for something is known by their identity."""
    classes: list[ClassValue]
    """All classes that were defined."""
    functions: list[Function]
    """All functions that were defined."""
    outcomes: tuple[Value, ...] = ()
    own_models: frozenset[str] = frozenset()
    """Names under which code has registered models of its own, so that a package builds them."""
    """The results of the paths of the function that returned last, before they were joined."""
    as_needed: bool = False
    """Whether statements of imported modules are executed only when what they bind is needed."""

    # -- the autograd graph -------------------------------------------------------------------------

    @abstractmethod
    def set_grad(self, mode: Value, site: Site) -> None:
        """Switch grad mode: on, off, or to what is not known."""

    @abstractmethod
    def severed(self, tensor: Tensor, result: Tensor, kind: str, site: Site) -> Tensor:
        """A copy without graph, such as ``x.detach()``, that remembers where it lost it."""

    @abstractmethod
    def cut(self, tensor: Tensor, kind: str, site: Site) -> Cut | None:
        """Where values taken out of a tensor lost their graph: here, or before."""

    @abstractmethod
    def same_graph(self, tensor: Tensor, result: Tensor) -> Tensor:
        """A new value of the same graph, such as ``x.to(device)``."""

    @abstractmethod
    def connect(self, results: list[Tensor], operation: Operation, tensors: Sequence[Tensor]) -> None:
        """Give the results of an operation their place in the graph, or the reason why they have none."""

    @abstractmethod
    def require_grad(self, tensor: Tensor, value: bool | None, node: ast.AST, frame: Frame) -> None:
        """``x.requires_grad_()``, an assignment to the attribute, or the argument of what makes a tensor."""

    @abstractmethod
    def set_parameters(self, parameters: Parameters, value: bool | None, node: ast.AST, frame: Frame) -> None:
        """Freeze or unfreeze the parameter that a loop over those of a module is at: all of them, where each iteration
        does so."""

    @abstractmethod
    def parameters_written(self, parameters: Parameters, node: ast.AST, frame: Frame) -> None:
        """An in-place change of each parameter in a loop over those of a module."""

    @abstractmethod
    def stepped(self, optimizer: LibraryObject, site: Site) -> None:
        """An optimizer changes in place those weights that have a gradient."""

    @abstractmethod
    def cleared(self, parts: Iterable[LibraryModule | Tensor]) -> None:
        """zero_grad(): these parts have no gradient any more."""

    @abstractmethod
    def backward(self, tensor: Tensor, gradient: Value, retain: bool | None, node: ast.AST, frame: Frame) -> None:
        """``tensor.backward()``. `retain`: None where it is not known."""

    @abstractmethod
    def gradients(
        self,
        output: Tensor,
        inputs: list[Value],
        gradient: Value,
        retain: bool | None,
        strict: bool,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """``torch.autograd.grad(output, inputs)``. `strict`: an input that the output does not depend on is an error."""

    @abstractmethod
    def check_grad(self, tensor: Tensor, node: ast.AST, frame: Frame) -> bool:
        """Whether ``tensor.grad`` is known to be None, as nothing fills it. Then that is recorded."""

    @abstractmethod
    def check_early(self, owner: Value, parts: Sequence[Value], node: ast.AST, frame: Frame) -> bool:
        """A read of ``x.grad``: whether it is None because no backward() has run, none at all or none since zero_grad()."""

    @abstractmethod
    def converted_to_arrays(self, values: tuple[Value, ...], node: ast.AST, frame: Frame) -> None:
        """Tensors given to a function that makes NumPy arrays of them."""

    @abstractmethod
    def fault(self, fault: AutogradFault) -> None:
        """Record a misuse of the autograd graph."""

    # -- questions to the oracle --------------------------------------------------------------------

    @overload
    def resolved(self, value: Size) -> Size: ...

    @overload
    def resolved(self, value: Value) -> Value: ...

    @abstractmethod
    def resolved(self, value: Value) -> Value:
        """A symbolic size with everything that is known by now put in."""

    @abstractmethod
    def resolved_spec(self, spec: TensorSpec) -> TensorSpec:
        """A spec with everything that is known by now about its sizes put in."""

    @abstractmethod
    def to_spec(self, value: Value) -> Any:
        """The oracle's description of a value. Raises NotASpec."""

    @abstractmethod
    def recipe(self, module: LibraryModule) -> ModuleSpec:
        """How to build the module. Raises NotASpec if that depends on something unknown."""

    @abstractmethod
    def changed(self, module: LibraryModule) -> dict[str, Value]:
        """The attributes that were set on a layer, but for marks: plain values under names that the layer knows nothing of."""

    @abstractmethod
    def from_spec(self, value: Any, make: Callable[[TensorSpec], Tensor]) -> Value:
        """The oracle's answer as values, with a tensor made of each spec."""

    @abstractmethod
    def asked(self, operation: Operation) -> Any:
        """The outcome of an operator that nothing else depends on; None where the question cannot be put."""

    @abstractmethod
    def assuming(self, dtype: str | None) -> AbstractContextManager[None]:
        """Descriptions of tensors of unknown dtype have this one, empty to leave it open; None: there are none."""

    # -- tensors ------------------------------------------------------------------------------------

    @abstractmethod
    def operate(
        self,
        target: str,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        device: Device | None = None,
    ) -> Value:
        """Apply an operator by its dotted name. `device`: where a factory puts its result."""

    @abstractmethod
    def apply_module(self, module: LibraryModule, call: Any) -> Value:
        """Call a library module."""

    @abstractmethod
    def apply_built(self, operation: Operation, target: ModuleSpec, forget_dtype: bool) -> Value:
        """Call a model of another package: its value, a `PartCall` of a part that has to be called, or a `PartAnswer`. The
        operation is recorded by the caller, who may have to ask several times."""

    @abstractmethod
    def operation(
        self,
        target: str,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        module: LibraryModule | None,
        written: bool = True,
    ) -> Operation:
        """The record of an operator that is about to be applied; see `Operation`."""

    @abstractmethod
    def found_shape(self, tensor: Tensor, shape: tuple[Size, ...]) -> None:
        """A tensor of unknown shape turns out to have this one, or some code fails."""

    @abstractmethod
    def gathered(self, path: str, spec: TensorSpec, call: Any) -> Tensor:
        """The result of an operator over a list, of which all is known but its place in the graph."""

    @abstractmethod
    def retag(self, tensor: Tensor, tags: Tags = frozenset()) -> None:
        """The tensor holds new values: `tags` are true of them, and what was true of the old ones is forgotten."""

    @abstractmethod
    def report(self, operation: Operation, failure: Failure) -> None:
        """Record that PyTorch raises here, once per place and message."""

    @abstractmethod
    def learn(self, fact: Equality, site: Site | None = None) -> None:
        """Take in an equality of sizes that an operator proved, at `site`; soft ones prove nothing."""

    @abstractmethod
    def keeps_apart(self, difference: Size, fact: Equality, site: Site | None) -> bool:
        """Whether an equality is one of two sizes that a contract names differently, which stay different then."""

    @abstractmethod
    def is_general(self) -> bool:
        """Whether a written contract is being checked: its sizes stand for any numbers."""

    @abstractmethod
    def is_inferring(self) -> bool:
        """Whether a contract is being inferred: what a caller chooses is symbols, whatever it is for."""

    @abstractmethod
    def is_trusting(self) -> bool:
        """Whether what is not seen is supposed to change nothing: decorators that are not known hand back what they decorate,
        and tables of imported modules hold what is written in them."""

    @abstractmethod
    def told(self, test: ast.expr, holds: bool, frame: Frame) -> None:
        """The code demands that a test holds, or does not."""

    @abstractmethod
    def tensor_get_item(self, container: Tensor, key: Value, node: ast.AST, frame: Frame) -> Value:
        """``container[key]`` of a tensor."""

    @abstractmethod
    def iterate_tensor(self, value: Tensor, node: ast.AST, frame: Frame) -> Iteration:
        """The parts of a tensor that a loop over it sees."""

    @abstractmethod
    def event(self, kind: str, subject: Value, node: ast.AST, frame: Frame, **more: Any) -> None:
        """Record what rules about the order of a training loop want to know."""

    # -- calls --------------------------------------------------------------------------------------

    @abstractmethod
    def call(self, callee: Value, call: Arguments) -> Value:
        """The value of a call; unknown where the callee is."""

    @abstractmethod
    def record_method(self, path: str, receiver: Value, result: Value, node: ast.AST, frame: Frame) -> None:
        """Record something that is no call, and of interest like one: ``x.data``."""

    @abstractmethod
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

    @abstractmethod
    def lose(self, values: tuple[Value, ...]) -> None:
        """Objects that code gets which is not followed: it may run their constructor, and set attributes."""

    @abstractmethod
    def limited(self, steps: int, run: Callable[[], Value]) -> Value:
        """The result of `run`, UNKNOWN if it takes too long."""

    @abstractmethod
    def call_module(self, module: Value, call: Arguments) -> Value:
        """A call of a library module: containers run their children, the rest is asked of the oracle."""

    @abstractmethod
    def escape(self, values: Any) -> None:
        """Values handed to code that is not known: whatever graph they carry may be used there."""

    @abstractmethod
    def carries(self, value: Value, given: Iterable[Value], node: ast.AST | None = None) -> None:
        """Note that something unknown, which an expression gave, may have been computed from tensors with their graphs."""

    @abstractmethod
    def may_move(self, values: tuple[Value, ...]) -> None:
        """Code that is not known may take modules to another device."""

    @abstractmethod
    def may_fill(self, values: tuple[Value, ...]) -> None:
        """Code that is not known may put something into lists and dicts. What is in them is taken to stay."""

    @abstractmethod
    def may_be_initialised(self, *values: Value) -> None:
        """Code that is not known may have run the constructor of a base class."""

    @abstractmethod
    def site(self, node: ast.AST, frame: Frame) -> Site:
        """The place of a node in the execution, for traces and findings."""

    # -- expressions --------------------------------------------------------------------------------

    @abstractmethod
    def eval(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression; unknown where it is not modelled."""

    @abstractmethod
    def lookup(self, name: str, frame: Frame) -> Value:
        """The value of a name."""

    @abstractmethod
    def elsewhere(self, name: str, names: Slots) -> Value:
        """The meaning of a name that is bound nowhere so far."""

    @abstractmethod
    def few(self, elements: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
        """The elements of a list, some that stand for them where there are too many to keep each."""

    @abstractmethod
    def binary(
        self, kind: type[ast.AST], left: Value, right: Value, node: ast.AST, frame: Frame, inplace: bool = False
    ) -> Value:
        """The value of a binary operation, by the class of its operator in `ast`."""

    @abstractmethod
    def compare(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare, frame: Frame) -> Value:
        """The value of one comparison."""

    @abstractmethod
    def identical(self, left: Value, right: Value) -> bool | None:
        """``left is right``, None where that is not known."""

    @abstractmethod
    def get_item(self, container: Value, key: Value, node: ast.AST, frame: Frame) -> Value:
        """``container[key]``"""

    @abstractmethod
    def any_of(self, items: tuple[Value, ...]) -> Value:
        """An element at a position that is not known."""

    @abstractmethod
    def renewed(self, value: Any) -> Any:
        """Another value of which the same is known: the next of those that one stands for."""

    @abstractmethod
    def attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """``owner.name``; unknown where it is not modelled."""

    @abstractmethod
    def length(self, value: Value, frame: Frame) -> Size | None:
        """``len(value)``, None where it is not known."""

    @abstractmethod
    def class_of(self, value: Value) -> Value:
        """``type(value)`` of an instance of the user's, a module of torch, a string, a list, a set or a dict; else unknown: a
        number may be one of NumPy, a tuple a torch.Size."""

    @abstractmethod
    def own_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        """The attribute of an object without a ``__getattribute__`` of its class: what ``object.__getattribute__`` gives."""

    @abstractmethod
    def class_attribute(self, cls: ClassValue, name: str, after: ClassValue | None = None) -> Value:
        """The attribute in the class or its bases (of those after `after`): a value, a Native base, or MISSING."""

    @abstractmethod
    def truth(self, value: Value) -> bool | None:
        """Whether a condition holds: True, False, or None where it is not known."""

    @abstractmethod
    def assume(self, fact: Fact | None, outcome: bool = True) -> None:
        """From here on a fact is the case, or with a false `outcome`, is not."""

    @abstractmethod
    def sequence(self, value: Value, node: ast.AST, frame: Frame) -> tuple[Value, ...] | None:
        """All elements in order, or None where they are not all known."""

    @abstractmethod
    def iterate(self, value: Value, node: ast.AST, frame: Frame) -> Iteration:
        """The elements that a loop over the value sees."""

    # -- declared shapes ----------------------------------------------------------------------------

    @abstractmethod
    def meet_arguments(self, function: Function, frame: Frame) -> None:
        """Compare the shapes that are written beside parameters with what they are given."""

    @abstractmethod
    def meet_result(self, function: Function, value: Value, frame: Frame) -> None:
        """Compare the shape that is written beside a function with what it returns."""

    @abstractmethod
    def meet_fields(self, record: Instance, call: ast.Call, frame: Frame) -> None:
        """Compare the shapes that are written beside the fields of a record with what it is made with."""

    # -- entries and suppositions -------------------------------------------------------------------

    @abstractmethod
    def aside(self, run: Callable[[], Any]) -> None:
        """Run what PyTorch calls at another time, without gradients; only the sizes that it finds out are kept."""

    @abstractmethod
    def maybe(self, run: Callable[[], Any]) -> None:
        """Run what may or may not be called here, without gradients."""

    @abstractmethod
    def differ(self, left: Size, right: Size) -> bool:
        """Whether two sizes, of which nobody gives any, are taken to be different ones."""

    @abstractmethod
    def goes_around(self, times: Size) -> None:
        """A loop goes around as often as this says."""

    @abstractmethod
    def counted(self) -> frozenset[ArgumentKey]:
        """The integers of the entry that say how often a loop goes around, as far as that was seen."""

    @abstractmethod
    def tabulated(self, before: frozenset[ArgumentKey]) -> None:
        """Say that the loops since then only make a table of numbers, as long as it may be."""

    @abstractmethod
    def demand(self, operation: Operation) -> None:
        """An operator meets a tensor of unknown shape: what it says of the argument that the tensor comes from."""

    @abstractmethod
    def demand_rank(self, tensor: Tensor, shape: tuple[Size, ...]) -> None:
        """Something takes a tensor of unknown shape only if it has as many dimensions as these."""

    # -- imports ------------------------------------------------------------------------------------

    @abstractmethod
    def fetch(self, names: Names, name: str) -> Value:
        """The value that those statements of a module bind a name to that are not executed yet, MISSING where they do not."""

    @abstractmethod
    def submodule(self, owner: Namespace | Native, name: str, frame: Frame) -> Value:
        """The module called `name` in a package of the user's, MISSING where there is none or nothing has imported it."""

    @abstractmethod
    def execute_module(self, source: SourceText, name: str) -> Namespace:
        """The namespace of a workspace module that is imported for the first time."""

    @abstractmethod
    def import_module(self, name: str, frame: Frame, level: int, node: ast.AST) -> Value:
        """A workspace module, an installed library's module, or an external one known by name only."""

    @abstractmethod
    def body(self, statements: list[ast.stmt], frame: Frame) -> int:
        """The statements of a module, up to one that ends it."""

    # -- statements and bindings --------------------------------------------------------------------

    @abstractmethod
    def fresh_symbol(self, name: str, positive: bool = True) -> Symbol:
        """A symbol that is different from all others."""

    @abstractmethod
    def fresh_size(self, name: str = "?", positive: bool = True) -> Size:
        """A size that nothing is known of."""

    @abstractmethod
    def tick(self, cost: int = 1) -> None:
        """Count work; raises OutOfBudget where there was too much of it."""

    @property
    @abstractmethod
    def work(self) -> int:
        """What was done so far, in nodes. It tells how long that takes, and is the same on any machine, however busy it is."""

    @abstractmethod
    def is_over(self) -> bool:
        """Whether there is no more time, or there was too much work."""

    @abstractmethod
    def block(self, statements: Iterable[ast.stmt], frame: Frame) -> int:
        """Run statements; says how they are left."""

    @abstractmethod
    def statement(self, node: ast.stmt, frame: Frame) -> int:
        """Run a statement; says how it is left."""

    @abstractmethod
    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame
    ) -> Function:
        """The function that a definition makes here."""

    @abstractmethod
    def assign_name(self, name: str, value: Value, frame: Frame) -> None:
        """Bind a name."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Bind a target to a value."""

    @abstractmethod
    def trainability(self, module: LibraryModule) -> bool | None:
        """Whether the parameters of a module require grad, None where that is not known."""

    @abstractmethod
    def owner_of_attributes(self, node: ast.expr, frame: Frame) -> Instance | LibraryObject | None:
        """The object whose attributes an expression is the dict of: ``config.__dict__``, ``vars(config)``."""

    @abstractmethod
    def set_attribute_named(self, owner: Value, name: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """``setattr(owner, name, value)``. Where the name is not known, it may be any."""

    @abstractmethod
    def forget_attributes(self, owner: Instance | LibraryObject) -> None:
        """Forget what an object holds but modules, or has from its class but methods: it may be something else now."""

    @abstractmethod
    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, frame: Frame) -> None:
        """``owner.name = value``"""

    @abstractmethod
    def delete_attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> None:
        """``del owner.name``"""

    # -- objects of the user's ---------------------------------------------------------------------

    @abstractmethod
    def instantiate(
        self,
        cls: ClassValue,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: ast.Call | None,
        frame: Frame,
    ) -> Value:
        """A call of a class of the user's."""

    @abstractmethod
    def started(self, managed: Managed, caller: Frame) -> Value:
        """The generator of a context manager that is not entered by a ``with``."""

    @abstractmethod
    def forget_captured(self, function: Function) -> None:
        """A function that may be called at any time: what the containers hold that it fills is not known any more."""

    @abstractmethod
    def delete_item(self, container: Value, key: Value, node: ast.AST, frame: Frame) -> None:
        """``del container[key]``"""

    @abstractmethod
    def set_item(self, container: Value, key: Value, value: Value, node: ast.expr, frame: Frame) -> None:
        """``container[key] = value``"""

    @abstractmethod
    def shown(self, value: Value, how: str, frame: Frame) -> Value:
        """``str(value)`` or ``repr(value)``. `how`: the name of the method."""

    @abstractmethod
    def shown_record(self, value: Instance | LibraryObject, how: str, frame: Frame) -> Value:
        """``repr(value)`` of a dataclass or a member of an enum; ABSENT for other objects."""

    @staticmethod
    @abstractmethod
    def text_of_path(value: LibraryObject) -> Value:
        """``str(path)``; ABSENT for other objects."""
