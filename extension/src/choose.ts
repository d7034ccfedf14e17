// Choose Interpreter: a list of the environments that were found, each with its Python and PyTorch.
import { homedir } from "node:os";
import * as vscode from "vscode";
import { describe, findEnvironments, type Environment } from "./environments";
import { chooseInExtensions, chosenInterpreter, knownInterpreters } from "./interpreter";
import { SECTION } from "./settings";
import { OLDEST_MINOR } from "./version";

interface Item extends vscode.QuickPickItem {
  python?: string;
}

/** Lets the user choose an interpreter for a folder, that of the active editor by default. */
export async function chooseInterpreter(log: vscode.LogOutputChannel): Promise<void> {
  const folder = activeFolder();
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const places = { folders, home: homedir(), environment: process.env };
  const current = await chosenInterpreter(folder, log);
  const known = [...(current ? [current] : []), ...(await knownInterpreters(log))];
  const found = findEnvironments(places, known).filter(({ version }) => !isTooOld(version));
  const items: Item[] = found.map((environment) => item(environment, environment.python === current));
  const other: Item = { label: "$(folder) Find…", detail: "An interpreter that is not in this list" };
  const where = folder !== undefined && folders.length > 1 ? ` for ${folder.name}` : "";
  const chosen = await vscode.window.showQuickPick([...items, other], {
    title: `TorchSleuth: Choose Interpreter${where}`,
    placeHolder: "Its PyTorch is asked, and scripts run in it",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  const python = chosen === other ? await browse() : chosen?.python;
  if (python !== undefined && !(await chooseInExtensions(python, folder?.uri, log))) {
    const target =
      folder === undefined
        ? vscode.ConfigurationTarget.Global
        : folders.length > 1
          ? vscode.ConfigurationTarget.WorkspaceFolder
          : vscode.ConfigurationTarget.Workspace;
    await vscode.workspace.getConfiguration(SECTION, folder?.uri).update("interpreter", python, target);
  }
}

/** The workspace folder of what is on the screen, else the first one. */
export function activeFolder(): vscode.WorkspaceFolder | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  return folder ?? vscode.workspace.workspaceFolders?.[0];
}

function isTooOld(version: string | undefined): boolean {
  const [major = 3, minor = OLDEST_MINOR] = version?.split(".").map(Number) ?? [];
  return major < 3 || (major === 3 && minor < OLDEST_MINOR);
}

function item({ python, version, torch }: Environment, current: boolean): Item {
  return {
    label: `${current ? "$(check) " : ""}Python ${version ?? "of unknown version"}`,
    description: torch === undefined ? "no PyTorch" : `PyTorch ${torch}`,
    detail: python,
    python,
  };
}

async function browse(): Promise<string | undefined> {
  const [file] = (await vscode.window.showOpenDialog({ title: "Choose a Python interpreter" })) ?? [];
  if (file !== undefined && describe(file.fsPath) === undefined) {
    void vscode.window.showWarningMessage(`TorchSleuth: ${file.fsPath} is no interpreter.`);
    return undefined;
  }
  return file?.fsPath;
}
