"""Programs that would start something if the analysis let them: it reads them, and nothing happens."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import hostile
from tests.check import PATIENT
from torchsleuth.wall import environment
from torchsleuth.worker.client import WorkerClient
from torchsleuth.worker.engine import Engine

ROOT = Path(__file__).parents[2]

REACHES = """
operator.call(torch.utils.collect_env.subprocess.Popen, ["touch", CANARY])
operator.call(os.system, "touch " + CANARY)
torch.utils.collect_env.subprocess.Popen(["touch", CANARY])
torch.utils.collect_env.run("touch " + CANARY)
torch.serialization.os.system("touch " + CANARY)
torch.serialization.shutil.copy("/etc/hostname", CANARY)
torch.nn.functional.importlib.import_module("os").system("touch " + CANARY)
torch.hub.os.mkdir(CANARY)
torch.hub.download_url_to_file("file:///etc/hostname", CANARY)
torch.hub.load(".", "entry", source="local")
torch.save(torch.zeros(3), CANARY)
torch.serialization.save(torch.zeros(3), CANARY)
torch.load("evil.pt", weights_only=False)
torch.jit.save(torch.jit.script(nn.Linear(2, 2)), CANARY)
torch.jit.load("evil.pt")
torch.package.PackageImporter("evil.zip").import_module("evil")
torch.package.PackageExporter(CANARY)
torch.from_file(CANARY, shared=True, size=4)
torch.UntypedStorage.from_file(CANARY, True, 4)
torch.FloatStorage.from_file(CANARY, True, 4)
torch.ops.load_library(CANARY)
torch.classes.load_library(CANARY)
torch.utils.cpp_extension.load("evil", ["evil.cpp"])
torch.multiprocessing.spawn(os.system, ("touch " + CANARY,))
torch.multiprocessing.Process(target=os.system, args=("touch " + CANARY,)).start()
torch.distributed.init_process_group("gloo", init_method="file://" + CANARY, rank=0, world_size=1)
torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler(CANARY))
torch.autograd.profiler.profile().export_chrome_trace(CANARY)
torch.cuda.memory._dump_snapshot(CANARY)
torch.onnx.export(nn.Linear(2, 2), torch.zeros(1, 2), CANARY)
torch.utils.tensorboard.SummaryWriter(CANARY)
torch.nn.functional.relu.__globals__["torch"].save(x, CANARY)
torch.nn.functional.relu.__globals__.clear()
torch.nn.Linear.__init__.__globals__["math"].__loader__.load_module("os").system("touch " + CANARY)
torch.nn.Module.__subclasses__()[0].__init__.__globals__["__builtins__"]["open"](CANARY, "w")
torch._C._jit_get_schemas_for_operator.__self__.__dict__
torch._dynamo.utils.os.system("touch " + CANARY)
torch.testing._internal.common_utils.subprocess.call(["touch", CANARY])
torch.fx.symbolic_trace(os.system)("touch " + CANARY)
torch.compile(os.system)("touch " + CANARY)
torch.vmap(os.system)("touch " + CANARY)
torch.func.functional_call(os.system, {}, "touch " + CANARY)
torch.utils.checkpoint.checkpoint(os.system, "touch " + CANARY)
torch.utils.data.DataLoader([1], collate_fn=lambda batch: open(CANARY, "w"))
torch.utils.data._utils.collate.default_collate.__globals__["re"].sys.modules["os"].system("touch " + CANARY)
torch.distributions.Normal(x, 1.0).__class__.__init__.__globals__["torch"].save(x, CANARY)
torch.distributions.register_kl(torch.distributions.Normal, torch.distributions.Normal)(os.system)
torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([x], 0.1), os.system)
nn.Linear(3, 3).register_forward_hook(lambda *given: open(CANARY, "w"))
nn.Linear(3, 3).apply(lambda module: os.system("touch " + CANARY))
nn.TransformerEncoderLayer(4, 2, activation=torch.serialization.os.system)(torch.zeros(1, 2, 4))
nn.TripletMarginWithDistanceLoss(distance_function=torch.hub.os.system)("touch " + CANARY, x, x)
nn.utils.parametrize.register_parametrization(nn.Linear(3, 3), "weight", os.system)
nn.Sequential.__class__.__call__(os.system, "touch " + CANARY)
x.apply_(lambda value: os.system("touch " + CANARY) or value)
x.map_(x, lambda a, b: open(CANARY, "w"))
x.register_hook(os.system)
x.storage().from_file(CANARY, True, 4)
x.untyped_storage()._new_shared_filename_cpu(CANARY, CANARY, 4)
x.share_memory_().storage()._share_filename_cpu_()
x.numpy().tofile(CANARY)
x.__reduce_ex__(2)[0](os.system, "touch " + CANARY)
x.__class__.__torch_function__(os.system, (), ("touch " + CANARY,), {})
torch.overrides.handle_torch_function(os.system, (x,), "touch " + CANARY)
torch.nn.functional.handle_torch_function(os.system, (x,), "touch " + CANARY)
torch.nn.functional.boolean_dispatch(0, "a", True, os.system, os.system, "m", "f")("touch " + CANARY)
getattr(torch.serialization, "o" + "s").system("touch " + CANARY)
vars(torch.serialization)["os"].system("touch " + CANARY)
torch.serialization.__dict__["os"].system("touch " + CANARY)
operator.attrgetter("serialization.os.system")(torch)("touch " + CANARY)
operator.methodcaller("system", "touch " + CANARY)(torch.serialization.os)
functools.reduce(getattr, ["serialization", "os", "system"], torch)("touch " + CANARY)
functools.partial(os.system, "touch " + CANARY)()
list(map(os.system, ["touch " + CANARY]))
sorted(["touch " + CANARY], key=os.system)
max(["touch " + CANARY], key=os.system)
list(filter(os.system, ["touch " + CANARY]))
"{0.__globals__}".format(torch.nn.functional.relu)
"{0.__class__.__init__.__globals__[os].system}".format(torch.nn.Module)
f"{os.system('touch ' + CANARY)}"
eval("open(CANARY, 'w')")
exec("open(CANARY, 'w')")
compile("open(CANARY, 'w')", "c", "exec")
__import__("os").system("touch " + CANARY)
importlib.import_module("evil_module")
open(CANARY, "w").write("x")
pathlib.Path(CANARY).touch()
subprocess.run(["touch", CANARY])
pickle.loads(b"cos\\nsystem\\n(S'touch x'\\ntR.")
json.load(open("evil.json"), object_hook=os.system)
numpy.load("evil.npy", allow_pickle=True)
yaml.load(open("evil.yaml"), Loader=yaml.UnsafeLoader)
torchvision.models.resnet18(norm_layer=os.system)
torchvision.io.write_file(CANARY, x)
torchvision.models.get_model("resnet18", weights=CANARY)
timm.create_model("local-dir:.", pretrained=True)
timm.create_model("resnet18", checkpoint_path="evil.pt")
timm.models.load_checkpoint(nn.Linear(2, 2), "evil.pt")
transformers.AutoModel.from_pretrained(".", trust_remote_code=True)
transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained("."))
transformers.utils.hub.os.system("touch " + CANARY)
einops.rearrange(x, os.system)
einops.reduce(x, "a b -> a", os.system)
einops.einops.functools.partial(os.system, "touch " + CANARY)()
type("Made", (nn.Module,), {"forward": os.system})()("touch " + CANARY)
""".strip().splitlines()
"""Ways to something that would touch the file CANARY, or load what lies in the folder."""
PLACES = [
    "{}",
    "def never():\n    {}",
    "class Model(nn.Module):\n    def forward(self, x):\n        return {}\nModel()(x)",
    "y = torch.zeros({})",
    "for item in [{}]:\n    torch.relu(item)",
    "@(lambda function: {})\ndef decorated(): pass",
]
HEAD = """\
import builtins, functools, importlib, json, math, operator, os, pathlib, pickle, subprocess, sys
import einops, numpy, timm, torch, torchvision, transformers, yaml
from torch import nn
CANARY = {canary!r}
x = torch.zeros(2, 3)
"""
FAULTY = "import torch\ny = torch.randn(3, 4) @ torch.randn(5, 6)\n"


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerClient]:
    client = WorkerClient()
    client.start()
    yield client
    client.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with what programs would load."""
    touching = f"open({str(tmp_path / 'canary')!r}, 'w')\n"
    for name in (
        "evil_module",
        "json",
        "abc",
        "random",
        "numpy",
        "timm",
        "torchvision",
        "transformers",
        "einops",
        "hubconf",
    ):
        (tmp_path / f"{name}.py").write_text(touching)
    (tmp_path / "evil.pt").write_bytes(b"cposix\nsystem\n(S'touch canary'\ntR.")
    (tmp_path / "config.json").write_text(
        json.dumps({"auto_map": {"AutoConfig": "evil_module.Config"}, "model_type": "x"})
    )
    return tmp_path


def test_the_canary_sings_where_a_program_runs(folder: Path) -> None:
    """What is searched for can be found: in plain Python the file is touched."""
    program = (
        HEAD.split("import einops")[0]
        + f"CANARY = {str(folder / 'canary')!r}\n"
        + "functools.partial(os.system, 'touch ' + CANARY)()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
    assert (folder / "canary").exists()


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_what_is_analysed_runs(worker: WorkerClient, folder: Path, place: str) -> None:
    canary = folder / "canary"
    for first in range(0, len(REACHES), 12):
        parts = [place.format(text) for text in REACHES[first : first + 12]]
        guarded = [
            "try:\n" + "\n".join(f"    {line}" for line in part.splitlines()) + "\nexcept Exception: pass"
            for part in parts
        ]
        text = HEAD.format(canary=str(canary)) + "\n".join(guarded)
        compile(text, "hostile.py", "exec")
        analysis = worker.analyze(str(folder / "hostile.py"), text, roots=(str(folder),))
        assert not canary.exists(), parts
        assert not analysis.stats["internal_errors"], parts
    # The worker is as it was: nothing of torch has been changed.
    assert [item.code for item in worker.analyze(str(folder / "after.py"), FAULTY).diagnostics] == ["TS101"]


def test_functions_of_torch_are_not_emptied(worker: WorkerClient) -> None:
    text = "import torch\nimport torch.nn.functional as F\nF.relu.__globals__.clear()\nF.relu.__dict__.clear()\ndel F.relu\n"
    worker.analyze("first.py", text)
    after = "import torch\nimport torch.nn.functional as F\ny = F.relu(torch.zeros(2, 3)) @ torch.zeros(4, 5)\n"
    assert [item.code for item in worker.analyze("second.py", after).diagnostics] == ["TS101"]


def test_a_refusal_is_an_internal_error_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall is closed for the life of a process, so that here it is only said to have refused something."""
    refused = ["subprocess.Popen touch"]

    def refusals() -> tuple[str, ...]:
        found = tuple(refused)
        refused.clear()
        return found

    monkeypatch.setattr("torchsleuth.wall.refusals", refusals)
    engine, text = Engine(times=PATIENT), "import torch\nx = torch.zeros(3, 4, 5)\n"
    first, second = engine.analyze("refused.py", text), engine.analyze("refused.py", text)
    assert first.stats["internal_errors"] == ["torch.zeros: subprocess.Popen touch was refused"] and not first.facts
    assert not second.stats["internal_errors"] and second.facts[0].shape == (3, 4, 5)


def test_random_compositions_run_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.hostile", "--count", "300", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "compositions 300, executed 0, refused 0" in done.stdout, done.stdout + done.stderr


def test_compositions_reach_what_is_dangerous() -> None:
    paths = list(hostile.reachable(random.Random(0)))
    assert any(path.startswith("torch.") and path.endswith(".Popen") for path in paths)
    assert any(path.startswith("torch.") and path.endswith(".system") for path in paths)


@pytest.mark.parametrize("door", ["check", "hints", "check --fix", "-m"])
def test_no_door_of_the_command_line_runs_anything(folder: Path, door: str) -> None:
    """Neither what the program says, nor a module beside it that is named like one of Python's own."""
    parts = [f"def function{number}():\n    {text}" for number, text in enumerate(REACHES[:20])]
    head = HEAD.format(canary=str(folder / "canary"))
    (folder / "train.py").write_text(head + "import no_such.module\n" + "\n".join(parts) + "\n")
    words = door.split() if door != "-m" else ["check"]
    start = (
        [str(Path(sys.executable).with_name("torchsleuth"))] if door != "-m" else [sys.executable, "-m", "torchsleuth"]
    )
    target = "." if words[0] == "check" and door != "-m" else "train.py"
    done = subprocess.run(
        [*start, *words, target], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert not (folder / "canary").exists()
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr, done.stderr


def test_a_folder_that_the_environment_names_puts_nothing_in_the_place_of_a_library(folder: Path) -> None:
    """``PYTHONPATH=.``, as people write who work on a repository: the command line looks there for itself alone."""
    (folder / "train.py").write_text("import torch\ny = torch.zeros(3, 4) @ torch.zeros(3, 4)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", str(folder), str(ROOT / "server")])}
    program = "import sys; sys.argv[0] = 'torchsleuth'; from torchsleuth.__main__ import main; main()"
    command = [sys.executable, "-P", "-c", program] if sys.version_info >= (3, 11) else [sys.executable, "-c", program]
    done = subprocess.run(
        [*command, "check", "train.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert "TS101" in done.stdout and done.returncode == 1, done.stderr
    assert not (folder / "canary").exists()


def test_children_get_no_search_path_that_depends_on_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "/usr/bin", "bin", "/bin"]))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{os.pathsep}/usr/lib")
    monkeypatch.setenv("DYLD_LIBRARY_PATH", ".")
    found = environment()
    assert found["PATH"].split(os.pathsep) == ["/usr/bin", "/bin"]
    assert found["LD_LIBRARY_PATH"] == "/usr/lib" and "DYLD_LIBRARY_PATH" not in found


WALLED = """
import sys
sys.path.insert(0, {server!r})
import ctypes, os, pathlib, pickle, socket, sqlite3, subprocess, shutil, tempfile, threading, importlib, signal
from torchsleuth import wall
sys.path.insert(0, {folder!r})
{before}
wall.close(pathlib.Path({store!r}))
def attempt():
    {action}
try:
    attempt()
except PermissionError as error:
    assert isinstance(error, wall.Refused) and wall.refusals(), error
    print("refused")
else:
    print("allowed")
"""


@pytest.mark.parametrize(
    "action",
    [
        "subprocess.Popen(['touch', 'canary'])",
        "os.system('touch canary')",
        "os.execv('/bin/touch', ['touch', 'canary'])",
        "os.posix_spawn('/bin/touch', ['touch', 'canary'], {})",
        "os.fork()",
        "os.kill(os.getppid(), 0)",
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "ctypes.CDLL('libc.so.6')",
        "open('canary', 'w')",
        "open('canary', 'a')",
        "open('canary', 'r+')",
        "os.open('canary', os.O_WRONLY | os.O_CREAT)",
        "os.mkdir('canary')",
        "pathlib.Path('canary').touch()",
        "os.remove('beside.py')",
        "os.rename('beside.py', 'canary')",
        "os.symlink('beside.py', 'canary')",
        "os.link('beside.py', 'canary')",
        "os.chmod('beside.py', 0)",
        "shutil.rmtree('.')",
        "tempfile.mkdtemp(dir='.')",
        "sqlite3.connect('canary')",
        "importlib.import_module('beside')",
        "exec(compile(open('beside.py').read(), os.path.abspath('beside.py'), 'exec'))",
        "pickle.loads(pickle.dumps(os.getcwd))",
        "signal.raise_signal(0) or signal.pthread_kill(threading.get_ident(), 0)",
        "sys.settrace(None)",
    ],
)
def test_the_second_wall_refuses(tmp_path: Path, action: str) -> None:
    assert walled(tmp_path, action) == "refused"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "store"]


@pytest.mark.parametrize(
    "action",
    [
        "import email.mime.text, decimal",
        "open('beside.py').read()",
        "os.listdir('.')",
        "open(os.devnull, 'w')",
        "open(os.path.join('store', 'answers'), 'wb').write(b'x')",
        "os.mkdir(os.path.join('store', 'inner'))",
        "threading.Thread(target=int).start()",
        "import dataclasses; dataclasses.make_dataclass('C', ['x'])",
        "bytearray(1 << 24)",
    ],
)
def test_the_second_wall_lets_the_analysis_work(tmp_path: Path, action: str) -> None:
    assert walled(tmp_path, action) == "allowed"


@pytest.mark.skipif(sys.platform != "linux", reason="the name is that of a library of Linux")
def test_a_package_that_is_imported_may_load_a_library_of_the_system(tmp_path: Path) -> None:
    """As torchvision does, of which transformers imports parts when it builds a model: only while the module is executed."""
    place = tmp_path / "installed" / "site-packages"
    place.mkdir(parents=True)
    (place / "loading.py").write_text(
        "import ctypes\nctypes.CDLL('libc.so.6')\ndef later(): ctypes.CDLL('libc.so.6')\n"
    )
    head = "wall._PACKAGE_FOLDERS = (os.getcwd() + '/installed/site-packages',)\n"
    import_it = f"sys.path.insert(0, {str(place)!r}); import loading"
    assert walled(tmp_path, import_it, head) == "allowed"
    assert walled(tmp_path, f"{import_it}; loading.later()", head) == "refused"


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited on Linux")
def test_a_value_that_is_too_large_is_a_memory_error(tmp_path: Path) -> None:
    action = "bytearray(wall.HEADROOM_BYTES + (1 << 30))"
    program = f"try:\n        {action}\n    except MemoryError: pass\n    else: open('too-large', 'w')"
    assert walled(tmp_path, program) == "allowed"


def walled(folder: Path, action: str, before: str = "") -> str:
    """Whether a process behind the wall may do something. `before`: what is done before it is closed."""
    (folder / "beside.py").write_text("open('canary', 'w')\n")
    store = folder / "store"
    store.mkdir(exist_ok=True)
    program = WALLED.format(
        server=str(ROOT / "server"), folder=str(folder), store=str(store), action=action, before=before
    )
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_asks_for_a_temporary_folder_is_not_taken_for_hostile() -> None:
    """The first answer is found by writing to folders: so it is asked for before the wall is closed."""
    code = (
        "import tempfile; from torchsleuth import wall; tempfile.tempdir = None; wall.close(None);"
        "print(tempfile.gettempdir() != '', wall.refusals())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "()"]
