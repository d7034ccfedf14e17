// Commands as a shell wants them.

/** The command that installs PyTorch for an interpreter, in the words of the shell that will read it. */
export function installCommand(python: string, shell: string, uv: boolean): string {
  if (uv) {
    return `uv pip install --python ${quoted(python, shell)} torch`;
  }
  const path = quoted(python, shell);
  const call = isPowerShell(shell) && path !== python ? `& ${path}` : path;
  return `${call} -m pip install torch`;
}

/** A path as one word. */
function quoted(path: string, shell: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path) || (isWindows(shell) && /^[\w+=:,./\\-]+$/.test(path))) {
    return path;
  }
  if (isPowerShell(shell)) {
    return `'${path.replaceAll("'", "''")}'`;
  }
  return isWindows(shell) ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

function isPowerShell(shell: string): boolean {
  return /(powershell|pwsh)(\.exe)?$/i.test(shell);
}

function isWindows(shell: string): boolean {
  return isPowerShell(shell) || /cmd(\.exe)?$/i.test(shell);
}
