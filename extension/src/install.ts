// Install PyTorch: a terminal in which the command for one environment is run.
import * as vscode from "vscode";
import { describe } from "./environments";
import { installCommand } from "./shell";

/** Opens a terminal, and has it install PyTorch for an interpreter. The server notices when it is there. */
export function installPyTorch(python: string): void {
  const terminal = vscode.window.createTerminal({ name: "Install PyTorch" });
  terminal.show();
  terminal.sendText(installCommand(python, vscode.env.shell, describe(python)?.uv ?? false), true);
}
