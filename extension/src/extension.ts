// The extension: starts the server, restarts it when something changes, offers the commands.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { findInterpreter, interpreterProblem, onInterpreterChange } from "./interpreter";
import { RUN_INPUT, SERVER_CLEAR, SERVER_RUN, SERVER_STOP, type RunResult } from "./protocol";
import { coalesced } from "./queue";
import { startServer } from "./server";
import { createStatusItem } from "./status";
import { createRunTerminal, type RunTerminal } from "./terminal";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("TorchSleuth", { log: true });
  context.subscriptions.push(log);
  const showStatus = createStatusItem(context);
  let terminal: RunTerminal | undefined;

  const restart = coalesced(async () => {
    await client?.dispose();
    client = undefined;
    const interpreter = await findInterpreter();
    const problem = await interpreterProblem(interpreter);
    if (problem !== undefined) {
      log.warn(problem);
      showStatus({ state: "unavailable", detail: problem });
      return;
    }
    log.info(`starting with ${interpreter}`);
    client = await startServer(context, interpreter, log, {
      onStatus: (status) => {
        log.info(`${status.state} ${status.detail}`);
        showStatus(status);
      },
      onOutput: (output) => terminal?.write(output.text),
    });
  });
  const restartAndReport = async (): Promise<void> => {
    try {
      await restart();
    } catch (error) {
      log.error(String(error));
      showStatus({ state: "unavailable", detail: "the language server did not start; see the logs" });
    }
  };

  const run = async (uri?: string): Promise<RunResult | undefined> => {
    const target = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
    if (client === undefined || target === undefined) {
      void vscode.window.showWarningMessage("TorchSleuth: there is nothing to run yet.");
      return undefined;
    }
    const document = vscode.workspace.textDocuments.find((item) => item.uri.toString() === target);
    if (document !== undefined && !(await document.save())) {
      return undefined;
    }
    const current = client;
    terminal?.dispose();
    terminal = createRunTerminal(
      (line) => void current.sendNotification(RUN_INPUT, { text: line }),
      () => void current.sendRequest("workspace/executeCommand", { command: SERVER_STOP, arguments: [] }),
    );
    terminal.show();
    const result = await current.sendRequest<RunResult>("workspace/executeCommand", {
      command: SERVER_RUN,
      arguments: [target],
    });
    terminal.write(`\n— TorchSleuth: ${result.summary}\n`);
    return result;
  };

  const command = (name: string, action: (...values: never[]) => unknown): void => {
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  };
  command("torchsleuth.restart", restartAndReport);
  command("torchsleuth.showLogs", () => {
    log.show();
  });
  command("torchsleuth.runAndDiagnose", run);
  command("torchsleuth.stopRun", () =>
    client?.sendRequest("workspace/executeCommand", { command: SERVER_STOP, arguments: [] }),
  );
  command("torchsleuth.clearResults", () =>
    client?.sendRequest("workspace/executeCommand", { command: SERVER_CLEAR, arguments: [] }),
  );
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restartAndReport()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("torchsleuth")) {
        void restartAndReport();
      }
    }),
    ...(await onInterpreterChange(() => void restartAndReport())),
  );
  await restartAndReport();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
}
