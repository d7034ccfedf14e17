// The status item, one glance at which says whether the analysis is there and why not; and the one notification of a problem.
import * as vscode from "vscode";
import { COMMANDS } from "./names";
import { presentation } from "./presentation";
import type { StatusParams } from "./protocol";
import type { Server } from "./server";

export function createStatusItem(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem("torchsleuth", { language: "python" });
  item.name = "TorchSleuth";
  const shown = server.onStatus((status) => {
    const { text, busy, problem } = presentation(status);
    item.text = text;
    item.detail = status.detail;
    item.busy = busy;
    item.severity = problem
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
    item.command =
      status.state === "unavailable"
        ? { command: COMMANDS.chooseInterpreter, title: "Choose interpreter" }
        : { command: COMMANDS.showLogs, title: "Show logs" };
  });
  return vscode.Disposable.from(item, shown);
}

/** Says once of each problem, where it cannot be missed, why there is no analysis, and offers the ways out. */
export function createNotifier(server: Server): vscode.Disposable {
  const told = new Set<string>();
  return server.onStatus((status) => {
    if (status.state === "ready") {
      told.clear();
    } else if (status.state === "unavailable" && !told.has(status.detail)) {
      told.add(status.detail);
      void notify(status);
    }
  });
}

async function notify(status: StatusParams): Promise<void> {
  const choose = { title: "Choose Interpreter", command: COMMANDS.chooseInterpreter, values: [] };
  const install = {
    title: "Install PyTorch",
    command: COMMANDS.installPyTorch,
    values: [status.interpreter],
  };
  const logs = { title: "Show Logs", command: COMMANDS.showLogs, values: [] };
  const ways = status.reason === "no_torch" ? [choose, install] : [choose, logs];
  const answer = await vscode.window.showWarningMessage(`TorchSleuth: ${status.detail}`, ...ways);
  if (answer !== undefined) {
    await vscode.commands.executeCommand(answer.command, ...answer.values);
  }
}
