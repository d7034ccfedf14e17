"""NumPy, datasets, loaders, the default collate and image transforms, held to the real ones."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
import torch  # noqa: E402
from torch.utils.data import default_collate  # noqa: E402

from tests.check import analyze, check  # noqa: E402

# -- NumPy -----------------------------------------------------------------------------------------

SETUP = """
import numpy as np
import torch

a = np.zeros((4, 6))
b = np.ones((6, 3), dtype=np.float32)
v = np.arange(6)
i = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
u = np.zeros((5, 8, 8), dtype=np.uint8)
m = np.zeros(6, dtype=bool)
rng = np.random.default_rng(0)
"""
EXPRESSIONS = """
a
a.T
a @ b
a.astype(np.float32)
a.astype("float32") * 2
a.sum()
a.sum(axis=0)
a.mean(axis=1, keepdims=True)
a.mean(axis=(0, 1))
a.std(0)
a.reshape(-1)
a.reshape(2, -1)
a.reshape((3, 8))
a[0]
a[:, 1]
a[1:3]
a[..., None]
a[:, ::2]
a[::-1]
a[-1, 2:]
a[[0, 2]]
a[np.array([0, 1, 3])]
a[v[:3]]
a.argmax(axis=1)
a.flatten()
a.ravel()
a.copy()
a.transpose()
a.round(2)
a.clip(0, 1)
a.cumsum()
a.cumsum(axis=1)
a > 0
(a > 0).sum()
(a > 0).astype(np.int64)
a / 2
a // 2
a ** 2
-a
a + v
a * v[None]
v / 2
v * 1.5
v + 1
v // 2
v % 2
v ** 2
v.astype(float)
v.mean()
v.max()
v == 3
i.sum()
i.sum(axis=(0, 2))
i.transpose(2, 0, 1)
i.transpose((1, 0, 2))
i.swapaxes(0, 1)
i[:, 0]
i[0, 1, 2]
i / 1
i + 1
i + 1.0
i * v[:4]
u / 255
u / 255.0
u.astype(np.float32) / 255.0
u.mean()
u.sum()
u * 2
u.reshape(len(u), -1)
u[0]
u[0][None]
u.transpose(1, 2, 0)
m
~m
m & (v > 2)
m.sum()
m.mean()
m.any()
np.zeros(3)
np.zeros((2, 3), dtype=int)
np.zeros((2, 3), np.float32)
np.ones_like(i)
np.zeros_like(a, dtype=np.float32)
np.full((2, 2), 7)
np.full((2, 2), 7.0)
np.full(3, 1, dtype=np.float32)
np.eye(4)
np.eye(3, 5)
np.arange(10)
np.arange(2, 10, 3)
np.arange(0, 1, 0.25)
np.arange(5.0)
np.arange(5, dtype=np.float32)
np.linspace(0, 1, 11)
np.linspace(0, 1, num=7)
np.array([1, 2, 3])
np.array([1.0, 2, 3])
np.array([[1, 2], [3, 4]])
np.array([1, 2], dtype=np.float32)
np.array(5)
np.array([a, a])
np.array([True, False])
np.asarray(a, dtype=np.float32)
np.stack([a, a])
np.stack([a, a], axis=1)
np.stack([a, a], axis=-1)
np.concatenate([a, a])
np.concatenate([a, a], axis=1)
np.concatenate((v, v))
np.vstack([v, v])
np.hstack([v, v])
np.hstack([a, a])
np.column_stack([v, v])
np.dstack([a, a])
np.expand_dims(a, 0)
np.expand_dims(a, axis=-1)
np.squeeze(a[None])
np.moveaxis(u, 0, -1)
np.transpose(u, (1, 2, 0))
np.repeat(v, 2)
np.repeat(a, 3, axis=0)
np.tile(v, 2)
np.tile(v, (3, 2))
np.where(a > 0, 1, 0)
np.where(a > 0, a, 0.0)
np.where(v > 2, 1.0, -1.0)
np.pad(v, 2)
np.pad(v, (1, 2))
np.pad(a, ((0, 0), (1, 1)))
np.pad(a, ((1, 0), (0, 2)), mode="constant")
np.dot(a, b)
np.dot(v, v)
np.matmul(a, b)
np.outer(v, v)
np.sqrt(v)
np.exp(a)
np.log1p(i)
np.sin(b)
np.abs(i)
np.sign(a)
np.isnan(a)
np.maximum(a, 0)
np.maximum(v, 2)
np.minimum(i, 2)
np.add(a, v)
np.power(v, 2)
np.clip(v, 0, 3)
np.sum(a)
np.mean(i, axis=0)
np.max(u, axis=(1, 2))
np.argmax(a, axis=0)
np.argsort(v)
np.sort(a)
np.cumsum(v)
np.diff(v)
np.diff(a, axis=0)
np.flip(a)
np.roll(v, 1)
np.broadcast_to(v, (4, 6))
np.atleast_2d(v)
np.linalg.norm(a)
np.linalg.norm(a, axis=1)
np.linalg.inv(np.eye(3))
np.float32(1.5)
np.int64(3)
np.split(a, 2)[0]
np.split(a, 3, axis=1)[1]
np.meshgrid(v, np.arange(4))[0]
np.random.rand(3, 2)
np.random.randn(5)
np.random.randint(0, 10, size=(3, 4))
np.random.randint(5, size=7)
np.random.normal(size=(2, 3))
np.random.normal(0, 1, (2, 3))
np.random.normal(0.0, 1.0, 5)
np.random.uniform(-1, 1, size=4)
np.random.random((2, 2))
np.random.permutation(8)
np.random.choice(5, size=3)
np.random.choice(v, (2, 2))
rng.normal(size=(10, 3))
rng.normal(0, 1, (10, 3)).astype(np.float32)
rng.standard_normal((4, 2))
rng.standard_normal(3, dtype=np.float32)
rng.random((3, 3))
rng.random(5, dtype=np.float32)
rng.integers(0, 5, size=8)
rng.integers(0, 256, size=(2, 4, 4), dtype=np.uint8)
rng.integers(10, size=(3,))
rng.uniform(size=6)
rng.choice(10, 4)
rng.permutation(v)
rng.poisson(3.0, size=5)
np.append(v, 1)
np.append(a, a, axis=0)
np.append(a, v)
np.tril(a)
np.interp(v, np.arange(3), np.zeros(3))
np.convolve(v, np.ones(3))
np.convolve(v, np.ones(3), mode="same")
np.convolve(v, np.ones(3), "valid")
np.einsum("ij,jk->ik", a, b)
np.einsum("ij->j", a)
np.fft.rfft(v)
np.fft.fft(a)
np.abs(np.fft.rfft(v))
rng.integers(3, 4, size=2).astype(np.float32)
a[v[2]]
a[rng.integers(0, 4)]
np.concatenate([a[:1], a[2:]])
np.stack([u[k] for k in range(3)])
np.array([[k, k + 1] for k in range(5)])
np.array([u[k].mean() for k in range(5)])
rng.multivariate_normal(np.zeros(2), np.eye(2), size=7)
""".strip().splitlines()


def real_values() -> list[tuple[tuple[int, ...], str]]:
    space: dict[str, Any] = {}
    exec(SETUP, space)
    values = [torch.as_tensor(np.copy(eval(expression, space))) for expression in EXPRESSIONS]
    return [(tuple(value.shape), str(value.dtype).removeprefix("torch.")) for value in values]


def known_values() -> dict[str, tuple[Any, Any]]:
    lines = [f"r{index} = torch.as_tensor(np.copy({expression}))" for index, expression in enumerate(EXPRESSIONS)]
    facts = analyze(SETUP + "\n".join(lines) + "\n").facts
    return {fact.binding: (fact.shape, fact.dtype) for fact in facts if fact.binding}


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, tuple[tuple[int, ...], str], tuple[Any, Any]]]:
    known = known_values()
    return [
        (expression, real, known.get(f"r{index}", (None, None)))
        for index, (expression, real) in enumerate(zip(EXPRESSIONS, real_values()))
    ]


def test_arrays_have_the_shape_that_numpy_gives_them(compared: Any) -> None:
    wrong = [(expression, real[0], known[0]) for expression, real, known in compared if known[0] not in (None, real[0])]
    assert wrong == []


def test_arrays_have_the_dtype_that_numpy_gives_them(compared: Any) -> None:
    wrong = [(expression, real[1], known[1]) for expression, real, known in compared if known[1] not in (None, real[1])]
    assert wrong == []


def test_most_arrays_are_known(compared: Any) -> None:
    unknown = [
        expression for expression, _, known in compared if None in known or not set(map(type, known[0])) <= {int}
    ]
    assert unknown == []


# -- the default collate ---------------------------------------------------------------------------

COLLATE = """
from collections import namedtuple
import numpy as np
import torch

Point = namedtuple("Point", "x y")


class Plain:
    pass


plain = Plain()
"""
BATCHES = """
[torch.zeros(3), torch.ones(3)]
[torch.zeros(3), torch.ones(4)]
[torch.zeros(3), torch.ones(3, 1)]
[torch.zeros(3), torch.zeros(3, dtype=torch.long)]
[torch.tensor(1), torch.tensor(2)]
[torch.zeros(2, 5), torch.zeros(2, 6)]
[torch.zeros(0, 5), torch.zeros(0, 5)]
[1, 2, 3]
[1.5, 2.5]
[True, False]
["a", "b"]
[b"a", b"b"]
[None, None]
[torch.zeros(2), None]
[1, None]
[(torch.zeros(2), 1), None]
[(torch.zeros(2), None), (torch.zeros(2), None)]
[(torch.zeros(2), 1), (torch.ones(2), 2)]
[(torch.zeros(2), 1), (torch.ones(3), 2)]
[(torch.zeros(2), "a"), (torch.ones(2), "b")]
[(1, 2), (1,)]
[[1, 2], [3, 4]]
[[1, 2], [3]]
[[], []]
[{"x": 1, "y": torch.zeros(2)}, {"x": 2, "y": torch.zeros(2)}]
[{"x": 1, "y": torch.zeros(2)}, {"x": 2, "y": torch.zeros(1)}]
[{"x": 1}, {"y": 1}]
[{"x": [1, 2]}, {"x": [1, 2, 3]}]
[{1, 2}, {3, 4}]
[plain, plain]
[(plain, 1), (plain, 2)]
[1j, 2j]
[torch.float32, torch.float32]
[np.zeros(3), np.zeros(3)]
[np.zeros(3), np.zeros(4)]
[np.zeros((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.float32)]
[np.float32(1), np.float32(2)]
[np.int64(1), np.int64(2)]
[np.array(["a"]), np.array(["b"])]
[(np.zeros(2), 1.0), (np.zeros(2), 2.0)]
[((torch.zeros(2), torch.zeros(2)), 1), ((torch.zeros(2), torch.zeros(3)), 1)]
[torch.Size([1, 2]), torch.Size([1, 2])]
""".strip().splitlines()


def outcome_of(batch: str) -> Any:
    """What the real collate makes of the samples, as shapes and dtypes; None where it raises."""
    space: dict[str, Any] = {}
    exec(COLLATE, space)
    try:
        return described(default_collate(eval(batch, space)))
    except (TypeError, RuntimeError, KeyError):
        return None


def described(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return [tuple(value.shape), str(value.dtype).removeprefix("torch.")]
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return [described(item) for item in value] if isinstance(value, list | tuple) else "other"


@pytest.mark.parametrize("batch", BATCHES)
def test_the_default_collate_refuses_what_the_real_one_refuses(batch: str) -> None:
    loop = f"for batch in torch.utils.data.DataLoader({batch}, batch_size=len({batch})):\n    out = batch\n"
    found = analyze(COLLATE + loop)
    codes = {diagnostic.code for diagnostic in found.diagnostics}
    assert codes <= {"TS601", "TS602"}
    expected = outcome_of(batch)
    assert bool(codes) == (expected is None)
    facts = [(fact.shape, fact.dtype) for fact in found.facts if fact.binding == "out" and expected is not None]
    assert [known for known in facts if any(part not in (None, real) for part, real in zip(known, expected))] == []


# -- loaders ---------------------------------------------------------------------------------------

LOADERS = """
DataLoader(data, batch_size=16)
DataLoader(data, batch_size=16, drop_last=True)
DataLoader(data, batch_size=25)
DataLoader(data, batch_size=200)
DataLoader(data)
DataLoader(data, batch_size=None)
DataLoader(data, 16, True)
DataLoader(data, 16, sampler=SubsetRandomSampler(range(40)))
DataLoader(data, 16, sampler=RandomSampler(data, num_samples=50, replacement=True))
DataLoader(data, 16, sampler=WeightedRandomSampler([1.0] * 100, 30))
DataLoader(data, batch_sampler=BatchSampler(SequentialSampler(data), 30, False))
DataLoader(data, batch_sampler=BatchSampler(SequentialSampler(data), 30, True))
DataLoader(Subset(data, range(10)), batch_size=4)
DataLoader(ConcatDataset([data, data]), batch_size=64)
DataLoader(random_split(data, [70, 30])[1], batch_size=8)
DataLoader(random_split(data, [0.75, 0.25])[0], batch_size=10)
DataLoader(random_split(data, [0.333, 0.667])[0], batch_size=10)
DataLoader(StackDataset(data, data), batch_size=40)
DataLoader(data, 10, sampler=DistributedSampler(data, num_replicas=3, rank=1))
""".strip().splitlines()
LOADER_SETUP = """
import torch
from torch.utils.data import *

data = TensorDataset(torch.randn(100, 3))
"""


@pytest.mark.parametrize("loader", LOADERS)
def test_batches_have_the_sizes_of_the_real_ones(loader: str) -> None:
    """The number of batches, the size of a full one, and that of the last."""
    space: dict[str, Any] = {}
    exec(LOADER_SETUP, space)
    made = eval(loader, space)
    part = "batch[0][0]" if "StackDataset" in loader else "batch[0]"
    sizes = [tuple(eval(part, {"batch": batch}).shape) for batch in made]
    loop = f"for batch in loader:\n    out = {part}\ncount = torch.zeros(len(loader))\n"
    known = {fact.binding: fact.shape for fact in analyze(f"{LOADER_SETUP}\nloader = {loader}\n{loop}").facts}
    assert known["count"] == (len(made),)
    assert known["out"] == tuple(a if a == b else "?" for a, b in zip(sizes[0], sizes[-1]))


# -- image transforms ------------------------------------------------------------------------------

IMAGES = {
    "colour": "Image.new('RGB', (48, 40))",
    "grey": "Image.new('L', (48, 40))",
    "bytes": "torch.zeros(3, 40, 48, dtype=torch.uint8)",
    "floats": "torch.zeros(3, 40, 48)",
    "one": "torch.zeros(1, 40, 48)",
    "array": "np.zeros((40, 48, 3), dtype=np.uint8)",
}
TRANSFORMS = """
ToTensor()
PILToTensor()
ToPILImage()
ConvertImageDtype(torch.float32)
Normalize([0.5] * 3, [0.5] * 3)
Normalize((0.5,), (0.5,))
Resize(20)
Resize((20, 30))
Resize([20])
CenterCrop(32)
CenterCrop((16, 24))
RandomCrop(32)
RandomCrop(32, padding=4)
RandomResizedCrop(24)
RandomHorizontalFlip(p=1.0)
RandomRotation(10)
ColorJitter(0.1, 0.1)
Grayscale()
Grayscale(num_output_channels=3)
Pad(2)
Pad((1, 2))
RandomErasing(p=1.0)
RandomAffine(10)
GaussianBlur(3)
FiveCrop(10)
Compose([T.Resize(20), T.RandomCrop(16), T.ToTensor()])
Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))])
""".strip().splitlines()


@pytest.mark.parametrize("package", ["torchvision.transforms", "torchvision.transforms.v2"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_do_what_those_of_torchvision_do(transform: str, package: str) -> None:
    """Shape and dtype of a tensor, or a refusal; where torchvision is installed."""
    pytest.importorskip("torchvision", exc_type=Exception)
    head = f"import numpy as np\nimport torch\nfrom PIL import Image\nimport {package} as T\n"
    space: dict[str, Any] = {}
    exec(head, space)
    for image in IMAGES.values():
        found = analyze(f"{head}out = T.{transform}({image})\n")
        codes = {diagnostic.code for diagnostic in found.diagnostics} & {"TS606", "TS608"}
        known = [(fact.shape, fact.dtype) for fact in found.facts if fact.binding == "out"]
        try:
            value = eval(f"T.{transform}({image})", space)
        except (TypeError, RuntimeError, AttributeError):
            assert codes, (transform, image)
            continue
        assert not codes, (transform, image)
        if isinstance(value, torch.Tensor):
            assert known == [(tuple(value.shape), str(value.dtype).removeprefix("torch."))], (transform, image)


LINES = """
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

class Lines(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, i):
        return torch.rand(1, 40 + 4 * (i % 7)), torch.zeros(5)

def collate(batch):
    width = max(line.shape[-1] for line, _ in batch)
    lines = torch.stack([F.pad(line, (0, width - line.shape[-1])) for line, _ in batch])
    return lines, torch.stack([target for _, target in batch])

for lines, target in DataLoader(Lines(), batch_size=8, shuffle=True, collate_fn=collate):
    double = lines * 2
"""


def test_a_batch_is_not_just_of_the_first_samples() -> None:
    """They are of different widths: as wide as the widest of them are not all batches."""
    found = analyze(LINES)
    facts = {fact.binding: fact.shape for fact in found.facts if fact.binding}
    assert facts["double"] == (8, 1, "width") and facts["target"] == (8, 5) and not found.diagnostics
    unpadded = LINES.replace("F.pad(line, (0, width - line.shape[-1]))", "line")
    assert [item.code for item in analyze(unpadded).diagnostics] == ["TS601"]


def test_what_stands_for_the_elements_of_a_generator_keeps_what_was_put_in() -> None:
    """A generator that cannot be followed element by element is left with those of its first execution, which is undone."""
    check("""
        import json
        import time

        import torch
        from torch.utils.data import DataLoader, Dataset


        class Answers(Dataset):
            def __init__(self):
                self.rows = json.load(open("rows.json"))

            def __len__(self):
                return len(self.rows)

            def __getitem__(self, index):
                row = self.rows[index]
                return torch.zeros(3), list(row["answers"]), row["id"]


        def collate(batch):
            images, answers, n = [], [], []
            for image, answer, _ in batch:
                images.append(image)
                answers += answer
                n.append(len(answer))
            return torch.stack(images), answers, n


        class Logger:
            def log_every(self, iterable, every, header=None):
                i = 0
                if not header:
                    header = ""
                start = time.time()
                for obj in iterable:
                    yield obj
                    if i % every == 0 or i == len(iterable) - 1:
                        print(header, time.time() - start)
                    i += 1
                print(header)


        def train(model, loader):
            logger = Logger()
            for i, (images, answers, n) in enumerate(logger.log_every(loader, 50)):
                rows = []
                for b, count in enumerate(n):
                    rows += [images[b]] * count
                print(torch.stack(rows).shape)


        loader = DataLoader(Answers(), batch_size=4, collate_fn=collate)
        for epoch in range(10):
            train(None, loader)
    """)
