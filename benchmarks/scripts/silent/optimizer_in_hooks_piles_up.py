"""Optimizers that step inside of backward, by hooks on the parameters: nobody frees the gradients."""
import torch
from torch import nn

torch.manual_seed(2)


class Mixer(nn.Module):
    def __init__(self, tokens=8, width=16):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.tokens = nn.Linear(tokens, tokens)
        self.channels = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(x)


model = nn.Sequential(nn.Linear(5, 16), Mixer(), Mixer(), nn.Flatten(), nn.Linear(128, 3))
optimizers = {p: torch.optim.AdamW([p], lr=1e-3, foreach=False) for p in model.parameters()}


def step_and_free(parameter):
    optimizers[parameter].step()  # fault: TS501
    # fixed: optimizers[parameter].zero_grad()


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(step_and_free)  # fault: TS501

rule = torch.randn(40, 3)
for step in range(120):
    x = torch.randn(32, 8, 5)
    y = (x.flatten(1) @ rule).argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()  # fault: TS501
    if step % 30 == 0:
        print(step, round(loss.item(), 4))
