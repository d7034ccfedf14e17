// The language server's life: started in the chosen interpreter, restarted when that changes, stopped at the end.
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  ExecuteCommandRequest,
  LanguageClient,
  State,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";
import { findInterpreter } from "./interpreter";
import { RUN_OUTPUT, STATUS, type RunOutputParams, type StatusParams } from "./protocol";
import { coalesced } from "./queue";
import { SECTION, serverSettings } from "./settings";
import { surroundings } from "./workspace";

export interface Server {
  onStatus: vscode.Event<StatusParams>;
  onRunOutput: vscode.Event<RunOutputParams>;
  /** There is no server, and only the user can change that. */
  onProblem: vscode.Event<string>;
  /** Ends the present server, if any, and starts one with the interpreter of now. Never overlaps, never rejects. */
  restart(this: void): Promise<void>;
  stop(this: void): Promise<void>;
  /** Until the start that was asked for last has ended, one way or the other. */
  settled(this: void): Promise<void>;
  /** Tells the server the settings of now. */
  configure(this: void): Promise<void>;
  /** Has the server do a command. Undefined where there is no server; rejects when it ends meanwhile. */
  execute<T>(this: void, command: string, ...values: unknown[]): Promise<T | undefined>;
  notify(this: void, method: string, params: object): void;
}

interface Events {
  status: vscode.EventEmitter<StatusParams>;
  runOutput: vscode.EventEmitter<RunOutputParams>;
}

/** A server that has not been started yet. */
export function createServer(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Server {
  const events: Events = { status: new vscode.EventEmitter(), runOutput: new vscode.EventEmitter() };
  const problem = new vscode.EventEmitter<string>();
  const files = vscode.workspace.createFileSystemWatcher("**/{*.py,pyproject.toml}");
  context.subscriptions.push(events.status, events.runOutput, problem, files);
  let running: { client: LanguageClient; interpreter: string } | undefined;

  const stop = async (): Promise<void> => {
    const client = running?.client;
    running = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      log.warn(`the server did not stop in an orderly way: ${String(error)}`);
    }
  };

  const fail = (reason: string): void => {
    log.error(reason);
    events.status.fire({ state: "unavailable", detail: reason });
    problem.fire(reason);
  };

  const start = async (): Promise<void> => {
    events.status.fire({ state: "starting", detail: "" });
    const interpreter = await findInterpreter(log);
    if ("problem" in interpreter) {
      fail(interpreter.problem);
      return;
    }
    log.info(`starting with Python ${interpreter.version}, ${interpreter.path}`);
    const client = createClient(context.extensionUri, interpreter.path, log, files, events);
    try {
      await client.start();
      running = { client, interpreter: interpreter.path };
    } catch (error) {
      fail(`The language server did not start in ${interpreter.path}: ${String(error)}`);
    }
  };

  const restart = coalesced(async () => {
    await stop();
    await start();
  });
  let begun = Promise.resolve();

  return {
    onStatus: events.status.event,
    onRunOutput: events.runOutput.event,
    onProblem: problem.event,
    restart: () => (begun = restart()),
    stop,
    settled: () => begun,
    configure: async () => {
      await running?.client.sendNotification(DidChangeConfigurationNotification.type, {
        settings: { [SECTION]: serverSettings(running.interpreter) },
      });
    },
    execute: async <T>(command: string, ...values: unknown[]) => {
      const params = { command, arguments: values };
      return (await running?.client.sendRequest(ExecuteCommandRequest.type, params)) as T | undefined;
    },
    notify: (method, params) => {
      void running?.client.sendNotification(method, params);
    },
  };
}

function createClient(
  extension: vscode.Uri,
  interpreter: string,
  log: vscode.LogOutputChannel,
  files: vscode.FileSystemWatcher,
  events: Events,
): LanguageClient {
  const script = vscode.Uri.joinPath(extension, "extension", "bundled", "start_server.py").fsPath;
  // Isolated: neither PYTHONPATH nor the working folder can put another module in the place of one of ours.
  const server: ServerOptions = {
    command: interpreter,
    args: ["-I", "-X", "utf8", script],
    options: surroundings(extension.fsPath),
  };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
    ],
    outputChannel: log,
    initializationOptions: () => serverSettings(interpreter),
    synchronize: { fileEvents: files },
  };
  const client = new LanguageClient(SECTION, "TorchSleuth", server, options);
  client.onNotification(STATUS, (status: StatusParams) => {
    log.info(`${status.state} ${status.detail}`);
    events.status.fire(status);
  });
  client.onNotification(RUN_OUTPUT, (output: RunOutputParams) => {
    events.runOutput.fire(output);
  });
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) {
      events.status.fire({ state: "stopped", detail: "" });
    }
  });
  return client;
}
