"""Names of one's own that nothing binds: attributes that nothing assigns, variables that are attributes."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache

from torchsleuth.interp import exceptions, misuses
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.library.frameworks import is_ours
from torchsleuth.interp.misuse import is_certain, report
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.private import mangled
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    is_attribute,
    is_name,
    is_read,
    is_reference,
    is_text,
    last_word,
    loads,
    nodes_in,
    stores,
)
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import Index, captured, index
from torchsleuth.tensors.spec import Native, plain_name
from torchsleuth.values import (
    ClassValue,
    Function,
    Globals,
    Instance,
    LibraryModule,
    LibraryObject,
    Record,
    Value,
    Wrapped,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_KNOWN_BASES = frozenset(
    "torch.nn.Module torch.utils.data.Dataset torch.utils.data.IterableDataset typing.Generic abc.ABC builtins.object".split()
)
"""Bases outside of the user's code that give an instance nothing but what their classes show."""
_NAMING = frozenset("setattr add_module register_module register_buffer register_parameter __setattr__".split())
"""Functions that set an attribute whose name they are given."""
_OPENING = frozenset("__dict__ exec eval vars globals locals __setstate__ __setattr__ __getattribute__".split())
"""Names of what gives an object any attributes, and a module any names; as attributes those with underscores: `model.eval()`
gives nothing."""
_HARMLESS = frozenset(
    "numpy pandas scipy sklearn matplotlib seaborn plotly PIL cv2 skimage imageio tqdm yaml requests h5py nltk gym gymnasium "
    "torchvision torchaudio torchtext torchmetrics torchinfo torchsummary tensorboard tensorboardX wandb mlflow einops timm "
    "transformers datasets tokenizers albumentations networkx accelerate safetensors".split()
)
"""Packages that give the classes of torch nothing."""
_ALIKE, _MUCH_ALIKE = 0.6, 0.75
"""How much of a name has to be the same, at least, for it to be a slip for another: of what an object has from its author, and
of what it has from the library."""
_SIZED = ("torch.nn.Linear", "torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.Embedding")
"""Layers whose sizes are read: another layer is taken for one of them."""
_SEEN_THROUGH = (
    "torch.nn.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.optim.swa_utils.AveragedModel",
)
"""Wrappers that stand for the module in them: an attribute may be one of theirs."""
_SHORT = 200
"""Characters of texts that may be names; longer ones are prose."""
_KEPT = 1024
"""Files of which this is kept: as many as a large package has, all of which are asked."""


@dataclass(frozen=True)
class _Written:
    """The mentions of attributes in a file. `stored`: names that something may make attributes of (it assigns them, passes them as
    keywords, or has them as texts); `own`: those that a class gives to ``self``, or defines, by the names of both. `read`: those
    that are read. `assigned`, `keywords`: those of the stored that are set as attributes, or passed by name. `dynamic`: others may be made that are not written there."""

    stored: frozenset[str]
    assigned: frozenset[str]
    keywords: frozenset[str]
    own: frozenset[tuple[str, str]]
    read: frozenset[str]
    dynamic: bool

    def may_give(self, name: str, classes: frozenset[str] | None) -> bool:
        """Whether an object of these classes (None: of any) may get an attribute."""
        if self.dynamic or name in self.stored:
            return True
        return any(name == one and (classes is None or cls in classes) for cls, one in self.own)


@lru_cache(maxsize=_KEPT)
def _written(text: str) -> _Written:
    source = SourceText("", text)
    found = index(parse(source))
    stored: set[str] = set()
    assigned: set[str] = set()
    keywords: set[str] = set()
    own: set[tuple[str, str]] = set()
    read: set[str] = set()
    dynamic = bool(source.blanked)
    for node in found.nodes:
        match node:
            case ast.Attribute():
                dynamic = dynamic or (node.attr in _OPENING and node.attr.startswith("__"))
                if loads(node):
                    read.add(node.attr)
                elif is_name(node.value, "self") and (cls := _class_around(found, node)):
                    own.update(((cls, node.attr), (cls, mangled(node.attr, cls))))
                else:
                    stored.add(node.attr)
                    assigned.add(node.attr)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if cls := _class_around(found, node):
                    own.update(((cls, node.name), (cls, mangled(node.name, cls))))
            case ast.keyword() if node.arg is not None:
                stored.add(node.arg)
                keywords.add(node.arg)
            case _ if is_text(node) and len(node.value) < _SHORT:
                stored.update(node.value.replace(",", " ").split())
            case ast.AnnAssign() if isinstance(node.target, ast.Name):
                stored.add(node.target.id)
            case ast.Name():
                dynamic = dynamic or node.id in _OPENING
            case ast.Call():
                called = last_word(node.func)
                named = [part for part in node.args[:2] if is_text(part)]
                dynamic = dynamic or (called in _NAMING and not named)
    return _Written(
        frozenset(stored), frozenset(assigned), frozenset(keywords), frozenset(own), frozenset(read), dynamic
    )


def _class_around(found: Index, node: ast.AST) -> str:
    """The name of the class whose method a node stands in, or that it stands in itself; empty where that is not told: a
    function inside of a method may become a method of another class."""
    functions = 0
    while node in found.parents:
        node = found.parents[node]
        functions += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.ClassDef):
            return node.name if functions < 2 else ""
    return ""


@lru_cache(maxsize=_KEPT)
def _bound(text: str) -> frozenset[str] | None:
    """The names that something in a file binds, wherever; None where they may be any."""
    source = SourceText("", text)
    found: set[str] = set()
    for node in index(parse(source)).nodes:
        match node:
            case ast.Name():
                if node.id in _OPENING:
                    return None
                if not loads(node):
                    found.add(node.id)
            case ast.alias():
                if node.name == "*":
                    return None
                found.add(node.asname or node.name.partition(".")[0])
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.arg():
                found.add(node.arg)
            case ast.Global() | ast.Nonlocal():
                found.update(node.names)
            case _ if (name := captured(node)) is not None:
                found.add(name)
    return None if source.blanked else frozenset(found)


_ELSEWHERE = frozenset({"get_ipython", "display", "In", "Out"})
"""Names that a notebook has of itself."""


def is_unbound(name: str, frame: Frame) -> bool:
    """Whether a name of the main document is certain to mean nothing."""
    if name.startswith("__") or name in _ELSEWHERE or hasattr(builtins, name) or isinstance(frame.globals, Globals):
        return False
    if any(name in names for names in (frame.names, *frame.closure, frame.globals)):
        return False
    return not _gets_names(frame.source.text)


@lru_cache(maxsize=_KEPT)
def _gets_names(text: str) -> bool:
    """Whether something in a file may give it names that are not written there."""
    source = SourceText("", text)
    found = index(parse(source))
    for node in found.nodes:
        if isinstance(node, ast.alias) and node.name == "*":
            return True
        if isinstance(node, ast.Name) and node.id in ("exec", "eval"):
            return True
        if isinstance(node, ast.Name) and node.id in ("globals", "vars", "locals"):
            around = found.parents.get(found.parents.get(node, node))
            if not isinstance(around, ast.Compare) and not (isinstance(around, ast.Subscript) and loads(around)):
                return True
    return bool(source.blanked)


def is_not_yet_local(name: str, frame: Frame) -> bool:
    """Whether a name is a local variable of the function that nothing has bound so far."""
    function = frame.function
    if function is None or name in frame.names or frame.around is not None or isinstance(function.node, ast.Lambda):
        return False
    if name in frame.global_names or name in frame.nonlocal_names or not frame.source.text:
        return False
    return name in _locals(function.node) and not frame.source.blanked


@lru_cache(maxsize=_KEPT)
def _locals(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The local variables of a function."""
    found: set[str] = set()
    shared: set[str] = set()
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        match part:
            case ast.Global() | ast.Nonlocal():
                shared.update(part.names)
            case ast.Name() if stores(part):
                found.add(part.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(part.name)
                continue
            case ast.alias():
                found.add(part.asname or part.name.partition(".")[0])
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                found.update(one.target.id for one in nodes_in(part, ast.NamedExpr))
                continue
            case _ if (name := captured(part)) is not None:
                found.add(name)
        pending.extend(ast.iter_child_nodes(part))
    return frozenset(found - shared - {"*"})


def attribute(interp: Interpreter, owner: Instance, name: str, node: ast.AST, frame: Frame) -> None:
    """``self.name`` of an object that has no such attribute, and that nothing gives one."""
    if not isinstance(node, ast.Attribute) or node.attr.startswith("__") or not _is_closed(interp, owner):
        return
    if interp.is_inferring() or not is_certain(interp, frame) or owner.state.get("wrapped"):
        return
    texts = {source.text for source in (frame.source, *interp.workspace.read)}
    written = [_written(text) for text in texts]
    open_to_others = bool(interp.entry or interp.trace.escaped)
    classes = None if open_to_others else frozenset(base.name for base in of_kind(owner.cls.mro(), ClassValue))
    of_bases = frozenset[str]().union(
        *(interp.oracle.attributes(base.path) for base in of_kind(owner.cls.mro(), Native)),
        *(interp.oracle.attributes(path) for path in _SEEN_THROUGH if owner.is_module),
    )
    if name in of_bases or any(one.may_give(name, classes) for one in written):
        return
    near = _near(owner, name) or tuple(difflib.get_close_matches(name, _public(of_bases), 1, _MUCH_ALIKE))
    of_tensors = name in interp.oracle.attributes("torch.Tensor")
    if open_to_others:
        # Code that is not known may give it attributes. What it has itself, and nobody reads, is what was meant.
        near = tuple(one for one in near if one in owner.slots and not any(one in file.read for file in written))
        unused = all(stores(one) for one in locals_of(owner.cls).get(name, ()))
        if not near and (name not in locals_of(owner.cls) or not unused):
            return
    if near or of_tensors or name in locals_of(owner.cls) or not (owner.is_module and _is_patched(interp)):
        report(interp, Misuse(misuses.UNSET, interp.site(node, frame), (owner, name, near, of_tensors)))


def of_wrapper(interp: Interpreter, owner: Wrapped, name: str, node: ast.AST, frame: Frame) -> None:
    """``model.fc`` of a DataParallel, whose module has it."""
    inner = owner.inner
    if isinstance(inner, Instance):
        given = name in inner.slots or interp.class_attribute(inner.cls, name) is not MISSING
    else:
        given = any(name == one for one, _ in inner.children or ())
    if not given or not is_read(node) or not is_certain(interp, frame) or name.startswith("_"):
        return
    if name in interp.oracle.attributes(owner.path) or name in interp.oracle.attributes("torch.nn.Module"):
        return
    if not any(_written(source.text).may_give(name, frozenset()) for source in (frame.source, *interp.workspace.read)):
        report(interp, Misuse(misuses.WRAPPED, interp.site(node, frame), (owner, name)))


def never_wrapped(interp: Interpreter, owner: Instance, name: str, node: ast.AST, frame: Frame) -> None:
    """``model.module`` of a model that nothing puts into another one."""
    from torchsleuth.interp.library import states

    if not is_read(node) or not _is_closed(interp, owner) or owner.state.get("wrapped") or interp.entry:
        return
    if owner.identity in interp.trace.escaped or not is_certain(interp, frame) or states.has_renamed(interp):
        return
    texts = {source.text for source in (frame.source, *interp.workspace.read)}
    if not any(_written(text).may_give(name, None) or _mentions(text) & states.RENAMES for text in texts):
        report(interp, Misuse(misuses.NEVER_WRAPPED, interp.site(node, frame), (owner, name)))


@lru_cache(maxsize=_KEPT)
def _mentions(text: str) -> frozenset[str]:
    """The names and attributes that a file speaks of."""
    found: set[str] = set()
    for node in index(parse(SourceText("", text))).nodes:
        if is_reference(node):
            found.add(last_word(node))
        elif isinstance(node, ast.alias):
            found.add(node.name.rpartition(".")[2])
    return frozenset(found)


_SIZES = {
    **dict.fromkeys(("Linear", "Bilinear"), frozenset({"in_features", "out_features"})),
    **dict.fromkeys(
        (f"Conv{kind}{count}d" for kind in ("", "Transpose") for count in (1, 2, 3)),
        frozenset({"in_channels", "out_channels", "kernel_size"}),
    ),
    "Embedding": frozenset({"num_embeddings", "embedding_dim"}),
}
"""Attributes of layers that tell the sizes of their weights, and that nothing is computed with."""


def size_of_layer(
    interp: Interpreter, owner: LibraryModule, name: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """``layer.out_features = 5``, which leaves its weights as they are."""
    given = interp.resolved(value)
    if (
        name not in _SIZES.get(owner.type_name, ())
        or not owner.path.startswith("torch.nn.")
        or not isinstance(given, int)
    ):
        return
    before = interp.resolved(interp.attribute(owner, name, node, frame))
    if isinstance(before, int) and before != given:
        report(interp, Misuse(misuses.SIZE_SET, interp.site(node, frame), (owner, name)))


def option_of_optimizer(interp: Interpreter, owner: LibraryObject, name: str, node: ast.AST, frame: Frame) -> None:
    """``optimizer.lr = 0.01``: what trains reads its options from its groups."""
    plain = owner.path.startswith("torch.optim.") and ".lr_scheduler." not in owner.path
    options = (interp.oracle.signature(owner.path) or ())[1:] if plain else ()
    if any(name == option.name for option in options) and isinstance(node, ast.Attribute):
        report(interp, Misuse(misuses.OPTION_SET, interp.site(node, frame), (owner, name)))


def of_namespace(interp: Interpreter, owner: LibraryObject, name: str, node: ast.AST, frame: Frame) -> None:
    """``args.batchsize`` of options that have a ``batch_size``."""
    if not is_read(node) or interp.entry or interp.trace.escaped or not is_certain(interp, frame):
        return
    near = _options_meant(name, of_kind(owner.slots, str))
    written = [_written(one.text) for one in (frame.source, *interp.workspace.read)]
    if near and not any(
        one.may_give(name, frozenset()) and (name in one.assigned or name not in one.keywords) for one in written
    ):
        report(interp, Misuse(misuses.LACKING, interp.site(node, frame), (owner, name, near, False)))


def _options_meant(name: str, options: list[str]) -> tuple[str, ...]:
    """The options that a name is meant for: written otherwise, cut down to its initials or to one of its words, or with a slip."""
    words = {option: option.lower().split("_") for option in options}
    own = name.lower().split("_")
    ways = (
        [option for option in options if plain_name(option) == plain_name(name)],
        [option for option, parts in words.items() if "".join(part[:1] for part in parts) == name.lower()],
        [option for option, parts in words.items() if set(own) < set(parts) or set(parts) < set(own)],
        difflib.get_close_matches(name, options, 1, _MUCH_ALIKE),
    )
    return tuple(next((found for found in ways if found), ()))


def of_library(
    interp: Interpreter, owner: LibraryModule | LibraryObject, name: str, node: ast.AST, frame: Frame
) -> None:
    """``optimizer.zerograd()``, ``loader.shape``: an attribute that an object of the library has not."""
    from torchsleuth.interp.library import data, states

    if isinstance(owner, LibraryObject) and owner.site is None:
        return  # it stands for one of a class that is not known
    if owner.path == data.LOADER and name == "next":
        return  # that is said of its iterators, too, in one place
    known = frozenset(dir(OrderedDict)) if owner.path == hierarchy.STATE else interp.oracle.attributes(owner.path)
    if not known or name in known or name.startswith("_") or not isinstance(node, ast.Attribute):
        return
    if owner.slots.get("wrapped") or owner.slots.get("asked"):
        return
    if isinstance(owner, LibraryModule) and (owner.broken or not _knows_children(owner) or states.has_renamed(interp)):
        return
    if name in owner.slots or owner.identity in interp.trace.escaped or not is_certain(interp, frame):
        return
    written = [_written(source.text) for source in (frame.source, *interp.workspace.read)]
    if any(one.may_give(name, None) and (name in one.assigned or name not in one.keywords) for one in written):
        # Where the program goes on, it is there, and so may be others.
        interp.heap.set(owner.slots, "asked", True)
        return
    near = difflib.get_close_matches(name, _public(known), 2, _MUCH_ALIKE)
    of_tensors = name in interp.oracle.attributes("torch.Tensor")
    taken = isinstance(owner, LibraryModule) and any(name in interp.oracle.attributes(path) for path in _SIZED)
    if near or of_tensors or taken or not (interp.entry or interp.trace.escaped or _is_patched(interp)):
        report(interp, Misuse(misuses.LACKING, interp.site(node, frame), (owner, name, tuple(near), of_tensors)))
        exceptions.throw(interp, exceptions.made("builtins.AttributeError", (name,)))


def left_empty(interp: Interpreter, owner: Record, name: str, node: ast.AST, frame: Frame) -> None:
    """``outputs.hidden_states`` of a model that was not asked for them: None."""
    if owner.items is not None and is_certain(interp, frame):
        interp.trace.left_empty[frame.source.span(node)] = owner


def of_record(interp: Interpreter, owner: Record, name: str, node: ast.AST, frame: Frame) -> None:
    """``outputs.pooler_output`` of a model whose result has nothing of this name."""
    near = difflib.get_close_matches(name, owner.items or (), 2, _MUCH_ALIKE)
    if is_certain(interp, frame) and is_read(node):
        report(interp, Misuse(misuses.OF_RECORD, interp.site(node, frame), (owner, name, tuple(near))))


def _knows_children(module: LibraryModule) -> bool:
    """Whether the names of a module's parts are known: one that is not may be a dict of them."""
    children = module.slots["children"]
    return not is_unknown(children) and not any(is_unknown(part) for _, part in module.children or ())


def name(interp: Interpreter, node: ast.Name, frame: Frame) -> None:
    """``fc1(x)`` in a method, where nothing binds `fc1` and the object has such an attribute."""
    owner = as_kind(frame.receiver, Instance)
    if owner is None or not loads(node) or hasattr(builtins, node.id):
        return
    if node.id not in owner.slots and not isinstance(interp.class_attribute(owner.cls, node.id), Function):
        return
    bound = _bound(frame.source.text)
    if bound is not None and node.id not in bound and is_certain(interp, frame):
        report(interp, Misuse(misuses.SELFLESS, interp.site(node, frame), owner))


def not_bound(interp: Interpreter, node: ast.Name, frame: Frame) -> None:
    """A name of the main document that nothing binds before this, and something else in it does. A script that binds it nowhere
    may get it from what runs the script."""
    if interp.entry or interp.guarded or interp.uncertain or not loads(node):
        return
    bound = _bound(frame.source.text)
    if bound is not None and node.id in bound and not interp.catching.at(interp.uncertain):
        report(interp, Misuse(misuses.UNBOUND, interp.site(node, frame), node.id))


def without_forward(interp: Interpreter, owner: Instance, node: ast.AST, frame: Frame) -> None:
    """A call of a module of one's own that has no ``forward``."""
    if "forward" in owner.slots or not _is_closed(interp, owner) or not is_certain(interp, frame):
        return
    if interp.entry or interp.trace.escaped:
        return
    sources = (frame.source, *interp.workspace.read)
    if not any(_sets_forward(source.text) for source in sources):
        report(interp, Misuse(misuses.FORWARDLESS, interp.site(node, frame), owner))


@lru_cache(maxsize=_KEPT)
def _sets_forward(text: str) -> bool:
    source = SourceText("", text)
    nodes = index(parse(source)).nodes
    stored = any(is_attribute(part, "forward") and not loads(part) for part in nodes)
    return stored or _written(text).dynamic


def _public(names: frozenset[str]) -> list[str]:
    return sorted(one for one in names if not one.startswith("_"))


def _is_patched(interp: Interpreter) -> bool:
    """Whether a package is imported that may give the classes of torch what they have not: ``model.npu()``."""
    return any(name.partition(".")[0] not in _HARMLESS for name, _ in interp.trace.missing)


def lacks(interp: Interpreter, owner: Instance, name: str) -> bool:
    """Whether a module has not got an attribute: all that has seen it is known, and has given it none."""
    seen = interp.is_inferring() or not (interp.entry or interp.trace.escaped)
    if not owner.is_module or not seen or name in owner.slots or not _is_closed(interp, owner):
        return False
    return not any(name in interp.oracle.attributes(base.path) for base in of_kind(owner.cls.mro(), Native))


def _is_closed(interp: Interpreter, owner: Instance) -> bool:
    """Whether all that an object has is known: its class and its bases are, and no code that is not known has seen it."""
    cls = owner.cls
    if cls.opaque or owner.state.get("open") or interp.guarded:
        return False
    for base in cls.mro():
        if isinstance(base, Native):
            if base.path not in _KNOWN_BASES:
                return False
        elif not _is_plain(base) or is_ours(base.path):
            return False  # what stands for a package's class has not all that the class has
    return not isinstance(owner.native, LibraryModule)


def _is_plain(cls: ClassValue) -> bool:
    """Whether nothing changes a class behind its back."""
    asked = ("__getattr__", "__getattribute__", "__new__", "__slots__", "__init_subclass__")
    return not (cls.node.decorator_list or cls.node.keywords or any(one in cls.slots for one in asked))


def _near(owner: Instance, name: str) -> tuple[str, ...]:
    """The attributes and methods of an object that a name may be a slip for, the likeliest first."""
    known = of_kind(owner.slots, str)
    for base in of_kind(owner.cls.mro(), ClassValue):
        known += [one for one in of_kind(base.slots, str) if not one.startswith("__")]
    same = [one for one in known if plain_name(one) == plain_name(name)]
    return tuple(dict.fromkeys((*same, *difflib.get_close_matches(name, known, 2, _ALIKE))))


def locals_of(cls: ClassValue) -> dict[str, list[ast.Name]]:
    """The local variables of a class's ``__init__``, with all the places where it speaks of them."""
    method = next((part for part in of_kind(cls.node.body, ast.FunctionDef) if part.name == "__init__"), None)
    found: dict[str, list[ast.Name]] = {}
    for part in nodes_in(method, ast.Name) if method is not None else ():
        found.setdefault(part.id, []).append(part)
    return {one: parts for one, parts in found.items() if any(stores(part) for part in parts)}
