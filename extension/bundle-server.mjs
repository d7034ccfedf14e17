// Assembles the language server and its libraries, all pure Python, in extension/bundled.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const target = "extension/bundled";
const libraries = ["pygls", "lsprotocol", "attrs", "cattrs", "typing_extensions", "exceptiongroup"];
const compiled = /\.(so|pyd|dylib|dll|a)$/;

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      yield* files(path);
    } else {
      yield path;
    }
  }
}

const python = [".venv/bin/python", "python3", "python"].find(
  (name) => !name.includes("/") || existsSync(name),
);
rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, "libs"), { recursive: true });
execFileSync(
  python,
  [
    ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps"],
    ...["--constraint", "constraints.txt", "--target", join(target, "libs"), ...libraries],
  ],
  { stdio: "inherit" },
);
rmSync(join(target, "libs", "bin"), { recursive: true, force: true });
cpSync("server/torchsleuth", join(target, "torchsleuth"), {
  recursive: true,
  filter: (path) => !path.includes("__pycache__") && !path.includes(join("torchsleuth", "cli")),
});
writeFileSync(
  join(target, "start_server.py"),
  `"""Starts the language server with the bundled libraries first, and without leaking them to child processes."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "libs"), here]

from torchsleuth.lsp.server import main  # noqa: E402

main()
`,
);
const bad = [...files(target)].filter((path) => compiled.test(path));
if (bad.length > 0) {
  throw new Error(`compiled files in the bundle: ${bad.join(", ")}`);
}
