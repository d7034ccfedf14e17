// Which Python the server and the analysis run in: the Python extension's, else the setting, else one on the PATH.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { configuredInterpreter } from "./settings";
import { startable } from "./trust";
import { QUESTION, readAnswer, type Interpreter } from "./version";
import { surroundings, workspaceTrust } from "./workspace";

/** What we use of the interface of ms-python.vscode-python-envs. */
interface EnvironmentsApi {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
  onDidChangeEnvironment?: vscode.Event<unknown>;
}

/** What we use of the interface of ms-python.python. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

export const ENVIRONMENTS_EXTENSION = "ms-python.vscode-python-envs";
export const PYTHON_EXTENSION = "ms-python.python";

/** Importing nothing but the standard library takes far less, even from a cold network drive. */
const ANSWER_WITHIN_MS = 30_000;

/** The interpreter to use, or a sentence that says why there is none. */
export async function findInterpreter(
  log: vscode.LogOutputChannel,
): Promise<Interpreter | { problem: string }> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const extension = await fromExtensions(folder?.uri, log);
  if (extension !== undefined) {
    log.info(`the Python extension names ${extension}`);
    return ask(extension);
  }
  // In a workspace that is not trusted VS Code gives only the user's own value (restrictedConfigurations).
  const setting = configuredInterpreter(folder);
  if (setting !== undefined) {
    log.info(`torchsleuth.interpreter names ${setting}`);
    return ask(setting);
  }
  const problems: string[] = [];
  for (const name of process.platform === "win32" ? ["python", "python3"] : ["python3", "python"]) {
    const answer = await ask(name);
    if (!("problem" in answer)) {
      log.info(`${name} on the PATH is ${answer.path}`);
      return answer;
    }
    problems.push(answer.problem);
  }
  return { problem: `No Python was found: choose an interpreter that has PyTorch. ${problems.join(" ")}` };
}

/** Calls back when the user chooses another interpreter in one of the Python extensions. */
export async function onInterpreterChange(
  log: vscode.LogOutputChannel,
  callback: () => void,
): Promise<vscode.Disposable> {
  const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION, log);
  const python = await api<PythonApi>(PYTHON_EXTENSION, log);
  const events = [
    environments?.onDidChangeEnvironment,
    python?.environments.onDidChangeActiveEnvironmentPath,
  ];
  return vscode.Disposable.from(...events.flatMap((event) => (event === undefined ? [] : [event(callback)])));
}

async function fromExtensions(
  scope: vscode.Uri | undefined,
  log: vscode.LogOutputChannel,
): Promise<string | undefined> {
  try {
    const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION, log);
    const chosen = (await environments?.getEnvironment(scope))?.execInfo?.run?.executable;
    if (chosen !== undefined && chosen !== "") {
      return chosen;
    }
    const python = await api<PythonApi>(PYTHON_EXTENSION, log);
    const active = python?.environments.getActiveEnvironmentPath(scope);
    return active && (await python?.environments.resolveEnvironment(active))?.executable.uri?.fsPath;
  } catch (error) {
    log.warn(`the Python extension did not name an interpreter: ${String(error)}`);
    return undefined;
  }
}

/** What another extension exports; undefined where it is absent, switched off, or fails to start. */
async function api<T>(id: string, log: vscode.LogOutputChannel): Promise<T | undefined> {
  try {
    return await vscode.extensions.getExtension<T | undefined>(id)?.activate();
  } catch (error) {
    log.warn(`${id} did not start: ${String(error)}`);
    return undefined;
  }
}

async function ask(command: string): Promise<Interpreter | { problem: string }> {
  const program = startable(command, workspaceTrust());
  if (typeof program !== "string") {
    return program;
  }
  // Isolated: the question must not import a module of the workspace.
  const options = { timeout: ANSWER_WITHIN_MS, killSignal: "SIGKILL" as const, ...surroundings(__dirname) };
  const answer = await new Promise<Interpreter | { problem: string }>((resolve) => {
    execFile(program, ["-I", "-c", QUESTION], options, (error, stdout) => {
      resolve(error === null ? readAnswer(program, stdout) : { problem: `${program} cannot be started.` });
    });
  });
  // What it calls itself is what is started from now on.
  const itself = "path" in answer ? startable(answer.path, workspaceTrust()) : undefined;
  return typeof itself === "object" ? itself : answer;
}
