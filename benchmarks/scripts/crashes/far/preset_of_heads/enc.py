from torch import nn
class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.att = nn.MultiheadAttention(cfg["width"], cfg["heads"], batch_first=True)  # raises TS111 at nn.MultiheadAttention(cfg["width"], cfg["heads"], batch_first=True)
    def forward(self, x):
        return self.att(x, x, x)[0]
