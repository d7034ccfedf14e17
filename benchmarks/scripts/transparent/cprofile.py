"""Profiles itself with cProfile, and prints how often which function was called."""
import cProfile
import io
import pstats

import torch


def work(n):
    total = torch.zeros(2)
    for i in range(n):
        total = total + helper(i)
    return total


def helper(i):
    return sorted([i, 2, 1])[0]


profile = cProfile.Profile()
profile.enable()
result = work(20)
model = torch.nn.Linear(2, 2)
profile.disable()
print(sorted((key[0].rsplit("/", 1)[-1], key[2], value[:2]) for key, value in pstats.Stats(profile).stats.items()))
with cProfile.Profile() as second:
    work(3)
out = io.StringIO()
pstats.Stats(second, stream=out).print_stats()
print(out.getvalue().splitlines()[0].split(" in ")[0])
print(cProfile.Profile().runcall(helper, 3))
