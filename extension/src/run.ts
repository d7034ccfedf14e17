// Run and Diagnose: saves the script, has the server run it, shows the output, and lets the user stop it.
import { basename } from "node:path";
import * as vscode from "vscode";
import { visible } from "./lines";
import { RUNNING } from "./names";
import { RUN_INPUT, SERVER_RUN, SERVER_STOP, type RunResult } from "./protocol";
import type { Server } from "./server";
import { createRunTerminal } from "./terminal";
import { offerTrust } from "./workspace";

const GREEN = "\x1b[32m";
const RED = "\x1b[31m";
const PLAIN = "\x1b[0m";

export interface Runner {
  /** Runs a script, that of the active editor by default. Undefined where nothing was run. */
  run(this: void, target?: string | vscode.Uri): Promise<RunResult | undefined>;
  /** Ends the run. False where there is none. */
  stop(this: void): Promise<boolean>;
  dispose(this: void): void;
}

/** At most one run at a time, as in the server. */
export function createRunner(server: Server): Runner {
  let running: string | undefined;

  const stop = async (): Promise<boolean> =>
    running !== undefined && (await server.execute<boolean>(SERVER_STOP)) === true;

  const terminal = createRunTerminal({
    onInput: (text) => {
      if (running !== undefined) {
        server.notify(RUN_INPUT, { text });
      }
    },
    onInterrupt: () => void stop(),
  });

  const execute = async (uri: vscode.Uri, name: string): Promise<RunResult> => {
    terminal.show();
    terminal.write(`${GREEN}▶${PLAIN} ${name}\n`);
    const answer = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `TorchSleuth: running ${name}`,
        cancellable: true,
      },
      async (_, cancellation) => {
        cancellation.onCancellationRequested(() => void stop());
        try {
          await server.settled(); // where trust was given just now, the server starts again
          return await server.execute<RunResult>(SERVER_RUN, uri.toString());
        } catch (error) {
          return { ok: false, summary: `${name} was not run to its end: ${String(error)}` };
        }
      },
    );
    const result = answer ?? { ok: false, summary: "the language server is not running; see the logs" };
    const colour = result.exitCode === 0 ? GREEN : RED;
    terminal.write(`${colour}■${PLAIN} ${visible(result.summary)}\n\n`);
    return result;
  };

  const run = async (target?: string | vscode.Uri): Promise<RunResult | undefined> => {
    if (!vscode.workspace.isTrusted) {
      await offerTrust();
      return undefined;
    }
    if (running !== undefined) {
      await offerToStop(running, stop);
      return undefined;
    }
    const uri = await savedScript(target);
    if (uri === undefined) {
      return undefined;
    }
    const name = visible(basename(uri.fsPath));
    running = name;
    await vscode.commands.executeCommand("setContext", RUNNING, true);
    try {
      const result = await execute(uri, name);
      if (!result.ok) {
        void vscode.window.showWarningMessage(`TorchSleuth: ${visible(result.summary)}`);
      }
      return result;
    } finally {
      running = undefined;
      await vscode.commands.executeCommand("setContext", RUNNING, false);
    }
  };

  const output = server.onRunOutput(({ text }) => {
    terminal.write(text);
  });
  return {
    run,
    stop,
    dispose: () => {
      output.dispose();
      terminal.dispose();
    },
  };
}

/** The file to run, as it is on disk now. Undefined where there is none, or the user did not want it saved. */
async function savedScript(target: string | vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const uri =
    target === undefined
      ? vscode.window.activeTextEditor?.document.uri
      : typeof target === "string"
        ? vscode.Uri.parse(target)
        : target;
  if (uri === undefined) {
    void vscode.window.showInformationMessage("TorchSleuth: open the Python script to run first.");
    return undefined;
  }
  const document = vscode.workspace.textDocuments.find((item) => item.uri.toString() === uri.toString());
  if (document?.isUntitled === true) {
    return vscode.workspace.save(uri); // asks for a name
  }
  return document === undefined || !document.isDirty || (await document.save()) ? uri : undefined;
}

async function offerToStop(name: string, stop: () => Promise<boolean>): Promise<void> {
  const answer = await vscode.window.showWarningMessage(`TorchSleuth: ${name} is still running.`, "Stop It");
  if (answer !== undefined) {
    await stop();
  }
}
