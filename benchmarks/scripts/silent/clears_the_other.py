# The gradients of the critic are never cleared: the optimizer of the actor is cleared twice.
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optim = torch.optim.SGD(critic.parameters(), lr=1e-2)


def update(states, actions, returns):
    values = critic(states).squeeze(-1)
    critic_loss = nn.functional.mse_loss(values, returns)
    actor_optim.zero_grad()  # fixed: critic_optim.zero_grad()
    critic_loss.backward()  # fault: TS501
    critic_optim.step()
    log_probs = torch.log_softmax(actor(states), dim=-1).gather(1, actions[:, None]).squeeze(1)
    actor_loss = -(log_probs * (returns - values.detach())).mean()
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    return actor_loss.item(), critic_loss.item()


for iteration in range(150):
    states = torch.randn(64, 4)
    actions = torch.randint(0, 2, (64,))
    returns = states[:, 0] * (2 * actions - 1) + 0.1 * torch.randn(64)
    found = update(states, actions, returns)
    if iteration % 30 == 0:
        print(iteration, found)
