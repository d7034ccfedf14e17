// What is started while the workspace is not trusted: nothing that lies in it or is reached through it.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { visible } from "../src/lines";
import { passesThrough, safeEnvironment, startable, type Trust } from "../src/trust";
import { expandVariables } from "../src/variables";

const base = realpathSync(mkdtempSync(join(tmpdir(), "torchsleuth-trust-")));
const workspace = join(base, "work");
const outside = join(base, "outside");
const untrusted: Trust = { trusted: false, folders: [workspace] };
const trusted: Trust = { ...untrusted, trusted: true };

function program(path: string): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

const inside = program(join(workspace, "venv", "bin", "python"));
const good = program(join(outside, "bin", "python3"));
const link = (target: string, path: string): string => {
  symlinkSync(target, path);
  return path;
};
const posix = { skip: process.platform === "win32" };

const refused = (command: string, environment = {}): boolean =>
  typeof startable(command, untrusted, environment) !== "string";

void test("an interpreter in the workspace is not started, however it is written", () => {
  const setting = "${workspaceFolder}/venv/bin/python";
  const expanded = expandVariables(setting, { home: base, workspaceFolder: workspace, environment: {} });
  assert.equal(expanded, inside);
  assert.ok(refused(expanded));
  assert.ok(refused(join(workspace, "venv/../venv/bin/python")));
  assert.ok(refused(`${outside}/../work/venv/bin/python`));
  assert.ok(refused("venv/bin/python"));
  assert.ok(refused("./python"));
  assert.ok(refused(".."));
  assert.equal(startable(expanded, trusted), expanded);
  assert.equal(startable("venv/bin/python", trusted), "venv/bin/python");
});

void test("nor is one that is reached through it", posix, () => {
  assert.ok(refused(link(inside, join(outside, "bin", "direct"))));
  assert.ok(refused(link("../../work/venv/bin/python", join(outside, "bin", "relative"))));
  // The workspace decides where this one leads, even if it leads out again.
  const around = link(good, join(workspace, "around"));
  assert.ok(refused(around));
  assert.ok(refused(link(around, join(outside, "bin", "twice"))));
  link(join(workspace, "venv"), join(outside, "folder"));
  assert.ok(refused(join(outside, "folder", "bin", "python")));
  assert.ok(refused(link("loop", join(outside, "loop"))));
});

void test("a workspace that is itself opened through a link is the same workspace", posix, () => {
  const alias = link(workspace, join(base, "alias"));
  assert.ok(passesThrough(inside, [alias]));
  assert.ok(passesThrough(join(alias, "venv/bin/python"), [workspace]));
});

void test("what lies elsewhere is started", posix, () => {
  assert.equal(startable(good, untrusted), good);
  const chosen = link("python3", join(outside, "bin", "python"));
  assert.equal(startable(chosen, untrusted), chosen);
  const neighbour = program(join(base, "work-of-mine", "python"));
  assert.equal(startable(neighbour, untrusted), neighbour);
});

void test(
  "a name is looked for on the PATH, but not in the workspace and not in relative folders",
  posix,
  () => {
    const PATH = ["", ".", "venv/bin", join(workspace, "venv/bin"), join(outside, "bin")].join(delimiter);
    assert.equal(startable("python", untrusted, { PATH }), join(outside, "bin", "python"));
    assert.equal(startable("python3", untrusted, { PATH }), good);
    assert.ok(refused("python", { PATH: join(workspace, "venv/bin") }));
    assert.ok(refused("python", {}));
    assert.equal(startable("python", trusted, { PATH }), "python");
    assert.deepEqual(safeEnvironment(untrusted, { PATH, HOME: base }), {
      PATH: join(outside, "bin"),
      HOME: base,
    });
    assert.deepEqual(safeEnvironment(trusted, { PATH }), { PATH });
  },
);

void test("names steer neither a terminal nor a notification", () => {
  assert.equal(visible("train.py"), "train.py");
  assert.equal(visible("名😋é.py"), "名😋é.py");
  assert.equal(
    visible("a\x1b[2J\r\n\u202eb\u009b\ud800.py"),
    "a\\u{1b}[2J\\u{d}\\u{a}\\u{202e}b\\u{9b}\\u{d800}.py",
  );
  assert.equal(visible("[x](command:y).py"), "[x] (command:y).py");
});
