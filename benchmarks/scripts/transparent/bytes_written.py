"""Writes bytes, in parts and in no encoding, to both streams."""
import os
import sys

sys.stdout.buffer.write(b"\x00\xff\xfe raw\r\n")
sys.stdout.flush()
os.write(1, b"by number\n")
sys.stderr.write("err \u2713\n")
print("\u2713 \U0001f600", end="")
print("x" * 100_000, file=sys.stderr)
print(sys.stdout.line_buffering, sys.stdout.write_through, sys.stdout.errors, sys.stderr.errors)
