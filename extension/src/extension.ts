// The extension: puts its parts together, and says what makes the server start again.
import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { onInterpreterChange } from "./interpreter";
import { createRunner } from "./run";
import { createServer } from "./server";
import { createStatusItem, reportProblem } from "./status";

let stopServer: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("TorchSleuth", { log: true });
  const server = createServer(context, log);
  const runner = createRunner(server);
  stopServer = server.stop;

  context.subscriptions.push(
    log,
    runner,
    createStatusItem(server),
    server.onProblem((problem) => void reportProblem(problem, log)),
    registerCommands(server, runner, log),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("torchsleuth.interpreter")) {
        void server.restart();
      } else if (event.affectsConfiguration("torchsleuth")) {
        void server.configure();
      }
    }),
  );
  context.subscriptions.push(await onInterpreterChange(log, () => void server.restart()));
  await server.restart();
}

export async function deactivate(): Promise<void> {
  await stopServer?.();
}
