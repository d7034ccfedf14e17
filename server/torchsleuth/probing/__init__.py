"""Probes: what is asked of a run on demand, and what its measurements say. The script's side is `runtime.probes`."""
