// How a state of the server is worded.
import type { StatusParams } from "./protocol";

export interface Presentation {
  text: string;
  busy: boolean;
  problem: boolean;
}

/** What is missing, by the reason that the server gives. */
const LACKING: Readonly<Record<string, string>> = {
  no_torch: "no PyTorch",
  old_torch: "PyTorch too old",
  old_python: "Python too old",
};

/** The words for a state; an unknown one is shown as it is. */
export function presentation(status: StatusParams): Presentation {
  switch (status.state) {
    case "starting":
    case "restarting":
      return { text: "TorchSleuth: starting", busy: true, problem: false };
    case "busy":
      return { text: "TorchSleuth: analysing", busy: true, problem: false };
    case "ready":
      return { text: "TorchSleuth", busy: false, problem: false };
    case "unavailable":
      return {
        text: `TorchSleuth: ${LACKING[status.reason ?? ""] ?? "no analysis"}`,
        busy: false,
        problem: true,
      };
    case "restricted":
      return { text: "TorchSleuth: restricted", busy: false, problem: true };
    default:
      return { text: `TorchSleuth: ${status.state}`, busy: false, problem: false };
  }
}
