// The names that client and server share beyond the LSP; the server's side is lsp/protocol.py.

export const STATUS = "torchsleuth/status";
export const RUN_OUTPUT = "torchsleuth/runOutput";
export const RUN_INPUT = "torchsleuth/runInput";

export const SERVER_RUN = "torchsleuth.server.runAndDiagnose";
export const SERVER_STOP = "torchsleuth.server.stopRun";
export const SERVER_CLEAR = "torchsleuth.server.clearResults";

export interface StatusParams {
  state: string;
  detail: string;
}

export interface RunOutputParams {
  runId: number;
  text: string;
}

export interface RunResult {
  ok: boolean;
  summary: string;
  exitCode?: number;
  cancelled?: boolean;
}
