// The terminal that shows what runs print, and passes on what is typed.
import * as vscode from "vscode";
import { forTerminal, typeKeys } from "./lines";

export interface RunTerminal {
  /** Shows the terminal without taking the focus; opens it again where the user has closed it. */
  show(this: void): void;
  write(this: void, text: string): void;
  dispose(this: void): void;
}

export interface TerminalListeners {
  /** Lines that were typed, each with its line feed. */
  onInput(this: void, text: string): void;
  /** Ctrl-C was pressed, or the terminal closed. */
  onInterrupt(this: void): void;
}

/** A terminal without a shell, opened when it is first shown. */
export function createRunTerminal(listeners: TerminalListeners): RunTerminal {
  let current: Opened | undefined;
  return {
    show: () => {
      current ??= open(listeners, () => {
        current = undefined;
      });
      current.terminal.show(true);
    },
    write: (text) => {
      current?.write(forTerminal(text));
    },
    dispose: () => {
      current?.terminal.dispose();
    },
  };
}

interface Opened {
  terminal: vscode.Terminal;
  write(this: void, text: string): void;
}

function open(listeners: TerminalListeners, onClose: () => void): Opened {
  const output = new vscode.EventEmitter<string>();
  let early: string[] | undefined = []; // written before the editor listens
  let line = "";
  const write = (text: string): void => {
    if (early === undefined) {
      output.fire(text);
    } else {
      early.push(text);
    }
  };
  const pty: vscode.Pseudoterminal = {
    onDidWrite: output.event,
    open: () => {
      const texts = early ?? [];
      early = undefined;
      texts.forEach(write);
    },
    close: () => {
      onClose();
      listeners.onInterrupt();
      output.dispose();
    },
    handleInput: (keys) => {
      const typed = typeKeys(line, keys);
      line = typed.line;
      write(typed.echo);
      if (typed.finished !== "") {
        listeners.onInput(typed.finished);
      }
      if (typed.interrupted) {
        listeners.onInterrupt();
      }
    },
  };
  return { terminal: vscode.window.createTerminal({ name: "TorchSleuth Run", pty }), write };
}
