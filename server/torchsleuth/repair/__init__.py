"""Repair: apply → re-check → re-run."""
