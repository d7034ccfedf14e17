// The questions that can be asked of a script, as the user chooses among them.

export interface ProbeItem {
  label: string;
  description: string;
  probe: string;
}

/** The kinds of probe that the server knows (probing/session.py), in the order in which they are offered. */
export const PROBES: readonly ProbeItem[] = [
  {
    probe: "nonfinite",
    label: "First non-finite value",
    description: "where the first value is born that is not finite",
  },
  { probe: "overfit", label: "Overfit one batch", description: "is one batch learnt by heart?" },
  { probe: "lr", label: "Learning rate", description: "a range test, with its curve and a suggestion" },
  { probe: "gradcheck", label: "Gradients", description: "are those of custom functions right?" },
  { probe: "independence", label: "Independence", description: "do samples of a batch mix?" },
  { probe: "determinism", label: "Determinism", description: "do two runs give the same?" },
  { probe: "workers", label: "Loader workers", description: "do more of them help?" },
];

export function isProbe(kind: unknown): kind is string {
  return PROBES.some((item) => item.probe === kind);
}
