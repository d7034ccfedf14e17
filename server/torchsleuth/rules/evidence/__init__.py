"""Evidence that several rules read: layers, operands, loops, graphs, and the edits that go with them."""
