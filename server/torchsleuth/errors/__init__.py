"""Runtime errors: which code a message belongs to, what it means, and the edit that the run's numbers suggest."""
