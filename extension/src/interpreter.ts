// Which Python the analysis of a folder runs in, and which one the server: the Python extension's, the setting's, one on the PATH.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { configuredInterpreter } from "./settings";
import { startable } from "./trust";
import { QUESTION, readAnswer, type Interpreter } from "./version";
import { surroundings, workspaceTrust } from "./workspace";

/** What we use of the interface of ms-python.vscode-python-envs. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri | undefined): Promise<KnownEnvironment | undefined>;
  getEnvironments?(scope: "all"): Promise<KnownEnvironment[]>;
  setEnvironment?(scope: vscode.Uri | undefined, environment: KnownEnvironment): Promise<void>;
  onDidChangeEnvironment?: vscode.Event<unknown>;
}

interface KnownEnvironment {
  execInfo?: { run?: { executable?: string } };
}

/** What we use of the interface of ms-python.python. */
interface PythonApi {
  environments: {
    known?: readonly { path: string; executable?: { uri?: vscode.Uri } }[];
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    updateActiveEnvironmentPath?(path: string, resource?: vscode.Uri): Promise<void>;
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

export const ENVIRONMENTS_EXTENSION = "ms-python.vscode-python-envs";
export const PYTHON_EXTENSION = "ms-python.python";

/** Importing nothing but the standard library takes far less, even from a cold network drive. */
const ANSWER_WITHIN_MS = 30_000;

/** The interpreter that was chosen for a folder, undefined where none was. */
export async function chosenInterpreter(
  folder: vscode.WorkspaceFolder | undefined,
  log: vscode.LogOutputChannel,
): Promise<string | undefined> {
  // In a workspace that is not trusted VS Code gives only the user's own value (restrictedConfigurations).
  const setting = configuredInterpreter(folder);
  if (!vscode.workspace.isTrusted) {
    const program = setting && startable(setting, workspaceTrust());
    return typeof program === "string" ? program : undefined;
  }
  return (await fromExtensions(folder?.uri, log)) ?? setting;
}

/** The interpreter that the server can run in: the one that is chosen, else one on the PATH. Or why there is none. */
export async function serverInterpreter(
  chosen: string | undefined,
  log: vscode.LogOutputChannel,
): Promise<Interpreter | { problem: string }> {
  const problems: string[] = [];
  const others = process.platform === "win32" ? ["python", "python3"] : ["python3", "python"];
  for (const name of chosen === undefined ? others : [chosen, ...others]) {
    const answer = await ask(name);
    if (!("problem" in answer)) {
      log.info(`the server's Python is ${answer.path}`);
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

/** Interpreters that the Python extensions know of. */
export async function knownInterpreters(log: vscode.LogOutputChannel): Promise<string[]> {
  try {
    const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION, log);
    const listed = (await environments?.getEnvironments?.("all")) ?? [];
    const python = await api<PythonApi>(PYTHON_EXTENSION, log);
    const paths = [
      ...listed.map((environment) => environment.execInfo?.run?.executable),
      ...(python?.environments.known ?? []).map(({ executable }) => executable?.uri?.fsPath),
    ];
    return paths.filter((path): path is string => path !== undefined && path !== "");
  } catch (error) {
    log.warn(`the Python extension did not list its environments: ${String(error)}`);
    return [];
  }
}

/** Has the Python extension use an interpreter from now on. False where there is none of these extensions. */
export async function chooseInExtensions(
  path: string,
  scope: vscode.Uri | undefined,
  log: vscode.LogOutputChannel,
): Promise<boolean> {
  const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION, log);
  const listed = (await environments?.getEnvironments?.("all")) ?? [];
  const known = listed.find((environment) => environment.execInfo?.run?.executable === path);
  if (known !== undefined && environments?.setEnvironment !== undefined) {
    await environments.setEnvironment(scope, known);
    return true;
  }
  const python = await api<PythonApi>(PYTHON_EXTENSION, log);
  if (python?.environments.updateActiveEnvironmentPath === undefined) {
    return false;
  }
  await python.environments.updateActiveEnvironmentPath(path, scope);
  return true;
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
