"""Finds with jedi the names that the interpreter's own import table cannot settle."""
