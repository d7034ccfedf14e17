// The status item: one glance says whether the analysis is there, and why not.
import * as vscode from "vscode";
import { PYTHON_EXTENSION } from "./interpreter";
import { COMMANDS } from "./names";
import { presentation } from "./presentation";
import type { Server } from "./server";

export function createStatusItem(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem("torchsleuth", { language: "python" });
  item.name = "TorchSleuth";
  item.command = { command: COMMANDS.showLogs, title: "Show logs" };
  const shown = server.onStatus((status) => {
    const { text, busy, problem } = presentation(status);
    item.text = text;
    item.detail = status.detail;
    item.busy = busy;
    item.severity = problem
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
  });
  return vscode.Disposable.from(item, shown);
}

/** Says, where it cannot be missed, why there is no server, and offers the way out. */
export async function reportProblem(problem: string, log: vscode.LogOutputChannel): Promise<void> {
  const choose = "Choose Interpreter";
  const logs = "Show Logs";
  const answer = await vscode.window.showWarningMessage(`TorchSleuth: ${problem}`, choose, logs);
  if (answer === choose) {
    await chooseInterpreter();
  } else if (answer === logs) {
    log.show();
  }
}

async function chooseInterpreter(): Promise<void> {
  if (vscode.extensions.getExtension(PYTHON_EXTENSION) === undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "torchsleuth.interpreter");
  } else {
    await vscode.commands.executeCommand("python.setInterpreter");
  }
}
