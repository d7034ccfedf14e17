"""torch.profiler, with stacks and shapes."""
import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
model = torch.nn.Linear(3, 4)
optimizer = torch.optim.Adam(model.parameters())
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as watched:
    for _ in range(3):
        with record_function("forward"):
            loss = model(torch.ones(2, 3)).sum()
        loss.backward()
        optimizer.step()
print(sorted((event.key, event.count) for event in watched.key_averages()))
