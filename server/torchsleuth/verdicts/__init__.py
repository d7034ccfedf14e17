"""What the record of a training says went wrong in it, though it did not crash: one cause each, the most harmful first."""
