"""Rules about shapes (TS1xx)."""
