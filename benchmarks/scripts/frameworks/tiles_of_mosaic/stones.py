from einops import rearrange
from torch import nn


class Stones(nn.Module):
    def __init__(self, look):
        super().__init__()
        self.stone = look.stone
        self.body, self.out = nn.Linear(3 * look.stone**2, look.width), nn.Linear(look.width, 2)

    def forward(self, x):
        rows = rearrange(x, "b c (h i) (w j) -> b (h w) (c i j)", i=self.stone, j=self.stone)  # raises TS104/TS918 at rearrange(x, "b c (h i) (w j) -> b (h w) (c i j)", i=self.stone, j=self.stone)
        return self.out(self.body(rows).mean(1))
