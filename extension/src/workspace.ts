// The trust that the user gives to the workspace of now, and the way to give it.
import * as vscode from "vscode";
import { safeEnvironment, type Trust } from "./trust";

export function workspaceTrust(): Trust {
  return {
    trusted: vscode.workspace.isTrusted,
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
  };
}

/** Where and with which environment a program is started: without trust, neither is one that the workspace decides. */
export function surroundings(extension: string): { cwd?: string; env?: NodeJS.ProcessEnv } {
  const trust = workspaceTrust();
  return trust.trusted ? {} : { cwd: extension, env: safeEnvironment(trust) };
}

/** Says that nothing is run here, and offers what changes that. */
export async function offerTrust(): Promise<void> {
  const manage = "Manage Workspace Trust";
  const answer = await vscode.window.showWarningMessage(
    "TorchSleuth: nothing is run in a workspace that is not trusted.",
    manage,
  );
  if (answer !== undefined) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
}
