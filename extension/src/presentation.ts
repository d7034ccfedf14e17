// How a state of the server is worded.
import type { StatusParams } from "./protocol";

export interface Presentation {
  text: string;
  busy: boolean;
  problem: boolean;
}

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
      return { text: "TorchSleuth: no analysis", busy: false, problem: true };
    case "restricted":
      return { text: "TorchSleuth: restricted", busy: false, problem: true };
    default:
      return { text: `TorchSleuth: ${status.state}`, busy: false, problem: false };
  }
}
