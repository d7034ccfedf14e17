"""Model-agnostic meta-learning on sine waves: inner updates kept in the graph, functional forward with fast weights."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Task:
    def __init__(self):
        self.amplitude = torch.empty(1).uniform_(0.1, 5.0)
        self.phase = torch.empty(1).uniform_(0, math.pi)

    def sample(self, k):
        x = torch.empty(k, 1).uniform_(-5, 5)
        return x, self.amplitude * torch.sin(x + self.phase)


class MetaModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1))

    def forward(self, x):
        return self.net(x)

    def argforward(self, x, weights):
        x = F.relu(F.linear(x, weights[0], weights[1]))
        x = F.relu(F.linear(x, weights[2], weights[3]))
        return F.linear(x, weights[4], weights[5])


class MAML:
    def __init__(self, model, inner_lr=0.01, meta_lr=0.001, K=10, inner_steps=2):
        self.model = model
        self.weights = list(model.parameters())
        self.meta_optimiser = torch.optim.Adam(self.weights, meta_lr)
        self.criterion = nn.MSELoss()
        self.inner_lr = inner_lr
        self.K = K
        self.inner_steps = inner_steps

    def inner_loop(self, task):
        temp_weights = [w.clone() for w in self.weights]
        x, y = task.sample(self.K)
        for step in range(self.inner_steps):
            loss = self.criterion(self.model.argforward(x, temp_weights), y) / self.K
            grads = torch.autograd.grad(loss, temp_weights, create_graph=True)
            temp_weights = [w - self.inner_lr * g for w, g in zip(temp_weights, grads)]
        x, y = task.sample(self.K)
        return self.criterion(self.model.argforward(x, temp_weights), y) / self.K

    def main_loop(self, iterations, tasks_per_batch=3):
        epoch_loss = 0
        for iteration in range(1, iterations + 1):
            meta_loss = 0
            for _ in range(tasks_per_batch):
                meta_loss += self.inner_loop(Task())
            meta_grads = torch.autograd.grad(meta_loss, self.weights)
            for w, g in zip(self.weights, meta_grads):
                w.grad = g
            self.meta_optimiser.step()
            epoch_loss += meta_loss.item() / tasks_per_batch
            print(f"{iteration}/{iterations}. loss: {epoch_loss / iteration:.4f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    maml = MAML(MetaModel())
    maml.main_loop(iterations=4)
    x = torch.linspace(-5, 5, 50).unsqueeze(1)
    print(maml.model(x).shape)
