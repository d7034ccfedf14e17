"""Rules about training loops and modules (TS5xx)."""
