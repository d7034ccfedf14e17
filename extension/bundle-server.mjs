// Assembles the language server and its libraries in extension/bundled: what the VSIX brings for the user's Python.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";

const target = "extension/bundled";
const libraries = join(target, "libs");
/** pygls brings attrs, cattrs and lsprotocol, jedi parso; the last three are needed on Python 3.10 only. */
const requirements = ["pygls", "jedi", "exceptiongroup", "typing_extensions", "tomli"];
/** Packages of ours that the editor does not use. */
const leftOut = ["cli"];

rmSync(target, { recursive: true, force: true });
mkdirSync(libraries, { recursive: true });
installLibraries();
removeNeedless();
cpSync("server/torchsleuth", join(target, "torchsleuth"), {
  recursive: true,
  filter: (path) => basename(path) !== "__pycache__" && !leftOut.includes(basename(path)),
});
copyFileSync("extension/start_server.py", join(target, "start_server.py"));
refuseCompiled();
tryImport();
console.log(`${target}: ${[...files(target)].length} files, ${Math.round(bytes(target) / 1024)} KiB`);

/** Wheels for any platform and for our oldest Python: whatever has only compiled ones makes this fail. */
function installLibraries() {
  const anyPlatform = [
    "--only-binary",
    ":all:",
    "--platform",
    "any",
    "--implementation",
    "py",
    "--abi",
    "none",
  ];
  const quiet = ["-qq", "--disable-pip-version-check", "--no-compile", "--root-user-action", "ignore"];
  const pins = ["--constraint", "constraints.txt", "--python-version", "3.10"];
  const install = ["-m", "pip", "install", ...quiet, ...pins, ...anyPlatform, "--target", libraries];
  execFileSync(python(), [...install, ...requirements], { stdio: "inherit" });
}

/** Scripts, stubs and pip's own notes; licences and metadata stay, and the stubs of the standard library for jedi. */
function removeNeedless() {
  rmSync(join(libraries, "bin"), { recursive: true, force: true });
  const stubs = join(libraries, "jedi", "third_party");
  rmSync(join(stubs, "django-stubs"), { recursive: true, force: true });
  rmSync(join(stubs, "typeshed", "stubs"), { recursive: true, force: true });
  for (const path of files(libraries)) {
    if (path.startsWith(stubs)) {
      continue;
    }
    if (/\.pyi$|\.dist-info[/\\](RECORD|INSTALLER|REQUESTED|WHEEL)$/.test(path)) {
      rmSync(path);
    }
  }
}

function refuseCompiled() {
  const compiled = [...files(target)].filter((path) => /\.(so|pyd|dylib|dll|a|pyc)$/.test(path));
  if (compiled.length > 0) {
    throw new Error(`compiled files in the bundle: ${compiled.join(", ")}`);
  }
}

/** Without site-packages, so that a library that is missing here is missed here and not on a user's machine. */
function tryImport() {
  const check = `import runpy; runpy.run_path(${JSON.stringify(join(target, "start_server.py"))}, run_name="check")`;
  execFileSync(python(), ["-I", "-S", "-B", "-c", check], { stdio: "inherit" });
}

function python() {
  return [".venv/bin/python", ".venv/Scripts/python.exe"].find(existsSync) ?? "python3";
}

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

function bytes(folder) {
  return [...files(folder)].reduce((sum, path) => sum + statSync(path).size, 0);
}
