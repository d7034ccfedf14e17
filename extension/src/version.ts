// Reads what an interpreter answers when it is asked who it is.

/** Prints one line that `readAnswer` understands, in any Python since 2.6. */
export const QUESTION =
  "import json, sys; print(json.dumps([sys.version_info[0], sys.version_info[1], sys.executable]))";

export const OLDEST_MINOR = 10;

export interface Interpreter {
  /** The interpreter's own name for itself: where a name on the PATH or a shim leads to. */
  path: string;
  version: string;
}

/** The interpreter that was started as `command` and printed `output`, or why it cannot be used. */
export function readAnswer(command: string, output: string): Interpreter | { problem: string } {
  // The last line: a sitecustomize may have printed before.
  const answer = parsed(output.trim().split("\n").at(-1) ?? "");
  if (answer === undefined) {
    return { problem: `${command} does not answer like Python.` };
  }
  const [major, minor, executable] = answer;
  if (major !== 3 || minor < OLDEST_MINOR) {
    return {
      problem: `${command} is Python ${major}.${minor}; TorchSleuth needs 3.${OLDEST_MINOR} or newer.`,
    };
  }
  return { path: executable === "" ? command : executable, version: `${major}.${minor}` };
}

function parsed(line: string): [number, number, string] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) {
    return undefined;
  }
  const [major, minor, executable] = value as unknown[];
  if (typeof major !== "number" || typeof minor !== "number") {
    return undefined;
  }
  return [major, minor, typeof executable === "string" ? executable : ""];
}
