// Run and Diagnose: saves the script, has the server run it, shows the output, and goes to the line that failed.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename } from "node:path";
import * as vscode from "vscode";
import { watchAttention } from "./attention";
import { activeFolder } from "./choose";
import { isPython, launch, moduleName, type Configuration } from "./configurations";
import { visible } from "./lines";
import { COMMANDS, RUNNING } from "./names";
import { isProbe, PROBES } from "./probes";
import {
  RUN_INPUT,
  SERVER_APPLY_FIX,
  SERVER_PROBE,
  SERVER_RUN,
  SERVER_STOP,
  type Failure,
  type RunOptions,
  type RunResult,
} from "./protocol";
import type { Server } from "./server";
import { runSettings } from "./settings";
import { createRunTerminal } from "./terminal";
import type { Surroundings } from "./variables";
import { offerTrust } from "./workspace";

const GREEN = "\x1b[32m";
const RED = "\x1b[31m";
const PLAIN = "\x1b[0m";
const SHOW_REPORT = "Show Report";
/** Key of what was typed as arguments, by script. */
const ARGUMENTS = "torchsleuth.arguments";

/** Key of the module that was run last, with its arguments. */
const MODULE = "torchsleuth.module";

type Target = string | vscode.Uri | undefined;

export interface Runner {
  /** Runs a script, that of the active editor by default. Undefined where nothing was run. */
  run(this: void, target?: Target): Promise<RunResult | undefined>;
  /** The same, with arguments that the user is asked for. */
  runWithArguments(this: void, target?: Target): Promise<RunResult | undefined>;
  /** Runs a module, as `python -m` does, whose name and arguments the user is asked for. */
  runModule(this: void): Promise<RunResult | undefined>;
  /** Runs a configuration of launch.json that the user chooses. */
  runConfiguration(this: void): Promise<RunResult | undefined>;
  /** Runs what was run last, in the same way. */
  runAgain(this: void): Promise<RunResult | undefined>;
  /** Asks a question about a script, that of the active editor by default; the user chooses which one, where it is not given. */
  probe(this: void, target?: Target, kind?: string): Promise<RunResult | undefined>;
  /** The same about what was run last, in the same way. */
  probeLast(this: void, kind: string): Promise<RunResult | undefined>;
  /** Ends the run. False where there is none. */
  stop(this: void): Promise<boolean>;
  dispose(this: void): void;
}

interface Request {
  script: vscode.Uri;
  options: RunOptions;
  /** The kind of probe; undefined: Run and Diagnose. */
  probe?: string;
}

/** At most one run at a time, as in the server. `ended` is called behind each one that came to an end. */
export function createRunner(server: Server, memory: vscode.Memento, ended: () => Promise<void>): Runner {
  let running: string | undefined;
  let last: Request | undefined;

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

  const execute = async ({ script, options, probe }: Request, name: string): Promise<RunResult> => {
    terminal.show();
    const given = typeof options.args === "string" ? options.args : (options.args ?? []).join(" ");
    const asked = probe === undefined ? "" : ` (probe: ${probe})`;
    terminal.write(`${GREEN}▶${PLAIN} ${name}${given === "" ? "" : ` ${visible(given)}`}${asked}\n`);
    const answer = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title:
          probe === undefined ? `TorchSleuth: running ${name}` : `TorchSleuth: probing ${name}: ${probe}`,
        cancellable: true,
      },
      async (_, cancellation) => {
        cancellation.onCancellationRequested(() => void stop());
        try {
          await server.settled(); // where trust was given just now, the server starts again
          return await (probe === undefined
            ? server.execute<RunResult>(SERVER_RUN, script.toString(), options)
            : server.execute<RunResult>(SERVER_PROBE, script.toString(), probe, options));
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

  /** `ask` says what to run; undefined: nothing. */
  const start = async (ask: () => Promise<Request | undefined>): Promise<RunResult | undefined> => {
    if (!vscode.workspace.isTrusted) {
      await offerTrust();
      return undefined;
    }
    if (running !== undefined) {
      await offerToStop(running, stop);
      return undefined;
    }
    const request = await ask();
    if (request === undefined) {
      return undefined;
    }
    last = { script: request.script, options: request.options };
    const name = visible(request.options.module ?? basename(request.script.fsPath));
    running = name;
    await vscode.commands.executeCommand("setContext", RUNNING, true);
    const attention = watchAttention();
    try {
      const result = await execute(request, name);
      if (result.ok && request.probe === undefined) {
        await ended();
      }
      if (!result.ok) {
        void vscode.window.showWarningMessage(`TorchSleuth: ${visible(result.summary)}`);
      } else if (result.failure) {
        if (runSettings(request.script).reveal && !attention.moved()) {
          await reveal(result.failure);
        }
        void offerWaysOut(result.failure, server, typeof result.verdict === "string");
      } else if (request.probe !== undefined) {
        await vscode.commands.executeCommand(COMMANDS.showReport);
      } else if (typeof result.verdict === "string") {
        void offerReport(result.verdict);
      }
      return result;
    } finally {
      attention.dispose();
      running = undefined;
      await vscode.commands.executeCommand("setContext", RUNNING, false);
    }
  };

  /** What was run last, saved; undefined where there is nothing, or it was not saved. */
  const again = async (): Promise<Request | undefined> => {
    if (last === undefined) {
      void vscode.window.showInformationMessage("TorchSleuth: nothing has been run yet.");
    }
    const ready =
      last !== undefined && (last.options.module !== undefined || (await savedScript(last.script)));
    return ready ? last : undefined;
  };

  const output = server.onRunOutput(({ text }) => {
    terminal.write(text);
  });
  return {
    run: (target) =>
      start(async () => {
        const script = await savedScript(target);
        return script && { script, options: runSettings(script).options };
      }),
    runWithArguments: (target) =>
      start(async () => {
        const script = await savedScript(target);
        const options = script && runSettings(script).options;
        const typed = script && (await askForArguments(script, options?.args, memory));
        return typed === undefined || script === undefined
          ? undefined
          : { script, options: { ...options, args: typed } };
      }),
    runModule: () => start(() => askForModule(memory)),
    runConfiguration: () => start(chooseConfiguration),
    runAgain: () => start(again),
    probe: (target, kind) =>
      start(async () => {
        const probe = isProbe(kind) ? kind : await chooseProbe();
        const script = probe === undefined ? undefined : await savedScript(target);
        return script && probe ? { script, options: runSettings(script).options, probe } : undefined;
      }),
    probeLast: (kind) =>
      start(async () => {
        const request = isProbe(kind) ? await again() : undefined;
        return request && { ...request, probe: kind };
      }),
    stop,
    dispose: () => {
      output.dispose();
      terminal.dispose();
    },
  };
}

function rangeOf({ range: { start, end } }: Failure): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

async function reveal(failure: Failure): Promise<void> {
  const { start } = rangeOf(failure);
  const document = await documentOf(failure);
  const editor = await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(start, start),
    preview: false,
  });
  editor.revealRange(rangeOf(failure), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The document that a failure is in: a cell, if it is in a notebook. Cells are counted as they are run. */
async function documentOf({ uri, cell }: Failure): Promise<vscode.TextDocument> {
  if (cell === undefined) {
    return vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  }
  const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.parse(uri));
  await vscode.window.showNotebookDocument(notebook);
  const code = notebook
    .getCells()
    .filter((item) => item.kind === vscode.NotebookCellKind.Code && item.document.getText().trim() !== "");
  return (code[cell - 1] ?? notebook.cellAt(0)).document;
}

/** Says what failed, and offers to go there and to mend it. */
async function offerWaysOut(failure: Failure, server: Server, reported: boolean): Promise<void> {
  const fix = "Apply Fix";
  const go = "Go to Line";
  const answer = await vscode.window.showErrorMessage(
    `TorchSleuth: ${visible(failure.message)}${failure.fix === null ? "" : ` — ${visible(failure.fix)}`}`,
    ...(failure.fix === null ? [] : [fix]),
    go,
    ...(reported ? [SHOW_REPORT] : []),
  );
  if (answer === go) {
    await reveal(failure);
  } else if (answer === SHOW_REPORT) {
    await vscode.commands.executeCommand(COMMANDS.showReport);
  } else if (answer === fix && (await server.execute<boolean>(SERVER_APPLY_FIX, failure.number)) !== true) {
    void vscode.window.showWarningMessage(
      "TorchSleuth: the code has changed since, and the fix with it: nothing was changed.",
    );
  }
}

/** Says how a training went, and offers its report. */
async function offerReport(verdict: string): Promise<void> {
  const answer = await vscode.window.showInformationMessage(`TorchSleuth: ${visible(verdict)}`, SHOW_REPORT);
  if (answer === SHOW_REPORT) {
    await vscode.commands.executeCommand(COMMANDS.showReport);
  }
}

/** The file to run, as it is on disk now. Undefined where there is none, or the user did not want it saved. */
async function savedScript(target: Target): Promise<vscode.Uri | undefined> {
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
  const notebook = vscode.workspace.notebookDocuments.find((item) =>
    [item.uri, ...item.getCells().map((cell) => cell.document.uri)].some(
      (one) => one.toString() === uri.toString(),
    ),
  );
  if (notebook !== undefined) {
    const ready = !notebook.isDirty || !runSettings(notebook.uri).saveFirst || (await notebook.save());
    return ready ? notebook.uri : undefined;
  }
  const document = vscode.workspace.textDocuments.find((item) => item.uri.toString() === uri.toString());
  if (document?.isUntitled === true) {
    return vscode.workspace.save(uri); // asks for a name
  }
  if (document === undefined || !document.isDirty || !runSettings(uri).saveFirst) {
    return uri;
  }
  return (await document.save()) ? uri : undefined;
}

/** The arguments as the user types them, in one line; those of the last time are there. */
async function askForArguments(
  script: vscode.Uri,
  configured: string | string[] | undefined,
  memory: vscode.Memento,
): Promise<string | undefined> {
  const known = memory.get<Record<string, string>>(ARGUMENTS, {});
  const before =
    known[script.fsPath] ?? (typeof configured === "string" ? configured : (configured ?? []).join(" "));
  const typed = await vscode.window.showInputBox({
    title: `TorchSleuth: run ${visible(basename(script.fsPath))}`,
    prompt: "Arguments, as in a shell",
    value: before,
    ignoreFocusOut: true,
  });
  if (typed !== undefined) {
    await memory.update(ARGUMENTS, { ...known, [script.fsPath]: typed });
  }
  return typed;
}

/** A module of the active folder, and its arguments: at first the one that is in the editor. */
async function askForModule(memory: vscode.Memento): Promise<Request | undefined> {
  const folder = activeFolder();
  if (folder === undefined) {
    void vscode.window.showInformationMessage("TorchSleuth: open the folder that the module is in first.");
    return undefined;
  }
  const active = vscode.window.activeTextEditor?.document.uri;
  const module = active === undefined ? "" : moduleName(vscode.workspace.asRelativePath(active, false));
  const typed = await vscode.window.showInputBox({
    title: "TorchSleuth: run a module",
    prompt: "Its name, and arguments as in a shell: pkg.train --epochs 3",
    value: memory.get<string>(MODULE, module),
    ignoreFocusOut: true,
  });
  const [, name, args] = /^\s*(\S+)\s*(.*)$/.exec(typed ?? "") ?? [];
  if (name === undefined) {
    return undefined;
  }
  await memory.update(MODULE, typed);
  const { options } = runSettings(folder.uri);
  return { script: active ?? folder.uri, options: { ...options, args: args ?? "", module: name } };
}

/** A configuration of launch.json that the user chooses; the only one there is. */
async function chooseConfiguration(): Promise<Request | undefined> {
  const folder = activeFolder();
  const all = vscode.workspace
    .getConfiguration("launch", folder?.uri)
    .get<Configuration[]>("configurations", []);
  const usable = all.filter(isPython);
  const items = usable.map((configuration) => ({ label: String(configuration.name), configuration }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(
      "TorchSleuth: launch.json has no configuration that starts a Python program.",
    );
    return undefined;
  }
  const chosen =
    items.length === 1
      ? items[0]
      : await vscode.window.showQuickPick(items, { title: "TorchSleuth: Run and Diagnose a Configuration" });
  if (chosen === undefined) {
    return undefined;
  }
  const surroundings: Surroundings = {
    home: homedir(),
    workspaceFolder: folder?.uri.fsPath,
    environment: process.env,
    file: vscode.window.activeTextEditor?.document.uri.fsPath ?? "",
  };
  const launched = launch(chosen.configuration, surroundings, (path) => readFileSync(path, "utf8"));
  if ("problem" in launched) {
    void vscode.window.showWarningMessage(`TorchSleuth: ${visible(`${chosen.label}: ${launched.problem}`)}.`);
    return undefined;
  }
  if (launched.program === undefined) {
    return folder && { script: folder.uri, options: launched.options };
  }
  const script = await savedScript(vscode.Uri.file(launched.program));
  return script && { script, options: launched.options };
}

async function chooseProbe(): Promise<string | undefined> {
  const chosen = await vscode.window.showQuickPick(PROBES, {
    title: "TorchSleuth: Probe",
    placeHolder: "Runs the script as it is, to answer one question",
    matchOnDescription: true,
  });
  return chosen?.probe;
}

async function offerToStop(name: string, stop: () => Promise<boolean>): Promise<void> {
  const answer = await vscode.window.showWarningMessage(`TorchSleuth: ${name} is still running.`, "Stop It");
  if (answer !== undefined) {
    await stop();
  }
}
