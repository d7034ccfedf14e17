// The Python environments of this machine with their Python and PyTorch, read from their files: nothing of them is run.
import { readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

export interface Environment {
  /** The interpreter's path. */
  python: string;
  /** The folder that the environment is in. */
  prefix: string;
  /** Version of Python, as far as it is written somewhere. */
  version: string | undefined;
  /** Version of PyTorch, if it is installed there. */
  torch: string | undefined;
  /** Whether uv made the environment: it has no pip. */
  uv: boolean;
}

export interface Places {
  /** Paths of the workspace folders. */
  folders: readonly string[];
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
}

const WINDOWS = process.platform === "win32";
const IN_HOME = [
  ".virtualenvs",
  ".local/share/virtualenvs",
  ".conda/envs",
  "miniconda3/envs",
  "anaconda3/envs",
];
const CONDA_ROOTS = ["miniconda3", "anaconda3", "miniforge3", "mambaforge"];

/** All environments that are found, those with PyTorch first; `known`: interpreters that somebody else knows. */
export function findEnvironments(places: Places, known: readonly string[] = []): Environment[] {
  const found = new Map<string, Environment>();
  for (const python of [...known, ...interpreters(places)]) {
    const environment = describe(python);
    if (environment !== undefined && !found.has(key(environment))) {
      found.set(key(environment), environment);
    }
  }
  const all = [...found.values()];
  return [
    ...all.filter(({ torch }) => torch !== undefined),
    ...all.filter(({ torch }) => torch === undefined),
  ];
}

/** What the files around an interpreter say of it. Undefined where there is none. */
export function describe(python: string): Environment | undefined {
  if (!isFile(python)) {
    return undefined;
  }
  const scripts = dirname(python);
  const prefix = /^(bin|scripts)$/i.test(basename(scripts)) ? dirname(scripts) : scripts;
  const configuration = settings(join(prefix, "pyvenv.cfg"));
  const base = configuration?.get("home") ?? dirname(resolved(python));
  const version =
    configuration?.get("version") ??
    configuration?.get("version_info")?.split(".").slice(0, 3).join(".") ??
    condaVersion(prefix) ??
    /\d+\.\d+(\.\d+)?$/.exec(basename(dirname(base)))?.[0] ?? // ~/.pyenv/versions/3.12.4/bin
    /\d+\.\d+$/.exec(basename(resolved(python), ".exe"))?.[0];
  const minor = version?.split(".").slice(0, 2).join(".");
  const sites = sitePackages(prefix, minor);
  if (configuration === undefined || configuration.get("include-system-site-packages") === "true") {
    const system = /^bin$/i.test(basename(base)) ? dirname(base) : base;
    sites.push(...sitePackages(system, minor));
  }
  const torch = sites.map(torchVersion).find((found) => found !== undefined);
  return { python, prefix, version, torch, uv: configuration?.has("uv") ?? false };
}

/** The version that the metadata beside the package names. */
function torchVersion(site: string): string | undefined {
  const names = list(site).map((name) => /^torch-([^-]+)(-.*)?\.(dist|egg)-info$/.exec(name)?.[1]);
  return names.find((version) => version !== undefined);
}

function sitePackages(prefix: string, minor: string | undefined): string[] {
  if (WINDOWS) {
    return [join(prefix, "Lib", "site-packages")];
  }
  const versions =
    minor === undefined
      ? list(join(prefix, "lib")).filter((name) => /^python3\.\d+$/.test(name))
      : [`python${minor}`];
  const libraries = ["lib", "local/lib"].map((name) => join(prefix, name));
  return libraries.flatMap((library) => [
    ...versions.flatMap((version) => [
      join(library, version, "site-packages"),
      join(library, version, "dist-packages"),
    ]),
    join(library, "python3", "dist-packages"),
  ]);
}

/** Where interpreters are: in the workspace, in the places of conda, pyenv and virtualenv, on the PATH. */
function* interpreters({ folders, home, environment }: Places): Iterable<string> {
  for (const folder of folders) {
    const names = list(folder).filter((name) => isFile(join(folder, name, "pyvenv.cfg")));
    yield* [".venv", "venv", "env", ...names].flatMap((name) => inside(join(folder, name)));
  }
  const prefixes = [environment.VIRTUAL_ENV, environment.CONDA_PREFIX].flatMap((path) => path ?? []);
  const known = read(join(home, ".conda", "environments.txt"))
    .split(/\r?\n/)
    .filter(Boolean);
  const pyenv = environment.PYENV_ROOT ?? join(home, ".pyenv");
  const parents = [
    join(pyenv, "versions"),
    join(pyenv, "pyenv-win", "versions"),
    ...IN_HOME.map((name) => join(home, name)),
  ];
  const children = parents.flatMap((parent) => list(parent).map((name) => join(parent, name)));
  const roots = CONDA_ROOTS.map((name) => join(home, name));
  yield* [...prefixes, ...known, ...children, ...roots].flatMap(inside);
  for (const folder of (environment.PATH ?? environment.Path ?? "").split(delimiter)) {
    if (isAbsolute(folder)) {
      yield* (WINDOWS ? ["python.exe"] : ["python3", "python"]).map((name) => join(folder, name));
    }
  }
}

function inside(prefix: string): string[] {
  const names = WINDOWS
    ? [join("Scripts", "python.exe"), "python.exe"]
    : [join("bin", "python"), join("bin", "python3")];
  return names.map((name) => join(prefix, name));
}

/** Two names of one interpreter in one place are one environment. */
function key({ python, prefix }: Environment): string {
  return `${resolved(prefix)}\0${resolved(python)}`;
}

function condaVersion(prefix: string): string | undefined {
  return list(join(prefix, "conda-meta"))
    .map((name) => /^python-(\d+\.\d+\.\d+)-[^-]+\.json$/.exec(name)?.[1])
    .find((version) => version !== undefined);
}

/** A file of `name = value` lines; undefined where there is none. */
function settings(path: string): Map<string, string> | undefined {
  const lines = read(path)
    .split(/\r?\n/)
    .flatMap((line) => {
      const match = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line);
      return match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const];
    });
  return lines.length === 0 ? undefined : new Map(lines);
}

function read(path: string): string {
  try {
    return isFile(path) ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
