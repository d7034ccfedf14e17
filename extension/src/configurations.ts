// Configurations of launch.json, as ways to run a script.
import { isAbsolute, join } from "node:path";
import { parse } from "dotenv";
import type { RunOptions } from "./protocol";
import { expandVariables, unknownVariables, type Surroundings } from "./variables";

/** What launch.json says of a Python program; everything may be missing, or be something else. */
export interface Configuration {
  name?: unknown;
  type?: unknown;
  request?: unknown;
  program?: unknown;
  module?: unknown;
  args?: unknown;
  cwd?: unknown;
  env?: unknown;
  envFile?: unknown;
}

export interface Launch {
  /** The script; undefined where a module runs. */
  program?: string;
  options: RunOptions;
}

/** Whether it starts a Python file or module. */
export function isPython({ type, request, program, module }: Configuration): boolean {
  return (
    (type === "debugpy" || type === "python") &&
    (request ?? "launch") === "launch" &&
    (typeof program === "string" || typeof module === "string")
  );
}

/** How a configuration runs, or why it cannot be run here. `read` gives the text of a file. */
export function launch(
  configuration: Configuration,
  surroundings: Surroundings,
  read: (path: string) => string,
): Launch | { problem: string } {
  const unknown = new Set<string>();
  const expand = (text: string): string => {
    const expanded = expandVariables(text, surroundings);
    unknownVariables(expanded).forEach((variable) => unknown.add(variable));
    return expanded;
  };
  const absolute = (path: string): string =>
    isAbsolute(path) ? path : join(surroundings.workspaceFolder ?? "", path);
  const { args, cwd, env, envFile, program, module } = configuration;
  const options: RunOptions = {};
  if (typeof args === "string") {
    options.args = expand(args);
  } else if (Array.isArray(args)) {
    options.args = args.map((item) => expand(String(item)));
  }
  if (typeof cwd === "string" && cwd !== "") {
    options.cwd = absolute(expand(cwd));
  }
  const environment: Record<string, string | null> = {};
  if (typeof envFile === "string" && envFile !== "") {
    const path = absolute(expand(envFile));
    try {
      Object.assign(environment, parse(read(path)));
    } catch (error) {
      return { problem: `its envFile cannot be read: ${String(error)}` };
    }
  }
  if (typeof env === "object" && env !== null) {
    for (const [name, value] of Object.entries(env)) {
      environment[name] = value === null ? null : expand(String(value));
    }
  }
  if (Object.keys(environment).length > 0) {
    options.env = environment;
  }
  const launched: Launch = { options };
  if (typeof module === "string") {
    options.module = expand(module);
  } else {
    launched.program = absolute(expand(String(program)));
  }
  return unknown.size > 0
    ? { problem: `only the debugger can fill in ${[...unknown].join(", ")}` }
    : launched;
}

/** The name of the module in a file, seen from the folder that it is relative to. */
export function moduleName(path: string): string {
  return path
    .replace(/\.py$/, "")
    .replace(/[\\/]__(main|init)__$/, "")
    .replace(/[\\/]/g, ".");
}
