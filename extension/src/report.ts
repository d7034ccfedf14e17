// The report of the last run, in a panel beside the code. References in it open their line.
import * as vscode from "vscode";
import { visible } from "./lines";
import { SERVER_REPORT, type ReportMessage, type ReportPage } from "./protocol";
import type { Server } from "./server";

export interface Reports {
  /** Shows the report of the last run. */
  show(this: void): Promise<void>;
  /** A run has ended: a panel that is open shows its report, and stays where it is. */
  refresh(this: void): Promise<void>;
  dispose(this: void): void;
}

/** `probe` is called with the kind of probe whose button was clicked. */
export function createReports(server: Server, probe: (kind: string) => Promise<unknown>): Reports {
  let panel: vscode.WebviewPanel | undefined;

  const create = (): vscode.WebviewPanel => {
    const created = vscode.window.createWebviewPanel(
      "torchsleuth.report",
      "",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      // Scripts are those that the page's own policy names; no file can be loaded.
      { enableScripts: true, localResourceRoots: [], enableFindWidget: true },
    );
    created.webview.onDidReceiveMessage(
      (message: ReportMessage) => void (message.probe === undefined ? open(message) : probe(message.probe)),
    );
    created.onDidDispose(() => {
      panel = undefined;
    });
    return created;
  };

  const fill = (shown: vscode.WebviewPanel, page: ReportPage): void => {
    shown.title = `Report: ${visible(page.title)}`;
    shown.webview.html = page.html;
  };

  return {
    show: async () => {
      const page = await server.execute<ReportPage | null>(SERVER_REPORT);
      if (page === undefined || page === null) {
        void vscode.window.showInformationMessage("TorchSleuth: nothing has been run yet.");
        return;
      }
      panel ??= create();
      fill(panel, page);
      panel.reveal(undefined, true);
    },
    refresh: async () => {
      const page = panel && (await server.execute<ReportPage | null>(SERVER_REPORT));
      if (panel !== undefined && page) {
        fill(panel, page);
      }
    },
    dispose: () => {
      panel?.dispose();
    },
  };
}

/** The line of a reference, in the editor that shows its file already, else in the first column. */
async function open({ open: target }: ReportMessage): Promise<void> {
  if (target === undefined) {
    return;
  }
  const uri = vscode.Uri.file(target.path);
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.fsPath === uri.fsPath);
  const at = new vscode.Position(Math.max(0, target.line - 1), Math.max(0, target.column - 1));
  try {
    await vscode.window.showTextDocument(uri, {
      viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
      selection: new vscode.Range(at, at),
    });
  } catch {
    void vscode.window.showWarningMessage(`TorchSleuth: ${visible(target.path)} cannot be opened.`);
  }
}
