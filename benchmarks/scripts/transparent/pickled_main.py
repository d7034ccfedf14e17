"""Objects of classes that stand in __main__ are pickled and copied."""
import copy
import pickle

import torch


class Config:
    def __init__(self, size):
        self.size = size


class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.fc = torch.nn.Linear(config.size, 2)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
net = Net(Config(3))
again = pickle.loads(pickle.dumps(net))
print(type(again), type(again).__module__, torch.equal(again(torch.ones(3)), copy.deepcopy(net)(torch.ones(3))))
print(len(pickle.dumps(Config(3))), pickle.dumps(Config))
