// What the page shows: the data that report/view.py writes into it.

export interface Place {
  path: string;
  line: number;
  column: number;
  /** As it is shown: `train.py:12`. */
  text: string;
}

export interface SourceLine {
  number: number;
  text: string;
  here: boolean;
}

export interface Finding {
  code: string;
  name: string;
  severity: "error" | "warning" | "hint";
  message: string;
  place: Place | null;
  lines: SourceLine[];
  operands: string[];
  related: { message: string; place: Place | null }[];
  fixes: { title: string; verified: boolean }[];
}

export type PointState = "green" | "amber" | "red" | "unseen";

export interface Point {
  name: string;
  state: PointState;
  evidence: string[];
  place: Place | null;
}

export interface Line {
  name: string;
  /** Steps and values; null where it was not finite. */
  points: [number, number | null][];
  bad: number;
  first_bad: number | null;
  /** It belongs to the run before. */
  before?: boolean;
}

export interface Plot {
  name: string;
  title: string;
  about: string;
  unit: "" | "bytes" | "seconds";
  logarithmic: boolean;
  series: Line[];
}

/** Values by row and step; "bad" where one was not finite, null where there is none. */
export interface HeatMap {
  name: string;
  title: string;
  about: string;
  logarithmic: boolean;
  steps: number[];
  rows: { name: string; values: (number | "bad" | null)[] }[];
  low: number;
  high: number;
}

export interface Bar {
  name: string;
  title: string;
  about: string;
  parts: { name: string; share: number; text: string }[];
}

export type Cell = string | { text: string; place: Place | null };

export interface Table {
  name: string;
  title: string;
  heads: string[];
  /** Columns of numbers. */
  right: number[];
  rows: Cell[][];
  left_out: number;
}

/** What has changed since the run before. */
export interface Compared {
  title: string;
  broken: { text: string; place: Place | null }[];
  numbers: { name: string; before: string; now: string; change: string; worse: boolean }[];
  versions: { name: string; before: string; now: string }[];
  code: { path: string; lines: string[] }[];
}

/** The answer of a probe. */
export interface Probe {
  kind: string;
  /** Its question. */
  name: string;
  state: "good" | "bad" | "unknown";
  verdict: string;
  message: string;
  place: Place | null;
  details: string[];
  related: { message: string; place: Place | null }[];
  /** The crash for which there is no answer. */
  finding: Finding | null;
  curve: Bar | null;
}

/** A probe that can be asked for: in the editor by a button, elsewhere by a command. */
export interface Offer {
  kind: string;
  name: string;
  command: string;
}

export interface Report {
  version: number;
  title: string;
  labels: Record<string, string>;
  verdict: { state: "good" | "warning" | "bad" | "unknown"; text: string };
  findings: Finding[];
  probes: Probe[];
  offers: Offer[];
  checklist: Point[];
  plots: Plot[];
  maps: HeatMap[];
  bars: Bar[];
  tables: Table[];
  environment: [string, string][];
  compared: Compared | null;
}
