"""Uses of the parameters of functions, and of attributes of ``self``: which methods of theirs are called, what
they are called with, and where the results go."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from torchsleuth.sifting import any_are, of_kind
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    called,
    every_parameter,
    is_display,
    is_dotted,
    is_literal,
    is_method_call,
    is_name,
    is_spread,
    last_word,
    parts_of_tuple,
    plain_name,
    stored_in,
    targets_of,
)

Key = str
"""A parameter, or an attribute such as ``self.model``, by its text."""
MAX_INLINED = 4
"""Functions of the file that are followed inside of one another."""
MAX_STATEMENTS = 4_000
_SEEN_THROUGH = frozenset({"enumerate", "tqdm", "zip", "iter", "islice", "cycle", "track", "trange", "reversed", "len"})
"""Functions whose result goes through what they are given."""
_STAYS = frozenset("to cuda cpu train eval float half double requires_grad_".split())
"""Methods of modules that give what they are called on."""
_GIVE_THEMSELVES = _STAYS | {"values", "items", "get", "prepare"}
"""Methods that give what they are called on, or go through it."""
_OPTIMIZERS = frozenset(
    "Adam AdamW SGD RMSprop Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD LBFGS Lion Adafactor".split()
)


_JUDGES = frozenset(
    "cross_entropy kl_div binary_cross_entropy binary_cross_entropy_with_logits softplus logsigmoid relu sigmoid softmax"
    " log_softmax normalize gumbel_softmax Categorical OneHotCategorical Bernoulli Normal MultivariateNormal Beta Gamma"
    " Poisson NegativeBinomial Laplace StudentT Independent TanhNormal".split()
)
"""Losses, activations and distributions: what they are given is the output of a model, and never a loss."""
_DETACH = frozenset({"detach", "item", "tolist", "numpy"})
"""Methods whose result has no graph."""
_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_PARAMETERS = frozenset({"parameters", "named_parameters"})
PREPARE = frozenset(
    "prepare prepare_model prepare_optimizer prepare_data_loader prepare_scheduler"
    " setup setup_module setup_optimizers setup_dataloaders".split()
)
"""Methods of Accelerate and Fabric that give back what they are given, ready for training."""


@dataclass(frozen=True)
class Is:
    """The value of a key itself."""

    key: Key


@dataclass(frozen=True)
class Result:
    """The result of a call of a key, or a value computed from that. `cut`: without its graph."""

    key: Key
    cut: bool = False


@dataclass(frozen=True)
class Weights:
    """The parameters of a key."""

    key: Key


@dataclass(frozen=True)
class Item:
    """The elements of a loop over a key. `loop`: where."""

    key: Key
    loop: ast.AST


Label = Is | Result | Weights | Item
Labels = frozenset[Label]
NOTHING: Labels = frozenset()
Functions = Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]


@dataclass
class Uses:
    """The uses of each key.

    `methods`: methods of its that are called, with the number of their arguments. `read`: its other attributes. `called`:
    labels of the arguments of each call of it. `feeds`: keys that are called with its results. `differentiated`: keys whose
    results are the start of a backward pass. `scaled`: keys that have ``scale`` called with a result. `steps`: keys in the order
    in which their ``step()`` follows a backward. `given_to`: methods that it is an argument of. `loops`: the loops over each key.
    `compared`: keys whose results something else is called with, together with another argument.
    """

    methods: dict[Key, set[tuple[str, int]]] = field(default_factory=dict)
    read: dict[Key, set[str]] = field(default_factory=dict)
    called: dict[Key, list[tuple[Labels, ...]]] = field(default_factory=dict)
    feeds: dict[Key, set[Key]] = field(default_factory=dict)
    differentiated: set[Key] = field(default_factory=set)
    starts: dict[Key, set[str]] = field(default_factory=dict)
    steps: list[Key] = field(default_factory=list)
    given_to: dict[Key, set[tuple[Key, str]]] = field(default_factory=dict)
    loops: dict[Key, set[ast.AST]] = field(default_factory=dict)
    compared: set[Key] = field(default_factory=set)
    leads: dict[Key, set[Key]] = field(default_factory=dict)
    """As `feeds`, of results that have their graph."""
    judged: set[Key] = field(default_factory=set)
    """Keys whose results losses of PyTorch, activations or distributions are called with."""
    optimized: set[Key] = field(default_factory=set)
    """Keys whose parameters an optimizer is made of, or a clipping of gradients is called with."""
    frozen: set[Key] = field(default_factory=set)
    """Keys that ``requires_grad_(False)`` is called on."""
    first_steps: set[Key] = field(default_factory=set)
    """Keys whose ``step()`` is the first one behind a backward pass."""
    reads_items: set[ast.AST] = field(default_factory=set)
    """The loops whose items a key is called with."""

    def names_of_methods(self, key: Key) -> set[str]:
        return {name for name, _ in self.methods.get(key, ())}


class Reader:
    """Follows what the keys of some functions become. `functions`: those of the file, `methods`: those of the class."""

    def __init__(self, functions: Functions, methods: Functions) -> None:
        self.uses = Uses()
        self._functions, self._methods = functions, methods
        self._stack: list[ast.AST] = []
        self._statements = 0
        self._receiver: str | None = None
        self._returned: list[Labels] = []
        self._without_gradients = 0
        self._led_without: list[tuple[Key, Key]] = []
        """What would be ``leads``, but for the no_grad() around both."""
        self._passed_back = False

    def read(self, function: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool) -> Uses:
        """Read a function whose parameters are keys. `bound`: the first one is the object, whose attributes are keys, and
        a parameter that the function keeps as an attribute is that one."""
        names = [part.arg for part in every_parameter(function.args)]
        receiver = names.pop(0) if bound and names else None
        kept = kept_as(function) if bound else {}
        keys = {name: parameter_key(function.name, name) if bound else name for name in names}
        self._run(function, {name: frozenset({Is(kept.get(name, keys[name]))}) for name in names}, receiver)
        return self.uses

    def _run(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, names: dict[str, Labels], receiver: str | None
    ) -> Labels:
        """The values that the function may return. Its body is read twice: what one iteration leaves is there in the next."""
        before, self._receiver = self._receiver, receiver
        self._stack.append(function)
        self._returned.append(NOTHING)
        without = any(map(_turns_gradients_off, function.decorator_list))
        self._without_gradients += without
        for _ in range(2):
            self._passed_back = self._passed_back and len(self._stack) > 1
            self._block(function.body, names)
        self._without_gradients -= without
        self._receiver = before
        self._stack.pop()
        return self._returned.pop()

    # -- statements --------------------------------------------------------------------------------

    def _block(self, statements: Iterable[ast.stmt], names: dict[str, Labels]) -> None:
        for statement in statements:
            self._statements += 1
            if self._statements <= MAX_STATEMENTS:
                self._statement(statement, names)

    def _statement(self, statement: ast.stmt, names: dict[str, Labels]) -> None:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        match statement:
            case ast.For() | ast.AsyncFor() if is_display(statement.iter):
                self._bind_each(statement.target, statement.iter, names)
            case ast.For() | ast.AsyncFor():
                self._bind(statement.target, self._over(statement, self._value(statement.iter, names)), names)
            case ast.With() | ast.AsyncWith() if any(
                _turns_gradients_off(item.context_expr) for item in statement.items
            ):
                self._without_gradients += 1
                self._block(statement.body, names)
                self._without_gradients -= 1
                if not self._without_gradients:
                    self._led_without.clear()
                return
            case ast.Assign() if prepared := _prepared(statement):
                for target, labels in [(target, self._value(part, names)) for target, part in prepared]:
                    self._bind(target, labels, names)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if statement.value is not None:
                value = self._value(statement.value, names)
                targets = targets_of(statement)
                for target in targets:
                    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                        if len(target.elts) == len(statement.value.elts):
                            for one, part in zip(target.elts, statement.value.elts):
                                self._bind(one, self._value(part, names), names)
                            continue
                    self._bind(target, value, names, add=isinstance(statement, ast.AugAssign))
            case ast.Return():
                if statement.value is not None:
                    self._returned[-1] |= self._value(statement.value, names)
            case _:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        self._value(child, names)
                    elif isinstance(child, ast.withitem):
                        value = self._value(child.context_expr, names)
                        if child.optional_vars is not None:
                            self._bind(child.optional_vars, value, names)
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            for inner in getattr(statement, name, ()):
                self._block([inner] if isinstance(inner, ast.stmt) else getattr(inner, "body", ()), names)

    def _over(self, loop: ast.AST, value: Labels) -> Labels:
        """The labels of what a loop sees."""
        keys = {label.key for label in of_kind(value, Is)}
        for key in keys:
            self.uses.loops.setdefault(key, set()).add(loop)
        return frozenset(Item(key, loop) for key in keys) | {label for label in value if not isinstance(label, Is)}

    def _bind_each(self, target: ast.expr, display: ast.Tuple | ast.List, names: dict[str, Labels]) -> None:
        """``for net, copy in ((self.net, self.copy), …)``: each name is any of the parts in its place."""
        bound = stored_in(target)
        before = {name: names.pop(name) for name in bound if name in names}
        together: dict[str, Labels] = {}
        for item in display.elts:
            inner = names | before
            if is_display(target) and is_display(item) and len(target.elts) == len(item.elts):
                for one, part in zip(target.elts, item.elts):
                    self._bind(one, self._value(part, names | before), inner)
            else:
                self._bind(target, self._value(item, names | before), inner)
            for name in bound:
                together[name] = together.get(name, NOTHING) | inner.get(name, NOTHING)
        names.update(together)

    def _bind(self, target: ast.expr, value: Labels, names: dict[str, Labels], add: bool = False) -> None:
        match target:
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self._bind(part, value, names)
            case ast.Starred():
                self._bind(target.value, value, names)
            case ast.Name():
                names[target.id] = value | names.get(target.id, NOTHING) if add else value
            case ast.Attribute():
                key = self._attribute(target)
                if key is not None:
                    names[key] = value | names.get(key, NOTHING)

    # -- expressions -------------------------------------------------------------------------------

    def _attribute(self, node: ast.expr) -> Key | None:
        """``self.model``"""
        own = is_dotted(node, self._receiver)
        return f"self.{node.attr}" if own and isinstance(node, ast.Attribute) else None

    def _value(self, node: ast.expr, names: dict[str, Labels]) -> Labels:
        match node:
            case ast.Name():
                return names.get(node.id, NOTHING)
            case ast.Call():
                return self._call(node, names)
        key = self._attribute(node)
        if key is not None:
            held = names.get(key, NOTHING)
            return held if any_are(held, Is) else held | {Is(key)}
        match node:
            case ast.Attribute():
                value = self._value(node.value, names)
                for label in of_kind(value, Is):
                    self.uses.read.setdefault(label.key, set()).add(node.attr)
                return _without_graph(_derived(value)) if node.attr == "data" else _derived(value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = dict(names)
                for generator in node.generators:
                    self._bind(generator.target, self._over(node, self._value(generator.iter, inner)), inner)
                    for test in generator.ifs:
                        self._value(test, inner)
                if isinstance(node, ast.DictComp):
                    return _derived(self._value(node.key, inner) | self._value(node.value, inner))
                return _derived(self._value(node.elt, inner))
            case ast.Subscript():
                self._value(node.slice, names)
                return self._value(node.value, names)
            case ast.Lambda() | ast.JoinedStr():
                return NOTHING
        found = NOTHING
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                found |= self._value(part, names)
        return found if isinstance(node, ast.IfExp | ast.BoolOp | ast.Await | ast.Starred) else _derived(found)

    def _call(self, node: ast.Call, names: dict[str, Labels]) -> Labels:
        args = [self._value(part, names) for part in node.args]
        keywords = {part.arg: self._value(part.value, names) for part in node.keywords}
        given = (*args, *keywords.values())
        everything = frozenset[Label]().union(*given) if given else NOTHING
        function = node.func
        own = self._attribute(function)
        called = self._methods.get(own.removeprefix("self.")) if own is not None else None
        if called is None and isinstance(function, ast.Name) and function.id not in names:
            called = self._functions.get(function.id)
        if called is not None:
            return self._inlined(called, args, keywords, own is not None) | _derived(everything)
        if is_method_call(node) and own is None:
            return self._method(node, node.func, given, names)
        found = _derived(everything)
        self._compared(everything, len(given))
        if plain_name(function) in _SEEN_THROUGH:
            return everything
        for label in of_kind(self._value(function, names), Is):
            self._called(label.key, given, everything)
            found |= {self._result(label.key)}
        # What is computed from a result by way of something that is called is the result of this.
        keys = {label.key for label in of_kind(self._value(function, names), Is)}
        if not keys:
            self._given_to_library(function, given)
        return frozenset(self._result(key) for key in keys) if keys else found

    def _result(self, key: Key) -> Result:
        return Result(key, bool(self._without_gradients))

    def _given_to_library(self, function: ast.expr, given: tuple[Labels, ...]) -> None:
        """The arguments of a function that is no key."""
        name = last_word(function)
        everything = frozenset[Label]().union(*given) if given else NOTHING
        if name in _JUDGES or name.endswith("_loss") and len(given) >= 2:
            self.uses.judged.update(label.key for label in of_kind(everything, Result))
        if name.startswith("clip_grad_") or name in _OPTIMIZERS or "optim" in ast.unparse(function).lower():
            self.uses.optimized.update(label.key for label in of_kind(everything, Weights))

    def _called(self, key: Key, given: tuple[Labels, ...], everything: Labels) -> None:
        self.uses.called.setdefault(key, []).append(given)
        for label in everything:
            match label:
                case Result() if label.key != key:
                    self.uses.feeds.setdefault(label.key, set()).add(key)
                    if self._without_gradients:
                        self._led_without.append((label.key, key))
                    elif not label.cut:
                        self.uses.leads.setdefault(label.key, set()).add(key)
                case Item():
                    self.uses.reads_items.add(label.loop)
                case Is():
                    self.uses.given_to.setdefault(label.key, set()).add((key, ""))

    def _compared(self, everything: Labels, count: int) -> None:
        if count >= 2:
            self.uses.compared.update(label.key for label in of_kind(everything, Result))

    def _method(
        self, node: ast.Call, function: ast.Attribute, given: tuple[Labels, ...], names: dict[str, Labels]
    ) -> Labels:
        """``receiver.name(…)``"""
        everything, count = frozenset[Label]().union(*given), len(given)
        receiver, name = self._value(function.value, names), function.attr
        keys = {label.key for label in of_kind(receiver, Is)}
        if name == "requires_grad_" and is_literal(argument_of(node, 0, "requires_grad"), False):
            self.uses.frozen |= keys
        for key in keys:
            self.uses.methods.setdefault(key, set()).add((name, count))
            for label in of_kind(everything, Is):
                self.uses.given_to.setdefault(label.key, set()).add((key, name))
            if name == "step" and count == 0 and self.uses.differentiated:
                if self._passed_back:
                    self.uses.first_steps.add(key)
                    self._passed_back = False
                if key not in self.uses.steps:
                    self.uses.steps.append(key)
        if name == "backward":
            self._passed_back = True
            if self._without_gradients:
                # A backward pass inside of no_grad() says what is meant to have a graph there.
                for source, led in self._led_without:
                    self.uses.leads.setdefault(source, set()).add(led)
            for result in of_kind((receiver | everything) if not keys else everything, Result):
                if not result.cut or self._without_gradients:
                    self.uses.differentiated.add(result.key)
                for key in keys:
                    self.uses.starts.setdefault(key, set()).add(result.key)
        if is_name(function.value, "itertools", "tqdm") and name in _SEEN_THROUGH:
            return everything
        if not keys:
            self._given_to_library(function, given)
            if not receiver:
                self._compared(everything, count)
        if keys and name in _PARAMETERS:
            return frozenset(Weights(key) for key in keys) | _derived(receiver)
        kept = _derived(receiver) | _derived(everything)
        kept = _without_graph(kept) if name in _DETACH else kept
        # `model.to(device)` is the model, `loader.items()` goes through the loaders.
        return kept | (receiver if name in _GIVE_THEMSELVES else NOTHING)

    def _inlined(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        args: list[Labels],
        keywords: dict[str | None, Labels],
        method: bool,
    ) -> Labels:
        """A function of the file, run with the labels of its arguments."""
        if function in self._stack or len(self._stack) > MAX_INLINED:
            return NOTHING
        names = [part.arg for part in by_position(function.args)]
        static = any(ast.unparse(part) == "staticmethod" for part in function.decorator_list)
        receiver = names.pop(0) if method and names and not static else None
        bound = dict(zip(names, args)) | {name: value for name, value in keywords.items() if name is not None}
        return self._run(function, bound, receiver)


def _derived(labels: Labels) -> Labels:
    """The labels of what is computed from values with these."""
    return frozenset(label for label in labels if not isinstance(label, Is))


def _without_graph(labels: Labels) -> Labels:
    return frozenset(Result(label.key, True) if isinstance(label, Result) else label for label in labels)


def _turns_gradients_off(node: ast.expr) -> bool:
    """``torch.no_grad()``, as a context or a decorator."""
    if called(node) == "set_grad_enabled" and isinstance(node, ast.Call):
        return is_literal(argument_of(node, 0, "mode"), False)
    return (called(node) or last_word(node)) in _WITHOUT_GRADIENTS


def parameter_key(function: str, name: str) -> Key:
    """The key of a parameter of a method: others have parameters of the same name."""
    return f"{function}({name})"


def shown_key(key: Key) -> str:
    """A key as it is written in the text."""
    return key.partition("(")[2].removesuffix(")") or key


def kept_as(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Key]:
    """The attributes that a method keeps its parameters as: ``self.net = net.to(device)``."""
    found: dict[str, Key] = {}
    receiver = next((part.arg for part in by_position(function.args)), None)
    for statement in function.body:
        for target, value in assigned_pairs(statement) if isinstance(statement, ast.Assign) else ():
            while is_method_call(value, *_STAYS):
                value = value.func.value
            if is_dotted(target, receiver) and isinstance(value, ast.Name):
                found.setdefault(value.id, f"self.{target.attr}")
    return found


def _prepared(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """The targets and arguments of ``model, optimizer = accelerator.prepare(model, optimizer)``: each is what it was before."""
    call = statement.value
    if not is_method_call(call, *PREPARE):
        return []
    target = statement.targets[0]
    targets = parts_of_tuple(target)
    plain = not call.keywords and not is_spread((*call.args, *targets))
    return list(zip(targets, call.args)) if plain and len(targets) == len(call.args) else []


__all__ = [
    "PREPARE",
    "Functions",
    "Is",
    "Item",
    "Key",
    "Labels",
    "Reader",
    "Result",
    "Uses",
    "kept_as",
    "parameter_key",
    "shown_key",
]
