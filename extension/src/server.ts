// The language server's life. It is started once: what changes afterwards, interpreters included, it is told.
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  ExecuteCommandRequest,
  LanguageClient,
  State,
  type ConfigurationParams,
  type LanguageClientOptions,
  type LSPAny,
  type ServerOptions,
} from "vscode-languageclient/node";
import { chosenInterpreter, serverInterpreter } from "./interpreter";
import {
  MARKS_CHANGED,
  RUN_OUTPUT,
  STATUS,
  type RunOutputParams,
  type ServerSettings,
  type StatusParams,
} from "./protocol";
import { coalesced } from "./queue";
import { SECTION, serverSettings } from "./settings";
import { surroundings } from "./workspace";

export interface Server {
  onStatus: vscode.Event<StatusParams>;
  onRunOutput: vscode.Event<RunOutputParams>;
  /** The URI of a file in which what runs left beside the lines has changed. */
  onMarksChanged: vscode.Event<string>;
  /** Ends the present server, if any, and starts another. Never overlaps, never rejects. */
  restart(this: void): Promise<void>;
  stop(this: void): Promise<void>;
  /** The Python that the server runs in. */
  python(this: void): string | undefined;
  /** Until the start that was asked for last has ended, one way or the other. */
  settled(this: void): Promise<void>;
  /** Has the server ask for the settings of now; starts one where there is none. Never rejects. */
  configure(this: void): Promise<void>;
  /** Has the server do a command. Undefined where there is no server; rejects when it ends meanwhile. */
  execute<T>(this: void, command: string, ...values: unknown[]): Promise<T | undefined>;
  /** Undefined where there is no server; rejects when it ends meanwhile. */
  request<T>(this: void, method: string, params: object): Promise<T | undefined>;
  notify(this: void, method: string, params: object): void;
}

interface Events {
  status: vscode.EventEmitter<StatusParams>;
  runOutput: vscode.EventEmitter<RunOutputParams>;
  marksChanged: vscode.EventEmitter<string>;
}

/** A server that has not been started yet. */
export function createServer(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Server {
  const events: Events = {
    status: new vscode.EventEmitter(),
    runOutput: new vscode.EventEmitter(),
    marksChanged: new vscode.EventEmitter(),
  };
  context.subscriptions.push(events.status, events.runOutput, events.marksChanged);
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
  };

  const start = async (): Promise<void> => {
    events.status.fire({ state: "starting", detail: "" });
    const folder = vscode.workspace.workspaceFolders?.[0];
    const chosen = await chosenInterpreter(folder, log);
    const interpreter = await serverInterpreter(chosen, log);
    if ("problem" in interpreter) {
      fail(interpreter.problem);
      return;
    }
    log.info(`starting with Python ${interpreter.version}, ${interpreter.path}`);
    const client = createClient(
      context.extensionUri,
      interpreter.path,
      serverSettings(folder, chosen),
      log,
      events,
    );
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
  const again = (): Promise<void> => (begun = restart());

  return {
    onStatus: events.status.event,
    onRunOutput: events.runOutput.event,
    onMarksChanged: events.marksChanged.event,
    restart: again,
    stop,
    python: () => running?.interpreter,
    settled: () => begun,
    configure: async () => {
      if (running === undefined) {
        await again();
      } else {
        await running.client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
      }
    },
    execute: async <T>(command: string, ...values: unknown[]) => {
      const params = { command, arguments: values };
      return (await running?.client.sendRequest(ExecuteCommandRequest.type, params)) as T | undefined;
    },
    request: (method, params) => running?.client.sendRequest(method, params) ?? Promise.resolve(undefined),
    notify: (method, params) => {
      void running?.client.sendNotification(method, params);
    },
  };
}

/** What the server asks for: of our section, the settings with the interpreter that is chosen for each folder. */
async function answers(
  asked: ConfigurationParams,
  next: () => unknown,
  log: vscode.LogOutputChannel,
): Promise<LSPAny[]> {
  const others = (await next()) as LSPAny[];
  return Promise.all(
    asked.items.map(async ({ section, scopeUri }, index): Promise<LSPAny> => {
      if (section !== SECTION) {
        return others[index] ?? null;
      }
      const uri = scopeUri === undefined ? undefined : vscode.Uri.parse(scopeUri);
      const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
      return { ...serverSettings(folder, await chosenInterpreter(folder, log)) };
    }),
  );
}

function createClient(
  extension: vscode.Uri,
  interpreter: string,
  settings: ServerSettings,
  log: vscode.LogOutputChannel,
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
    initializationOptions: settings,
    middleware: {
      workspace: { configuration: (asked, token, next) => answers(asked, () => next(asked, token), log) },
    },
  };
  const client = new LanguageClient(SECTION, "TorchSleuth", server, options);
  client.onNotification(STATUS, (status: StatusParams) => {
    log.info(`${status.state} ${status.detail}`);
    events.status.fire(status);
  });
  client.onNotification(RUN_OUTPUT, (output: RunOutputParams) => {
    events.runOutput.fire(output);
  });
  client.onNotification(MARKS_CHANGED, ({ uri }: { uri: string }) => {
    events.marksChanged.fire(uri);
  });
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) {
      events.status.fire({ state: "stopped", detail: "" });
    }
  });
  return client;
}
