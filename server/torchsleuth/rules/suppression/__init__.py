"""Rules about comments that silence findings (TS0xx)."""
