"""PPO with a Gaussian policy, generalised advantages, minibatch epochs, orthogonal initialisation."""
import math

import torch
from torch import nn
from torch.distributions.normal import Normal


def layer_init(layer, std=math.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, 32)), nn.Tanh(),
            layer_init(nn.Linear(32, 1), std=1.0),
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, act_dim), std=0.01),
        )
        self.actor_logstd = nn.Parameter(torch.zeros(1, act_dim))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        action_mean = self.actor_mean(x)
        action_logstd = self.actor_logstd.expand_as(action_mean)
        action_std = torch.exp(action_logstd)
        probs = Normal(action_mean, action_std)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


class PointMass:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.x = torch.randn(self.n, 2)
        self.t = torch.zeros(self.n)
        return self.x.clone()

    def step(self, a):
        self.x = self.x + 0.1 * a.clamp(-1, 1)
        self.t += 1
        done = self.t >= 20
        reward = -self.x.norm(dim=1)
        self.x[done] = torch.randn(int(done.sum()), 2)
        self.t[done] = 0
        return self.x.clone(), reward, done.float()


num_envs, num_steps, update_epochs, num_minibatches = 4, 16, 2, 4
gamma, gae_lambda, clip_coef, ent_coef, vf_coef, max_grad_norm = 0.99, 0.95, 0.2, 0.0, 0.5, 0.5
batch_size = num_envs * num_steps
minibatch_size = batch_size // num_minibatches

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
envs = PointMass(num_envs)
agent = Agent(2, 2).to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)

obs = torch.zeros((num_steps, num_envs) + (2,)).to(device)
actions = torch.zeros((num_steps, num_envs, 2)).to(device)
logprobs = torch.zeros((num_steps, num_envs)).to(device)
rewards = torch.zeros((num_steps, num_envs)).to(device)
dones = torch.zeros((num_steps, num_envs)).to(device)
values = torch.zeros((num_steps, num_envs)).to(device)

next_obs = envs.reset().to(device)
next_done = torch.zeros(num_envs).to(device)
for iteration in range(1, 4):
    frac = 1.0 - (iteration - 1.0) / 3
    optimizer.param_groups[0]["lr"] = frac * 3e-4
    for step in range(0, num_steps):
        obs[step] = next_obs
        dones[step] = next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        next_obs, reward, next_done = envs.step(action.cpu())
        rewards[step] = reward.to(device).view(-1)
        next_obs, next_done = next_obs.to(device), next_done.to(device)

    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards).to(device)
        lastgaelam = 0
        for t in reversed(range(num_steps)):
            if t == num_steps - 1:
                nextnonterminal = 1.0 - next_done
                nextvalues = next_value
            else:
                nextnonterminal = 1.0 - dones[t + 1]
                nextvalues = values[t + 1]
            delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
        returns = advantages + values

    b_obs = obs.reshape((-1,) + (2,))
    b_logprobs = logprobs.reshape(-1)
    b_actions = actions.reshape((-1, 2))
    b_advantages = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    b_values = values.reshape(-1)
    clipfracs = []
    for epoch in range(update_epochs):
        b_inds = torch.randperm(batch_size)
        for start in range(0, batch_size, minibatch_size):
            end = start + minibatch_size
            mb_inds = b_inds[start:end]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions[mb_inds])
            logratio = newlogprob - b_logprobs[mb_inds]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clipfracs += [((ratio - 1.0).abs() > clip_coef).float().mean().item()]
            mb_advantages = b_advantages[mb_inds]
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss1 = -mb_advantages * ratio
            pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - clip_coef, 1 + clip_coef)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            newvalue = newvalue.view(-1)
            v_loss_unclipped = (newvalue - b_returns[mb_inds]) ** 2
            v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -clip_coef, clip_coef)
            v_loss_clipped = (v_clipped - b_returns[mb_inds]) ** 2
            v_loss = 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()
            loss = pg_loss - ent_coef * entropy.mean() + v_loss * vf_coef
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), max_grad_norm)
            optimizer.step()
    print(iteration, rewards.mean().item(), v_loss.item(), approx_kl.item(), sum(clipfracs) / len(clipfracs))
