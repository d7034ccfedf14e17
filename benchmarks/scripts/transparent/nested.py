"""Nested tensors, of both layouts."""
import warnings

import torch

warnings.simplefilter("ignore")
parts = [torch.ones(2, 3), torch.ones(4, 3)]
for layout in (torch.strided, torch.jagged):
    nested = torch.nested.nested_tensor(parts, layout=layout)
    twice = torch.nn.functional.relu(nested * 2)
    print([part.shape for part in twice.unbind()], twice.is_nested, torch.nested.to_padded_tensor(twice, 0.0).shape)
