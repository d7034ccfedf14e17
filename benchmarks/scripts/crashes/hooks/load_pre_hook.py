"""A hook renames the keys of an old checkpoint when it is loaded, one of them wrongly."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)
        self.register_load_state_dict_pre_hook(self.renamed)

    @staticmethod
    def renamed(module, state, prefix, *rest):
        for old, new in (("enc.", "encoder."), ("cls.", "heads.")):  # cause
            for key in [key for key in state if key.startswith(prefix + old)]:
                state[key.replace(old, new)] = state.pop(key)

    def forward(self, x):
        return self.head(self.encoder(x).relu())


torch.manual_seed(0)
old = {"enc.weight": torch.randn(8, 4), "enc.bias": torch.zeros(8), "cls.weight": torch.randn(2, 8), "cls.bias": torch.zeros(2)}
for trial in range(2):
    model = Net()
    model.load_state_dict(dict(old))  # raises TS530/TS531/TS501/TS521/TS199 at model.load_state_dict(dict(old))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.arange(8) % 2)
    loss.backward()
    optimizer.step()
