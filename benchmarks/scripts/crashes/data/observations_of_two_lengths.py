"""A memory of observations, of which those after a step have one number less."""
import random
import torch
from torch import nn

class Env:
    def __init__(self):
        self.t = 0
    def reset(self):
        self.t = 0
        return [0.0, 0.0, 0.0]
    def step(self, a):
        self.t += 1
        done = self.t == 5
        obs = [float(self.t), float(a)]  # cause
        return obs, 1.0, done

class Memory:
    def __init__(self):
        self.rows = []
    def push(self, *row):
        self.rows.append(row)
    def sample(self, n):
        part = random.sample(self.rows, n)
        s, a, r, s2 = zip(*part)
        return torch.tensor(s), torch.tensor(a), torch.tensor(r), torch.tensor(s2)  # raises TS199 at torch.tensor(s)

random.seed(0)
env, mem = Env(), Memory()
q = nn.Linear(3, 2)
s = env.reset()
for i in range(12):
    a = random.randrange(2)
    s2, r, done = env.step(a)
    mem.push(s, a, r, s2)
    s = env.reset() if done else s2
s, a, r, s2 = mem.sample(8)
print(q(s))
