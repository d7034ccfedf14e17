"""Rules about memory and speed (TS7xx)."""
