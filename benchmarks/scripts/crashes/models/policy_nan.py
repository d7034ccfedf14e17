"""An actor whose learning rate blows the logits up until the distribution refuses them."""

import torch
from torch import nn
from torch.distributions import Categorical


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, state):
        logits = self.net(state)
        return Categorical(logits=logits / (logits - logits))  # raises TS314/TS920/TS199 at Categorical(logits=logits / (logits - logits)), cause


torch.manual_seed(0)
actor = Actor()
optimizer = torch.optim.SGD(actor.parameters(), lr=1e-2)
for episode in range(3):
    states = torch.randn(10, 6)
    distribution = actor(states)
    actions = distribution.sample()
    rewards = (actions == 1).float()
    loss = -(distribution.log_prob(actions) * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
