// The user's settings, and what of them the server is told.
import { homedir } from "node:os";
import * as vscode from "vscode";
import { COMMANDS } from "./names";
import type { RunOptions, ServerSettings } from "./protocol";
import { expandVariables } from "./variables";

export const SECTION = "torchsleuth";

/** The setting `torchsleuth.interpreter`, or undefined when it is empty. */
export function configuredInterpreter(folder: vscode.WorkspaceFolder | undefined): string | undefined {
  return path(vscode.workspace.getConfiguration(SECTION, folder?.uri), "interpreter", folder);
}

/** A setting that is a path, with its variables filled in, or undefined when it is empty. */
function path(
  configuration: vscode.WorkspaceConfiguration,
  name: string,
  folder: vscode.WorkspaceFolder | undefined,
): string | undefined {
  const value = configuration.get<string>(name, "").trim();
  return value === ""
    ? undefined
    : expandVariables(value, {
        home: homedir(),
        workspaceFolder: folder?.uri.fsPath,
        environment: process.env,
      });
}

/** How a script is run, and what happens when it fails. */
export interface RunSettings {
  options: RunOptions;
  saveFirst: boolean;
  reveal: boolean;
  /** Whether values stand behind the lines. */
  values: boolean;
  /** Whether the gutter shows which lines were reached. */
  lines: boolean;
}

export function runSettings(script: vscode.Uri): RunSettings {
  const configuration = vscode.workspace.getConfiguration(`${SECTION}.run`, script);
  const surroundings = {
    home: homedir(),
    workspaceFolder: vscode.workspace.getWorkspaceFolder(script)?.uri.fsPath,
    environment: process.env,
    file: script.fsPath,
  };
  const expand = (text: string): string => expandVariables(text, surroundings);
  const environment = Object.entries(configuration.get<Record<string, string | null>>("environment", {}));
  const cwd = expand(configuration.get<string>("workingDirectory", "").trim());
  return {
    options: {
      args: configuration.get<string[]>("arguments", []).map(expand),
      env: Object.fromEntries(
        environment.map(([name, value]) => [name, value === null ? null : expand(value)]),
      ),
      ...(cwd === "" ? {} : { cwd }),
    },
    saveFirst: configuration.get<boolean>("saveFirst", true),
    reveal: configuration.get<boolean>("reveal", true),
    values: configuration.get<boolean>("values", true),
    lines: configuration.get<boolean>("lines", true),
  };
}

/** The settings of a folder, or of files in none. */
export function serverSettings(
  folder: vscode.WorkspaceFolder | undefined,
  interpreter: string | undefined,
): ServerSettings {
  const configuration = vscode.workspace.getConfiguration(SECTION, folder?.uri);
  return {
    interpreter: interpreter ?? "",
    trusted: vscode.workspace.isTrusted,
    inlayHints: configuration.get<boolean>("inlayHints.enabled", true),
    contracts: configuration.get<boolean>("contracts.enabled", true),
    contractLenses: configuration.get<boolean>("contracts.codeLens", false),
    runCommand: COMMANDS.runAndDiagnose,
    trace: configuration.get<string>("trace.server", "off"),
    select: configuration.get<string[] | null>("select", null),
    extendSelect: configuration.get<string[]>("extendSelect", []),
    ignore: configuration.get<string[]>("ignore", []),
    severity: configuration.get<Record<string, string>>("severity", {}),
    exclude: configuration.get<string[]>("exclude", []),
    configuration: path(configuration, "configuration", folder) ?? "",
  };
}
