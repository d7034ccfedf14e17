"""The oracle is safe and pure: what a question leaves behind changes no other answer, nor the memory of the process."""

import copy
import pickle
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.check import PATIENT
from torchsleuth.oracle import gate
from torchsleuth.oracle.execution import Witness
from torchsleuth.oracle.fake import Unsupported
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Symbol
from torchsleuth.tensors.spec import ModuleSpec, Native, Result, TensorSpec, Undecided
from torchsleuth.worker.engine import Engine


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle()


def ask(oracle: Oracle, target: str | ModuleSpec, *args: object, **kwargs: object) -> object:
    ids = count(1)
    return oracle.call(target, args, kwargs, lambda name: Symbol(name, next(ids)))


def test_copies_of_modules_share_the_one_fake_mode(oracle: Oracle) -> None:
    """A copied mode releases the storages of all fake tensors once too often: the process dies later, somewhere else."""
    layer = ModuleSpec("torch.nn.TransformerEncoderLayer", (8, 2), ())
    module = oracle._module(ModuleSpec("torch.nn.TransformerEncoder", (layer, 2), ()))
    assert {id(parameter.fake_mode) for parameter in module.parameters()} == {id(oracle._mode)}
    assert copy.deepcopy(module).layers[0].linear1.weight.fake_mode is oracle._mode


@pytest.mark.parametrize("made", ["Tensor.to_sparse", "torch.nested.as_nested_tensor"])
def test_tensors_that_are_not_dense_are_unknown(oracle: Oracle, made: str) -> None:
    assert isinstance(ask(oracle, made, TensorSpec((4, 3))), Undecided)


def test_a_package_that_is_not_installed_is_unknown(oracle: Oracle) -> None:
    with pytest.raises(LookupError):
        oracle.resolve("no_such_package.function")


def test_classes_of_an_extension_that_is_not_there_are_unknown() -> None:
    with pytest.raises(LookupError):
        gate.known("torch.classes.no_such_extension.HashMap")


def test_a_module_that_cannot_be_made_has_no_attributes(oracle: Oracle) -> None:
    with pytest.raises(LookupError):
        oracle.attribute(ModuleSpec("torch.nn.LayerNorm", (), ()), "eps")


def test_answers_are_remembered(oracle: Oracle) -> None:
    shape = TensorSpec((7, 5))
    first = ask(oracle, "torch.relu", shape)
    hits = oracle.hits
    assert isinstance(first, Result) and ask(oracle, "torch.relu", shape) == first
    assert oracle.hits == hits + 1


def test_the_vocabulary_has_the_attributes_of_tensors_modules_and_python() -> None:
    words = set(Oracle.vocabulary())
    assert words >= {"view", "in_features", "cross_entropy", "zero_grad", "cuda", "append", "join", "parse_args"}
    assert not words & {"vie", "in_feature", "cross_entrop"}


def test_witnesses_of_sizes_that_are_divided_by_a_quotient() -> None:
    """The quotient of two witnesses may be zero, as the size seldom is: then nothing is witnessed."""
    width, heads, length = Symbol("w", 0), Symbol("h", 1), Symbol("n", 2)
    witness = Witness((11, 13, 17))
    witness.chosen = {width: 11, heads: 13, length: 17}
    head = dims.floor_divide(dims.of(width), dims.of(heads))
    for size in (head, dims.floor_divide(dims.of(length), head)):
        with pytest.raises(Unsupported):
            witness.size(size)


EFFECTS = """
import torch

torch.from_file("created.bin", shared=True, size=16, dtype=torch.float32)
torch.serialization.save({"a": torch.ones(2)}, "saved.pt")
torch.serialization.load("evil.pt", weights_only=False)
torch.nn.functional.torch.load("evil.pt", weights_only=False)
torch.nn.functional.importlib.import_module("evil")
torch.ops.load_library("evil.so")
torch.classes.load_library("evil.so")
torch.export.load("evil.pt2")
torch.onnx.export(torch.nn.Linear(2, 2), torch.randn(1, 2), "out.onnx")
torch.nn.functional.relu(torch.package.PackageImporter("evil.zip"))
torch.set_rng_state(torch.get_rng_state())
torch.mps.empty_cache()
torch.accelerator.synchronize()
"""


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


def test_what_does_more_than_compute_is_never_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.pt").write_bytes(pickle.dumps(Evil()))
    analysis = Engine(times=PATIENT).analyze("effects.py", EFFECTS)
    assert [item.code for item in analysis.diagnostics] == [] and not analysis.stats["internal_errors"]
    assert [path.name for path in tmp_path.iterdir()] == ["evil.pt"]


@pytest.mark.parametrize(
    "path",
    [
        "torch.serialization.load",
        "torch.ops.load_library",
        "torch.from_file",
        "torch.hub.load",
        "torch.nn.functional.importlib.import_module",
        "torch.nn.functional.torch.load",
        "torch.functional.torch.serialization.load",
    ],
)
def test_what_does_more_than_compute_is_no_operator(path: str) -> None:
    assert path not in Oracle()
    with pytest.raises(LookupError):
        gate.operator(path)


@pytest.mark.parametrize("path", ["torch.relu", "torch.einsum", "torch.nn.functional.pad", "torch.fft.rfft"])
def test_what_computes_is_an_operator(path: str) -> None:
    assert path in Oracle()


def test_sizes_that_only_occur_together_are_one(oracle: Oracle) -> None:
    """Of ``3*heads*head`` PyTorch knows no third; of ``3*u`` it does, or two evaluations show it."""
    heads, head, n = (dims.of(Symbol(name, number)) for number, name in enumerate(("heads", "head", "n"), 1))
    inner = dims.multiply(heads, head)
    for times in (2, 3, 64):
        given = TensorSpec((n, dims.multiply(inner, 3 * times)), "float32", None, False)
        result = oracle.call("Tensor.chunk", (given, 3), {"dim": -1}, lambda name: Symbol(name, 99))
        assert isinstance(result, Result)
        assert [part.shape for part in result.value] == [(n, dims.multiply(inner, times))] * 3
    apart = TensorSpec((heads, dims.multiply(inner, 4)), "float32", None, False)
    result = oracle.call("Tensor.reshape", (apart, heads, heads, 4, head), {}, lambda name: Symbol(name, 99))
    assert isinstance(result, Result) and result.value.shape == (heads, heads, 4, head)


def test_compound_sizes_are_asked_for_as_sizes_of_their_own(oracle: Oracle) -> None:
    """Whatever they are, a layer keeps them; where their parts matter, they are looked at."""
    n, h, w = (dims.of(Symbol(name, number)) for number, name in enumerate("nhw", 1))
    area = dims.add(dims.multiply(h, w), 1)
    layer = ModuleSpec("torch.nn.Linear", (8, 4), ())
    result = oracle.call(layer, (TensorSpec((n, area, 8), "float32", None, False),), {}, lambda name: Symbol(name, 99))
    assert isinstance(result, Result) and result.value.shape == (n, area, 4)
    given = TensorSpec((n, dims.multiply(h, w), 8), "float32", None, False)
    result = oracle.call("Tensor.view", (given, n, h, w, 8), {}, lambda name: Symbol(name, 99))
    assert isinstance(result, Result) and result.value.shape == (n, h, w, 8)


OBJECTS = {
    "torch.nn.Linear": (2, 2),
    "torch.nn.BatchNorm2d": (2,),
    "torch.nn.MultiheadAttention": (4, 2),
    "torch.nn.TransformerEncoderLayer": (4, 2),
    "torch.nn.Embedding": (3, 2),
    "torch.nn.CrossEntropyLoss": (),
    "torch.nn.Sequential": (),
    "torch.optim.AdamW": ([torch.zeros(2, requires_grad=True)],),
    "torch.optim.LBFGS": ([torch.zeros(2, requires_grad=True)],),
    "torch.optim.lr_scheduler.ReduceLROnPlateau": (torch.optim.SGD([torch.zeros(2, requires_grad=True)], 0.1),),
    "torch.optim.lr_scheduler.CosineAnnealingLR": (torch.optim.SGD([torch.zeros(2, requires_grad=True)], 0.1), 3),
    "torch.utils.data.DataLoader": ([1, 2],),
}


@pytest.mark.parametrize("path", OBJECTS)
def test_what_an_object_of_the_library_has_is_among_the_attributes_of_its_class(oracle: Oracle, path: str) -> None:
    made = gate.known(path)(*OBJECTS[path])
    assert {name for name in dir(made) if not name.startswith("_")} <= oracle.attributes(path)


def test_attributes_are_not_known_where_their_names_are_computed(oracle: Oracle) -> None:
    assert not oracle.attributes("torch.nn.ParameterList")
    assert not oracle.attributes("torch.nn.ParameterDict")
    assert "shape" in oracle.attributes("torch.Tensor")
    assert {"hidden_size", "weight_hh_l3_reverse", "bias_ih_l0"} <= oracle.attributes("torch.nn.LSTM")


def test_names_are_found_in_the_modules_that_have_them(oracle: Oracle) -> None:
    assert oracle.elsewhere("torch.nn.functional", "CrossEntropyLoss") == ("torch.nn.CrossEntropyLoss",)
    assert oracle.elsewhere("torch", "DataLoader") == ("torch.utils.data.DataLoader",)
    assert oracle.elsewhere("torch", "data") == ("torch.utils.data",)
    assert oracle.elsewhere("torch.nn", "Linear") == ()
    assert oracle.elsewhere("torch.distributed", "nn") == ()
    assert oracle.elsewhere("torch.utils", "tensorboard") == ()


def test_a_class_is_no_argument_of_an_operator_or_a_layer() -> None:
    """Only builders of other packages' models take one; whoever takes anything else takes data."""
    oracle, layer = Oracle(), Native("torch.nn.Linear", "module-class")
    for recipe in (
        ModuleSpec("torch.nn.Identity", (layer,), ()),
        ModuleSpec("torch.nn.Linear", (3, 4), (("device", layer),)),
    ):
        assert isinstance(oracle.construct(recipe), Undecided)
    assert isinstance(oracle.call("torch.is_tensor", (layer,), {}, lambda name: Symbol(name, 1)), Undecided)
    assert not gate.is_data(torch.nn.Linear) and not gate.is_data([{"a": torch.nn.Linear}])
