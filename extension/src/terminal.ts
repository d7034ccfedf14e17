// The terminal that shows what a run prints, and passes on what is typed.
import * as vscode from "vscode";
import { forTerminal } from "./lines";

export interface RunTerminal {
  show(this: void): void;
  write(this: void, text: string): void;
  dispose(this: void): void;
}

/** A terminal without a shell. `onInput` gets each line that is typed, `onClose` the closing by the user. */
export function createRunTerminal(onInput: (line: string) => void, onClose: () => void): RunTerminal {
  const output = new vscode.EventEmitter<string>();
  let early: string[] | undefined = [];
  let typed = "";
  const pty: vscode.Pseudoterminal = {
    onDidWrite: output.event,
    open: () => {
      early?.forEach((text) => {
        output.fire(text);
      });
      early = undefined;
    },
    close: onClose,
    handleInput: (text) => {
      output.fire(forTerminal(text.replace(/\r/g, "\n")));
      typed += text.replace(/\r/g, "\n");
      if (typed.includes("\n")) {
        onInput(typed);
        typed = "";
      }
    },
  };
  const terminal = vscode.window.createTerminal({ name: "TorchSleuth Run", pty });
  return {
    show: () => {
      terminal.show(true);
    },
    write: (text) => {
      if (early === undefined) {
        output.fire(forTerminal(text));
      } else {
        early.push(forTerminal(text));
      }
    },
    dispose: () => {
      terminal.dispose();
    },
  };
}
