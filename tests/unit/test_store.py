"""Answers on disk: the next oracle knows them; a damaged file, or one with foreign objects, is begun again."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from torchsleuth.oracle.oracle import Oracle
from torchsleuth.oracle.store import MAX_BYTES, Store
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Symbol
from torchsleuth.tensors.spec import Failure, ModuleSpec, Result, TensorSpec

BATCH = Symbol("B", 7)
BATCH_SIZE = dims.of(BATCH)
LAYER = ModuleSpec("torch.nn.Linear", (4, 3), ())


def ask(oracle: Oracle, *, size: dims.Size = BATCH_SIZE) -> object:
    return oracle.call(LAYER, (TensorSpec((size, 4)),), {}, lambda name: Symbol(name, 99))


def test_the_next_oracle_knows_the_answers(tmp_path: Path) -> None:
    first = Oracle(Store(tmp_path, "2.9"))
    expected = [ask(first), ask(first, size=5), first.call(LAYER, (TensorSpec((2, 5)),), {}, lambda name: BATCH)]
    assert isinstance(expected[0], Result) and isinstance(expected[2], Failure)
    first.save()
    second = Oracle(Store(tmp_path, "2.9"))
    again = [ask(second), ask(second, size=5), second.call(LAYER, (TensorSpec((2, 5)),), {}, lambda name: BATCH)]
    assert again == expected and second.misses == 0


def test_only_new_answers_are_appended(tmp_path: Path) -> None:
    store = Store(tmp_path, "2.9")
    oracle = Oracle(store)
    ask(oracle)
    oracle.save()
    size = store.path.stat().st_size
    oracle.save()
    assert store.path.stat().st_size == size
    ask(oracle, size=5)
    oracle.save()
    assert store.path.stat().st_size > size
    assert len(store.load()) == 2


def test_hashes_of_strings_differ_between_processes(tmp_path: Path) -> None:
    oracle = Oracle(Store(tmp_path, "2.9"))
    ask(oracle)
    oracle.save()
    code = (
        "import sys; from pathlib import Path; from tests.unit.test_store import ask; "
        "from torchsleuth.oracle.oracle import Oracle; from torchsleuth.oracle.store import Store; "
        "o = Oracle(Store(Path(sys.argv[1]), '2.9')); ask(o); print(o.misses)"
    )
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "server")]),
    }
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, text=True)
    assert run.stdout.strip() == "0", run.stderr


def test_another_torch_has_another_file(tmp_path: Path) -> None:
    assert Store(tmp_path, "2.9").path != Store(tmp_path, "2.10").path


def test_a_damaged_file_is_begun_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "2.9")
    oracle = Oracle(store)
    ask(oracle)
    oracle.save()
    store.path.write_bytes(store.path.read_bytes()[:-9])
    assert store.load() == {} and not store.path.exists()


def test_a_large_file_is_begun_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "2.9")
    store.path.write_bytes(bytes(MAX_BYTES + 1))
    assert store.load() == {} and not store.path.exists()


class Foreign:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made",)


def test_nothing_else_is_made_of_what_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path, "2.9")
    store.path.write_bytes(pickle.dumps({"question": Foreign()}))
    assert store.load() == {}
    assert not Path("made").exists()


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    oracle = Oracle(Store(tmp_path / "file", "2.9"))
    ask(oracle)
    oracle.save()
    assert oracle.misses == 1
