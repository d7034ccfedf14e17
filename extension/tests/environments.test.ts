// Environments are found, and their versions read, from files alone.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { describe, findEnvironments } from "../src/environments";
import { installCommand } from "../src/shell";

const POSIX = process.platform !== "win32";

/** A folder with these files; an interpreter in it would leave a trace if it were started. */
function tree(files: Record<string, string>): { root: string; started: string } {
  const root = mkdtempSync(join(tmpdir(), "torchsleuth-environments-"));
  const started = join(root, "started");
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text === "python" ? `#!/bin/sh\ntouch ${started}\n` : text);
    chmodSync(path, 0o755);
  }
  return { root, started };
}

void test("a virtual environment says its Python and its PyTorch", { skip: !POSIX }, () => {
  const { root, started } = tree({
    "work/.venv/bin/python": "python",
    "work/.venv/pyvenv.cfg": "home = /nowhere/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n",
    "work/.venv/lib/python3.11/site-packages/torch-2.13.0+cpu.dist-info/METADATA": "",
    "work/other/bin/python": "python",
    "work/other/pyvenv.cfg": "home = /nowhere/bin\nuv = 0.5.1\nversion_info = 3.12.4.final.0\n",
    "work/other/lib/python3.12/site-packages/torchvision-0.28.0.dist-info/METADATA": "",
  });
  const places = { folders: [join(root, "work")], home: join(root, "home"), environment: {} };
  const found = findEnvironments(places);
  assert.deepEqual(
    found.map(({ prefix, version, torch, uv }) => [prefix, version, torch, uv]),
    [
      [join(root, "work/.venv"), "3.11.7", "2.13.0+cpu", false],
      [join(root, "work/other"), "3.12.4", undefined, true],
    ],
  );
  assert.equal(found[0]?.python, join(root, "work/.venv/bin/python"));
  assert.ok(!existsSync(started), "an interpreter was started");
  rmSync(root, { recursive: true });
});

void test("conda, pyenv and the PATH are looked at, each environment once", { skip: !POSIX }, () => {
  const { root } = tree({
    "home/.conda/environments.txt": "",
    "home/miniconda3/envs/nets/bin/python": "python",
    "home/miniconda3/envs/nets/conda-meta/python-3.10.14-h955ad1f_1.json": "{}",
    "home/miniconda3/envs/nets/lib/python3.10/site-packages/torch-2.4.1-py3.10.egg-info/PKG-INFO": "",
    "home/.pyenv/versions/3.13.1/bin/python": "python",
    "bin/python3": "python",
  });
  writeFileSync(join(root, "home/.conda/environments.txt"), `${root}/home/miniconda3/envs/nets\n`);
  const environment = { PATH: `${root}/bin:relative:${root}/home/.pyenv/versions/3.13.1/bin` };
  const found = findEnvironments({ folders: [], home: join(root, "home"), environment });
  assert.deepEqual(
    found.map(({ prefix, version, torch }) => [prefix.slice(root.length), version, torch]),
    [
      ["/home/miniconda3/envs/nets", "3.10.14", "2.4.1"],
      ["/home/.pyenv/versions/3.13.1", "3.13.1", undefined],
      ["", undefined, undefined],
    ],
  );
  rmSync(root, { recursive: true });
});

void test("what others know comes first, and what is not there is left out", { skip: !POSIX }, () => {
  const { root } = tree({ "mine/bin/python": "python" });
  const known = [join(root, "mine/bin/python"), join(root, "gone/bin/python")];
  const found = findEnvironments({ folders: [], home: root, environment: {} }, known);
  assert.deepEqual(
    found.map(({ python }) => python),
    [known[0]],
  );
  assert.equal(describe(join(root, "gone/bin/python")), undefined);
  rmSync(root, { recursive: true });
});

void test("the command is one that each shell understands", () => {
  const plain = "/venv/bin/python";
  assert.equal(installCommand(plain, "/bin/bash", false), "/venv/bin/python -m pip install torch");
  assert.equal(
    installCommand("/my $(x) v/python", "/bin/zsh", false),
    "'/my $(x) v/python' -m pip install torch",
  );
  assert.equal(installCommand("/it's/python", "/bin/sh", false), "'/it'\\''s/python' -m pip install torch");
  const windows = "C:\\My Code\\.venv\\Scripts\\python.exe";
  assert.equal(installCommand(windows, "C:\\Windows\\cmd.exe", false), `"${windows}" -m pip install torch`);
  assert.equal(installCommand(windows, "pwsh.exe", false), `& '${windows}' -m pip install torch`);
  assert.equal(installCommand(plain, "/bin/bash", true), "uv pip install --python /venv/bin/python torch");
});
