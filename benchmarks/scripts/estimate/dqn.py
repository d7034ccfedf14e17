"""Q-learning with a target network on random transitions."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class QNetwork(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.layer1 = nn.Linear(observations, 256)
        self.layer2 = nn.Linear(256, 256)
        self.layer3 = nn.Linear(256, actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


policy_net = QNetwork(8, 4)
target_net = QNetwork(8, 4)
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.RAdam(policy_net.parameters(), lr=1e-4)


def optimize_model(batch_size=512, gamma=0.99):
    state, next_state = torch.randn(batch_size, 8), torch.randn(batch_size, 8)
    action, reward = torch.randint(4, (batch_size, 1)), torch.randn(batch_size)
    values = policy_net(state).gather(1, action)
    with torch.no_grad():
        next_values = target_net(next_state).max(1).values
    expected = reward + gamma * next_values
    loss = F.smooth_l1_loss(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for episode in range(3):
    optimize_model()
