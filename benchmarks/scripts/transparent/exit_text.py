"""Leaves with a text."""
import sys

print("out")
raise SystemExit("a reason, in ünïcode")
