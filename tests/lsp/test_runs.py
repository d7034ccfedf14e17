"""Run and Diagnose from the editor: the real server, real scripts, real processes."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, children, gone
from tests.unit.test_notebooks import notebook
from torchsleuth.cli.explained import Explainer
from torchsleuth.lsp.documents import path_of
from torchsleuth.runtime.session import RunReport, run

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Sizes that only a run can know: the analysis is silent about them.
CRASH = """# 3 4
import torch
from torch import nn

print("hello 😋")
width, features = [int(word) for word in open(__file__).readline().split()[1:]]
fc = nn.Linear(features, 2)
x = torch.ones(5, width)
"😋 中文", fc(x)
"""

KNOWN = """import torch
from torch import nn

fc = nn.Linear(8192, 10)
x = torch.randn(64, 16384)
y = fc(x)
"""

FOREVER = """import os, signal, subprocess
child = subprocess.Popen(["sleep", "1000"])
print("started", os.getpid(), child.pid, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def fresh(editor: Editor) -> None:
    editor.client.output = ""
    editor.client.finished.clear()


async def confirmed(editor: Editor, uri: str) -> types.Diagnostic:
    def find() -> list[types.Diagnostic]:
        return [
            item for item in editor.client.published[uri].diagnostics if item.message.endswith("(confirmed by run)")
        ]

    (found,) = await editor.until(find)
    return found  # type: ignore[no-any-return]


async def test_a_crash_that_only_the_run_can_see_is_put_on_its_line(editor: Editor) -> None:
    uri = editor.open("crash.py", CRASH)
    assert await editor.diagnostics(uri) == []
    result = await editor.command("runAndDiagnose", uri)
    assert result["ok"] is True and result["exitCode"] == 1 and result["cancelled"] is False
    assert result["summary"].startswith("TS101 at crash.py:9: ")
    assert editor.client.output.startswith("hello 😋\n") and "Traceback" in editor.client.output
    (found,) = editor.client.published[uri].diagnostics
    assert found.code == "TS101" and found.data["layer"] == "run"
    assert found.range == types.Range(types.Position(8, 9), types.Position(8, 14))
    (finished,) = editor.client.finished
    assert finished.uri == uri and finished.summary == result["summary"] and finished.runId == result["runId"]


async def test_observed_shapes_become_hints_and_hovers(editor: Editor) -> None:
    uri = editor.open("observed.py", CRASH)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    assert (7, 1, ": [5, 3] float32 ◉") in await editor.hints(uri)
    assert "observed in the last run" in await editor.hover(uri, 7, 0)
    editor.replace(uri, "x = ", "x =  ")
    assert all("◉" not in label for line, _, label in await editor.hints(uri) if line == 7)


async def test_what_was_seen_is_known_in_lines_that_are_written_afterwards(editor: Editor) -> None:
    text = CRASH.replace('"😋 中文", fc(x)', "def double(x):\n    return x\n\neval('double')(x)\n")
    uri = editor.open("seeds.py", text)
    await editor.diagnostics(uri)
    result = await editor.command("runAndDiagnose", uri)
    assert result["exitCode"] == 0
    await editor.settled(uri)
    editor.replace(uri, "    return x\n", "    y = x.mean(1)\n    return x\n")
    await editor.diagnostics(uri)
    assert (9, 5, ": [5] float32 ?") in await editor.hints(uri)


async def test_what_the_analysis_said_is_confirmed_and_cleared_again(editor: Editor) -> None:
    uri = editor.open("known.py", KNOWN)
    (static,) = await editor.repaired(uri)
    await editor.command("runAndDiagnose", uri)
    found = await confirmed(editor, uri)
    assert found.message == f"{static.message} (confirmed by run)" and found.range == static.range
    (action, *_) = await editor.actions(uri, found.range)
    assert action.is_preferred and "(from the run)" not in action.title
    await editor.command("clearResults")
    assert editor.client.published[uri].diagnostics == (static,)
    assert all("◉" not in label for _, _, label in await editor.hints(uri))


CALLED = """# 3 4
import torch
from torch import nn

width, features = [int(word) for word in open(__file__).readline().split()[1:]]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(features, 2)

    def forward(self, x):
        return self.fc(x)


model = Net()
for _ in range(2):
    "中文", model(torch.ones(5, width))
"""


async def test_a_crash_is_marked_beside_its_line_and_where_it_was_called(editor: Editor) -> None:
    uri = editor.open("marked.py", CALLED)
    await editor.diagnostics(uri)
    result = await editor.command("runAndDiagnose", uri)
    await editor.until(lambda: uri in editor.client.marked)
    failed, called = [mark for mark in await editor.marks(uri) if mark.kind in ("failed", "called")]
    assert (failed.kind, failed.range.start.line, failed.stale) == ("failed", 13, False)
    assert failed.text.startswith("✗ x [5, 3] · model.fc.weight [2, 4] — ")
    assert f"[marked.py:19]({uri}#L19,11)" in failed.details
    assert (called.kind, called.range.start.line, called.text) == ("called", 18, "")
    failure = result["failure"]
    assert (failure["uri"], failure["range"]["start"]["line"]) == (uri, 13)
    assert failure["message"] in failed.text and failure["fix"]
    editor.client.marked.clear()
    editor.replace(uri, "self.fc(x)", "self.fc(x) ")
    await editor.until(lambda: uri in editor.client.marked)
    assert {mark.stale for mark in await editor.marks(uri) if mark.kind in ("failed", "called")} == {True}
    await editor.command("clearResults", uri)
    assert await editor.marks(uri) == []


VALUES = """import torch

w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
for step in range(5):
    x = torch.tensor([1.0, 2.0, float("inf") if step == 4 else 3.0])
    loss = (w - x[:2].mean()).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_values_stand_beside_the_lines_and_their_history_in_the_hover(editor: Editor) -> None:
    uri = editor.open("values.py", VALUES)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    await editor.until(lambda: uri in editor.client.marked)
    shown = {mark.range.start.line: mark.text for mark in await editor.marks(uri) if mark.kind == "value"}
    assert shown[5] == "x 1 … 2 (1 not finite)" and shown[6].startswith("loss 6.75")
    text = await editor.hover(uri, 5, 4)
    assert "values 1 … 3, 1 not finite; looked at 4×" in text
    assert "first 1 … 3, mean 2 · last 1 … 2, mean 1.5" in text
    editor.replace(uri, "x = torch", "x =  torch")
    assert 5 not in {mark.range.start.line for mark in await editor.marks(uri) if mark.kind == "value"}


BRANCHES = """import torch


def loss(x, squared):
    if squared:
        x = x.pow(2)
        return x.sum()
    return x.abs().sum()


print(loss(torch.ones(3), squared=False))
"""


async def test_the_lines_that_a_run_did_not_reach_are_told_until_they_are_edited(editor: Editor) -> None:
    uri = editor.open("branches.py", BRANCHES)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    await editor.until(lambda: uri in editor.client.marked)

    async def lines() -> dict[str, list[int]]:
        marks = [mark for mark in await editor.marks(uri) if mark.kind in ("reached", "missed")]
        return {
            kind: [
                n for mark in marks if mark.kind == kind for n in range(mark.range.start.line, mark.range.end.line + 1)
            ]
            for kind in ("reached", "missed")
        }

    assert await lines() == {"reached": [0, 3, 4, 7, 10], "missed": [5, 6]}
    editor.replace(uri, "        return x.sum()\n", "        return x.sum()  # changed\n")
    assert await lines() == {"reached": [0, 3, 4, 7, 10], "missed": [5]}
    editor.replace(uri, "import torch\n", "import torch\n\n")
    assert (await lines())["missed"] == [6]


async def test_the_fix_of_a_crash_is_made_by_a_command(editor: Editor) -> None:
    uri = editor.open("commanded.py", KNOWN)
    await editor.repaired(uri)
    failure = (await editor.command("runAndDiagnose", uri))["failure"]
    assert await editor.command("applyFix", failure["number"]) is True
    assert "nn.Linear(16384, 10)" in editor.texts[uri]
    assert await editor.command("applyFix", failure["number"]) is False


async def test_environment_and_one_line_of_arguments(editor: Editor) -> None:
    text = "import os, sys\nprint(sys.argv[1:], os.environ.get('MINE'), 'HOME' in os.environ)\n"
    uri = editor.open("environment.py", text)
    options = {"args": "--name 'a b' --n=3", "env": {"MINE": "中", "HOME": None}}
    result = await editor.command("runAndDiagnose", uri, options)
    assert result["exitCode"] == 0 and result["failure"] is None
    assert editor.client.output == "['--name', 'a b', '--n=3'] 中 False\n"


async def test_a_module_runs_by_its_name(editor: Editor) -> None:
    editor.write("pkg_of_run/__init__.py", "")
    editor.write("pkg_of_run/shapes.py", "import torch\ndef bad(x):\n    return x @ torch.ones(7)\n")
    text = (
        "import sys\nimport torch\nfrom .shapes import bad\nprint(sys.argv[1:], __name__)\neval('bad')(torch.ones(3))\n"
    )
    uri = editor.open("pkg_of_run/train.py", text)
    await editor.diagnostics(uri)
    result = await editor.command("runAndDiagnose", uri, {"module": "pkg_of_run.train", "args": "--n 1"})
    assert result["exitCode"] == 1 and editor.client.output.startswith("['--n', '1'] __main__\n")
    assert (
        result["failure"]["uri"].endswith("/pkg_of_run/shapes.py") and result["failure"]["range"]["start"]["line"] == 2
    )
    await editor.command("clearResults")


async def test_taking_the_fix_settles_the_run_too(editor: Editor) -> None:
    uri = editor.open("settled.py", KNOWN)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    found = await confirmed(editor, uri)
    (action, *_) = await editor.actions(uri, found.range)
    await editor.choose(action)
    await editor.until(lambda: not editor.client.published[uri].diagnostics)
    editor.write("settled.py", editor.texts[uri])
    result = await editor.command("runAndDiagnose", uri)
    assert result["exitCode"] == 0 and result["summary"] == "settled.py finished"
    assert editor.client.published[uri].diagnostics == ()


async def test_a_run_is_marked_as_outdated_when_its_line_changes(editor: Editor) -> None:
    uri = editor.open("stale.py", CRASH)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    editor.replace(uri, "fc(x)\n", "fc(x + 1)\n")
    await editor.until(
        lambda: editor.client.published[uri].diagnostics[0].message.endswith("before this line changed)")
    )
    (stale,) = editor.client.published[uri].diagnostics
    assert stale.severity == types.DiagnosticSeverity.Information
    assert await editor.actions(uri, stale.range) == []


async def test_results_of_a_run_land_where_their_lines_are_now(editor: Editor) -> None:
    """The document has unsaved lines that the script on disk has not."""
    editor.write("unsaved.py", CRASH)
    uri = editor.open("unsaved.py", "# not saved 😋\n\n" + CRASH, saved=False)
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    (found,) = editor.client.published[uri].diagnostics
    assert found.range.start == types.Position(10, 9)


async def test_a_crash_in_an_imported_file_is_shown_there(editor: Editor) -> None:
    editor.write("lib_of_run.py", "def double(x):\n    return x.frobnicate()\n")
    uri = editor.open(
        "uses_lib.py", "import torch\nfrom lib_of_run import double\nprint(eval('double')(torch.ones(2)))\n"
    )
    await editor.diagnostics(uri)
    await editor.command("runAndDiagnose", uri)
    lib = (editor.folder / "lib_of_run.py").as_uri()
    (found,) = (await editor.until(lambda: editor.client.published.get(lib))).diagnostics
    assert found.range.start.line == 1
    await editor.command("clearResults", uri)
    assert editor.client.published[lib].diagnostics == ()


async def test_arguments_folder_and_input_reach_the_script(editor: Editor) -> None:
    folder = editor.folder / "elsewhere"
    folder.mkdir()
    text = "import os, sys\nprint(sys.argv[1:], os.getcwd(), flush=True)\nprint('got', input())\nsys.exit(7)\n"
    uri = editor.open("arguments.py", text)
    run = asyncio.ensure_future(editor.command("runAndDiagnose", uri, {"args": ["--a", "b c"], "cwd": str(folder)}))
    await editor.until(lambda: "elsewhere" in editor.client.output)
    editor.client.protocol.notify("torchsleuth/runInput", {"text": "中文\n"})
    result = await run
    assert result["exitCode"] == 7 and result["summary"] == "arguments.py ended with exit status 7"
    assert editor.client.output == f"['--a', 'b c'] {folder}\ngot 中文\n"


DEAF = FOREVER.replace("\n", "\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n", 1)


async def forever(editor: Editor, name: str, text: str = FOREVER) -> tuple[asyncio.Future[object], list[int]]:
    """A script that runs until it is stopped, and its processes."""
    uri = editor.open(name, text)
    run = asyncio.ensure_future(editor.command("runAndDiagnose", uri))
    await editor.until(lambda: "\n" in editor.client.output)
    return run, [int(word) for word in editor.client.output.split()[1:]]


async def test_stop_ends_the_script_and_its_children(editor: Editor) -> None:
    assert await editor.command("stopRun") is False
    run, pids = await forever(editor, "stop.py", DEAF)
    again = await editor.command("runAndDiagnose", editor.open("second.py", KNOWN))
    assert again == {"ok": False, "summary": "stop.py is still running: stop it first"}
    assert await editor.command("stopRun") is True
    result = await run
    assert result["cancelled"] is True and result["summary"] == "stop.py was stopped"
    await gone(pids)


LEARNS = """import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.5)
for step in range(40):
    x = torch.randn(8, 4)
    loss = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_probe_is_answered_in_the_output_and_on_the_page(editor: Editor) -> None:
    uri = editor.open("probed.py", LEARNS)
    result = await editor.command("probe", uri, "determinism", {"args": ["--seed", "3"]})
    assert result["ok"] is True and result["outcome"] == "passed" and result["exitCode"] == 0, result
    assert result["summary"].startswith("determinism: passed")
    page = (await editor.command("report"))["html"]
    assert "Do two runs give the same?" in page and "--kind lr" in page and "probed.py --seed 3" in page
    # A second one stands beside the first, and a run of the script begins anew.
    assert (await editor.command("probe", uri, "overfit", {"args": []}))["outcome"] == "passed"
    await editor.until(lambda: "  probed.py:" in editor.client.output)
    page = (await editor.command("report"))["html"]
    assert page.count('"verdict": "passed"') == 2
    assert (await editor.command("runAndDiagnose", uri))["ok"] is True
    assert '"probes": []' in (await editor.command("report"))["html"]


async def test_a_crash_before_the_first_step_has_a_report(editor: Editor) -> None:
    uri = editor.open("crash.py", LEARNS.replace("net(x)", "net(x[:, :3])"))
    result = await editor.command("runAndDiagnose", uri)
    assert result["verdict"].startswith("crash.py crashed at crash.py:7: ")
    assert result["failure"]["range"]["start"]["line"] == 6
    assert "crash.py crashed at crash.py:7" in (await editor.command("report"))["html"]


async def test_a_crash_inside_of_a_probe_is_diagnosed_as_by_a_run(editor: Editor) -> None:
    uri = editor.open("probe_crash.py", CRASH)
    result = await editor.command("probe", uri, "overfit")
    assert result["outcome"] == "impossible" and result["exitCode"] == 2
    ran = await editor.command("runAndDiagnose", uri)
    assert {**result["failure"], "number": 0} == {**ran["failure"], "number": 0}


async def test_a_probe_of_several_runs_is_stopped_for_good(editor: Editor) -> None:
    uri = editor.open("probe_stop.py", "import torch\n" + FOREVER)
    probe = asyncio.ensure_future(editor.command("probe", uri, "determinism"))
    await editor.until(lambda: "\n" in editor.client.output)
    pids = [int(word) for word in editor.client.output.split()[1:]]
    again = await editor.command("probe", uri, "lr")
    assert again == {"ok": False, "summary": "probe_stop.py is still running: stop it first"}
    assert await editor.command("stopRun") is True
    result = await probe
    assert result["cancelled"] is True and result["outcome"] == "impossible"
    assert editor.client.output.count("started") == 1
    await gone(pids)


async def test_a_probe_that_there_is_not_is_refused(editor: Editor) -> None:
    uri = editor.open("probe_wrong.py", LEARNS)
    result = await editor.command("probe", uri, "luck")
    assert result["ok"] is False and "nonfinite, overfit" in result["summary"]


async def test_a_client_with_a_place_for_runs_gets_no_second_progress(editor: Editor) -> None:
    run, _ = await forever(editor, "button.py")
    assert not any("button.py" in begin.title for begin, *_ in editor.client.progress_reports.values())
    await editor.command("stopRun")
    await run


async def test_what_cannot_be_run_says_why(editor: Editor) -> None:
    missing = (editor.folder / "missing.py").as_uri()
    result = await editor.command("runAndDiagnose", missing)
    assert result["ok"] is False and "save it first" in result["summary"]
    result = await editor.command("runAndDiagnose")
    assert result["ok"] is False


async def test_the_editor_stays_responsive_during_a_run(editor: Editor) -> None:
    run, _ = await forever(editor, "responsive.py")
    uri = editor.open("meanwhile.py", KNOWN)
    assert await editor.codes(uri) == ["TS101"]
    assert await editor.hover(uri, 4, 0)
    await editor.command("stopRun")
    await run


async def test_nothing_is_left_and_nothing_popped_up(editor: Editor) -> None:
    assert [name for name in children(editor.server_pid).values() if "torchsleuth.worker" not in name] == []
    assert editor.client.messages == []
    assert os.path.exists(f"/proc/{editor.server_pid}")


async def test_a_notebook_runs_and_its_crash_is_told_by_cell(editor: Editor) -> None:
    source = notebook("import torch\nx = torch.ones(2, 3)", "%matplotlib inline\ny = x @ x").decode()
    path = editor.write("cells.ipynb", source)
    uri = path.as_uri()
    result = await editor.command("runAndDiagnose", uri)
    assert result["exitCode"] == 1 and " at cells.ipynb:cell 2:2: " in result["summary"]
    assert 'cells.ipynb", cell 2, line 2, in <module>' in editor.client.output
    failure = result["failure"]
    assert (failure["uri"], failure["cell"], failure["fix"]) == (uri, 2, None)
    assert failure["range"]["start"] == {"line": 1, "character": 4}
    editor.write("cells.ipynb", "{}")
    refused = await editor.command("runAndDiagnose", uri)
    assert not refused["ok"] and refused["summary"].endswith(
        "cells.ipynb is no notebook that can be read: it has no cells"
    )


IMPORTED = """import torch
from torch import nn


def make(width):
    layer = nn.Linear(4, width)
    return nn.Sequential(layer, nn.ReLU(), nn.Linear(6, 2))


def evaluate():
    return make(8)(torch.ones(5, 4))
"""


async def test_a_crash_in_a_file_that_is_not_open_has_what_the_analysis_knows(editor: Editor) -> None:
    other = editor.write("of_explained.py", IMPORTED)
    text = "from of_explained import evaluate\n\nfor name in ['evaluate']:\n    globals()[name]()\n"
    uri = editor.open("explained.py", text)
    await editor.diagnostics(uri)
    failure = (await editor.command("runAndDiagnose", uri))["failure"]

    def on_the_command_line() -> RunReport:
        with Explainer(sys.executable) as explainer:
            return explainer.explain(run(path_of(uri), interpreter=sys.executable, on_output=lambda text: None))

    (found,) = (await asyncio.get_running_loop().run_in_executor(None, on_the_command_line)).diagnostics
    assert failure["uri"] == other.as_uri() and failure["message"] == found.message
    assert found.fixes[0].verified and failure["fix"] == found.fixes[0].title
