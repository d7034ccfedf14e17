// The names that client and server share beyond the LSP; the server's side is lsp/protocol.py.

export const STATUS = "torchsleuth/status";
export const RUN_OUTPUT = "torchsleuth/runOutput";
export const RUN_INPUT = "torchsleuth/runInput";

export const SERVER_RUN = "torchsleuth.server.runAndDiagnose";
export const SERVER_STOP = "torchsleuth.server.stopRun";
export const SERVER_CLEAR = "torchsleuth.server.clearResults";

/** What the server is told of a folder: of the first one at the start, of any when it asks. */
export interface ServerSettings {
  /** Empty: the one that the server runs in. */
  interpreter: string;
  trusted: boolean;
  inlayHints: boolean;
  /** Our command behind the code lens. */
  runCommand: string;
  trace: string;
  select: string[] | null;
  extendSelect: string[];
  ignore: string[];
  severity: Record<string, string>;
  exclude: string[];
  configuration: string;
}

export interface StatusParams {
  state: string;
  detail: string;
  /** Why there is no analysis: `no_torch` is what only the user can change, for one. */
  reason?: string;
  /** The interpreter that this is about. */
  interpreter?: string;
}

export interface RunOutputParams {
  runId: number;
  text: string;
}

/** The answer to a run. `ok` false: nothing was run, and `summary` says why. */
export interface RunResult {
  ok: boolean;
  summary: string;
  runId?: number;
  exitCode?: number;
  cancelled?: boolean;
}
