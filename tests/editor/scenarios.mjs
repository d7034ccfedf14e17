// What a user does, in a real editor: look, hover, fix, run, stop, restart.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startEditor } from "./editor.mjs";
import { until } from "./waiting.mjs";

const LIMIT_MS = 600_000;
let editor;

before(async () => {
  editor = await startEditor();
});
after(async () => {
  await editor?.stop();
});

/** A test that begins with nothing open, ends with a picture, and shows the log if it fails. */
function scenario(name, steps) {
  test(name, { timeout: LIMIT_MS }, async () => {
    try {
      await steps(editor);
      await editor.screenshot(name);
    } catch (error) {
      await editor.screenshot(`FAILED ${name}`);
      console.log(editor.log().split("\n").slice(-40).join("\n"));
      throw error;
    } finally {
      await editor.ask("reset");
    }
  });
}

const diagnostics = (path) => editor.ask("diagnostics", { path });
const codes = (found) => found.map(({ code }) => code);
const hasCodes = (path, ...expected) =>
  until(
    `exactly ${expected.join(", ") || "no diagnostics"} in ${path}`,
    () => diagnostics(path),
    (found) => JSON.stringify(codes(found)) === JSON.stringify(expected),
  );
const hints = (path, accept = (found) => found.length > 0) =>
  until(`hints in ${path}`, () => editor.ask("hints", { path }), accept);
const lens = (path) =>
  until(
    `a code lens in ${path}`,
    () => editor.ask("lenses", { path }),
    (found) => found.length === 1,
  );
/** Waits until a fix has been verified; the titles of all that are offered there. */
const fixable = (path, line, column, title) =>
  until(
    `the fix "${title}"`,
    () => editor.ask("fixes", { path, line, column }),
    (titles) => titles.includes(title),
  );
/** The text of the run terminal, without the spaces that fill its lines. */
const terminal = () =>
  editor.page
    .locator(".terminal-wrapper.active .xterm-rows > div")
    .allTextContents()
    .then((lines) => lines.map((line) => line.replaceAll("\u00a0", " ").trimEnd()).join("\n"));
const terminalShows = (text) => until(`"${text}" in the terminal`, terminal, (shown) => shown.includes(text));
/** Opens what the editor says about the language of the file, and closes it. */
async function statusShows(text) {
  await editor.page.locator('[id="status.languageStatus"]').hover();
  await editor.page.locator(".hover-language-status", { hasText: text }).waitFor();
  await editor.page.mouse.move(0, 0);
}
const SYNTAX = "--syntax";
const workers = () =>
  editor.processes("torchsleuth.worker").filter(({ command }) => !command.includes(SYNTAX));
const worker = () => workers()[0]?.pid;
const PYTHON = process.env.TORCHSLEUTH_TEST_PYTHON;

const OLD = `\
import torch

q, r = torch.qr(torch.randn(3, 3))
torch.mm(q, torch.randn(4, 5))
`;

/** An environment without PyTorch. Its pip, if it is to have one, installs what the tests run with. */
function bareEnvironment(folder, { pip = false } = {}) {
  execFileSync(PYTHON, ["-m", "venv", "--without-pip", folder]);
  const site = readdirSync(join(folder, "lib")).map((name) => join(folder, "lib", name, "site-packages"))[0];
  if (pip) {
    const installed = join(PYTHON, "..", "..", "lib", site.split("/").at(-2), "site-packages");
    mkdirSync(join(site, "pip"));
    writeFileSync(
      join(site, "pip", "__main__.py"),
      `import pathlib, sys
site = pathlib.Path(${JSON.stringify(site)})
print("Collecting", sys.argv[-1])
(site / "torch.pth").write_text(${JSON.stringify(installed)})
(site / "torch-2.13.0.dist-info").mkdir()
(site / "torch-2.13.0.dist-info" / "RECORD").touch()
print("Successfully installed torch-2.13.0")
`,
    );
  }
  return join(folder, "bin", "python");
}

async function withInterpreter(python, steps) {
  await editor.ask("configure", { name: "torchsleuth.interpreter", value: python });
  try {
    await steps();
  } finally {
    await editor.ask("configure", { name: "torchsleuth.interpreter", value: PYTHON });
  }
}

const LINEAR_MESSAGE =
  "`x` is (64, 16384): its last size 16384 does not fit `fc` (Linear), which was built with in_features=8192";
const LINEAR_FIX = "Change in_features of `fc` (Linear) from 8192 to 16384";

scenario(
  "in an untrusted workspace only syntax is looked at until it is trusted",
  async ({ ask, page, log, example, write }) => {
    const path = example("matmul_shapes.py");
    const old = write("old.py", OLD);
    await ask("show", { path });
    await until("the restricted state", log, (text) => text.includes("restricted "));
    assert.deepEqual(await diagnostics(path), []);
    assert.deepEqual(await ask("lenses", { path }), []);
    await ask("show", { path: old });
    await hasCodes(old, "TS802");
    assert.equal(worker(), undefined);
    await editor.screenshot("restricted");
    await ask("start", { id: "workbench.trust.manage" });
    await page.getByRole("button", { name: "Trust", exact: true }).first().click();
    await ask("show", { path });
    await hasCodes(path, "TS101");
  },
);

scenario(
  "a broken script shows exactly the planted bug, with a squiggle under it",
  async ({ ask, page, example }) => {
    const path = example("linear_after_conv.py");
    await ask("show", { path, line: 16, column: 20 });
    const [found] = await hasCodes(path, "TS101");
    assert.equal(found.message, LINEAR_MESSAGE);
    assert.equal(found.severity, "Error");
    assert.deepEqual(found.range, [16, 15, 16, 25]);
    assert.match(found.page, /docs\/rules\/TS101\.md$/);
    assert.deepEqual(
      found.related.map(([line]) => line),
      [11, 15, 30, 37], // the constructor, the flatten, the calls that lead here
      JSON.stringify(found.related),
    );
    const squiggle = await page.locator(".squiggly-error").first().boundingBox();
    const line = await page.locator(".view-line", { hasText: "return self.fc(x)" }).boundingBox();
    assert.ok(Math.abs(squiggle.y - line.y) < line.height, JSON.stringify({ squiggle, line }));
  },
);

scenario("hovering shows shape, dtype and device, and the rule", async ({ ask, page, example }) => {
  const path = example("linear_after_conv.py");
  await ask("show", { path, line: 16, column: 23 });
  await hasCodes(path, "TS101");
  const text = await ask("hover", { path, line: 16, column: 23 });
  for (const part of ["x: Tensor[64, 16384]", "float32", "cpu", "TS101"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  await ask("command", { id: "editor.action.showHover" });
  await page.locator(".monaco-hover", { hasText: "Tensor[64, 16384]" }).first().waitFor();
});

scenario("shapes stand behind the names, and can be switched off", async ({ ask, page, example }) => {
  const path = example("linear_after_conv.py");
  await ask("show", { path, line: 15 });
  await hasCodes(path, "TS101");
  const shown = await hints(path);
  for (const hint of [
    [14, 9, ": [64, 16, 32, 32] float32"],
    [15, 9, ": [64, 16384] float32"],
    [21, 10, ": [256, 3, 32, 32] float32"],
    [22, 10, ": [256] int64"],
  ]) {
    assert.ok(
      shown.some((item) => JSON.stringify(item) === JSON.stringify(hint)),
      `${hint} in ${shown.join(" | ")}`,
    );
  }
  await page.getByText("[64, 16384] float32").first().waitFor();
  await editor.screenshot("hints");
  await ask("configure", { name: "torchsleuth.inlayHints.enabled", value: false });
  await hints(path, (found) => found.length === 0);
  await ask("configure", { name: "torchsleuth.inlayHints.enabled", value: undefined });
  await hints(path);
});

scenario(
  "the lightbulb offers the fix, and taking it changes that number only",
  async ({ ask, page, example }) => {
    const path = example("linear_after_conv.py");
    await ask("show", { path, line: 16, column: 20 });
    await hasCodes(path, "TS101");
    await fixable(path, 16, 20, LINEAR_FIX);
    const before = await ask("text", { path });
    await page.locator(".view-line", { hasText: "return self.fc(x)" }).click();
    await page.keyboard.press("Control+.");
    const entry = page.locator(".action-widget").getByText(LINEAR_FIX);
    await entry.waitFor();
    await editor.screenshot("lightbulb");
    await entry.click();
    const text = await until(
      "the fix to be applied",
      () => ask("text", { path }),
      (now) => now !== before,
    );
    assert.equal(text, before.replace("8192", "16384"));
    await hasCodes(path);
  },
);

scenario("an input left on the CPU is moved", async ({ ask, example }) => {
  const path = example("device_mismatch.py");
  await ask("show", { path });
  const [found] = await hasCodes(path, "TS201");
  const [line, column] = found.range;
  const title = "Move `x` to device at the top of the loop";
  assert.equal((await fixable(path, line, column, title))[0], title);
  assert.equal(await ask("applyFix", { path, line, column, title }), true);
  await hasCodes(path);
  const before = readFileSync(path, "utf8");
  const loop = "    for x, y in loader:\n";
  assert.equal(await ask("text", { path }), before.replace(loop, `${loop}        x = x.to(device)\n`));
});

scenario("a validation loop is wrapped in no_grad and indented", async ({ ask, example }) => {
  const path = example("validation_without_no_grad.py");
  await ask("show", { path });
  const [found] = await hasCodes(path, "TS506");
  const [line, column] = found.range;
  const title = "Wrap in with torch.no_grad():";
  assert.equal((await fixable(path, line, column, title))[0], title);
  assert.equal(await ask("applyFix", { path, line, column, title }), true);
  await hasCodes(path);
  const loop = [
    "    for x, y in loader:",
    "        # the prediction is the class with the highest score",
    "        correct += (model(x).argmax(dim=1) == y).sum().item()",
  ];
  const wrapped = ["    with torch.no_grad():", ...loop.map((text) => `    ${text}`)];
  const before = readFileSync(path, "utf8");
  assert.equal(await ask("text", { path }), before.replace(loop.join("\n"), wrapped.join("\n")));
});

scenario(
  "the code lens runs the script, shows its output and maps the crash",
  async ({ ask, page, example }) => {
    const path = example("linear_after_conv.py");
    await ask("show", { path, line: 36 });
    await hasCodes(path, "TS101");
    assert.deepEqual(await lens(path), [[36, "▶ Run and Diagnose"]]);
    await page.locator(".codelens-decoration a", { hasText: "Run and Diagnose" }).click();
    const [found] = await until(
      "the crash on its line",
      () => diagnostics(path),
      (items) => items.some(({ message }) => message.endsWith("(confirmed by run)")),
    );
    assert.equal(found.message, `${LINEAR_MESSAGE} (confirmed by run)`);
    assert.deepEqual(found.range, [16, 15, 16, 25]);
    assert.deepEqual(codes(await diagnostics(path)), ["TS101"]);
    await terminalShows("RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x16384 and 8192x10)");
    await hints(path, (shown) =>
      shown.some(([line, , label]) => line === 15 && label === ": [64, 16384] float32 ◉"),
    );
    await editor.screenshot("run");
    await ask("command", { id: "torchsleuth.clearResults" });
    await until(
      "cleared results",
      () => diagnostics(path),
      (items) => items.length === 1 && items[0].message === LINEAR_MESSAGE,
    );
  },
);

/** A crash whose sizes only a run can know. */
const CRASH = `\
# 3 4
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
for step in range(2):
    loss = model(torch.ones(5, width)).sum()
print(loss)
`;
/** What stands behind the lines on the screen. */
const behindLines = () =>
  /* global document, getComputedStyle -- in the page */
  editor.page.evaluate(() =>
    [...document.querySelectorAll(".view-line span")]
      .map((part) => getComputedStyle(part, "::after").content)
      .filter((content) => content.startsWith('"')),
  );
const isBehindALine = (text) =>
  until(`"${text}" behind a line`, behindLines, (shown) => shown.some((content) => content.includes(text)));
const toast = (text) => editor.page.locator(".notification-toast", { hasText: text });

const TRAINING = `\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    loss.backward()
    optimizer.step()
`;

scenario(
  "the report of a training is a panel whose references open their lines",
  async ({ ask, write, page }) => {
    const path = write("train.py", TRAINING);
    await ask("show", { path });
    await lens(path);
    const result = await ask("command", { id: "torchsleuth.runAndDiagnose" });
    assert.match(result.verdict, /train\.py:10/);
    await ask("command", { id: "torchsleuth.showReport" });
    const inside = page.frameLocator("iframe.webview").frameLocator("iframe#active-frame");
    await inside.locator(".verdict", { hasText: "the gradients were not cleared" }).waitFor();
    await inside.locator(".finding", { hasText: "TS501" }).waitFor();
    assert.ok((await inside.locator(".u-wrap canvas").count()) > 0, "plots");
    assert.ok((await inside.locator(".heat .cells i").count()) > 0, "heat maps");
    await editor.screenshot("report");
    await inside.locator(".checklist .place", { hasText: "train.py:6" }).first().click();
    await until(
      "the line of the optimizer",
      () => ask("cursor"),
      (cursor) => cursor?.[0] === path && cursor[1] === 5,
    );
    assert.equal(await page.locator(".monaco-dialog-box").count(), 0, "the editor follows no link by itself");
    await inside.getByRole("button", { name: "Do two runs give the same?" }).click();
    await inside.locator(".finding .meta", { hasText: "determinism" }).waitFor();
    assert.equal(await inside.locator(".offers code").count(), 0, "buttons, where there is an editor");
    await editor.screenshot("report with a probe");
    const crashing = write("crash.py", TRAINING.replace("model(x)", "model(x[:, :3])"));
    await ask("show", { path: crashing });
    await lens(crashing);
    const crash = await ask("command", { id: "torchsleuth.runAndDiagnose" });
    await toast("does not fit Linear").getByRole("button", { name: "Show Report" }).click();
    await inside.locator(".verdict", { hasText: "crash.py crashed at crash.py:9" }).waitFor();
    assert.match(crash.verdict, /crashed at crash\.py:9/, "before its first step");
    await editor.screenshot("report of a crash");
    await ask("configure", { name: "workbench.colorTheme", value: "Default High Contrast" });
    await until(
      "high contrast",
      () => inside.locator("html").getAttribute("data-theme"),
      (theme) => theme === "contrast-dark",
    );
    await editor.screenshot("report in high contrast");
    await ask("configure", { name: "workbench.colorTheme", value: undefined });
  },
);

scenario(
  "a crash takes the user to its line, is told beside it, and repaired with one click",
  async ({ ask, write }) => {
    const path = write("crash.py", CRASH);
    await ask("show", { path });
    await lens(path);
    await ask("command", { id: "torchsleuth.runAndDiagnose" });
    assert.deepEqual(await ask("cursor"), [path, 13, 15]);
    await isBehindALine("✗ x [5, 3] · model.fc.weight [2, 4]");
    await toast("built with in_features=4").getByText("Go to Line").waitFor();
    await editor.screenshot("crash");
    await toast("built with in_features=4").getByText("Apply Fix").click();
    await until(
      "the repair",
      () => ask("text", { path }),
      (text) => text.includes("nn.Linear(3, 2)"),
    );
    await until(
      "nothing behind the lines",
      behindLines,
      (shown) => !shown.some((content) => content.includes("✗")),
    );
    const result = await ask("command", { id: "torchsleuth.runAgain" });
    assert.deepEqual([result.exitCode, result.failure], [0, null], JSON.stringify(result));
    await isBehindALine("loss "); // its value, without its shape: that stands behind the name
    await until(
      "the lines that the run reached",
      () => editor.page.locator(".editor .cgmr").count(),
      (count) => count > 8,
    );
    await editor.screenshot("reached");
  },
);

scenario(
  "who has gone on is left alone, and what is beside an edited line is dimmed",
  async ({ ask, page, write }) => {
    const path = write("waits.py", CRASH.replace("model = Net()", 'model = Net()\ninput("ready? ")'));
    const other = write("other.py", "import torch\n");
    await ask("show", { path });
    await lens(path);
    await ask("start", { id: "torchsleuth.runAndDiagnose" });
    await terminalShows("ready?");
    await ask("show", { path: other });
    await page.locator(".terminal-wrapper.active .xterm").click();
    await page.keyboard.press("Enter");
    await toast("built with in_features=4").getByText("Go to Line").waitFor();
    assert.equal((await ask("cursor"))[0], other);
    await toast("built with in_features=4").getByText("Go to Line").click();
    await until(
      "the line",
      () => ask("cursor"),
      ([file, line]) => file === path && line === 13,
    );
    await isBehindALine("✗ x [5, 3]");
    await ask("replace", { path, before: "self.fc(x)", after: "self.fc(x) # changed" });
    await until(
      "the finding of before",
      () => diagnostics(path),
      (found) => found.some(({ message }) => message.endsWith("before this line changed)")),
    );
  },
);

scenario("a configuration of launch.json is run as it says", async ({ ask, work, write }) => {
  const path = write(
    "configured.py",
    "import os, sys, torch\nprint(sys.argv[1:], os.environ['MODE'], os.getcwd())\n",
  );
  mkdirSync(join(work, ".vscode"), { recursive: true });
  const configuration = {
    name: "mine",
    type: "debugpy",
    request: "launch",
    program: "${file}",
    args: ["--lr", "0.1"],
    env: { MODE: "quick" },
    cwd: "${workspaceFolder}/.vscode",
  };
  await ask("configure", {
    name: "launch",
    value: { version: "0.2.0", configurations: [configuration] },
    target: "Workspace",
  });
  try {
    await ask("show", { path });
    await lens(path);
    const result = await ask("command", { id: "torchsleuth.runConfiguration" });
    assert.equal(result.exitCode, 0, JSON.stringify(result));
    await terminalShows("['--lr', '0.1'] quick");
  } finally {
    await ask("configure", { name: "launch", value: undefined, target: "Workspace" });
  }
});

scenario("the repaired script is saved and trains", async ({ ask, example }) => {
  const path = example("linear_after_conv.py");
  await ask("show", { path, line: 16 });
  await hasCodes(path, "TS101");
  await fixable(path, 16, 20, LINEAR_FIX);
  assert.equal(await ask("applyFix", { path, line: 16, column: 20, title: LINEAR_FIX }), true);
  const result = await ask("command", { id: "torchsleuth.runAndDiagnose" });
  assert.equal(await ask("isDirty", { path }), false);
  assert.deepEqual([result.ok, result.exitCode, result.cancelled], [true, 0, false], JSON.stringify(result));
  await terminalShows("epoch 1: loss");
  assert.deepEqual(await diagnostics(path), []);
});

scenario("what is typed in the terminal reaches the script", async ({ ask, page, write }) => {
  const path = write("ask.py", 'import torch\n\nprint("hello", input("who? "))\n');
  await ask("show", { path });
  await lens(path);
  await ask("start", { id: "torchsleuth.runAndDiagnose" });
  await terminalShows("who?");
  await page.locator(".terminal-wrapper.active .xterm").click();
  await page.keyboard.type("中文x");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await terminalShows("hello 中文\n");
  await terminalShows("ask.py finished");
});

/** Every way to end a run. */
const STOPS = {
  "the button": async ({ page }) => {
    await page.locator(".notification-toast", { hasText: "running forever.py" }).getByText("Cancel").click();
  },
  "the command": async ({ ask }) => {
    await ask("command", { id: "torchsleuth.stopRun" });
  },
  "Ctrl-C": async ({ page }) => {
    await page.locator(".terminal-wrapper.active .xterm").click();
    await page.keyboard.press("Control+C");
  },
  "closing the terminal": async ({ ask }) => {
    await ask("command", { id: "workbench.action.terminal.kill" });
  },
  "running it again": async ({ ask, page }) => {
    await ask("start", { id: "torchsleuth.runAndDiagnose" });
    await page
      .locator(".notification-toast", { hasText: "forever.py is still running" })
      .getByText("Stop It")
      .click();
  },
};
const FOREVER = `\
import subprocess, sys, time

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print("running")
while True:
    time.sleep(0.05)
`;

for (const [name, stop] of Object.entries(STOPS)) {
  scenario(
    `${name} stops a script that never ends, and what it started`,
    async ({ ask, write, processes }) => {
      const path = write("forever.py", FOREVER);
      const running = () =>
        [...processes("/forever.py"), ...processes("time.sleep(1000)")].map(({ command }) => command);
      await ask("show", { path });
      await ask("start", { id: "torchsleuth.runAndDiagnose" });
      await terminalShows("running");
      assert.equal(running().length, 2, running().join("\n"));
      await stop(editor);
      await until("the processes to end", running, (found) => found.length === 0);
    },
  );
}

scenario("a half-typed file with 中文 and 😋 keeps its diagnostics in place", async ({ ask, write }) => {
  const broken =
    '标题 = "😋"; a = torch.randn(32, 512)\n"😋", torch.mm(a, torch.randn(256, 10))\ndef half(:\n';
  const path = write("half.py", `import torch\n\n${broken}`);
  await ask("show", { path, line: 3, column: 8 });
  const [found] = await hasCodes(path, "TS101");
  assert.deepEqual(found.range, [3, 6, 3, 39]);
  assert.deepEqual(await hints(path), [[2, 12, ": [32, 512] float32"]]);
});

scenario("diagnostics follow the typing", async ({ ask, example }) => {
  const path = example("matmul_shapes.py");
  await ask("show", { path });
  await hasCodes(path, "TS101");
  assert.equal(await ask("replace", { path, before: "zeros(256, 10", after: "zeros(512, 10" }), true);
  await hasCodes(path);
  assert.equal(await ask("replace", { path, before: "zeros(512, 10", after: "zeros(300, 10" }), true);
  const [found] = await hasCodes(path, "TS101");
  assert.ok(found.message.includes("300"), found.message);
});

scenario("a killed worker is replaced", async ({ ask, example }) => {
  const path = example("matmul_shapes.py");
  await ask("show", { path });
  await hasCodes(path, "TS101");
  const before = worker();
  process.kill(before, "SIGKILL");
  const other = example("linear_after_conv.py");
  await ask("show", { path: other });
  await hasCodes(other, "TS101");
  assert.notEqual(worker(), before);
});

scenario("restart brings another server, and the analysis back", async ({ ask, example, processes }) => {
  const path = example("matmul_shapes.py");
  await ask("show", { path });
  await hasCodes(path, "TS101");
  const server = () => processes("start_server.py").map(({ pid }) => pid);
  const before = server();
  assert.equal(before.length, 1);
  const restart = { id: "torchsleuth.restart" };
  await Promise.all([ask("command", restart), ask("command", restart), ask("command", restart)]);
  await hasCodes(path, "TS101");
  assert.equal(server().length, 1);
  assert.notDeepEqual(server(), before);
});

scenario(
  "an interpreter that is not there is named, another one taken at once",
  async ({ ask, page, example }) => {
    const path = example("matmul_shapes.py");
    await ask("show", { path });
    await hasCodes(path, "TS101");
    const name = "torchsleuth.interpreter";
    await ask("configure", { name, value: "/nowhere/python" });
    await page.locator(".notification-toast", { hasText: "/nowhere/python cannot be started" }).waitFor();
    await hasCodes(path);
    await editor.screenshot("no interpreter");
    await statusShows("TorchSleuth: no analysis");
    await ask("configure", { name, value: process.env.TORCHSLEUTH_TEST_PYTHON });
    await hasCodes(path, "TS101");
  },
);

scenario("before PyTorch is imported, syntax is checked", async ({ ask, work, write }) => {
  const gate = join(work, "gate");
  const python = write("python-behind-gate", `#!/bin/sh\ncat ${gate} > /dev/null\nexec ${PYTHON} "$@"\n`);
  chmodSync(python, 0o755);
  execFileSync("mkfifo", [gate]);
  await withInterpreter(python, async () => {
    const path = write("old.py", OLD);
    await ask("show", { path });
    await hasCodes(path, "TS802");
    await statusShows("TorchSleuth: starting");
    await editor.screenshot("syntax first");
    writeFileSync(gate, "go");
    await hasCodes(path, "TS802", "TS101");
  });
  rmSync(gate);
});

scenario(
  "without PyTorch one notification offers the environments that have it",
  async ({ ask, page, work, write }) => {
    const bare = bareEnvironment(join(work, "bare"));
    symlinkSync(join(PYTHON, "..", ".."), join(work, ".venv"));
    await withInterpreter(bare, async () => {
      const path = write("old.py", OLD);
      await ask("show", { path });
      const toast = page.locator(".notification-toast", { hasText: "PyTorch is not installed" });
      await toast.waitFor();
      await hasCodes(path, "TS802");
      await statusShows("TorchSleuth: no PyTorch");
      assert.equal(await toast.count(), 1);
      await editor.screenshot("no PyTorch");
      await toast.getByText("Choose Interpreter").click();
      const list = page.locator(".quick-input-widget");
      const row = list.locator(".monaco-list-row", { hasText: join(work, ".venv") });
      await row.waitFor();
      assert.match(await row.innerText(), /Python 3\.\d+[\s\S]*PyTorch 2\./);
      assert.match(
        await list.locator(".monaco-list-row", { hasText: join(work, "bare") }).innerText(),
        /no PyTorch/,
      );
      await editor.screenshot("choose interpreter");
      await row.click();
      await hasCodes(path, "TS802", "TS101");
    });
    await ask("configure", { name: "torchsleuth.interpreter", target: "Workspace" });
    rmSync(join(work, ".venv"));
    rmSync(join(work, "bare"), { recursive: true });
  },
);

scenario("PyTorch is installed in a terminal, and used at once", async ({ ask, page, work, write }) => {
  const bare = bareEnvironment(join(work, "bare again"), { pip: true });
  await withInterpreter(bare, async () => {
    const path = write("old.py", OLD);
    await ask("show", { path });
    await hasCodes(path, "TS802");
    const toast = page.locator(".notification-toast", { hasText: "PyTorch is not installed" });
    await toast.getByText("Install PyTorch").click();
    await terminalShows("Successfully installed torch");
    await hasCodes(path, "TS802", "TS101");
    await editor.screenshot("installed");
  });
  rmSync(join(work, "bare again"), { recursive: true });
});

scenario(
  "a changed setting needs neither another server nor another worker",
  async ({ ask, processes, example }) => {
    const path = example("matmul_shapes.py");
    await ask("show", { path });
    await hasCodes(path, "TS101");
    const pids = () => [...processes("start_server.py"), ...workers()].map(({ pid }) => pid);
    const before = pids();
    await ask("configure", { name: "torchsleuth.severity", value: { TS101: "warning" } });
    await until(
      "a warning",
      () => diagnostics(path),
      ([found]) => found?.severity === "Warning",
    );
    await ask("configure", { name: "torchsleuth.severity", value: undefined });
    await until(
      "an error",
      () => diagnostics(path),
      ([found]) => found?.severity === "Error",
    );
    assert.deepEqual(pids(), before);
  },
);

scenario("a changed file on disk counts for those that import it", async ({ ask, write }) => {
  const path = write(
    "train.py",
    "import torch\nfrom size import N\n\ntorch.zeros(2, 3) @ torch.zeros(N, 4)\n",
  );
  const size = join(path, "..", "size.py");
  writeFileSync(size, "N = 5\n");
  await ask("show", { path });
  await hasCodes(path, "TS101");
  writeFileSync(size, "N = 3\n");
  await hasCodes(path);
});

scenario("each folder of a workspace has its settings and its interpreter", async ({ ask, work, open }) => {
  const folders = ["first", "second"].map((name) => join(work, name));
  const bare = bareEnvironment(join(work, "bare of second"));
  const settings = [
    { "torchsleuth.interpreter": PYTHON, "torchsleuth.ignore": ["TS802"] },
    { "torchsleuth.interpreter": bare },
  ];
  folders.forEach((folder, index) => {
    mkdirSync(join(folder, ".vscode"), { recursive: true });
    writeFileSync(join(folder, ".vscode", "settings.json"), JSON.stringify(settings[index]));
    writeFileSync(join(folder, "old.py"), OLD);
  });
  const workspace = join(work, "two.code-workspace");
  writeFileSync(workspace, JSON.stringify({ folders: folders.map((path) => ({ path })) }));
  await open(workspace);
  try {
    const [first, second] = folders.map((folder) => join(folder, "old.py"));
    await ask("show", { path: first });
    await hasCodes(first, "TS101");
    await ask("show", { path: second });
    await hasCodes(second, "TS802");
    await statusShows("TorchSleuth: no PyTorch");
    await hasCodes(first, "TS101");
    await editor.screenshot("two folders");
  } finally {
    await open();
  }
});

scenario(
  "a fault in another file is noted at the call, and its fix says where and is shown",
  async ({ ask, page, write }) => {
    const train = write(
      "train.py",
      [
        "import torch",
        "from model import Net",
        "",
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        "net = Net().to(device)",
        "batch = torch.randn(4, 6, device=device)",
        "out = net(batch)",
        "loss = batch.mean()",
        "",
      ].join("\n"),
    );
    const model = join(train, "..", "model.py");
    writeFileSync(
      model,
      [
        "from torch import nn",
        "",
        "",
        "class Net(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        "        self.fc = nn.Linear(8, 2)",
        "",
        "    def forward(self, x):",
        "        return self.fc(x)",
        "",
      ].join("\n"),
    );
    await ask("show", { path: train, line: 6, column: 8 });
    const [note] = await until(
      "a note at the call",
      () => diagnostics(train),
      (found) => found.length === 1,
    );
    assert.deepEqual([note.severity, note.range], ["Information", [6, 6, 6, 16]]);
    const [fault] = await until(
      "the fault in the file of its cause",
      () => diagnostics(model),
      (found) => found.length === 1,
    );
    assert.deepEqual([fault.code, fault.severity, fault.range[0]], ["TS101", "Error", 9]);
    const title = "Change in_features of `fc` (Linear) from 8 to 6 (in model.py:7)";
    await fixable(train, 6, 8, title);
    // What is only if there is a GPU, what has one element, and what comes behind the layer that does not fit.
    await hints(train, (shown) => {
      const labels = shown.map(([, , label]) => label);
      const wanted = [": [4, 6] float32 cuda?", ": scalar float32 cuda?", ": [4, 2] float32 cuda? ?"];
      return wanted.every((label) => labels.includes(label));
    });
    await page.keyboard.press("Control+.");
    await page.locator(".action-widget .monaco-list-row", { hasText: "in model.py:7" }).first().waitFor();
    await editor.screenshot("a fix in another file");
    await page.keyboard.press("Escape");
    assert.equal(await ask("applyFix", { path: train, line: 6, column: 8, title }), true);
    await page.locator(".tab.active", { hasText: "model.py" }).waitFor();
    assert.match(await ask("text", { path: model }), /nn\.Linear\(6, 2\)/);
    await hasCodes(model);
    await hasCodes(train);
  },
);

scenario("a lightbulb opens right after an edit", async ({ ask, page, example }) => {
  const path = example("linear_after_conv.py");
  await ask("show", { path, line: 16, column: 20 });
  await hasCodes(path, "TS101");
  await fixable(path, 16, 20, LINEAR_FIX);
  // The edit and the question follow one another at once: nothing has been analysed in between.
  await ask("replace", { path, before: "import torch\n", after: "import torch\n\n" });
  const titles = await ask("fixes", { path, line: 17, column: 20 });
  assert.ok(titles.includes(LINEAR_FIX), titles.join(", "));
  assert.equal(await ask("applyFix", { path, line: 17, column: 20, title: LINEAR_FIX }), true);
  await hasCodes(path);
  assert.match(await ask("text", { path }), /nn\.Linear\(16384, 10\)/);
  await page.locator(".tab.active", { hasText: "linear_after_conv.py" }).waitFor();
});

scenario("the menu of the lightbulb stays open while an edit is analysed", async ({ ask, page, example }) => {
  const path = example("linear_after_conv.py");
  await ask("show", { path, line: 16, column: 20 });
  await fixable(path, 16, 20, LINEAR_FIX);
  await page.locator(".view-line", { hasText: "return self.fc(x)" }).click();
  await ask("replace", { path, before: "import torch\n", after: "import torch\n\n" });
  await page.keyboard.press("Control+.");
  const row = page.locator(".action-widget .monaco-list-row", { hasText: LINEAR_FIX }).first();
  await row.waitFor();
  await editor.screenshot("the menu right after an edit");
  // The first edit is analysed, and its fixes are verified, while the menu is open.
  await fixable(path, 17, 20, LINEAR_FIX);
  await hasCodes(path, "TS101");
  await row.click();
  await hasCodes(path);
  assert.match(await ask("text", { path }), /nn\.Linear\(16384, 10\)/);
});

scenario("what is only demanded is marked as supposed", async ({ ask, page, write }) => {
  const path = write(
    "supposed.py",
    "import torch\nfrom torch import nn\n\nn = int(input())\nx = torch.zeros(2, n)\ny = nn.Linear(8, 3)(x)\n",
  );
  await ask("show", { path });
  const shown = await hints(path);
  const labels = shown.map(([, , label]) => label.split(" float32")[0]);
  assert.deepEqual(labels, [": [2, 8?]", ": [2, 3]"]);
  await page.locator(".view-line", { hasText: "8?" }).waitFor();
});

scenario("a working script stays silent", async ({ ask, example }) => {
  const path = example("good_training.py");
  await ask("show", { path });
  await hints(path);
  assert.deepEqual(await diagnostics(path), []);
});

scenario("a snippet is inserted", async ({ ask, write }) => {
  const path = write("snippet.py", "");
  await ask("show", { path });
  await ask("command", {
    id: "editor.action.insertSnippet",
    args: [{ langId: "python", name: "PyTorch training loop" }],
  });
  assert.match(await ask("text", { path }), /loss\.backward\(\)\n *optimizer\.step\(\)/);
});
