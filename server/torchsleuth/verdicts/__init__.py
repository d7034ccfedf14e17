"""Faults that the record of a training shows, though it did not crash: one cause each, the most harmful first."""
