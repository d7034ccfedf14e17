"""Rules about the autograd graph (TS4xx)."""
