"""Counts its file descriptors."""
import os
import sys

first = os.open(os.devnull, os.O_RDONLY)
second, third = os.pipe()
print(first, second, third, sys.stdin.fileno(), sys.stdout.fileno())
os.closerange(3, 120)
with open("out.txt", "w") as file:
    print(file.fileno(), os.get_inheritable(file.fileno()))
