// The user's settings, and what of them the server is told.
import { homedir } from "node:os";
import * as vscode from "vscode";
import type { ServerSettings } from "./protocol";
import { expandVariables } from "./variables";

export const SECTION = "torchsleuth";

/** The setting `torchsleuth.interpreter`, or undefined when it is empty. */
export function configuredInterpreter(folder: vscode.WorkspaceFolder | undefined): string | undefined {
  const value = vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string>("interpreter", "").trim();
  return value === ""
    ? undefined
    : expandVariables(value, {
        home: homedir(),
        workspaceFolder: folder?.uri.fsPath,
        environment: process.env,
      });
}

export function serverSettings(interpreter: string): ServerSettings {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  return {
    interpreter,
    trusted: vscode.workspace.isTrusted,
    inlayHints: configuration.get<boolean>("inlayHints.enabled", true),
    trace: configuration.get<string>("trace.server", "off"),
  };
}
