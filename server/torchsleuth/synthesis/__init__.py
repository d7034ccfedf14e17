"""Repairs out of the description of a fault: what has to hold, and the ways to rewrite what does not. Rules and run-time
errors give the description, and verify what comes of it, each in its own way."""
