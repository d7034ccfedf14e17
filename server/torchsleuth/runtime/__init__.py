"""Runs a script under instrumentation. What is injected into the user's process needs only Python and torch."""
