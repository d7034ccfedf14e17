// Which Python the server and the analysis run in: the Python extension's, else the setting, else the PATH.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { versionProblem } from "./version";

interface EnvironmentsApi {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
  onDidChangeEnvironment?: vscode.Event<unknown>;
}

interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function api<T>(id: string): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<T>(id);
  if (extension === undefined) {
    return undefined;
  }
  try {
    return await extension.activate();
  } catch {
    return undefined;
  }
}

const ENVIRONMENTS = "ms-python.vscode-python-envs";
const PYTHON = "ms-python.python";

async function fromExtensions(scope: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = await api<EnvironmentsApi | undefined>(ENVIRONMENTS);
  const chosen = await environments?.getEnvironment(scope);
  const executable = chosen?.execInfo?.run?.executable;
  if (executable !== undefined && executable !== "") {
    return executable;
  }
  const python = await api<PythonApi | undefined>(PYTHON);
  if (python === undefined) {
    return undefined;
  }
  const active = python.environments.getActiveEnvironmentPath(scope);
  const resolved = await python.environments.resolveEnvironment(active);
  return resolved?.executable.uri?.fsPath;
}

/** The interpreter to use; the last resort is `python3` (or `python` on Windows) on the PATH. */
export async function findInterpreter(): Promise<string> {
  const scope = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (vscode.workspace.isTrusted) {
    const chosen = await fromExtensions(scope);
    if (chosen !== undefined) {
      return chosen;
    }
    const setting = vscode.workspace.getConfiguration("torchsleuth", scope).get<string>("interpreter", "");
    if (setting !== "") {
      return setting;
    }
  }
  return process.platform === "win32" ? "python" : "python3";
}

/** Why the interpreter cannot run the server, or undefined when it can. */
export function interpreterProblem(interpreter: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const script = "import sys; print(sys.version_info[0], sys.version_info[1])";
    execFile(interpreter, ["-c", script], { timeout: 30_000 }, (error, stdout) => {
      resolve(error === null ? versionProblem(interpreter, stdout) : `${interpreter} cannot be started`);
    });
  });
}

/** Calls back when the user chooses another interpreter in one of the Python extensions. */
export async function onInterpreterChange(callback: () => void): Promise<vscode.Disposable[]> {
  const environments = await api<EnvironmentsApi | undefined>(ENVIRONMENTS);
  const python = await api<PythonApi | undefined>(PYTHON);
  const events = [
    environments?.onDidChangeEnvironment,
    python?.environments.onDidChangeActiveEnvironmentPath,
  ];
  return events.flatMap((event) => (event === undefined ? [] : [event(callback)]));
}
