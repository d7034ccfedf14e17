"""The abstract interpreter: runs Python source over abstract values and records what tensors do."""
