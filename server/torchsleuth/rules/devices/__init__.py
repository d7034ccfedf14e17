"""Rules about devices (TS2xx)."""
