"""Rules about dtypes and the contracts of losses (TS3xx)."""
