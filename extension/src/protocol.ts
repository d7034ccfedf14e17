// The names that client and server share beyond the LSP; the server's side is lsp/protocol.py.

export const STATUS = "torchsleuth/status";
export const MARKS_CHANGED = "torchsleuth/marksChanged";
export const MARKS = "torchsleuth/marks";
export const RUN_OUTPUT = "torchsleuth/runOutput";
export const RUN_INPUT = "torchsleuth/runInput";

export const SERVER_RUN = "torchsleuth.server.runAndDiagnose";
export const SERVER_PROBE = "torchsleuth.server.probe";
export const SERVER_APPLY_FIX = "torchsleuth.server.applyFix";
export const SERVER_REPORT = "torchsleuth.server.report";
export const SERVER_STOP = "torchsleuth.server.stopRun";
export const SERVER_CLEAR = "torchsleuth.server.clearResults";

/** What the server is told of a folder: of the first one at the start, of any when it asks. */
export interface ServerSettings {
  /** Empty: the one that the server runs in. */
  interpreter: string;
  trusted: boolean;
  inlayHints: boolean;
  contracts: boolean;
  contractLenses: boolean;
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

/** Lines and characters, as the LSP counts them. */
export interface Place {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** How a script is run; arguments in one string are split as a shell does. */
export interface RunOptions {
  args?: string | string[];
  cwd?: string;
  env?: Record<string, string | null>;
  /** The name of a module that runs instead of the script, as with `python -m`. */
  module?: string;
}

/** What a run showed first, and the title of the fix that is offered first. */
export interface Failure {
  number: number;
  uri: string;
  /** The cell of a notebook, and `range` in it. */
  cell?: number;
  range: Place;
  message: string;
  fix: string | null;
}

/** What a run left beside a line: where it failed, a call that led there, or the values that its names had at last. */
export interface Mark {
  kind: "failed" | "called" | "value" | "reached" | "missed";
  range: Place;
  /** Goes behind the line. */
  text: string;
  /** Markdown for its hover. */
  details: string;
  /** A line that it is about has changed since. */
  stale: boolean;
}

export interface Marks {
  version: number | null;
  marks: Mark[];
}

/** The answer to a run. `ok` false: nothing was run, and `summary` says why. */
export interface RunResult {
  ok: boolean;
  summary: string;
  runId?: number;
  exitCode?: number;
  cancelled?: boolean;
  failure?: Failure | null;
  /** How a training went, or a probe was answered, in a sentence. */
  verdict?: string | null;
}

/** The report of the last run, as a page with a policy of its own. */
export interface ReportPage {
  title: string;
  html: string;
}

/** What the page posts when a reference is clicked, or the button of a probe. */
export interface ReportMessage {
  probe?: string;
  open?: { path: string; line: number; column: number };
}
