"""Models of torchvision, timm and transformers, where these are installed: what was built, and what was changed since."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeGuard

from torchsleuth.interp import misuse, misuses
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, tokenizers
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.models import Model, models
from torchsleuth.interp.models import method as modelled
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.spec import Answers, Failure, ModuleSpec, NotASpec, PartAnswer, PartCall, PartSpec, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Built,
    Image,
    LibraryModule,
    LibraryObject,
    Record,
    Tensor,
    Value,
    is_module,
    is_plain,
    is_unknown,
    shape_of,
)
from torchsleuth.values.frames import Frame

PACKAGES = ("torchvision.models.", "timm.", "transformers.")
FEATURE_INFO = "timm.models.FeatureInfo"
"""The facts that timm's models tell of the maps of features that they give."""
MAX_CALLS = 64
"""Calls of replaced parts in one call of a model."""
_FORWARDS = ("forward_", "get_image_features", "get_text_features")
_CHANGES_VALUES = frozenset({"update_parameters", "gradient_checkpointing_enable"})
"""Methods that leave the parts and their sizes as they are."""
_MAKES_NO_DIFFERENCE = frozenset({"progress"})


@models(*(f"{package}*" for package in PACKAGES if package != "transformers."))
def build(interp: Interpreter, call: Arguments) -> Value:
    """A model and all its parts as modules; unknown where the package is not installed, or does not say."""
    path = call.path
    if path.startswith("transformers.") and path.endswith("Config") and call.exact:
        return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if path.startswith("transformers.") and tokenizers.makes(path):
        return tokenizers.made(interp, call)
    package = interp.oracle.package_of(path) if call.exact else None
    if package is None or call.given(0, "model_name") in interp.own_models:
        return UNKNOWN
    try:
        args = tuple(interp.to_spec(value) for value in call.args)
        kwargs = {name: interp.to_spec(value) for name, value in call.kwargs.items()}
    except NotASpec:
        return UNKNOWN
    given = tuple(sorted((name, value) for name, value in kwargs.items() if name not in _MAKES_NO_DIFFERENCE))
    recipe = ModuleSpec(path, args, given, package=package)
    verdict = interp.oracle.construct(recipe)
    if isinstance(verdict, Failure) and not interp.own_models:
        interp.report(interp.operation(path, call.args, call.kwargs, call.node, call.frame, None), verdict)
    if verdict is not None:
        return UNKNOWN
    _looks_ahead(interp, call)
    parts: dict[str, LibraryModule] = {}
    below: dict[str, list[tuple[str, Value]]] = {}
    tree = interp.oracle.tree(recipe)
    for part in tree:
        owner, _, own = part.name.rpartition(".")
        site = None if part.name else interp.site(call.node, call.frame)
        made = LibraryModule(part.path, (), dict(part.settings), site)
        parts[part.name], below[part.name] = made, []
        if part.name:
            made.name = f"{parts[''].type_name}.{part.name}"
            below[owner].append((own, made))
    for part in tree:
        made, inner = parts[part.name], below[part.name]
        made.built = Built(recipe, part.name, frozenset(name for name, _ in inner), part.has_parameters)
        if inner:
            made.slots["children"] = tuple(inner)
    return parts[""]


_NEXT, _MASKED = ("LMHeadModel", "ForCausalLM"), "ForMaskedLM"
"""Ends of the names of models that predict the next token, and of their sisters which predict masked ones."""


def _looks_ahead(interp: Interpreter, call: Arguments) -> None:
    """Record a model that predicts the next token, and whose configuration leaves it an encoder."""
    end = next((end for end in _NEXT if call.path.endswith(end)), None)
    config = call.given(0, "config")
    if end is None or not is_configuration(config) or config.slots:
        return
    if interp.oracle.package_of(call.path.removesuffix(end) + _MASKED) is None:
        return
    with contextlib.suppress(LookupError, NotASpec):
        if interp.oracle.setting(interp.to_spec(config), "is_decoder") is False:
            name, site = call.path.rpartition(".")[2], interp.site(call.node, call.frame)
            misuse.report(interp, Misuse(misuses.SEES_AHEAD, site, name, config.site))


@models("transformers.*")
class Configuration(Model):
    """A configuration of transformers, or another object of its."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return build(interp, call)

    def get(self, node: ast.AST, frame: Frame) -> Value:
        owner = self.value
        if self.name in (*owner.slots, *self.methods) or not is_configuration(owner) or owner.site is None:
            return super().get(node, frame)
        if self.name in owner.kwargs:
            return owner.kwargs[self.name]
        found = self._setting(self.name)
        return super().get(node, frame) if is_unknown(found) else found

    @modelled("to_dict")
    def settings(self, call: Arguments) -> Value:
        return self._setting("to_dict") if is_configuration(self.value) else self.other(call)

    def _setting(self, name: str) -> Value:
        """The value that the installed package has in a configuration that nothing has changed."""
        interp = self.interp
        try:
            recipe = interp.to_spec(self.value)
            return interp.from_spec(interp.oracle.setting(recipe, name), Tensor)
        except (LookupError, NotASpec):
            return UNKNOWN


def is_configuration(value: Value) -> TypeGuard[LibraryObject]:
    """Whether a value is a configuration of transformers, of which models are built."""
    if not isinstance(value, LibraryObject) or value.path == tokenizers.TOKENIZER:
        return False
    return value.path.startswith("transformers.") and value.path.endswith("Config")


def recipe(interp: Interpreter, module: LibraryModule, answers: dict[str, list[Any]] | None = None) -> ModuleSpec:
    """The recipe of a part of a model; with `answers`, which are added for the parts that were replaced, as it is to be
    called. Raises NotASpec if that depends on something unknown."""
    built = module.built
    assert built is not None
    changes: tuple[tuple[str, Any], ...] = ()
    if answers is not None:
        changes = tuple((name, _change(interp, name, value, answers)) for name, value in changed(module))
    return replace(
        built.model,
        part=built.part,
        training=module.slots["training"] is not False,
        dtype=module.slots["dtype"],
        requires_grad=module.slots["requires_grad"] is not False,
        changes=changes,
    )


def _change(interp: Interpreter, name: str, value: Value, answers: dict[str, list[Any]]) -> Any:
    if is_module(value):
        return Answers(tuple(answers.setdefault(name, [])))
    return interp.to_spec(value)


def changed(module: LibraryModule, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Attributes and parts of a model that are not as they were built, by their dotted names, and parts that have hooks,
    which are to see the call. Raises NotASpec."""
    built = module.built
    assert built is not None
    for name, value in module.slots["attributes"].items():
        if name not in built.names and is_plain(value):
            yield f"{prefix}{name}", value
        else:
            raise NotASpec("an attribute that is not plain")
    if is_unknown(module.slots["children"]) or module.broken:
        raise NotASpec("a model that was changed in an unknown way")
    present = dict(module.children or ())
    if not built.names <= present.keys():
        raise NotASpec("a part of the model is missing")
    for name, value in present.items():
        path = f"{built.part}.{name}".lstrip(".")
        part = value.built if isinstance(value, LibraryModule) else None
        own = part is not None and part.is_part(built.model, path)
        if own and isinstance(value, LibraryModule) and not value.slots.get("hooks"):
            yield from changed(value, f"{prefix}{name}.")
        elif name in built.names:
            if not is_module(value):
                raise NotASpec("a part that is not known")
            yield f"{prefix}{name}", value


def run(interp: Interpreter, module: LibraryModule, call: Arguments, method: str = "forward") -> Value:
    """A call of a model, or of a part of it. Parts that were replaced are called as what they are now, and so is a part
    whose call fails, which then says what is wrong."""

    def described() -> Operation:
        return interp.operation(module.path, call.args, call.kwargs, call.node, call.frame, module, call.written)

    call = replace(call, args=tuple(_as_tensor(interp, value) for value in call.args))
    operation = described()
    interp.trace.operations.append(operation)
    answers: dict[str, list[Any]] = {}
    values: dict[str, list[Value]] = {"": list(call.args)}

    def same(value: Value) -> Value:
        return values[value.part][value.index] if isinstance(value, PartAnswer) else value

    forget_dtype = False
    for _ in range(MAX_CALLS):
        try:
            target = replace(recipe(interp, module, answers), method=method)
        except NotASpec:
            break
        value = interp.apply_built(operation, target, forget_dtype)
        if not isinstance(value, PartCall):
            value = same(value)
            _note_classes(interp, operation, value)
            if interp.tape is not None:
                interp.tape.operation(interp, operation, target, value)
            return value
        args, kwargs = tuple(map(same, value.args)), {name: same(item) for name, item in value.kwargs}
        written = call.written and not kwargs and args == call.args
        asked = replace(call, args=args, kwargs=kwargs, written=written)
        with contextlib.nullcontext() if interp.tape is None else interp.tape.aside():
            result = interp.call(_part(module, value.part), asked)
        if value.part not in answers:
            before, operation = operation, described()
            if operation.specs == before.specs:
                break
            continue  # It works with the sizes that it has asked for.
        dtypes = [tensor.spec.dtype for tensor in hierarchy.tensors_in(result)]
        forget_dtype = forget_dtype or None in dtypes
        try:
            with interp.assuming("float32"):
                answer = interp.to_spec(result)
        except NotASpec:
            break
        answers[value.part].append(answer)
        values.setdefault(value.part, []).append(result)
    interp.escape((*call.args, *call.kwargs.values()))
    return UNKNOWN


def _note_classes(interp: Interpreter, operation: Operation, value: Value) -> None:
    """Note the classes of a model's scores that it compares with one label for each of them."""
    scores = (value.items or {}).get("logits") if isinstance(value, Record) else None
    sizes, labels = shape_of(scores), shape_of(operation.kwargs.get("labels"))
    if sizes and labels is not None and len(sizes) == len(labels) + 1 and isinstance(sizes[-1], int):
        interp.trace.classes[operation.site.span] = sizes[-1]


def _as_tensor(interp: Interpreter, value: Value) -> Value:
    """A picture as the tensor that a model's transforms make of it first."""
    if not isinstance(value, Image):
        return value
    sizes = tuple(interp.fresh_size("?") if size is None else size for size in (value.height, value.width))
    return Tensor(TensorSpec((value.channels or 3, *sizes), "uint8", CPU, False))


def _part(module: LibraryModule, name: str) -> Value:
    value: Value = module
    for key in name.split("."):
        value = dict(value.children or ()).get(key, UNKNOWN) if isinstance(value, LibraryModule) else UNKNOWN
    return value


def attribute(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    """An attribute that the package gave a model: plain, a parameter, a part by another name, or else bound to it."""
    if name == "feature_info":
        return LibraryObject(FEATURE_INFO, (module,), {}, None)
    value = hierarchy.parameter(interp, module, name)
    if isinstance(value, ModuleSpec):
        built = module.built
        below = f"{built.part}." if built is not None and built.part else ""
        return _part(module, value.part.removeprefix(below)) if value.part.startswith(below) else UNKNOWN
    return Bound(module, name) if is_unknown(value) else value


def _classifier(interp: Interpreter, model: LibraryModule, classes: int) -> PartSpec | None:
    """The layer of a timm model that a model of so many classes has otherwise, as it is there."""
    built = model.built
    if built is None or built.part:
        return None
    asked = {**dict(built.model.kwargs), "num_classes": classes}
    other = replace(built.model, kwargs=tuple(sorted(asked.items())))
    if interp.oracle.construct(other) is not None:
        return None
    before, after = ({one.name: one for one in interp.oracle.tree(one)} for one in (built.model, other))
    new = [one for name, one in after.items() if before.get(name) != one and one.path.startswith("torch.nn.")]
    return new[0] if before.keys() == after.keys() and len(new) == 1 else None


def _get_classifier(interp: Interpreter, model: LibraryModule, call: Arguments) -> Value:
    built = model.built
    classes = as_kind(dict(built.model.kwargs).get("num_classes", 1000), int) if built is not None else None
    layer = _classifier(interp, model, classes + 1) if classes else None
    return _part(model, layer.name) if layer is not None else UNKNOWN


def _reset_classifier(interp: Interpreter, model: LibraryModule, call: Arguments) -> bool:
    """A timm model gets a new classifier. Whether it is known."""
    classes = interp.resolved(call.given(0, "num_classes"))
    if not isinstance(classes, int) or len(call.args) + len(call.kwargs) > 1:
        return False
    layer = _classifier(interp, model, classes)
    if layer is None:
        return False
    owner, _, name = layer.name.rpartition(".")
    made = LibraryModule(layer.path, (), dict(layer.settings), interp.site(call.node, call.frame))
    interp.set_attribute(_part(model, owner) if owner else model, name, made, call.node, call.frame)
    return True


def method(interp: Interpreter, module: LibraryModule, name: str, call: Arguments) -> Value:
    """A method of the model's own: one that computes, or one that may change the model."""
    if name.startswith(_FORWARDS) and call.exact:
        return run(interp, module, call, name)
    if name == "get_classifier" and not is_unknown(layer := _get_classifier(interp, module, call)):
        return layer
    if name == "reset_classifier" and _reset_classifier(interp, module, call):
        return None
    if name not in _CHANGES_VALUES:
        interp.heap.set(module.slots, "children", UNKNOWN)
    return UNKNOWN
