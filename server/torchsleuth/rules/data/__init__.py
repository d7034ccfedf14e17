"""Rules about datasets and loaders (TS6xx)."""
