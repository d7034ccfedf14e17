// What may be started while the workspace is not trusted: nothing that lies in it or is reached through it.
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

/** Whether the user trusts the workspace, and the folders that it is made of. */
export interface Trust {
  trusted: boolean;
  folders: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As many links as systems follow, at least. */
const MAX_LINKS = 40;

/**
 * The program that `command` starts, or why it is not started. In a trusted workspace that is the command itself. In
 * another one it is an absolute path no part of which the workspace decides: not a folder on the way, not a link.
 */
export function startable(
  command: string,
  trust: Trust,
  environment: Environment = process.env,
): string | { problem: string } {
  if (trust.trusted) {
    return command;
  }
  if (basename(command) === command) {
    const found = onPath(command, trust, environment);
    return found ?? { problem: `${command} was not found outside of the workspace, which is not trusted.` };
  }
  return isAbsolute(command) && !passesThrough(command, trust.folders)
    ? command
    : { problem: `${command} is not started: the workspace is not trusted.` };
}

/** The environment for what is started: its PATH without relative folders, and without those of the workspace. */
export function safeEnvironment(trust: Trust, environment: Environment = process.env): Environment {
  if (trust.trusted) {
    return environment;
  }
  const path = safeFolders(trust, environment).join(delimiter);
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, name.toUpperCase() === "PATH" ? path : value]),
  );
}

/** Whether a file lies in one of the folders, or a link on the way to it does. So does, for us, what cannot be resolved. */
export function passesThrough(path: string, folders: readonly string[]): boolean {
  const closed = folders.flatMap((folder) => [resolve(folder), real(folder)]);
  const isClosed = (place: string): boolean => closed.some((folder) => contains(folder, place));
  let current = parse(resolve(path)).root;
  // Not normalised: what `..` means behind a link is known when the link was followed.
  let rest = parts(path.slice(parse(path).root.length));
  for (let links = 0; links <= MAX_LINKS;) {
    const [part, ...behind] = rest;
    if (part === undefined) {
      return false;
    }
    rest = behind;
    const next = part === ".." ? dirname(current) : join(current, part);
    if (isClosed(next)) {
      return true;
    }
    let target: string | undefined;
    try {
      target = lstatSync(next).isSymbolicLink() ? readlinkSync(next) : undefined;
    } catch {
      return true;
    }
    if (target === undefined) {
      current = next;
    } else {
      links += 1;
      const { root } = parse(target);
      current = root === "" ? dirname(next) : root;
      rest = [...parts(target.slice(root.length)), ...rest];
    }
  }
  return true;
}

function onPath(name: string, trust: Trust, environment: Environment): string | undefined {
  const endings = process.platform === "win32" ? [".exe", ""] : [""];
  const candidates = safeFolders(trust, environment).flatMap((folder) =>
    endings.map((ending) => join(folder, name + ending)),
  );
  return candidates.find((candidate) => !passesThrough(candidate, trust.folders));
}

function safeFolders(trust: Trust, environment: Environment): string[] {
  const path = Object.entries(environment).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !passesThrough(folder, trust.folders));
}

function parts(path: string): string[] {
  return path
    .split(process.platform === "win32" ? /[\\/]+/ : /\/+/)
    .filter((part) => part !== "" && part !== ".");
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

/** Where letters of either case name one file, they do so here. */
function contains(folder: string, place: string): boolean {
  const fold = (path: string): string => (process.platform === "linux" ? path : path.toLowerCase());
  const way = relative(fold(folder), fold(place));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
