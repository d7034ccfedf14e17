"""scikit-learn: data sets of known sizes, splits, scalers and scores, by the shapes and dtypes of what they give."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import ClassVar

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes, arrays, tables
from torchsleuth.interp.models import Model, Result, attribute, method, models
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import Failure
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bounds,
    LibraryObject,
    ListValue,
    Scalar,
    Several,
    SliceValue,
    Tensor,
    Value,
    elements_of,
    is_int,
    is_object,
    sizes_of,
)
from torchsleuth.values.frames import Frame

# -- data sets -------------------------------------------------------------------------------------

_BUNCH = "sklearn.utils.Bunch"
_STORED: dict[str, tuple[int, int, int | None]] = {
    "load_iris": (150, 4, 3),
    "load_wine": (178, 13, 3),
    "load_breast_cancer": (569, 30, 2),
    "load_digits": (1797, 64, 10),
    "load_diabetes": (442, 10, None),
    "fetch_california_housing": (20640, 8, None),
}
"""Samples, features and classes; None where the target is a number. https://scikit-learn.org/stable/datasets/toy_dataset.html"""


def _numbers(*shape: Size) -> Array:
    return arrays.make(shape, "float64")


def _labels(rows: Size, classes: Value) -> Array:
    """The numbers of classes, of which each occurs."""
    made = arrays.make((rows,), "int64")
    if isinstance(classes, int) and classes > 0:
        made.slots["spread"] = Bounds(0, classes - 1, whole=True)
    return made


@models(*(f"sklearn.datasets.{name}" for name in _STORED))
def _stored(interp: Interpreter, call: Arguments) -> Value:
    rows, features, classes = _STORED[call.name]
    if not call.exact or call.kwargs.keys() - {"return_X_y", "n_class"} or "n_class" in call.kwargs or call.args:
        return UNKNOWN
    data = _numbers(rows, features)
    target = _numbers(rows) if classes is None else _labels(rows, classes)
    if (pair := call.kwargs.get("return_X_y", False)) is not False:
        return (data, target) if pair is True else UNKNOWN
    held: dict[str, Value] = {"data": data, "target": target}
    if call.name == "load_digits":
        held["images"] = _numbers(rows, 8, 8)
    return LibraryObject(_BUNCH, (), held, interp.site(call.node, call.frame))


@models(_BUNCH)
class Bunch(Result):
    """A data set: its arrays by name."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        return self.value.kwargs.get(self.name, UNKNOWN)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        return self.value.kwargs.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN


@dataclass(frozen=True)
class _Generator:
    """A function that makes samples. `features`: the default of their number; `fixed`: there is no other. `classes`: of how many the
    target is, None where it is a number; `told`: the place and the name of the parameter for that. `targets`: those of a parameter
    for how many numbers the target is. `halves`: the samples may be given by class. `place`: of the parameter for the samples."""

    features: int
    fixed: bool = False
    classes: int | None = None
    told: tuple[int, str] | None = None
    targets: bool = False
    halves: bool = False
    samples: int = 100
    place: int = 0


_GENERATED = {
    "make_classification": _Generator(20, classes=2, told=(4, "n_classes")),
    "make_blobs": _Generator(2, classes=3, told=(2, "centers")),
    "make_gaussian_quantiles": _Generator(2, classes=3, told=(4, "n_classes"), place=2),
    "make_moons": _Generator(2, fixed=True, classes=2, halves=True),
    "make_circles": _Generator(2, fixed=True, classes=2, halves=True),
    "make_hastie_10_2": _Generator(10, fixed=True, samples=12000),
    "make_regression": _Generator(100, targets=True),
    "make_friedman1": _Generator(10),
    "make_swiss_roll": _Generator(3, fixed=True),
    "make_s_curve": _Generator(3, fixed=True),
}
"""https://scikit-learn.org/stable/api/sklearn.datasets.html"""


@models(*(f"sklearn.datasets.{name}" for name in _GENERATED))
def _generated(interp: Interpreter, call: Arguments) -> Value:
    """Samples and their targets."""
    made = _GENERATED[call.name]
    rows = interp.resolved(call.given(made.place, "n_samples", made.samples))
    asked = made.features if made.fixed else call.given(made.place + 1, "n_features", made.features)
    features = interp.resolved(asked)
    if made.halves and isinstance(rows, tuple) and len(rows) == 2 and all_are(rows, int):
        rows = rows[0] + rows[1]
    odd = call.kwargs.keys() & {"coef", "return_centers", "return_X_y"}
    if not call.exact or odd or not is_int(features) or not is_int(rows):
        return UNKNOWN
    data = _numbers(rows, features)
    if made.classes is not None:
        told = None if made.told is None else interp.resolved(call.given(*made.told))
        return (
            (data, _labels(rows, made.classes if told is None else told)) if told is None or is_int(told) else UNKNOWN
        )
    targets = interp.resolved(call.given(3, "n_targets", 1)) if made.targets else 1
    if not is_int(targets):
        return data, arrays.make(None, "float64")
    return data, _numbers(rows) if targets == 1 else _numbers(rows, targets)


@models("sklearn.datasets.make_multilabel_classification")
def _several_labels(interp: Interpreter, call: Arguments) -> Value:
    given = [("n_samples", 100), ("n_features", 20), ("n_classes", 5)]
    sizes = sizes_of(interp.resolved(call.given(place, name, default)) for place, (name, default) in enumerate(given))
    if not call.exact or sizes is None or call.kwargs.keys() & {"sparse", "return_indicator"}:
        return UNKNOWN
    rows, features, classes = sizes
    return _numbers(rows, features), arrays.make((rows, classes), "int64")


# -- parts -----------------------------------------------------------------------------------------


def _length(interp: Interpreter, value: Value) -> Size | None:
    """How many samples an array, a tensor, a table or a list has."""
    if is_object(value, tables.FRAME):
        return tables.rows_of(interp, value)
    if isinstance(value, ListValue | tuple):
        held = elements_of(value)
        return None if held is None else held.length if isinstance(held, Several) else len(held)
    array = tables.data_of(interp, value) if is_object(value, tables.SERIES) else as_kind(value, Array, Tensor)
    shape = None if array is None else interp.resolved_spec(array.spec).shape
    return shape[0] if shape else None


def _part(interp: Interpreter, value: Value, rows: Size, call: Arguments) -> Value:
    """So many of the samples."""
    if is_object(value, tables.FRAME):
        return tables.with_rows(interp, value, rows, kept=True)
    if is_object(value, tables.SERIES):
        made = tables.series(tables.resized_array(tables.data_of(interp, value), rows, kept=True))
        if call.kwargs.get("shuffle", True) is True:
            made.slots["split"] = interp.site(call.node, call.frame)
        return made
    match value:
        case Array():
            return tables.resized_array(value, rows, kept=True)
        case Tensor():
            return interp.tensor_get_item(value, SliceValue(None, rows, None), call.node, call.frame)
        case ListValue() | tuple():
            held = elements_of(value)
            return UNKNOWN if held is None else ListValue(Several.counted(interp.heap.several(held), rows))
    return UNKNOWN


def _counts(interp: Interpreter, count: Size | None, call: Arguments) -> tuple[Size, Size]:
    """How many samples are for training and how many for the test: the rest of what is told, the test rounded up.
    https://scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split.html"""
    test, train = interp.resolved(call.kwargs.get("test_size")), interp.resolved(call.kwargs.get("train_size"))
    unknown = (interp.fresh_size("train", positive=False), interp.fresh_size("test", positive=False))
    if train is not None:
        if test is not None or not is_int(train) or count is None:
            return unknown
        return train, dims.subtract(count, train)
    if is_int(test):
        return (unknown[0] if count is None else dims.subtract(count, test)), test
    part = 0.25 if test is None else test
    if not isinstance(part, float) or not isinstance(count, int) or not 0 < part < 1:
        return unknown
    tested = math.ceil(part * count)
    return count - tested, tested


@models("sklearn.model_selection.train_test_split")
def _split(interp: Interpreter, call: Arguments) -> Value:
    """Each of the arguments in two parts."""
    if not call.exact or not call.args:
        return UNKNOWN
    given = [interp.resolved(one) for one in call.args]
    count = next((size for one in given if (size := _length(interp, one)) is not None), None)
    counts = _counts(interp, count, call)
    return ListValue(tuple(_part(interp, one, rows, call) for one in given for rows in counts))


@models("sklearn.utils.shuffle")
def _shuffled(interp: Interpreter, call: Arguments) -> Value:
    if not call.exact or "n_samples" in call.kwargs:
        return UNKNOWN
    given = [interp.resolved(one) for one in call.args]
    lengths = [_length(interp, one) for one in given]
    parts = [UNKNOWN if rows is None else _part(interp, one, rows, call) for one, rows in zip(given, lengths)]
    return parts[0] if len(parts) == 1 else ListValue(tuple(parts))


_FOLDS = "KFold StratifiedKFold GroupKFold ShuffleSplit StratifiedShuffleSplit TimeSeriesSplit RepeatedKFold LeaveOneOut".split()


@models(*(f"sklearn.model_selection.{name}" for name in _FOLDS))
class Folds(Model):
    """Indices of samples for training and for the test, a few times."""

    @method("split")
    def parts(self, call: Arguments) -> Value:
        sizes = (self.interp.fresh_size("train"), self.interp.fresh_size("test"))
        return ListValue(Several((tuple(arrays.make((size,), "int64") for size in sizes),)))

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


# -- preprocessing ---------------------------------------------------------------------------------

_SCALERS = (
    *(f"sklearn.preprocessing.{name}Scaler" for name in ("Standard", "MinMax", "MaxAbs", "Robust")),
    *(f"sklearn.preprocessing.{name}" for name in ("Normalizer", "QuantileTransformer", "PowerTransformer")),
)


def _width(interp: Interpreter, value: Value, frame: Frame) -> Size | None:
    """The number of columns of data in two dimensions, None where it is not known."""
    array = arrays.as_array(interp, interp.resolved(value), frame)
    shape = None if array is None else arrays.shape_of(interp, array)
    return interp.resolved(shape[1]) if shape is not None and len(shape) == 2 else None


class _Fitted(Model):
    """An object that is fitted to data, and then changes those and others. Slot `width`: of how many columns these were."""

    scales: ClassVar[bool] = False
    """Whether each column is scaled for itself."""

    @method
    def fit(self, call: Arguments) -> Value:
        self._fitted_to(call)
        return self.value

    @method("partial_fit")
    def fit_more(self, call: Arguments) -> Value:
        return self.value

    @method("fit_transform", "transform", "inverse_transform")
    def changed(self, call: Arguments) -> Value:
        given = self.interp.resolved(call.args[0]) if call.exact and call.args else UNKNOWN
        array = arrays.as_array(self.interp, given, call.frame)
        if array is None:
            return UNKNOWN
        if self.name == "fit_transform":
            self._fitted_to(call)
        else:
            self._check_width(array, call)
        return self.of(array)

    def _fitted_to(self, call: Arguments) -> None:
        """Remember of how many columns the data are that it is fitted to."""
        self.interp.heap.set(self.value.slots, "width", _width(self.interp, call.first, call.frame))

    def _check_width(self, array: Array, call: Arguments) -> None:
        """Report data of another number of columns than it was fitted to."""
        built, given = self.value.slots.get("width"), _width(self.interp, array, call.frame)
        if not isinstance(built, int) or not isinstance(given, int) or built == given:
            return
        name, back = self.value.path.rpartition(".")[2], self.name == "inverse_transform"
        shapes = f"shape (?,{given}) doesn't match the broadcast shape (?,{built})"
        refused = f"X has {given} features, but {name} is expecting {built} features as input."
        if self.scales and (not back or given == 1):
            text = f"non-broadcastable output operand with {shapes}" if back else refused
            operation = self.interp.operation(
                f"{self.value.path}.{self.name}", (array,), {}, call.node, call.frame, None
            )
            self.interp.report(operation, Failure("ValueError", text, confirmed=True))

    def of(self, array: Array) -> Value:
        """The array that is made of one."""
        return UNKNOWN

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


@models(*_SCALERS)
class Scaler(_Fitted):
    """Features on a common scale, each for itself: of the same shape, and floats."""

    scales = True

    def of(self, array: Array) -> Value:
        dtype = array.spec.dtype
        kept = dtype if dtype in ("float32", "float64") else "float64" if dtype in array_dtypes.NUMERIC else None
        return arrays.make(arrays.shape_of(self.interp, array), None if dtype == "float16" else kept)


@models("sklearn.preprocessing.LabelEncoder")
class LabelEncoder(_Fitted):
    """Labels as numbers, from 0 on."""

    @method("fit_transform", "transform", "inverse_transform")
    def changed(self, call: Arguments) -> Value:
        made = super().changed(call)
        given = call.args[0] if call.args else None
        data = tables.as_array(self.interp, given)
        if (
            self.name == "fit_transform"
            and isinstance(made, Array)
            and data is not None
            and is_object(given, tables.SERIES)
        ):
            own = tables.own_categories(given.slots.get("name"), data, self.interp.site(call.node, call.frame))
            made.slots["numbered"] = frozenset({own} - {None})
        return made

    def of(self, array: Array) -> Value:
        back = self.name == "inverse_transform"
        return UNKNOWN if back else arrays.make(arrays.shape_of(self.interp, array), "int64")

    @attribute("classes_")
    def classes(self, node: ast.AST, frame: Frame) -> Value:
        return arrays.make((self.interp.fresh_size("classes"),), None)


@models("sklearn.decomposition.PCA", "sklearn.decomposition.TruncatedSVD")
class Decomposition(_Fitted):
    """The first components of each sample."""

    def of(self, array: Array) -> Value:
        shape, wanted = arrays.shape_of(self.interp, array), self.interp.resolved(self.value.kwargs.get("n_components"))
        if wanted is None and self.value.args:
            wanted = self.interp.resolved(self.value.args[0])
        back = self.name == "inverse_transform"
        known = shape is not None and len(shape) == 2 and is_int(wanted) and not back
        dtype = array.spec.dtype if array.spec.dtype in ("float32", "float64") else None
        return arrays.make((shape[0], wanted) if known and shape else None, dtype)


# -- scores ----------------------------------------------------------------------------------------

_SCORES = (
    "accuracy_score balanced_accuracy_score mean_squared_error mean_absolute_error r2_score roc_auc_score log_loss "
    "average_precision_score matthews_corrcoef cohen_kappa_score silhouette_score adjusted_rand_score explained_variance_score "
    "normalized_mutual_info_score mean_absolute_percentage_error root_mean_squared_error auc jaccard_score"
).split()
_AVERAGED = "f1_score precision_score recall_score fbeta_score".split()


def _score(interp: Interpreter, call: Arguments) -> Value:
    """A number, unless one for each class or output is asked for."""
    single = call.exact and not any(call.kwargs.get(name, "") is None for name in ("average", "multioutput"))
    return Scalar("float") if single and call.kwargs.get("multioutput") != "raw_values" else UNKNOWN


for _name in (*_SCORES, *_AVERAGED):
    models(f"sklearn.metrics.{_name}", pure=True)(_score)


@models("sklearn.metrics.confusion_matrix", pure=True)
def _confusion(interp: Interpreter, call: Arguments) -> Value:
    classes = interp.fresh_size("classes")
    return arrays.make(
        (classes, classes), None if "normalize" in call.kwargs or "sample_weight" in call.kwargs else "int64"
    )


@models("sklearn.metrics.classification_report", pure=True)
def _described(interp: Interpreter, call: Arguments) -> Value:
    return Scalar("str") if call.exact and "output_dict" not in call.kwargs else UNKNOWN


@models("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight", pure=True)
def _weights(interp: Interpreter, call: Arguments) -> Value:
    classes = arrays.as_array(interp, call.kwargs.get("classes", UNKNOWN), call.frame)
    shape = None if classes is None else arrays.shape_of(interp, classes)
    return arrays.make(shape, "float64")
