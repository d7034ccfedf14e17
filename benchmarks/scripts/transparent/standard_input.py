"""Reads standard input to its end, in three ways."""
import sys

first = input("name? ")
second = sys.stdin.readline()
rest = sys.stdin.buffer.read()
print(repr(first), repr(second), rest, sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
try:
    input()
except EOFError as error:
    print("end", error)
