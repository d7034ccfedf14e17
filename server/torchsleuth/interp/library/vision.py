"""Images: torchvision's datasets and transforms, and PIL, by what they do to sizes and types. Nothing is imported.

What each transform makes of an image, a tensor and an array, and what it refuses, was taken from torchvision 0.28;
tests/unit/test_data.py holds it to that where torchvision is installed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays, data
from torchsleuth.interp.models import Model, method, models, of_class
from torchsleuth.interp.models import attribute as marked
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import DType, TensorSpec
from torchsleuth.values import (
    SHARES,
    UNKNOWN,
    Array,
    Bound,
    DictValue,
    Image,
    LibraryObject,
    ListValue,
    Origin,
    Scalar,
    Tensor,
    Value,
    is_int,
    is_unknown,
    items_of,
    opened,
    origin_of,
)
from torchsleuth.values.frames import Frame

DATASETS = "torchvision.datasets."
TRANSFORMS = "torchvision.transforms."
Pictured = Image | Tensor | Array
Shape = tuple[Size | None, ...]


# -- datasets --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A published dataset. `lengths`: by the value of its split argument; `options`: its arguments in order."""

    channels: int
    size: int | None
    lengths: dict[Any, int]
    options: tuple[str, ...] = ("root", "train", "transform", "target_transform", "download")


_MNIST = {True: 60_000, False: 10_000}
_CIFAR = {True: 50_000, False: 10_000}
_SPLIT = ("root", "split", "transform", "target_transform", "download")
_FOLDER = ("root", "transform", "target_transform")
_KNOWN = {
    "MNIST": Known(1, 28, _MNIST),
    "FashionMNIST": Known(1, 28, _MNIST),
    "KMNIST": Known(1, 28, _MNIST),
    "USPS": Known(1, 16, {True: 7291, False: 2007}),
    "CIFAR10": Known(3, 32, _CIFAR),
    "CIFAR100": Known(3, 32, _CIFAR),
    "SVHN": Known(3, 32, {"train": 73_257, "test": 26_032, "extra": 531_131}, _SPLIT),
    "STL10": Known(
        3,
        96,
        {"train": 5000, "test": 8000, "unlabeled": 100_000, "train+unlabeled": 105_000},
        ("root", "split", "folds", "transform", "target_transform", "download"),
    ),
    "ImageFolder": Known(3, None, {}, _FOLDER),
    "ImageNet": Known(3, None, {"train": 1_281_167, "val": 50_000}, ("root", "split")),
    "Flowers102": Known(3, None, {"train": 1020, "val": 1020, "test": 6149}, _SPLIT),
    "Food101": Known(3, None, {"train": 75_750, "test": 25_250}, _SPLIT),
    "EuroSAT": Known(3, 64, {}, _FOLDER),
    "FakeData": Known(
        3, None, {}, ("size", "image_size", "num_classes", "transform", "target_transform", "random_offset")
    ),
}


def is_dataset(value: Value) -> bool:
    return isinstance(value, LibraryObject) and of_class(value.path) is PublishedDataset and value.type_name in _KNOWN


def option(dataset: LibraryObject, name: str, default: Value = None) -> Value:
    if name in dataset.slots:
        return dataset.slots[name]
    options = _KNOWN[dataset.type_name].options
    return dataset.given(options.index(name) if name in options else 99, name, default)


def length(interp: Interpreter, value: LibraryObject) -> Size | None:
    """How many samples a published dataset has."""
    if not is_dataset(value):
        return None
    if value.type_name == "FakeData":
        size = interp.resolved(option(value, "size", 1000))
        return size if is_int(size) else None
    known = _KNOWN[value.type_name]
    split = "train" if "train" in known.options else "split"
    chosen = as_kind(option(value, split, True if split == "train" else "train"), bool, str)
    return known.lengths.get(chosen) if chosen is not None else None


def sample(interp: Interpreter, dataset: LibraryObject, node: ast.AST, frame: Frame) -> Value:
    """The image and label of a published dataset, after its transforms; None for anything else."""
    if not is_dataset(dataset):
        return None
    known = _KNOWN[dataset.type_name]
    image: Value = Image(known.channels, known.size, known.size)
    if dataset.type_name == "FakeData":
        shape = as_kind(interp.resolved(option(dataset, "image_size", (3, 224, 224))), tuple, ListValue)
        items = interp.sequence(shape, node, frame) if shape is not None else None
        if items is None or len(items) != 3 or not all_are(items, int):
            return UNKNOWN
        image = Image(*items)
    label: Value = interp.fresh_size("label", positive=False)
    for name in ("transform", "target_transform"):
        function = option(dataset, name)
        if function is None:
            continue
        if name == "transform":
            image = apply(interp, function, image, node, frame)
        else:
            label = _called(interp, function, label, node, frame)
    return (image, label)


def attribute(interp: Interpreter, dataset: LibraryObject, name: str) -> Value:
    """``dataset.data``, ``dataset.targets`` and ``dataset.classes``, where the format is fixed."""
    kind, count = dataset.type_name, length(interp, dataset)
    size: Size = interp.fresh_size("N") if count is None else count
    if kind in ("MNIST", "FashionMNIST", "KMNIST"):
        if name in ("data", "train_data", "test_data"):
            return Tensor(TensorSpec((size, 28, 28), "uint8", CPU, False))
        if name in ("targets", "train_labels", "test_labels"):
            return Tensor(TensorSpec((size,), "int64", CPU, False))
    if kind in ("CIFAR10", "CIFAR100") and name == "data":
        return arrays.make((size, 32, 32, 3), "uint8")
    if name == "classes" and kind in ("MNIST", "FashionMNIST", "KMNIST", "CIFAR10", "CIFAR100"):
        return ListValue((Scalar("str"),) * (100 if kind == "CIFAR100" else 10))
    return UNKNOWN


# -- what a transform is given and makes -----------------------------------------------------------


def kind_of(value: Value) -> str | None:
    """image, tensor or array; None for anything else."""
    match value:
        case Image():
            return "image"
        case Tensor():
            return "tensor"
    return "array" if isinstance(value, Array) else None


def _extent(interp: Interpreter, value: Pictured) -> Shape:
    """Channels, height and width, as far as they are known."""
    if isinstance(value, Image):
        return (value.channels, value.height, value.width)
    shape = interp.resolved_spec(value.spec).shape
    if isinstance(value, Array):
        if shape is None or len(shape) not in (2, 3):
            return (None, None, None)
        return (1, *shape) if len(shape) == 2 else (shape[2], shape[0], shape[1])
    return (None, None, None) if shape is None or len(shape) < 3 else shape[-3:]


def _like(interp: Interpreter, value: Pictured, extent: Shape, dtype: str | None = "") -> Value:
    """The value with other channels, height and width; a tensor possibly with another dtype."""
    if isinstance(value, Image):
        channels, height, width = extent
        return Image(as_kind(channels, int), height, width)
    spec = interp.resolved_spec(value.spec)
    sizes = tuple(interp.fresh_size("?") if size is None else size for size in extent)
    batch = spec.shape[:-3] if spec.shape is not None and len(spec.shape) > 3 else ()
    known = spec.shape is not None and len(spec.shape) >= 3
    changed = spec.with_(shape=(*batch, *sizes) if known else None, strides=None, requires_grad=False)
    return Tensor(changed if dtype == "" else changed.with_(dtype=dtype), origin_of(value))


def _pair(interp: Interpreter, value: Value) -> tuple[Size, Size] | None:
    """A size argument: a number, or height and width."""
    value = interp.resolved(value)
    if is_int(value):
        return (value, value)
    items = items_of(value)
    if items is not None and len(items) == 2 and all(is_int(item) for item in items):
        return (items[0], items[1])
    if items is not None and len(items) == 1 and is_int(items[0]):
        return (items[0], items[0])
    return None


# -- the transforms --------------------------------------------------------------------------------

UNSCALED, NORMALIZED = "unscaled", "normalized"
"""Slots of a tensor: the transform that made floats of its bytes, and left them between 0 and 255; the one that normalised it."""
_MEASURES = frozenset({"Normalize", "ToDtype", "ConvertImageDtype"})
"""Transforms that give pixels another scale."""
_TENSOR_ONLY = frozenset({"Normalize", "ConvertImageDtype", "RandomErasing", "LinearTransformation"})
_SAME = frozenset(
    "RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomGrayscale RandomAffine RandomPerspective GaussianBlur "
    "RandomErasing AutoAugment RandAugment TrivialAugmentWide AugMix RandomEqualize RandomInvert RandomPosterize "
    "RandomSolarize RandomAdjustSharpness RandomAutocontrast RandomRotation ElasticTransform GaussianNoise "
    "RandomPhotometricDistort RandomChannelPermutation".split()
)
_WANTS_IMAGE = frozenset(
    "RandomCrop RandomResizedCrop RandomErasing RandomAffine RandomPerspective RandomGrayscale AutoAugment RandAugment "
    "TrivialAugmentWide AugMix".split()
)
"""Transforms of v2 that do not let an array pass unchanged."""
_CROPS = frozenset({"CenterCrop", "RandomResizedCrop", "RandomCrop"})
_REFUSED: dict[str, frozenset[str | None]] = {
    **dict.fromkeys((*_SAME, *_CROPS, "Resize", "Pad", "Grayscale", "FiveCrop"), frozenset({"array"})),
    **dict.fromkeys(_TENSOR_ONLY, frozenset({"image", "array"})),
    "ToTensor": frozenset({"tensor"}),
    "PILToTensor": frozenset({"tensor", "array"}),
    "ToPILImage": frozenset({"image"}),
}
"""The inputs that each transform raises for."""
_REFUSED_BY_V2: dict[str, frozenset[str | None]] = {
    **dict.fromkeys(_WANTS_IMAGE, frozenset({"array"})),
    "Normalize": frozenset({"image"}),
}
_WRAPPERS = frozenset({"Compose", "RandomApply", "RandomOrder", "RandomChoice", "Lambda", "Identity"})
_FUNCTIONAL = {
    "to_tensor": "ToTensor", "pil_to_tensor": "PILToTensor", "to_pil_image": "ToPILImage", "normalize": "Normalize",
    "resize": "Resize", "center_crop": "CenterCrop", "hflip": "RandomHorizontalFlip", "vflip": "RandomVerticalFlip",
    "convert_image_dtype": "ConvertImageDtype", "pad": "Pad", "to_grayscale": "Grayscale", "to_image": "ToImage",
    "to_dtype": "ToDtype", "rgb_to_grayscale": "Grayscale",
}  # fmt: skip


def is_transform(value: Value) -> TypeGuard[LibraryObject]:
    return isinstance(value, LibraryObject) and of_class(value.path) is Transform


def is_v2(transform: LibraryObject) -> bool:
    return ".v2." in transform.path


def parts(transform: Value) -> tuple[Value, ...] | None:
    """The transforms of a Compose, in order."""
    given = transform.given(0, "transforms") if isinstance(transform, LibraryObject) else None
    return items_of(given)


def apply(interp: Interpreter, transform: Value, value: Value, node: ast.AST, frame: Frame) -> Value:
    """The value that a transform, or any function, makes of one."""
    if not is_transform(transform):
        return _called(interp, transform, value, node, frame)
    name = transform.type_name
    if is_unknown(value):
        return UNKNOWN
    if name == "Compose":
        for part in parts(transform) or (UNKNOWN,):
            value = apply(interp, part, value, node, frame)
        return value
    if name in ("RandomApply", "RandomOrder", "RandomChoice"):
        return _any_of(interp, transform, value, node, frame)
    if name == "Lambda":
        return _called(interp, transform.given(0, "lambd", UNKNOWN), value, node, frame)
    if kind_of(value) is None or not isinstance(value, Image | Tensor | Array):
        return UNKNOWN
    if refuses(interp, transform, value):
        _fault(interp, "transform", transform, value, node, frame)
        return UNKNOWN
    wrong = channels_refused(interp, transform, value)
    if wrong is not None:
        _fault(interp, "channels", transform, value, node, frame, wrong)
        return UNKNOWN
    if is_v2(transform) and isinstance(value, Array) and name not in ("ToTensor", "ToImage", "ToPILImage"):
        return value
    if name == "Normalize" and isinstance(value, Tensor) and UNSCALED in value.slots:
        _fault(interp, "bytes", transform, value, node, frame, value.slots[UNSCALED])
    model = _MODELS.get(name)
    made = UNKNOWN if model is None else model(interp, transform, value)
    if isinstance(made, Tensor) and made is not value:
        made.origin = Origin(interp.site(node, frame), transform.path)
        if isinstance(value, Tensor) and name not in _MEASURES:
            made.slots.update({key: value.slots[key] for key in (UNSCALED, NORMALIZED) if key in value.slots})
    return made


def _called(interp: Interpreter, function: Value, value: Value, node: ast.AST, frame: Frame) -> Value:

    return interp.call(function, Arguments((value,), {}, node, frame))


def _any_of(interp: Interpreter, transform: LibraryObject, value: Value, node: ast.AST, frame: Frame) -> Value:
    """A random choice: what all the outcomes have in common."""
    results = [value] if transform.type_name == "RandomApply" else []
    current = value
    for part in parts(transform) or (UNKNOWN,):
        current = apply(interp, part, value if transform.type_name == "RandomChoice" else current, node, frame)
        if transform.type_name == "RandomChoice":
            results.append(current)
    return interp.any_of((*results, current))


def refuses(interp: Interpreter, transform: LibraryObject, value: Value) -> bool:
    """Whether the transform is known to raise for such a value because of its type."""
    name, kind = transform.type_name, kind_of(value)
    refused = (_REFUSED_BY_V2 if is_v2(transform) else _REFUSED).get(name, frozenset())
    return kind in refused or (name == "Normalize" and _integers(value))


def _integers(value: Value) -> bool:
    dtype = value.spec.dtype if isinstance(value, Tensor) else None
    return dtype is not None and not dtype.startswith(("float", "bfloat"))


def channels_refused(interp: Interpreter, transform: LibraryObject, value: Value) -> int | None:
    """For how many channels the statistics of a Normalize are, where it is known to raise for such a tensor."""
    if transform.type_name != "Normalize" or not isinstance(value, Tensor):
        return None
    given, channels = statistics(interp, transform), as_kind(_extent(interp, value)[0], int)
    if given is None or channels is None or given in (1, channels):
        return None
    return None if channels == 1 and is_v2(transform) else given


def statistics(interp: Interpreter, transform: LibraryObject) -> int | None:
    """How many channels the statistics of a Normalize are for."""
    counts = []
    for position, name in enumerate(("mean", "std")):
        value = transform.given(position, name, UNKNOWN)
        items = opened(value)
        match items:
            case int() | float() if not isinstance(items, bool):
                counts.append(1)
            case tuple():
                counts.append(len(items))
            case Tensor() | Array():
                shape = interp.resolved_spec(items.spec).shape
                counts.append(shape[0] if shape and isinstance(shape[0], int) else 0)
            case _:
                return None
    return max(counts) if 0 not in counts else None


def _fault(
    interp: Interpreter, kind: str, transform: LibraryObject, value: Value, node: ast.AST, frame: Frame, *more: Value
) -> None:
    key = (kind, id(transform))
    if not interp.guarded and key not in interp.failures_seen:
        interp.failures_seen.add(key)
        interp.trace.data.append(DataFault(kind, interp.site(node, frame), values=(transform, value, *more)))


# -- one model each --------------------------------------------------------------------------------


def _to_tensor(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    if isinstance(value, Tensor):
        return value
    dtype: str | None = "float32"
    if isinstance(value, Array):
        own = value.spec.dtype
        dtype = "float32" if own == "uint8" else own
    shape = tuple(interp.fresh_size("?") if size is None else size for size in _extent(interp, value))
    known = isinstance(value, Image) or value.spec.shape is not None
    scaled = isinstance(value, Image) or value.spec.dtype == "uint8"
    return Tensor(TensorSpec(shape if known else None, dtype, CPU, False), None, frozenset({SHARES} if scaled else ()))


def _to_bytes(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    made = _to_tensor(interp, transform, value)
    if not isinstance(made, Tensor) or isinstance(value, Tensor):
        return made
    return Tensor(made.spec.with_(dtype=value.spec.dtype if isinstance(value, Array) else "uint8"))


def _to_image(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    return _image_like(interp, value)


def _image_like(interp: Interpreter, value: Pictured) -> Image:
    channels, height, width = _extent(interp, value)
    return Image(as_kind(channels, int), height, width)


def _converted(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    asked = as_kind(transform.given(0, "dtype", DType("float32")), DType)
    if isinstance(value, Image):
        return value
    made = Tensor(value.spec.with_(dtype=asked.name if asked is not None else None), origin_of(value))
    known = transform.type_name == "ToDtype" and transform.given(1, "scale", False) is False
    if known and value.spec.dtype == "uint8" and asked is not None and asked.name.startswith(("float", "bfloat")):
        made.slots[UNSCALED] = transform
    return made


def _normalized(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    given, (channels, height, width) = statistics(interp, transform), _extent(interp, value)
    if given is not None and given > 1 and channels == 1:
        channels = given
    made = _like(interp, value, (channels, height, width))
    if isinstance(made, Tensor):
        made.slots[NORMALIZED] = transform
    return made


def _resized(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    asked = interp.resolved(transform.given(0, "size", UNKNOWN))
    channels, height, width = _extent(interp, value)
    items = opened(asked)
    if isinstance(items, tuple) and len(items) == 2:
        pair = _pair(interp, asked)
        return _like(interp, value, (channels, *pair) if pair else (channels, None, None))
    side: Any = items[0] if isinstance(items, tuple) and len(items) == 1 else items
    if not isinstance(side, int) or not isinstance(height, int) or not isinstance(width, int):
        square = is_int(side) and height is not None and height == width
        return _like(interp, value, (channels, side, side) if square else (channels, None, None))
    if transform.given(2, "max_size") is not None:
        return _like(interp, value, (channels, None, None))
    short, long = min(height, width), max(height, width)
    other = int(side * long / short)
    return _like(interp, value, (channels, side, other) if height <= width else (channels, other, side))


def _cropped(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    pair = _pair(interp, transform.given(0, "size", UNKNOWN))
    channels = _extent(interp, value)[0]
    return _like(interp, value, (channels, *pair) if pair else (channels, None, None))


def _gray(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    count = transform.given(0, "num_output_channels", 1)
    channels, height, width = _extent(interp, value)
    if isinstance(value, Tensor) and channels == 1 and not is_v2(transform):
        return value
    return _like(interp, value, (as_kind(count, int), height, width))


def _padded(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    padding = interp.resolved(transform.given(0, "padding", UNKNOWN))
    channels, height, width = _extent(interp, value)
    items = opened(padding)
    around: tuple[Any, ...] | None = None
    if is_int(items):
        around = (items,) * 4
    elif isinstance(items, tuple) and all(is_int(item) for item in items) and len(items) in (2, 4):
        around = items * 2 if len(items) == 2 else items
    if around is None or height is None or width is None:
        return _like(interp, value, (channels, None, None))
    left, top, right, bottom = around
    return _like(
        interp, value, (channels, dims.add(height, dims.add(top, bottom)), dims.add(width, dims.add(left, right)))
    )


def _same(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
    if transform.given(99, "expand", False) is not False:
        channels = _extent(interp, value)[0]
        return _like(interp, value, (channels, None, None))
    return value


def _crops(count: int) -> Callable[[Interpreter, LibraryObject, Pictured], Value]:
    def model(interp: Interpreter, transform: LibraryObject, value: Pictured) -> Value:
        return (_cropped(interp, transform, value),) * count

    return model


_MODELS: dict[str, Callable[[Interpreter, LibraryObject, Pictured], Value]] = {
    "ToTensor": _to_tensor,
    "PILToTensor": _to_bytes,
    "ToImage": _to_bytes,
    "ToPureTensor": _same,
    "ToPILImage": _to_image,
    "ConvertImageDtype": _converted,
    "ToDtype": _converted,
    "Normalize": _normalized,
    "Resize": _resized,
    "Grayscale": _gray,
    "Pad": _padded,
    "FiveCrop": _crops(5),
    "TenCrop": _crops(10),
    **dict.fromkeys(_CROPS, _cropped),
    **dict.fromkeys(_SAME, _same),
}


# -- calls -----------------------------------------------------------------------------------------


@models(f"{DATASETS}*")
class PublishedDataset(data.Dataset):
    """A published dataset, after its transforms."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        if call.name not in _KNOWN:
            return UNKNOWN
        return LibraryObject(f"{DATASETS}{call.name}", call.args, call.kwargs, interp.site(call.node, call.frame))

    def get(self, node: ast.AST, frame: Frame) -> Value:
        if self.name in self.value.slots or not is_dataset(self.value):
            return super().get(node, frame)
        return attribute(self.interp, self.value, self.name)

    def length(self, frame: Frame) -> Size | None:
        return length(self.interp, self.value)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        found = sample(self.interp, self.value, node, frame)
        return UNKNOWN if found is None else found

    def examples(self, node: ast.AST, frame: Frame, many: bool) -> data.Examples:
        found = sample(self.interp, self.value, node, frame)
        return data.Examples([] if found is None else [found], False, self.value)


@models(f"{TRANSFORMS}*")
class Transform(Model):
    """A transform of images."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        name, version = call.name, "v2." if ".v2." in call.path else ""
        if name not in _MODELS and name not in _WRAPPERS:
            return UNKNOWN
        path = f"{TRANSFORMS}{version}{name}"
        return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))

    def called(self, call: Arguments) -> Value:
        if not call.args or not call.exact:
            return UNKNOWN
        if is_v2(self.value) and _moves(self.value):
            for key, part in _left_behind(self.interp, call.args):
                _fault(self.interp, "left behind", self.value, part, call.node, call.frame, key)
        made = apply(self.interp, self.value, call.args[0], call.node, call.frame)
        return made if len(call.args) == 1 else (made, *call.args[1:])


_MOVING = frozenset(
    "RandomHorizontalFlip RandomVerticalFlip RandomCrop RandomResizedCrop CenterCrop RandomAffine RandomPerspective "
    "RandomRotation ElasticTransform RandomIoUCrop RandomZoomOut FiveCrop".split()
)
"""Transforms after which what was at one place of an image is at another. To be resized does not matter to places that are told as parts
of the width and the height."""
_PLACES = frozenset({"boxes", "masks", "keypoints"})
"""The entries of the targets of torchvision's detection models that say where something is."""


def _moves(transform: Value) -> bool:
    if not is_transform(transform):
        return False
    return transform.type_name in _MOVING or any(map(_moves, parts(transform) or ()))


def _left_behind(interp: Interpreter, given: Sequence[Value], depth: int = 2) -> Iterator[tuple[str, Tensor]]:
    """The plain tensors that say where something is in an image, with their keys: v2 transforms move tensors of their own classes, and
    the first plain tensor, where there is no image of another kind."""
    for value in given:
        if isinstance(value, DictValue) and value.items:
            yield from ((str(key), one) for key, one in value.items.items() if key in _PLACES and _is_plain(one))
        elif isinstance(value, tuple) and depth:
            yield from _left_behind(interp, value, depth - 1)
    if len(given) == 2 and isinstance(given[0], Tensor | Image) and _is_plain(given[1]):
        whole, mask = _extent(interp, given[0])[1:], interp.resolved_spec(given[1].spec).shape or ()
        if None not in whole and whole == mask[-2:] and _integers(given[1]):
            yield "", given[1]


def _is_plain(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.origin is not None


@models("PIL.Image.open")
def _open(interp: Interpreter, call: Arguments) -> Value:
    return Image()


@models("PIL.Image.new")
def _new(interp: Interpreter, call: Arguments) -> Value:
    mode, size = as_kind(call.given(0, "mode"), str), _pair(interp, call.given(1, "size"))
    return Image(_CHANNELS.get(mode) if mode is not None else None, *(size[::-1] if size else (None, None)))


@models("PIL.Image.fromarray")
def _from_array(interp: Interpreter, call: Arguments) -> Value:
    array = as_kind(call.given(0, "obj"), Array)
    return _image_like(interp, array) if array is not None else Image()


@models("cv2.imread")
def _read(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) != 1:
        return UNKNOWN
    return arrays.make((interp.fresh_size("H"), interp.fresh_size("W"), 3), "uint8")


_CHANNELS = {"RGB": 3, "L": 1, "RGBA": 4, "1": 1, "CMYK": 4, "HSV": 3, "YCbCr": 3}


@models(f"{TRANSFORMS}functional.*", f"{TRANSFORMS}v2.functional.*")
def _functional(interp: Interpreter, call: Arguments) -> Value:
    """``torchvision.transforms.functional.resize(image, size)``."""
    known = _FUNCTIONAL.get(call.name)
    if known is None or not call.args:
        return UNKNOWN
    version = "v2." if ".v2." in call.path else ""
    kwargs = {key: value for key, value in call.kwargs.items() if key not in ("img", "inpt", "image", "tensor", "pic")}
    transform = LibraryObject(
        f"{TRANSFORMS}{version}{known}", call.args[1:], kwargs, interp.site(call.node, call.frame)
    )
    return apply(interp, transform, call.args[0], call.node, call.frame)


class ImageMethods(Model):
    """A PIL image."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found = self.attributes.get(self.name)
        return Bound(self.value, self.name) if found is None else found(self, node, frame)

    @marked
    def size(self, node: ast.AST, frame: Frame) -> Value:
        image = self.value
        return UNKNOWN if image.width is None or image.height is None else (image.width, image.height)

    @marked("width", "height")
    def side(self, node: ast.AST, frame: Frame) -> Value:
        side = getattr(self.value, self.name)
        return UNKNOWN if side is None else side

    @marked
    def mode(self, node: ast.AST, frame: Frame) -> Value:
        return {3: "RGB", 1: "L"}.get(self.value.channels or 0, UNKNOWN)

    @method
    def convert(self, call: Arguments) -> Value:
        mode = as_kind(call.given(0, "mode"), str)
        channels = _CHANNELS.get(mode) if mode is not None else None
        return Image(channels, self.value.height, self.value.width)

    @method
    def resize(self, call: Arguments) -> Value:
        size = _pair(self.interp, call.given(0, "size"))
        return Image(self.value.channels, *((size[1], size[0]) if size else (None, None)))

    @method
    def thumbnail(self, call: Arguments) -> Value:
        return None

    @method("copy", "filter", "rotate")
    def same(self, call: Arguments) -> Value:
        return self.value

    @method("transpose", "crop")
    def of_another_size(self, call: Arguments) -> Value:
        return Image(self.value.channels)

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


__all__ = [
    "NORMALIZED",
    "UNSCALED",
    "apply",
    "channels_refused",
    "ImageMethods",
    "is_dataset",
    "is_transform",
    "is_v2",
    "kind_of",
    "parts",
    "refuses",
    "statistics",
]
