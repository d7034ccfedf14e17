// Reads the version that an interpreter prints.

/** Why an interpreter that printed `output` ("3 11") is too old, or undefined when it is not. */
export function versionProblem(interpreter: string, output: string): string | undefined {
  const [major, minor] = output.trim().split(" ").map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) {
    return `${interpreter} does not answer like Python`;
  }
  return major > 3 || (major === 3 && minor >= 10)
    ? undefined
    : `${interpreter} is Python ${major}.${minor}; TorchSleuth needs 3.10 or newer`;
}
