"""Detectors of torchvision: what they are given, and what they find, also where torchvision is not installed."""

from __future__ import annotations

from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, published
from torchsleuth.interp.library.vision import NORMALIZED
from torchsleuth.interp.models import models
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    DictValue,
    LibraryModule,
    ListValue,
    Several,
    Tensor,
    Value,
    elements_of,
    is_unknown,
)

PACKAGE = "torchvision.models.detection."
_BEGIN = ("FasterRCNN", "MaskRCNN", "KeypointRCNN", "RetinaNet", "FCOS", "SSD")
"""How the names of the classes begin; those of the functions begin so, too, in small letters."""
_FOUND = {"boxes": ((4,), "float32"), "labels": ((), "int64"), "scores": ((), "float32")}
"""The findings of a detector in an image: the sizes of each behind the number of objects, and its dtype."""
_STATISTICS = frozenset({"image_mean", "image_std"})


@models(f"{PACKAGE}*")
def _detector(interp: Interpreter, call: Arguments) -> Value:
    """A detector as torchvision builds it, or else one of which nothing is known but what it is."""
    made = published.build(interp, call)
    named = call.name.lower().startswith(tuple(map(str.lower, _BEGIN)))
    if not is_unknown(made) or not named or call.name.endswith(("Head", "Predictor", "Weights")) or not call.exact:
        return made
    interp.escape((*call.args, *call.kwargs.values()))
    module = LibraryModule(f"{PACKAGE}{call.name}", call.args, call.kwargs, interp.site(call.node, call.frame))
    module.slots["children"] = UNKNOWN
    return module


def is_detector(module: LibraryModule) -> bool:
    """Whether this is a whole detector, built or not."""
    built = module.built
    return module.path.startswith(PACKAGE) if built is None else not built.part and built.model.path.startswith(PACKAGE)


def run(interp: Interpreter, module: LibraryModule, call: Arguments) -> Value:
    """A call: what is found in each image where it does not train; its losses are not known here."""
    _check_scale(interp, module, call)
    if module.built is not None:
        return published.run(interp, module, call)
    images = elements_of(call.args[0]) if call.args and call.exact else None
    interp.escape((*call.args, *call.kwargs.values()))
    if images is None or hierarchy.training_of(module) is not False:
        return UNKNOWN
    if isinstance(images, Several):
        return ListValue(Several.counted((_found(interp, module),), images.length))
    return ListValue(tuple(_found(interp, module) for _ in images))


def _found(interp: Interpreter, module: LibraryModule) -> DictValue:
    count, graph = interp.fresh_size("objects", positive=False), None if interp.grad else False
    specs = {name: TensorSpec((count, *sizes), dtype, module.device, None) for name, (sizes, dtype) in _FOUND.items()}
    return DictValue({name: Tensor(replace(spec, requires_grad=graph)) for name, spec in specs.items()})


def _check_scale(interp: Interpreter, module: LibraryModule, call: Arguments) -> None:
    """Note images that were normalised before a detector which normalises them itself."""
    options = module.kwargs if module.built is None else dict(module.built.model.kwargs)
    if interp.guarded or not call.args or options.keys() & _STATISTICS or module.slots["attributes"]:
        return
    given = next((one for one in hierarchy.tensors_in(call.args[0]) if NORMALIZED in one.slots), None)
    if given is not None:
        values = (given.slots[NORMALIZED], given, module)
        interp.trace.data.append(DataFault("normalized", interp.site(call.node, call.frame), values=values))
