"""Rules: what a finding means, when it is proved, how it is worded and repaired. One file per rule."""
