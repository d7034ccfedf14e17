// What a user does, in a real editor: look, hover, fix, run, stop, restart.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startEditor, until } from "./editor.mjs";

const root = new URL("../..", import.meta.url).pathname;
let editor;

before(async () => {
  editor = await startEditor(root);
});
after(async () => {
  await editor?.stop();
});

const diagnostics = (path) => editor.ask("diagnostics", { path });
const withCode = (path, code) =>
  until(
    () => diagnostics(path),
    (found) => found.some((item) => item.code === code),
    `${code} in ${path}`,
  );
const clean = (path) =>
  until(
    () => diagnostics(path),
    (found) => found.length === 0,
    `no diagnostics in ${path}`,
  );

test("opening a broken script shows exactly the planted bug, with a squiggle", async () => {
  const path = editor.file("linear_after_conv.py");
  await editor.ask("cursor", { path, line: 16, column: 20 });
  const found = await withCode(path, "TS101");
  assert.equal(found.length, 1);
  assert.equal(
    found[0].message,
    "`x` is (64, 16384): its last size 16384 does not fit `fc` (Linear), which was built with in_features=8192",
  );
  assert.deepEqual(found[0].range, [16, 15, 16, 25]);
  assert.ok(found[0].related.some((text) => text.includes("flatten of (64, 16, 32, 32)")));
  await editor.page.waitForSelector(".squiggly-error", { timeout: 30_000 });
  await editor.screenshot("squiggle");
});

test("hover shows shape, dtype and device, and the rule", async () => {
  const path = editor.file("linear_after_conv.py");
  const text = (await editor.ask("hover", { path, line: 16, column: 23 })).join("\n");
  for (const part of ["[64, 16384]", "float32", "cpu", "TS101"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test("inlay hints stand behind the names", async () => {
  const path = editor.file("linear_after_conv.py");
  const hints = await editor.ask("hints", { path });
  assert.ok(hints.some(([line, , label]) => line === 15 && label === ": [64, 16384] float32"));
  await editor.page.waitForSelector("text=[64, 16384] float32", { timeout: 30_000 });
  await editor.screenshot("hints");
});

test("the lightbulb offers the fix, and taking it changes that number only", async () => {
  const path = editor.file("linear_after_conv.py");
  const before = await editor.ask("text", { path });
  await editor.ask("cursor", { path, line: 16, column: 20 });
  await editor.page.click(".monaco-editor .view-lines");
  await editor.ask("cursor", { path, line: 16, column: 20 });
  await editor.ask("start", { id: "editor.action.quickFix" });
  const entry = "Change in_features of `fc` (Linear) from 8192 to 16384";
  const item = editor.page.locator(".action-widget").getByText(entry);
  await item.waitFor({ timeout: 30_000 });
  await editor.screenshot("lightbulb");
  await editor.page.keyboard.press("Enter");
  const text = await until(
    () => editor.ask("text", { path }),
    (now) => now !== before,
    "the fix to be applied",
  );
  assert.equal(text, before.replace("8192", "16384"));
  await clean(path);
  await editor.ask("command", { id: "workbench.action.files.revert" });
});

test("an input left on the CPU is moved", async () => {
  const path = editor.file("device_mismatch.py");
  await editor.ask("open", { path });
  const [found] = await withCode(path, "TS201");
  const [line, column] = found.range;
  const titles = await editor.ask("actions", { path, line, column });
  assert.equal(titles[0], "Move `x` to device at the top of the loop");
  assert.equal(await editor.ask("apply", { path, line, column, title: titles[0] }), true);
  await clean(path);
  const text = await editor.ask("text", { path });
  assert.ok(text.includes("    for x, y in loader:\n        x = x.to(device)\n        y = y.to(device)\n"));
  await editor.ask("command", { id: "workbench.action.files.revert" });
});

test("a validation loop is wrapped in no_grad and indented", async () => {
  const path = editor.file("validation_without_no_grad.py");
  await editor.ask("open", { path });
  const [found] = await withCode(path, "TS506");
  const [line, column] = found.range;
  assert.equal(
    await editor.ask("apply", { path, line, column, title: "Wrap in with torch.no_grad():" }),
    true,
  );
  await clean(path);
  const text = await editor.ask("text", { path });
  assert.ok(
    text.includes("    with torch.no_grad():\n        for x, y in loader:\n            # the prediction"),
  );
  await editor.ask("command", { id: "workbench.action.files.revert" });
});

test("clicking the code lens runs the script, shows its output and maps the crash", async () => {
  const path = editor.file("linear_after_conv.py");
  await editor.ask("cursor", { path, line: 36, column: 0 });
  await withCode(path, "TS101");
  assert.deepEqual(
    await until(
      () => editor.ask("lenses", { path }),
      (found) => found.length > 0,
      "the code lens",
    ),
    [[36, "▶ Run and Diagnose"]],
  );
  await editor.page.locator(".codelens-decoration a").first().click();
  const found = await until(
    () => diagnostics(path),
    (items) => items.some((item) => item.message.endsWith("(confirmed by run)")),
    "the crash on its line",
  );
  assert.equal(found.length, 1);
  assert.deepEqual(found[0].range, [16, 15, 16, 25]);
  const hints = await until(
    () => editor.ask("hints", { path }),
    (items) => items.some(([, , label]) => label.includes("◉")),
    "observed shapes",
  );
  assert.ok(hints.some(([line, , label]) => line === 15 && label === ": [64, 16384] float32 ◉"));
  await editor.page.waitForSelector(".terminal-wrapper.active", { timeout: 30_000 });
  await editor.screenshot("run");
  await editor.ask("command", { id: "torchsleuth.clearResults" });
  await until(
    () => diagnostics(path),
    (items) => items.length === 1 && !items[0].message.includes("confirmed"),
    "cleared results",
  );
});

test("a script that never ends is stopped", async () => {
  const path = editor.file("forever.py");
  writeFileSync(path, "import time\nimport torch\n\nprint('running')\nwhile True:\n    time.sleep(0.05)\n");
  await editor.ask("open", { path });
  const running = () => {
    try {
      return execFileSync("pgrep", ["-f", `torchsleuth.runtime ${path}`])
        .toString()
        .trim();
    } catch {
      return "";
    }
  };
  await until(
    () => editor.ask("lenses", { path }),
    (found) => found.length > 0,
    "the server",
  );
  await editor.ask("start", { id: "torchsleuth.runAndDiagnose" });
  await until(running, Boolean, "the script to start");
  await editor.ask("command", { id: "torchsleuth.stopRun" });
  await until(running, (found) => found === "", "the script to end");
});

test("a half-typed file with 中文 and 😋 keeps its diagnostics in place", async () => {
  const path = editor.file("half.py");
  const text =
    'import torch\n\n标题 = "😋"; a = torch.randn(32, 512)\n"😋", torch.mm(a, torch.randn(256, 10))\ndef half(:\n';
  writeFileSync(path, text);
  await editor.ask("open", { path });
  const found = await withCode(path, "TS101");
  assert.deepEqual(found[0].range.slice(0, 2), [3, 6]);
  await editor.ask("cursor", { path, line: 3, column: 8 });
  await editor.screenshot("half-typed");
});

test("restart brings the analysis back", async () => {
  await editor.ask("command", { id: "torchsleuth.restart" });
  const path = editor.file("matmul_shapes.py");
  await editor.ask("open", { path });
  const [found] = await withCode(path, "TS101");
  assert.ok(found.message.includes("inner sizes 512 and 256 differ"));
});

test("a working script stays silent", async () => {
  const path = editor.file("good_training.py");
  await editor.ask("open", { path });
  await until(
    () => editor.ask("hints", { path }),
    (hints) => hints.length > 0,
    "the analysis",
  );
  assert.deepEqual(await diagnostics(path), []);
});
