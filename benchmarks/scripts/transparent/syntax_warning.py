"""The compiler warns about it."""
import torch

x = torch.ones(2)
if x.shape is (2,):
    print("never")
assert (x is not None, "always true")
print("a\d")
