"""The interpreter's record for the rules: failures, events of training loops, calls, tensor facts."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field, replace

from torchsleuth.interp.misuses import AnyMisuse
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.syntax.shapes import Declared, DeclaredParts
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Failure, TensorSpec
from torchsleuth.values import (
    Function,
    HasArguments,
    Instance,
    LibraryModule,
    LibraryObject,
    Record,
    Ref,
    Site,
    Tensor,
    Unknown,
    Value,
    new_identity,
)
from torchsleuth.values.graph import AutogradFault, Cut, GraphNode


@dataclass(frozen=True)
class Operation(HasArguments):
    """One application of an operator or a library module to abstract arguments."""

    target: str
    site: Site
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    module: LibraryModule | None
    specs: tuple[TensorSpec, ...]
    """The specs of the tensor arguments at that moment, in order."""
    written: bool = True
    """Whether the arguments stand at `site`: not so for the later parts of a Sequential."""
    nodes: tuple[GraphNode | None, ...] = ()
    """The places of the tensor arguments in the autograd graph at that moment, in order."""
    loops: tuple[LoopPoint, ...] = ()
    certain: bool = True
    operands: tuple[Tensor, ...] = ()
    """The tensors in the arguments and in containers among them, in order; `specs` and `nodes` are theirs."""

    @property
    def name(self) -> str:
        """The last word of its target: ``cat`` of ``torch.cat``."""
        return self.target.rpartition(".")[2]

    @property
    def bare_name(self) -> str:
        """Its name without underscores: ``add`` of ``Tensor.add_``."""
        return self.name.strip("_")

    @property
    def tensors(self) -> list[Tensor]:
        return of_kind((*self.args, *self.kwargs.values()), Tensor)


@dataclass(frozen=True)
class OperatorFailure:
    """PyTorch would raise here. `last_batch`: only for the last, smaller batch of a loader."""

    operation: Operation
    failure: Failure
    last_batch: bool = False


@dataclass(frozen=True)
class DeviceConflict:
    """Two operands on different devices; each side is (what it is, device, tensor or module)."""

    operation: Operation
    left: tuple[str, Device, Value]
    right: tuple[str, Device, Value]


@dataclass(frozen=True)
class Unpacking:
    """``a, b = value`` with a value of another number of parts, or the keys of a batch. `site`: of the targets. `certain`: it is
    executed whichever way the function goes that is entered."""

    site: Site
    value: Value
    items: tuple[Value, ...] | None
    count: int
    certain: bool = True


@dataclass(frozen=True)
class LibraryCall(HasArguments):
    """A call of something that is not the user's own, by its canonical name.

    `path`: ``torch.zeros``, ``torch.nn.Linear``, ``Tensor.numpy``, ``torch.nn.Module.train``, ``torch.optim.Adam.step``,
    or the name of an external package's function, such as ``torchvision.models.resnet18``. `receiver`: of a method.
    """

    path: str
    site: Site
    receiver: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    result: Value
    loops: tuple[LoopPoint, ...]
    certain: bool
    grad: bool | None
    after: int
    """How many events came before it."""
    guarded: bool = False
    """Whether it stands in a ``try`` that catches what it raises."""
    unavailable: frozenset[str] = frozenset()
    """The accelerators that are not there where it is made: it stands behind a test of that."""
    moment: int = field(default_factory=new_identity)
    """Greater than the identities of all that had been made before it."""

    @property
    def name(self) -> str:
        """The last word of its path: ``step`` of ``torch.optim.Adam.step``."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class MethodCall:
    """A method of a module called by its name."""

    name: str
    site: Site
    receiver: Value
    function: Function | str


@dataclass(frozen=True)
class LoopPoint:
    """One iteration of one execution of a loop or comprehension. `last`: it is the last one of a loader, on a smaller
    batch. `joined`: it stands for any number of further iterations, so that nothing in it is certain. `count`: how many
    iterations there are, None where that is not known. `supposed`: nothing in sight has it, it is the one in which a function that
    nothing calls is taken to be called."""

    node: ast.For | ast.AsyncFor | ast.While | ast.expr
    span: Span
    execution: int
    iteration: int
    over_loader: bool
    last: bool = False
    loader: LibraryObject | None = None
    joined: bool = False
    count: int | None = None
    supposed: bool = False


LOOP_METHODS = frozenset({"zero_grad", "backward", "step", "train", "eval"})
"""Methods whose calls are events whatever they are called on."""


@dataclass(frozen=True)
class Event:
    """Something a training loop is made of, in the order of execution.

    kind: forward, loss, zero_grad, backward, step, scheduler_step, clip, scale, unscale, scaler_step, scaler_update,
    train, eval, grad_touched.
    `subject`: the module, optimizer, scheduler …, UNKNOWN where it is not known.
    `loops`: the iterations it happened in, outermost first. `certain`: not under a condition that the
    analysis could not decide. `training`: mode of the module for a forward. `grad`: grad mode. `history` and `node`: the
    forward calls and the graph that the tensor carried then.
    """

    kind: str
    index: int
    site: Site
    subject: Value
    loops: tuple[LoopPoint, ...]
    certain: bool
    grad: bool | None = True
    training: bool | None = None
    tensor: Tensor | None = None
    forward_id: int | None = None
    history: frozenset[int] = frozenset()
    node: GraphNode | None = None

    @property
    def identity(self) -> int | None:
        """Which object the subject is, None where it is not known."""
        return self.subject.identity if isinstance(self.subject, Ref) else None


@dataclass(frozen=True)
class StateFault:
    """load_state_dict() raises, or, where it is not strict, loads nothing. `missing`, `unexpected`: keys that only one side has,
    where it is strict. `sizes`: keys whose tensors differ, with the shape that is given and the one of the module. `given`: the
    dict, with `keys`. `loads_nothing`: it is not strict, and no name in the state is one of the module's."""

    site: Site
    module: Value
    given: Value
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    sizes: tuple[tuple[str, tuple[Size, ...], tuple[Size, ...]], ...]
    keys: tuple[str, ...] = ()
    loads_nothing: bool = False


@dataclass(frozen=True)
class AttributeSet:
    """``self.name = value`` on a module of the user's, or register_buffer and its like. `ready`: nn.Module.__init__ has
    run."""

    owner: Instance
    name: str
    value: Value
    site: Site
    ready: bool


@dataclass(frozen=True)
class Alias:
    """``name = other`` where the other one is a module or a part of a data set. `target`: what it is bound to, `before`: what
    that was bound to, `after`: how many events came before it."""

    site: Site
    target: ast.expr
    value: Value
    before: Value
    after: int


@dataclass(frozen=True)
class SubsetSet:
    """``subset.name = value``, or ``subset.dataset.name = value``, of a part of a data set. `dataset`: what the part is of,
    `before`: what that had under this name."""

    site: Site
    target: ast.Attribute
    subset: LibraryObject
    dataset: Value
    value: Value
    before: Value

    @property
    def through(self) -> bool:
        """Whether it is set on the data set below."""
        return is_attribute(self.target.value, "dataset")


@dataclass(frozen=True)
class Switch:
    """Parameters of a module that are frozen (`value` False) or unfrozen. `some`: perhaps not all of them. `after`: how many
    events came before it."""

    site: Site
    module: LibraryModule | Instance
    value: bool
    some: bool
    certain: bool
    after: int


@dataclass(frozen=True)
class PartSet:
    """``model.name = value`` on a model that another package has built."""

    owner: LibraryModule
    name: str
    value: Value
    site: Site


@dataclass(frozen=True)
class DeclaredSighting:
    """A value beside which a shape is written. `shape`: of the value, None where it is not known. `sizes`: what the names
    in the declared shape stand for there. `expected`: the declared sizes, None for those that are not known, None for all
    where the numbers of dimensions differ. `general`: the names in the contract of the function stand for any sizes
    (`interp/written.py`). `dtype`: of the value. `call`: which call passes it, as an argument."""

    declared: Declared
    site: Site
    shape: tuple[Size, ...] | None
    sizes: tuple[tuple[str, Size], ...]
    expected: tuple[Size | None, ...] | None = None
    general: bool = False
    dtype: str | None = None
    call: Site | None = None


@dataclass(frozen=True)
class SizesMeet:
    """An operator that needs two sizes to be equal which a written contract names differently. `function`: the one with
    the contract. `names`: of its sizes."""

    site: Site
    function: Function
    names: tuple[str, str]


@dataclass(frozen=True)
class PartsDiffer:
    """A function returns another number of values than its annotation says. `count`: of those that it returns, None for
    one that is no tuple."""

    site: Site
    declared: DeclaredParts | Declared
    count: int | None


@dataclass(frozen=True)
class BrokenCondition:
    """The sizes that a call passes break a condition of what it calls. `call`: the call. `text`: which condition, with the
    numbers. `kind`: ``most`` or ``least`` where it is a bound, otherwise ``needs``. `passed`: the tensor of which the sizes are, if it is one, `argument`: its expression, where
    it is written there; `larger`, `smaller`: the nearest shapes with which the condition holds, None where there is none."""

    call: Site
    text: str
    kind: str
    passed: Tensor | None = None
    argument: ast.expr | None = None
    shape: tuple[int, ...] = ()
    larger: tuple[int, ...] | None = None
    smaller: tuple[int, ...] | None = None


Place = tuple[str, int, int, int, int]
"""Path, line, column, end line, end column of an expression, in the units of ``ast``."""


@dataclass
class Sighting:
    """The different tensors that an expression gave, in all its executions. `binding`: the name that it binds.

    `shapeless`: tensors whose shape was not known then; it may have been found out later. `supposed`: nothing calls this
    code; so it is with arguments such as its layers are made for, or as it declares. `uncalled`: the document does not. `certain`: seen in a call that the
    document makes, not only in one with arguments that stand for any. `demanded`: dimensions whose sizes nothing gives; they are
    what something that is executed later needs. `obscured`: why the shape or a size was not known. `calls`: of each tensor, the
    calls of the function around it that gave it, by their place.
    """

    site: Site
    binding: str | None
    specs: list[TensorSpec] = field(default_factory=list)
    shapeless: list[Tensor] = field(default_factory=list)
    supposed: bool = False
    uncalled: bool = False
    certain: bool = True
    demanded: set[int] = field(default_factory=set)
    obscured: Unknown | None = None
    calls: dict[TensorSpec, dict[Place, tuple[SourceText, ast.AST]]] = field(default_factory=dict)

    def met(self, other: Sighting) -> Sighting:
        """All executions of this one and of another one."""
        specs = list(dict.fromkeys((*self.specs, *other.specs)))
        calls = {spec: {**self.calls.get(spec, {}), **other.calls.get(spec, {})} for spec in specs}
        demanded, supposed = self.demanded | other.demanded, self.supposed or other.supposed
        return replace(self, specs=specs, calls=calls, demanded=demanded, supposed=supposed)


@dataclass
class Trace:
    """Everything recorded during the analysis of one document."""

    failures: list[OperatorFailure] = field(default_factory=list)
    broken: dict[Span, BrokenCondition] = field(default_factory=dict)
    """By the place of the failure, what is wrong with the call that leads to it."""
    conflicts: list[DeviceConflict] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    calls: list[LibraryCall] = field(default_factory=list)
    unpackings: list[Unpacking] = field(default_factory=list)
    longest: dict[Size, frozenset[Size]] = field(default_factory=dict)
    """The lengths of sequences, by the size that they were padded to: the greatest of them."""
    facts: dict[Place, Sighting] = field(default_factory=dict)
    declared: dict[tuple[object, ...], DeclaredSighting] = field(default_factory=dict)
    sizes_meet: list[SizesMeet] = field(default_factory=list)
    parts_differ: list[PartsDiffer] = field(default_factory=list)
    unpacked_otherwise: list[Unpacking] = field(default_factory=list)
    """Unpackings that do not fit the shapes that are written of the function's parameters."""
    obscure: set[Place] = field(default_factory=set)
    """Expressions of which some execution gave a value that is not known."""
    left_empty: dict[Span, Record] = field(default_factory=dict)
    """Where an attribute of what a model returned was read that the model leaves at None."""
    classes: dict[Span, int] = field(default_factory=dict)
    """By the calls of models that compare labels with their scores themselves: how many classes these have."""
    consumed: set[int] = field(default_factory=set)
    """Ids of forward calls whose graph reached a backward, a return to unknown code, or torch.autograd."""
    emptied: set[int] = field(default_factory=set)
    """Identities of the lists that something is taken out of."""
    autograd: list[AutogradFault] = field(default_factory=list)
    data: list[DataFault] = field(default_factory=list)
    optimizers: list[LibraryObject] = field(default_factory=list)
    method_calls: list[MethodCall] = field(default_factory=list)
    own_calls: set[Span] = field(default_factory=set)
    """Calls of methods that have the names of LOOP_METHODS and are functions of the user's."""
    attributes: list[AttributeSet] = field(default_factory=list)
    parts_set: list[PartSet] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    subsets_set: list[SubsetSet] = field(default_factory=list)
    escaped: set[int] = field(default_factory=set)
    """Identities of modules and optimizers that were handed to code that is not known."""
    handed: set[int] = field(default_factory=set)
    """The same of lists and dicts: it may put something into them."""
    carriers: set[ast.AST] = field(default_factory=set)
    """Expressions that are not known, and that code which is not known may have computed from a graph."""
    misuses: list[AnyMisuse] = field(default_factory=list)
    unrecorded: list[tuple[Operation, Cut]] = field(default_factory=list)
    """Layers with parameters that require grad, applied while autograd does not record."""
    states: list[StateFault] = field(default_factory=list)
    changes_states: bool = False
    """Whether functions of the script change what modules save or load."""
    discarded: list[Site] = field(default_factory=list)
    """Statements that move or convert a tensor and drop the result."""
    missing: dict[tuple[str, str], ast.AST] = field(default_factory=dict)
    """Imports of modules that are neither the user's nor installed: name and importing file, and the statement."""
    undecided: Counter[Span] = field(default_factory=Counter)
    """Operators whose outcome could not be decided, by their places."""
    internal_errors: list[str] = field(default_factory=list)
    """Places at which the analysis itself failed; the values there are unknown."""
    incomplete: str | None = None
    """Why the document was not executed to its end: what it does not show may still be done in it."""
    overdue: str | None = None
    """A sentence about the part that the time for the document was not enough for, be it only for what is supposed, or for a rule."""
