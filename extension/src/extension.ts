// The extension: puts its parts together, and tells the server what has changed.
import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { onInterpreterChange } from "./interpreter";
import { createMarks } from "./marks";
import { createReports } from "./report";
import { createRunner } from "./run";
import { createServer } from "./server";
import { createNotifier, createStatusItem } from "./status";

let stopServer: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("TorchSleuth", { log: true });
  const server = createServer(context, log);
  const runner = createRunner(server, context.workspaceState, () => reports.refresh());
  const reports = createReports(server, runner.probeLast);
  stopServer = server.stop;

  context.subscriptions.push(
    log,
    runner,
    reports,
    createStatusItem(server),
    createMarks(server),
    createNotifier(server),
    registerCommands(server, runner, reports, log),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.configure()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("torchsleuth")) {
        void server.configure();
      }
    }),
  );
  await server.restart();
  context.subscriptions.push(await onInterpreterChange(log, () => void server.configure()));
}

export async function deactivate(): Promise<void> {
  await stopServer?.();
}
