"""Uncertainty: Bayes by backprop layers with a KL term, Monte Carlo dropout, a heteroscedastic Gaussian head."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    def __init__(self, in_features, out_features, prior_sigma=0.5):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.prior_log_sigma = math.log(prior_sigma)
        self.weight_mu = nn.Parameter(torch.Tensor(out_features, in_features))
        self.weight_log_sigma = nn.Parameter(torch.Tensor(out_features, in_features))
        self.bias_mu = nn.Parameter(torch.Tensor(out_features))
        self.bias_log_sigma = nn.Parameter(torch.Tensor(out_features))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight_mu.size(1))
        self.weight_mu.data.uniform_(-stdv, stdv)
        self.weight_log_sigma.data.fill_(self.prior_log_sigma - 2)
        self.bias_mu.data.uniform_(-stdv, stdv)
        self.bias_log_sigma.data.fill_(self.prior_log_sigma - 2)

    def forward(self, x):
        weight = self.weight_mu + torch.exp(self.weight_log_sigma) * torch.randn_like(self.weight_log_sigma)
        bias = self.bias_mu + torch.exp(self.bias_log_sigma) * torch.randn_like(self.bias_log_sigma)
        return F.linear(x, weight, bias)

    def kl(self):
        total = 0.0
        for mu, log_sigma in ((self.weight_mu, self.weight_log_sigma), (self.bias_mu, self.bias_log_sigma)):
            var = torch.exp(2 * log_sigma)
            prior_var = math.exp(2 * self.prior_log_sigma)
            total = total + (self.prior_log_sigma - log_sigma + (var + mu ** 2) / (2 * prior_var) - 0.5).sum()
        return total


def kl_of(model):
    return sum(m.kl() for m in model.modules() if isinstance(m, BayesLinear))


class Heteroscedastic(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Dropout(p), nn.Linear(32, 32), nn.ReLU(), nn.Dropout(p))
        self.mean, self.log_var = nn.Linear(32, 1), nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).exp()


def enable_dropout(model):
    for m in model.modules():
        if m.__class__.__name__.startswith("Dropout"):
            m.train()


torch.manual_seed(0)
x = torch.linspace(-3, 3, 96).unsqueeze(1)
y = torch.sin(x) + 0.1 * x.abs() * torch.randn_like(x)

bnn = nn.Sequential(BayesLinear(1, 20), nn.Tanh(), BayesLinear(20, 1))
opt = torch.optim.Adam(bnn.parameters(), lr=0.02)
for step in range(4):
    pred = torch.stack([bnn(x) for _ in range(3)]).mean(0)
    elbo = F.mse_loss(pred, y, reduction="sum") + 0.01 * kl_of(bnn)
    opt.zero_grad()
    elbo.backward()
    opt.step()
print("elbo", elbo.item())

net = Heteroscedastic()
nll = nn.GaussianNLLLoss()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(4):
    mean, var = net(x)
    loss = nll(mean, y, var)
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
enable_dropout(net)
with torch.no_grad():
    samples = torch.stack([net(x)[0] for _ in range(20)])
    epistemic = samples.var(dim=0)
    aleatoric = torch.stack([net(x)[1] for _ in range(20)]).mean(dim=0)
    quantiles = torch.quantile(samples, torch.tensor([0.05, 0.95]), dim=0)
print(epistemic.shape, aleatoric.mean().item(), quantiles.shape)
