// Starts the language server in the chosen interpreter and connects a client to it.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { RUN_OUTPUT, STATUS, type RunOutputParams, type StatusParams } from "./protocol";

export interface Listeners {
  onStatus(this: void, status: StatusParams): void;
  onOutput(this: void, output: RunOutputParams): void;
}

/** A started client. Rejects when the server does not come up. */
export async function startServer(
  context: vscode.ExtensionContext,
  interpreter: string,
  log: vscode.LogOutputChannel,
  listeners: Listeners,
): Promise<LanguageClient> {
  const script = vscode.Uri.joinPath(context.extensionUri, "extension", "bundled", "start_server.py").fsPath;
  const server: ServerOptions = { command: interpreter, args: [script] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
    ],
    outputChannel: log,
    initializationOptions: {
      interpreter,
      trusted: vscode.workspace.isTrusted,
      inlayHints: vscode.workspace.getConfiguration("torchsleuth").get<boolean>("inlayHints.enabled", true),
    },
  };
  const client = new LanguageClient("torchsleuth", "TorchSleuth", server, options);
  client.onNotification(STATUS, listeners.onStatus);
  client.onNotification(RUN_OUTPUT, listeners.onOutput);
  await client.start();
  return client;
}
