"""What jedi knows about names that the interpreter's own import table cannot settle."""
