"""Parses its arguments, and fails on them."""
import argparse
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=max(1, 2))
print(parser.parse_args([]), parser.prog)
sys.argv += ["--timeout", "3"]
parser.parse_args()
