// The status item: one glance says whether the analysis is there, and why not.
import * as vscode from "vscode";
import type { StatusParams } from "./protocol";
import { presentation } from "./presentation";

/** Creates the item; the returned function shows a state in it. */
export function createStatusItem(context: vscode.ExtensionContext): (status: StatusParams) => void {
  const item = vscode.languages.createLanguageStatusItem("torchsleuth", { language: "python" });
  item.name = "TorchSleuth";
  item.command = { command: "torchsleuth.showLogs", title: "Show logs" };
  context.subscriptions.push(item);
  return (status) => {
    const shown = presentation(status);
    item.text = shown.text;
    item.detail = status.detail;
    item.busy = shown.busy;
    item.severity = shown.problem
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
  };
}
